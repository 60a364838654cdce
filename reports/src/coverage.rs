//! Counters of what a run put to the test, each with what a verdict needs of it.
//!
//! For: weighing a verdict, and knowing what to change where there is none. Not for: judging; the
//! checker decides what is unknown, by the same thresholds.

use lockstorm_checker::history::FaultPhase;
use lockstorm_checker::{Property, Verdict};

use crate::model::RunRecord;

/// One counter.
pub(crate) struct Counter {
    pub(crate) name: &'static str,
    pub(crate) count: u64,
    /// How many a verdict needs at the least; absent where it needs none.
    pub(crate) needed: Option<u64>,
    /// Purpose of the counter.
    pub(crate) what_for: &'static str,
}

impl Counter {
    /// Tells whether there is less than a verdict needs.
    pub(crate) fn is_short(&self) -> bool {
        self.needed.is_some_and(|needed| self.count < needed)
    }
}

/// The counters of a run.
pub(crate) fn counters(run: &RunRecord) -> Vec<Counter> {
    let coverage = &run.analysis.coverage;
    let faults = run.analysis.faults.len() as u64;
    let seen = run.analysis.faults.iter();
    let seen = seen.filter(|fault| fault.at(FaultPhase::Observed).is_some());
    let any_fault = (faults > 0).then_some(1);
    let counter = |name, count, needed, what_for| Counter {
        name,
        count,
        needed,
        what_for,
    };
    vec![
        counter(
            "Events",
            coverage.events,
            Some(1),
            "an empty history shows nothing",
        ),
        counter("Operations", coverage.operations, None, ""),
        counter("Lock keys", coverage.keys, None, ""),
        counter("Owners that asked", coverage.owners, None, ""),
        counter(
            "Acquires granted",
            coverage.granted,
            Some(1),
            "nobody held anything otherwise",
        ),
        counter("Acquires refused", coverage.refused, None, ""),
        counter(
            "Acquires contended",
            coverage.contended,
            Some(1),
            "somebody must ask while another holds",
        ),
        counter(
            "Faults seen to take effect",
            seen.count() as u64,
            (faults > 0).then_some(faults),
            "a fault that nobody saw has proved nothing",
        ),
        counter(
            "Grants under a fault",
            coverage.granted_under_fault,
            any_fault,
            "a fault that hits while nobody holds the lock tests nothing",
        ),
        counter("Leases that ran out", coverage.expired, None, ""),
        counter("Without answer", coverage.indeterminate, None, ""),
        counter("Redirects", coverage.redirects, None, ""),
        counter("Reconnects", coverage.reconnects, None, ""),
    ]
}

/// The properties without a verdict, each with the checker's own reason.
pub(crate) fn undecided(run: &RunRecord) -> Vec<(Property, &str)> {
    let judged = run.analysis.properties.iter();
    judged
        .filter(|(_, judgement)| judgement.verdict == Verdict::Unknown)
        .map(|(property, judgement)| {
            let reason = judgement.reason.as_deref();
            (*property, reason.unwrap_or("the checker gave no reason"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn short(run: &RunRecord) -> Vec<&'static str> {
        let counters = counters(run);
        let short = counters.iter().filter(|counter| counter.is_short());
        short.map(|counter| counter.name).collect()
    }

    #[test]
    fn a_run_that_put_the_lock_to_the_test_is_short_of_nothing() {
        assert!(short(&sample::failover_run()).is_empty());
    }

    #[test]
    fn what_is_missing_for_a_verdict_is_named() {
        let mut run = sample::failover_run();
        run.analysis.coverage.contended = 0;
        run.analysis.coverage.granted_under_fault = 0;
        run.analysis.faults[2].stages.truncate(2);
        let missing = [
            "Acquires contended",
            "Faults seen to take effect",
            "Grants under a fault",
        ];
        assert_eq!(short(&run), missing);
    }

    #[test]
    fn a_run_without_faults_needs_no_grant_under_one() {
        let mut run = sample::control_run();
        run.analysis.coverage.granted_under_fault = 0;
        assert!(short(&run).is_empty());
    }

    #[test]
    fn what_could_not_be_decided_has_the_reason_of_the_checker() {
        let run = sample::vacuous_run();
        let expected = [(Property::MutualExclusion, "no acquire was contended")];
        assert_eq!(undecided(&run), expected);
    }
}
