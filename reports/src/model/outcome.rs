//! Outcome of a run: its verdicts against what was expected of them.
//!
//! For: the one place that compares them, from which exit codes, heads and stored records follow.
//! Not for: words.

use lockstorm_checker::Verdict;
use lockstorm_scenarios::Expected;

use super::record::{EarlierTry, ExpectationResult, Outcome, RunRecord};
use super::tested::{Answer, PromiseOutcome};

impl ExpectationResult {
    /// Returns the outcome that one property makes of a run. A missed bound on waiting is told
    /// apart from a lock that failed, and what was to be shown and was not from what could not be
    /// decided.
    pub const fn outcome(&self) -> Outcome {
        if self.met {
            return Outcome::AsExpected;
        }
        match (self.expected, self.actual) {
            (Expected::Violated, _) => Outcome::Unexpected,
            (_, Verdict::Violated) if !self.property.is_safety() => Outcome::LivenessFailed,
            (_, Verdict::Violated) | (Expected::Unknown, Verdict::Valid) => Outcome::Unexpected,
            (_, Verdict::Valid | Verdict::Unknown) => Outcome::Unknown,
        }
    }
}

impl Outcome {
    /// The worst of the properties; a run that `stopped` early has shown nothing for certain but
    /// the violations that are there.
    pub fn of(expectations: &[ExpectationResult], stopped: bool) -> Self {
        let worst = expectations.iter().map(ExpectationResult::outcome).max();
        let worst = worst.unwrap_or(Self::Unknown);
        if !stopped {
            return worst;
        }
        let there = expectations.iter();
        let there = there.filter(|result| result.actual == Verdict::Violated);
        let there = there.map(ExpectationResult::outcome).max();
        there.map_or(Self::Unknown, |there| there.max(Self::Unknown))
    }
}

impl RunRecord {
    /// Tells whether another try may show what this one did not. A violation that nobody expected
    /// is a proof, and a broken promise is one too.
    pub fn may_be_tried_again(&self) -> bool {
        let is_proof =
            |result: &ExpectationResult| !result.met && result.actual == Verdict::Violated;
        match self.outcome {
            Outcome::AsExpected | Outcome::LivenessFailed => false,
            Outcome::Unknown => true,
            Outcome::Unexpected => {
                self.situation.is_none() && !self.expectations.iter().any(is_proof)
            }
        }
    }

    /// Tells whether it could not tell of a promise that the lock makes, and this machine stood
    /// still in it: another try may tell. Where a promise is broken there is nothing to wait for.
    pub fn was_held_up(&self) -> bool {
        let is_untold = |one: &PromiseOutcome| one.is_promised && one.seen == Answer::CouldNotTell;
        self.outcome != Outcome::Unexpected
            && self.analysis.stalls.is_some()
            && self.outcomes().iter().any(is_untold)
    }

    /// Tells whether it was as expected in a later try only.
    pub fn is_flaky(&self) -> bool {
        let otherwise = |before: &EarlierTry| before.outcome != Outcome::AsExpected;
        self.outcome == Outcome::AsExpected && self.earlier.iter().any(otherwise)
    }
}

/// The verdict of a run as one word: violated if anything is, and unknown if the run was stopped
/// before its end. Otherwise a liveness that could not be decided does not blur what the safety
/// properties say.
pub(crate) fn run_verdict(run: &RunRecord) -> Verdict {
    if run.analysis.verdict == Verdict::Violated {
        return Verdict::Violated;
    }
    if run.stopped.is_some() {
        return Verdict::Unknown;
    }
    let judged = &run.analysis.properties;
    judged
        .iter()
        .filter(|(property, _)| property.is_safety() || judged.len() == 1)
        .map(|(_, judgement)| judgement.verdict)
        .reduce(Verdict::merge)
        // A run in which nothing was judged has shown nothing.
        .unwrap_or(Verdict::Unknown)
}

#[cfg(test)]
mod tests {
    use lockstorm_checker::Property;

    use super::*;

    fn result(property: Property, expected: Expected, actual: Verdict) -> ExpectationResult {
        ExpectationResult {
            property,
            expected,
            actual,
            met: expected.is_met_by(actual),
        }
    }

    #[test]
    fn an_expected_violation_that_did_not_appear_is_as_bad_as_an_unexpected_one() {
        let missing = [result(
            Property::MutualExclusion,
            Expected::Violated,
            Verdict::Valid,
        )];
        let surprise = [result(
            Property::LostLock,
            Expected::Valid,
            Verdict::Violated,
        )];
        assert_eq!(Outcome::of(&missing, false), Outcome::Unexpected);
        assert_eq!(Outcome::of(&surprise, false), Outcome::Unexpected);
    }

    #[test]
    fn a_proven_violation_outranks_what_is_unknown() {
        let both = [
            result(
                Property::MutualExclusion,
                Expected::Valid,
                Verdict::Violated,
            ),
            result(Property::LeaseOverrun, Expected::Valid, Verdict::Unknown),
        ];
        assert_eq!(Outcome::of(&both, false), Outcome::Unexpected);
        assert_eq!(Outcome::of(&both[1..], false), Outcome::Unknown);
    }

    #[test]
    fn a_workload_that_stopped_early_is_never_as_expected() {
        let met = [result(
            Property::MutualExclusion,
            Expected::Valid,
            Verdict::Valid,
        )];
        assert_eq!(Outcome::of(&met, false), Outcome::AsExpected);
        assert_eq!(Outcome::of(&met, true), Outcome::Unknown);
    }

    /// Checks that a workload that stopped early accuses of what is there only: the other half of
    /// the script may have caught it.
    #[test]
    fn a_workload_that_stopped_early_accuses_of_what_is_there_and_of_nothing_else() {
        let missing = result(
            Property::MutualExclusion,
            Expected::Violated,
            Verdict::Valid,
        );
        let surprise = result(Property::LostLock, Expected::Valid, Verdict::Violated);
        let both = [missing, surprise];
        assert_eq!(Outcome::of(&both[..1], true), Outcome::Unknown);
        assert_eq!(Outcome::of(&both, true), Outcome::Unexpected);
    }

    #[test]
    fn a_stuck_lock_alone_is_kept_apart_from_safety() {
        let stuck = [result(
            Property::Liveness,
            Expected::Valid,
            Verdict::Violated,
        )];
        assert_eq!(Outcome::of(&stuck, false), Outcome::LivenessFailed);
    }

    #[test]
    fn a_run_that_judged_nothing_is_unknown() {
        assert_eq!(Outcome::of(&[], false), Outcome::Unknown);
    }
}
