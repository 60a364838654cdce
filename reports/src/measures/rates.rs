//! Number of calls that came to their end in each window, by how they did.

use super::windows::Windows;
use crate::trace::{Answer, CallKind, Trace};

/// The ends of calls of one kind.
pub(crate) struct Rates {
    pub(crate) kind: CallKind,
    /// Counts by window for each answer that occurs, the frequent ones first, so that a picture
    /// draws the rare ones above.
    pub(crate) series: Vec<(Answer, Vec<u64>)>,
}

impl Rates {
    /// One for each kind of call that was ever made.
    pub(crate) fn all(trace: &Trace, windows: &Windows) -> Vec<Self> {
        let of = |kind| {
            let mut counts = Answer::ALL.map(|answer| (answer, vec![0; windows.count()]));
            for call in trace.calls_of(kind) {
                counts[call.answer as usize].1[windows.at(call.ended)] += 1;
            }
            let total = |counts: &[u64]| counts.iter().sum::<u64>();
            let occurs = |(_, counts): &(Answer, Vec<u64>)| total(counts) > 0;
            let mut series: Vec<_> = counts.into_iter().filter(occurs).collect();
            series.sort_by_key(|(_, counts)| std::cmp::Reverse(total(counts)));
            (!series.is_empty()).then_some(Self { kind, series })
        };
        CallKind::ALL.into_iter().filter_map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn every_call_ends_in_one_window_and_frequent_answers_come_first() {
        let trace = sample::failover_trace();
        let windows = Windows::of(trace.end);
        let rates = Rates::all(&trace, &windows);
        let acquires = &rates[0];
        assert_eq!(acquires.kind, CallKind::Acquire);
        let told: Vec<(Answer, u64)> = acquires
            .series
            .iter()
            .map(|(answer, counts)| (*answer, counts.iter().sum()))
            .collect();
        assert_eq!(told, [(Answer::Granted, 3), (Answer::Refused, 2)]);
    }

    #[test]
    fn each_answer_has_its_own_counter() {
        for (at, answer) in Answer::ALL.into_iter().enumerate() {
            assert_eq!(answer as usize, at);
        }
    }
}
