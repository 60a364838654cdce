//! Time that calls took that did what was asked: over the whole run, and window by window.
//!
//! A refusal is no slow grant and a call without an answer has no latency; both are left out and
//! counted beside it.

use super::order::Ordered;
use super::windows::Windows;
use crate::trace::{Answer, CallKind, Trace};

/// The latencies of one kind of call, from its invocation to its answer.
pub(crate) struct Latency {
    pub(crate) kind: CallKind,
    pub(crate) whole: Ordered,
    /// Latency without tries that came to nothing; absent where each call tried once.
    pub(crate) served: Option<Ordered>,
    /// Window by window, by when the calls were sent.
    pub(crate) over_time: Vec<Option<Quantiles>>,
    /// Calls of this kind that were not answered so.
    pub(crate) others: u64,
}

/// Fewer calls have no distribution worth drawing: their 99th percentile would be the longest.
pub(crate) const CALLS_FOR_QUANTILES: u64 = 100;

/// Quantiles of a distribution, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quantiles {
    pub(crate) count: u64,
    pub(crate) p50: u64,
    pub(crate) p95: u64,
    pub(crate) p99: u64,
    pub(crate) most: u64,
}

impl From<&Ordered> for Quantiles {
    fn from(ordered: &Ordered) -> Self {
        Self {
            count: ordered.count(),
            p50: ordered.at(0.50),
            p95: ordered.at(0.95),
            p99: ordered.at(0.99),
            most: ordered.most(),
        }
    }
}

impl Latency {
    /// Tells whether there are enough calls of this kind for their quantiles to mean something.
    pub(crate) fn has_quantiles(&self) -> bool {
        self.whole.count() >= CALLS_FOR_QUANTILES
    }

    /// One for each kind of call that was ever granted.
    pub(crate) fn all(trace: &Trace, windows: &Windows) -> Vec<Self> {
        let of = |kind| Self::of(trace, windows, kind);
        CallKind::ALL.into_iter().filter_map(of).collect()
    }

    fn of(trace: &Trace, windows: &Windows, kind: CallKind) -> Option<Self> {
        let mut whole = Vec::new();
        let mut served = Vec::new();
        let mut over_time: Vec<Vec<u64>> = vec![Vec::new(); windows.count()];
        let mut others = 0;
        for call in trace.calls_of(kind) {
            if call.answer != Answer::Granted {
                others += 1;
                continue;
            }
            whole.push(call.took());
            served.push(call.served_in());
            over_time[windows.at(call.invoked)].push(call.took());
        }
        let served = Some(served).filter(|served| whole != *served);
        let quantiles = |window| Ordered::of(window).map(|ordered| Quantiles::from(&ordered));
        Some(Self {
            kind,
            whole: Ordered::of(whole)?,
            served: served.and_then(Ordered::of),
            over_time: over_time.into_iter().map(quantiles).collect(),
            others,
        })
    }
}

/// The latencies of acquires by how they were answered, where that occurred.
pub(crate) fn by_answer(trace: &Trace) -> Vec<(Answer, Quantiles)> {
    let of = |answer| {
        let calls = trace.calls_of(CallKind::Acquire);
        let lengths = calls.filter(|call| call.answer == answer);
        let ordered = Ordered::of(lengths.map(|call| call.took()))?;
        Some((answer, Quantiles::from(&ordered)))
    };
    Answer::ALL.into_iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use lockstorm_checker::Nanos;

    use super::*;
    use crate::trace::Call;

    fn call(sent_ms: u64, took_ms: u64, answer: Answer) -> Call {
        let invoked = Nanos::from_millis(sent_ms);
        Call {
            kind: CallKind::Release,
            invoked,
            asked: invoked,
            ended: invoked + Nanos::from_millis(took_ms),
            answer,
        }
    }

    fn latencies(calls: Vec<Call>) -> (Windows, Vec<Latency>) {
        let trace = Trace {
            end: Nanos::from_millis(10_000),
            calls,
            ..Trace::default()
        };
        let windows = Windows::of(trace.end);
        let latencies = Latency::all(&trace, &windows);
        (windows, latencies)
    }

    #[test]
    fn calls_count_in_the_window_in_which_they_were_sent() {
        let granted = Answer::Granted;
        let (windows, latencies) = latencies(vec![
            call(20, 500, granted),
            call(40, 100, granted),
            call(990, 700, granted),
        ]);
        let [latency] = latencies.as_slice() else {
            panic!("only releases were called");
        };
        let first = latency.over_time[0].unwrap();
        assert_eq!(
            (first.count, first.p50, first.most),
            (2, 100_000_000, 500_000_000)
        );
        let late = windows.at(Nanos::from_millis(990));
        assert_eq!(latency.over_time[late].unwrap().count, 1);
        assert_eq!(latency.over_time.iter().flatten().count(), 2);
        assert_eq!(latency.whole.count(), 3);
    }

    #[test]
    fn what_was_not_granted_is_counted_and_in_no_quantile() {
        let (_, latencies) = latencies(vec![
            call(0, 1, Answer::Granted),
            call(0, 9_000, Answer::Indeterminate),
            call(0, 8_000, Answer::Refused),
        ]);
        assert_eq!(latencies[0].others, 2);
        assert_eq!(latencies[0].whole.most(), 1_000_000);
    }

    #[test]
    fn acquires_are_told_for_each_answer_that_occurs() {
        let trace = crate::sample::failover_trace();
        let rows = by_answer(&trace);
        let told: Vec<(Answer, u64)> = rows
            .iter()
            .map(|(answer, of)| (*answer, of.count))
            .collect();
        assert_eq!(told, [(Answer::Granted, 3), (Answer::Refused, 2)]);
    }

    #[test]
    fn only_where_somebody_tried_twice_is_there_a_time_of_service() {
        let mut late = call(0, 50, Answer::Granted);
        assert!(latencies(vec![late]).1[0].served.is_none());
        late.asked = Nanos::from_millis(40);
        let latency = &latencies(vec![late]).1[0];
        assert_eq!(latency.served.as_ref().unwrap().most(), 10_000_000);
    }
}
