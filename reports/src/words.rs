//! The words of reports: one for each thing, the same in every format.

use lockstorm_checker::verdict::Coverage;
use lockstorm_checker::{Analysis, Nanos, Property, Verdict};
use lockstorm_scenarios::{Amount, CaseLabels, Expected, RunRange};

use crate::model::SuiteRecord;
use crate::trace::{Answer, CallKind};

/// Sentence on a verdict without the history that it is of.
pub(crate) const UNCHECKED: &str =
    "The verdict is shown as stored, and could not be checked against its history";

/// A verdict in words. A test can show a violation, never its absence.
pub(crate) const fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Valid => "no violation",
        Verdict::Unknown => "unknown",
        Verdict::Violated => "violated",
    }
}

/// Says what a scenario expects, in words.
pub(crate) const fn expected(expected: Expected) -> &'static str {
    match expected.of_one_run() {
        Expected::Valid => "no violation",
        Expected::Violated => "a violation",
        Expected::Unknown => "a verdict of unknown",
        Expected::Any | Expected::ViolatedIn(_) => "nothing in particular",
    }
}

/// Says how many runs a scenario expects to be violated, in words.
pub(crate) fn runs(range: RunRange) -> String {
    let amount = |amount: Amount| match amount {
        Amount::Runs(runs) => runs.to_string(),
        Amount::Percent(share) => format!("{share} %"),
    };
    match (range.min, range.max) {
        (Some(min), Some(max)) if min == max => format!("exactly {}", amount(min)),
        (Some(min), Some(max)) => format!("{} to {}", amount(min), amount(max)),
        (Some(min), None) => format!("at least {}", amount(min)),
        (None, Some(max)) => format!("at most {}", amount(max)),
        (None, None) => "any number".to_owned(),
    }
}

/// Says what was measured and not judged, a sentence each: how long nobody could be granted a lock
/// in a run with faults that names no bound for it, how holders learned that they had lost theirs,
/// and how the harness stood still.
pub fn measured(analysis: &Analysis) -> Vec<String> {
    let is_judged = |property| analysis.properties.contains_key(&property);
    let tells = !analysis.faults.is_empty() && analysis.coverage.contended > 0;
    let outages = analysis
        .availability
        .filter(|_| tells && !is_judged(Property::Availability));
    let losses = analysis.losses.filter(|_| !is_judged(Property::LossNotice));
    let outages = outages.map(|figures| format!("availability, measured: {}", figures.sentence()));
    let losses = losses.map(|figures| format!("loss notice, measured: {}", figures.sentence()));
    let stalls = analysis.stalls.map(|figures| figures.sentence());
    outages.into_iter().chain(losses).chain(stalls).collect()
}

/// A property for running text: `mutual exclusion`.
pub(crate) fn property(property: Property) -> String {
    property.name().replace('-', " ")
}

/// A kind of call.
pub(crate) const fn call(kind: CallKind) -> &'static str {
    match kind {
        CallKind::Acquire => "acquire",
        CallKind::Renew => "renewal",
        CallKind::Release => "release",
    }
}

/// Answer to a call.
pub(crate) const fn answer(kind: CallKind, answer: Answer) -> &'static str {
    match (answer, kind) {
        (Answer::Granted, CallKind::Acquire) => "granted",
        (Answer::Granted, CallKind::Renew) => "renewed",
        (Answer::Granted, CallKind::Release) => "released",
        (Answer::Refused, CallKind::Acquire) => "refused",
        (Answer::Refused, CallKind::Renew | CallKind::Release) => "not the owner",
        (Answer::Failed, _) => "not executed",
        (Answer::Indeterminate, _) => "no answer",
    }
}

/// An instant of the run: `4.021 s`. Cut off, not rounded, as in the sentences of the stories:
/// one instant must not have two figures on one page.
pub(crate) fn instant(at: Nanos) -> String {
    if at == Nanos::MAX {
        "never".to_owned()
    } else {
        seconds(at.0)
    }
}

/// An instant down to the microsecond, for raw operations: `4.021375 s`.
pub(crate) fn precise(at: Nanos) -> String {
    let us = at.0 / 1_000;
    format!("{}.{:06} s", us / 1_000_000, us % 1_000_000)
}

/// Whole milliseconds as seconds.
fn seconds(ns: u64) -> String {
    let ms = ns / 1_000_000;
    format!("{}.{:03} s", ms / 1_000, ms % 1_000)
}

/// A length of time with the unit that suits it, cut off as an instant is: `1.619 s`, `12.3 ms`,
/// `85 µs`.
pub(crate) fn length(ns: u64) -> String {
    let us = ns / 1_000;
    match us {
        1_000_000.. => seconds(ns),
        1_000..1_000_000 => format!("{}.{} ms", us / 1_000, us % 1_000 / 100),
        0..1_000 => format!("{us} µs"),
    }
}

/// How far a clock is off, in nanoseconds: `6.000 s ahead`, `250.0 ms behind`.
pub(crate) fn offset(ns: i64) -> String {
    let by = length(ns.unsigned_abs());
    match ns {
        0 => "right".to_owned(),
        1.. => format!("{by} ahead"),
        ..0 => format!("{by} behind"),
    }
}

/// `1 violation`, `3 violations`.
pub(crate) fn count(n: u64, thing: &str) -> String {
    if n == 1 {
        format!("1 {thing}")
    } else {
        format!("{n} {thing}s")
    }
}

/// Events that a sentence names: a witness may rest on thousands.
pub(crate) const EVENTS_MAX: usize = 24;

/// Indexes of events: `events 3, 7`.
pub(crate) fn evidence(events: &[u64]) -> String {
    let named = &events[..events.len().min(EVENTS_MAX)];
    let list: Vec<String> = named.iter().map(u64::to_string).collect();
    match events.len() {
        0 => String::new(),
        1 => format!("event {}", list[0]),
        2..=EVENTS_MAX => format!("events {}", list.join(", ")),
        all => format!("events {} and {} more", list.join(", "), all - EVENTS_MAX),
    }
}

/// Name of a cell: `token on replicated (1 replica) · failover`.
pub(crate) fn cell_name(labels: &CaseLabels) -> String {
    format!("{} on {} · {}", labels.lock, labels.topology, labels.hazard)
}

/// Says in one line what a verdict rests on: what was put to the test.
pub(crate) fn coverage(coverage: &Coverage) -> String {
    let turn = |n: u64, turn: &str| match n {
        0 => String::new(),
        n => format!(", {}", count(n, turn)),
    };
    let turns = [
        turn(coverage.redirects, "redirect"),
        turn(coverage.reconnects, "reconnect"),
    ]
    .concat();
    format!(
        "{}, {} granted, {} contended, {} under a fault{turns}",
        count(coverage.operations, "operation"),
        coverage.granted,
        coverage.contended,
        coverage.granted_under_fault
    )
}

/// Cycles of acquire and release of which one can tell a pace; of fewer, pauses tell most.
pub(crate) const CYCLES_MIN: u64 = 1000;

/// Says in one line what acquires and releases cost in all; none where they were few.
pub(crate) fn cost(coverage: &Coverage) -> Option<String> {
    let cycles = coverage
        .cycles
        .filter(|cycles| cycles.count >= CYCLES_MIN)?;
    let seconds = cycles.took().as_secs_f64();
    let pace = (seconds > 0.0).then(|| cycles.count as f64 / seconds)?;
    Some(format!(
        "{} cycles of acquire and release in {}, {pace:.0} a second",
        cycles.count,
        length(cycles.took().0)
    ))
}

/// Numbers of runs that stopped early, but for those that a step of the scenario stopped, and of
/// those that the suite never reached, as the end of a sentence; empty where all ran to their end.
pub(crate) fn unfinished(suite: &SuiteRecord) -> String {
    let runs = suite.runs.iter().map(|run| &run.record);
    let cut = runs.filter(|run| run.stopped.is_some() && run.unmet_step.is_none());
    let missing = suite.not_run.iter().filter(|run| run.was_not_reached());
    let counts = [
        (cut.count(), "stopped early"),
        (missing.count(), "not reached"),
    ];
    let counts = counts.into_iter().filter(|(n, _)| *n > 0);
    let counts: Vec<String> = counts.map(|(n, what)| format!("; {n} {what}")).collect();
    counts.concat()
}

#[cfg(test)]
mod tests {
    use lockstorm_checker::verdict::Cycles;

    use super::*;

    #[test]
    fn runs_that_ended_before_their_time_are_counted_but_for_those_that_a_step_ended() {
        let mut suite = crate::sample::suite();
        suite.not_run.clear();
        assert_eq!(unfinished(&suite), "");
        let runs: Vec<_> = suite.runs.iter_mut().map(|run| &mut run.record).collect();
        for (n, run) in runs.into_iter().enumerate() {
            run.stopped = Some("it ended".to_owned());
            run.unmet_step = (n == 0).then_some(2);
        }
        let cut = suite.runs.len() - 1;
        assert_eq!(unfinished(&suite), format!("; {cut} stopped early"));
    }

    #[test]
    fn lengths_take_the_unit_that_suits_them() {
        assert_eq!(length(1_619_000_000), "1.619 s");
        assert_eq!(length(12_340_000), "12.3 ms");
        assert_eq!(length(85_000), "85 µs");
        assert_eq!(length(999_999_999), "999.9 ms");
    }

    #[test]
    fn a_clock_is_ahead_behind_or_right() {
        assert_eq!(offset(6_000_000_000), "6.000 s ahead");
        assert_eq!(offset(-250_000_000), "250.0 ms behind");
        assert_eq!(offset(0), "right");
    }

    #[test]
    fn an_instant_that_never_comes_is_called_so() {
        assert_eq!(instant(Nanos::MAX), "never");
        assert_eq!(instant(Nanos::from_millis(4021)), "4.021 s");
        assert_eq!(instant(Nanos(988_900_000)), "0.988 s");
    }

    #[test]
    fn raw_operations_have_their_microseconds() {
        assert_eq!(precise(Nanos(4_021_375_999)), "4.021375 s");
    }

    #[test]
    fn many_cycles_have_a_cost_and_few_have_none() {
        let of = |count| Coverage {
            cycles: Some(Cycles {
                count,
                since: Nanos(0),
                until: Nanos::from_millis(2500),
            }),
            ..Coverage::default()
        };
        let expected = "1000 cycles of acquire and release in 2.500 s, 400 a second";
        assert_eq!(cost(&of(1000)).as_deref(), Some(expected));
        assert_eq!(cost(&of(999)), None);
    }

    #[test]
    fn turns_of_clients_are_counted_where_there_were_any() {
        let none = coverage(&Coverage::default());
        assert_eq!(
            none,
            "0 operations, 0 granted, 0 contended, 0 under a fault"
        );
        let some = coverage(&Coverage {
            redirects: 1,
            reconnects: 2,
            ..Coverage::default()
        });
        assert_eq!(some, format!("{none}, 1 redirect, 2 reconnects"));
    }

    #[test]
    fn no_verdict_calls_a_lock_safe() {
        for verdict_of in [Verdict::Valid, Verdict::Unknown, Verdict::Violated] {
            assert!(!verdict(verdict_of).contains("safe"));
        }
    }
}
