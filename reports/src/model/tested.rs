//! Answers of a run for the promises that its situation tests.

use std::collections::BTreeMap;

use lockstorm_checker::verdict::{Judgement, Witness};
use lockstorm_checker::{Property, Verdict};
use lockstorm_scenarios::Promise;
use serde::{Deserialize, Serialize};

use super::record::{Outcome, RunRecord};

/// Promises that the situation of a run tests, and those that its lock makes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tested {
    /// Promises that the situation puts to the test.
    pub tests: Vec<Promise>,
    /// Promises that the lock makes.
    pub promised: Vec<Promise>,
    /// Violations that no lock of this kind can prevent here, each with the reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inherent: BTreeMap<Property, String>,
    /// True if it is a storm: faults at random, under load.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_storm: bool,
    /// Promises that some step judged by the answer that it got.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_answers: Vec<Promise>,
    /// Promise that the answer to a step broke, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken_by_answer: Option<Promise>,
}

/// Answer of a situation for one promise of one lock, the one that counts most last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Answer {
    /// The lock does not make this promise.
    NotPromised,
    /// The lock kept it in this run.
    Kept,
    /// The run cannot tell.
    CouldNotTell,
    /// The lock broke it.
    Broken,
}

impl Answer {
    /// The words of reports.
    pub const fn words(self) -> &'static str {
        match self {
            Self::NotPromised => "not promised",
            Self::Kept => "kept",
            Self::CouldNotTell => "could not tell",
            Self::Broken => "broken",
        }
    }
}

/// Fate of a promise in a run, whether or not the lock makes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromiseOutcome {
    /// The promise.
    pub promise: Promise,
    /// True if the lock makes it.
    pub is_promised: bool,
    /// Kept, broken, or neither, as it was seen.
    pub seen: Answer,
    /// Evidence or reason, in a sentence; none for what was kept.
    pub reason: Option<String>,
}

impl PromiseOutcome {
    /// Returns the answer: what was seen, where the lock makes the promise.
    pub(crate) const fn answer(&self) -> Answer {
        if self.is_promised {
            self.seen
        } else {
            Answer::NotPromised
        }
    }
}

impl RunRecord {
    /// Returns what happened to each promise that the situation tests; none for a run of another
    /// kind.
    pub fn outcomes(&self) -> Vec<PromiseOutcome> {
        let Some(tested) = &self.situation else {
            return Vec::new();
        };
        let outcome = |promise: &Promise| {
            let (seen, reason) = self.seen(tested, *promise);
            PromiseOutcome {
                promise: *promise,
                is_promised: tested.promised.contains(promise),
                seen,
                reason,
            }
        };
        tested.tests.iter().map(outcome).collect()
    }

    fn seen(&self, tested: &Tested, promise: Promise) -> (Answer, Option<String>) {
        let judged = |property: &Property| self.analysis.properties.get(property);
        let own = promise.properties();
        for property in own {
            let judgement = judged(property);
            let violated = judgement.filter(|judged| judged.verdict == Verdict::Violated);
            if let Some(judgement) = violated {
                return violation(*property, judgement);
            }
        }
        if tested.broken_by_answer == Some(promise) && answers_tell(promise) {
            return match self.analysis.stalls {
                None => (Answer::Broken, self.stopped.clone()),
                Some(stalls) => (Answer::CouldNotTell, Some(stalls.sentence())),
            };
        }
        if let Some(reason) = &self.stopped {
            return (Answer::CouldNotTell, Some(reason.clone()));
        }
        if tested.by_answers.contains(&promise) {
            return (Answer::Kept, None);
        }
        match own.first().and_then(judged) {
            Some(decisive) if decisive.verdict == Verdict::Valid => (Answer::Kept, None),
            Some(decisive) => (Answer::CouldNotTell, decisive.reason.clone()),
            None => (Answer::CouldNotTell, Some(lacking(promise).to_owned())),
        }
    }

    /// Returns the outcome that follows from the verdicts of the run: from the promises that it
    /// tests, where it is a situation, and else from what was expected of it and of its steps.
    pub fn due_outcome(&self) -> Outcome {
        let stopped = self.stopped.is_some();
        let of_expectations = || match self.unmet_step {
            Some(_) => Outcome::Unexpected,
            None => Outcome::of(&self.expectations, stopped),
        };
        self.outcome_of_situation().unwrap_or_else(of_expectations)
    }

    /// Returns the outcome of a run in a situation: a promise that is broken is not as expected,
    /// and a run that can tell of none of those that the lock makes is unknown. `None` for a run of
    /// another kind.
    fn outcome_of_situation(&self) -> Option<Outcome> {
        self.situation.as_ref()?;
        let answers = self.outcomes().into_iter().map(|outcome| outcome.answer());
        let answers: Vec<Answer> = answers.collect();
        Some(if answers.contains(&Answer::Broken) {
            Outcome::Unexpected
        } else if answers.contains(&Answer::CouldNotTell) && !answers.contains(&Answer::Kept) {
            Outcome::Unknown
        } else {
            Outcome::AsExpected
        })
    }

    /// Returns the violations of the run that no lock of its kind can prevent, each with the
    /// reason.
    pub fn inherent(&self) -> Vec<(Property, &str)> {
        let inherent = self.situation.iter().flat_map(|tested| &tested.inherent);
        let is_violated = |property: &Property| {
            let judged = self.analysis.properties.get(property);
            judged.is_some_and(|judgement| judgement.verdict == Verdict::Violated)
        };
        inherent
            .filter(|(property, _)| is_violated(property))
            .map(|(property, reason)| (*property, reason.as_str()))
            .collect()
    }
}

/// Returns the answer for a promise of which a property is violated, with the first claim. A lease
/// that may have been over when it was granted is none that certainly was.
fn violation(property: Property, judgement: &Judgement) -> (Answer, Option<String>) {
    let claim = |witness: &Witness| witness.claim.clone();
    let first = judgement.witnesses.first();
    let is_certain = judgement.witnesses.iter().any(|witness| witness.certain);
    if property == Property::DeadOnArrival && !is_certain {
        let doubt = |witness| format!("it is not certain that {}", claim(witness));
        return (Answer::CouldNotTell, first.map(doubt));
    }
    (Answer::Broken, first.map(claim))
}

/// Words for what was missing in a run that has nothing to judge the promise by.
const fn lacking(promise: Promise) -> &'static str {
    match promise {
        Promise::HonestRefusal => "nobody was told that somebody else has the lock",
        Promise::OwnRelease => "nobody released a lock that was another's or nobody's",
        Promise::ValidOnReturn => "of no lease is it known when the servers were asked for it",
        Promise::LeavesNothing => {
            "no server was asked what it has after a try failed or a lock was given back"
        }
        _ => "this run has nothing by which it could be judged",
    }
}

/// Tells whether the answer to a step can break a promise by itself. That a lock is granted after a
/// foreign release may also be because the holder's lease has ended: the checker knows, by the
/// times of both.
fn answers_tell(promise: Promise) -> bool {
    promise != Promise::OwnRelease
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn answers(run: &RunRecord) -> Vec<(Promise, Answer)> {
        let outcomes = run.outcomes().into_iter();
        outcomes
            .map(|outcome| (outcome.promise, outcome.answer()))
            .collect()
    }

    fn put(mut run: RunRecord, tests: &[Promise], promised: &[Promise]) -> RunRecord {
        run.situation = Some(Tested {
            tests: tests.to_vec(),
            promised: promised.to_vec(),
            ..Tested::default()
        });
        run
    }

    const EXCLUSIVE: &[Promise] = &[Promise::Exclusive];

    #[test]
    fn a_violation_breaks_a_promise_that_the_lock_makes_and_no_other() {
        let run = put(sample::failover_run(), EXCLUSIVE, EXCLUSIVE);
        assert_eq!(answers(&run), [(Promise::Exclusive, Answer::Broken)]);
        assert_eq!(run.outcome_of_situation(), Some(Outcome::Unexpected));
        let run = put(sample::failover_run(), EXCLUSIVE, &[]);
        assert_eq!(answers(&run), [(Promise::Exclusive, Answer::NotPromised)]);
        assert_eq!(run.outcomes()[0].seen, Answer::Broken, "told all the same");
        assert_eq!(run.outcome_of_situation(), Some(Outcome::AsExpected));
    }

    #[test]
    fn only_a_run_that_could_have_shown_a_violation_says_kept() {
        let run = put(sample::control_run(), EXCLUSIVE, EXCLUSIVE);
        assert_eq!(answers(&run), [(Promise::Exclusive, Answer::Kept)]);
        let run = put(sample::vacuous_run(), EXCLUSIVE, EXCLUSIVE);
        assert_eq!(answers(&run), [(Promise::Exclusive, Answer::CouldNotTell)]);
        assert_eq!(run.outcome_of_situation(), Some(Outcome::Unknown));
        let mut run = put(sample::control_run(), EXCLUSIVE, EXCLUSIVE);
        run.stopped = Some("step 3 (acquire): expected granted, got refused".to_owned());
        assert_eq!(answers(&run), [(Promise::Exclusive, Answer::CouldNotTell)]);
    }

    #[test]
    fn an_answer_breaks_its_promise_unless_the_harness_stood_still() {
        let obtainable = &[Promise::Obtainable];
        let mut run = put(sample::control_run(), obtainable, obtainable);
        run.stopped = Some("step 3 (acquire): expected granted, got refused".to_owned());
        run.situation.as_mut().unwrap().broken_by_answer = Some(Promise::Obtainable);
        assert_eq!(answers(&run), [(Promise::Obtainable, Answer::Broken)]);
        run.analysis.stalls = Some(lockstorm_checker::verdict::Stalls::default());
        assert_eq!(answers(&run), [(Promise::Obtainable, Answer::CouldNotTell)]);
    }

    #[test]
    fn a_run_is_tried_again_if_the_machine_kept_it_from_telling() {
        let stood_still = |mut run: RunRecord| {
            run.analysis.stalls = Some(lockstorm_checker::verdict::Stalls::default());
            run.outcome = run.due_outcome();
            run
        };
        let vacuous = || put(sample::vacuous_run(), EXCLUSIVE, EXCLUSIVE);
        assert!(!vacuous().was_held_up(), "it had all its time");
        assert!(stood_still(vacuous()).was_held_up());
        let kept = put(sample::control_run(), EXCLUSIVE, EXCLUSIVE);
        assert!(!stood_still(kept).was_held_up(), "it has told all");
        let of_no_concern = put(sample::vacuous_run(), EXCLUSIVE, &[]);
        assert!(!stood_still(of_no_concern).was_held_up());
        let broken = put(sample::failover_run(), EXCLUSIVE, EXCLUSIVE);
        assert!(!stood_still(broken).was_held_up(), "it is a proof");
    }

    #[test]
    fn an_answer_alone_does_not_tell_a_foreign_release_from_a_lease_that_ended() {
        let own = &[Promise::OwnRelease];
        let mut run = put(sample::control_run(), own, own);
        run.stopped = Some("step 4 (acquire): expected not-granted, got granted".to_owned());
        run.situation.as_mut().unwrap().broken_by_answer = Some(Promise::OwnRelease);
        assert_eq!(answers(&run), [(Promise::OwnRelease, Answer::CouldNotTell)]);
    }

    #[test]
    fn what_is_inherent_is_told_and_breaks_nothing() {
        let mut run = put(sample::failover_run(), &[Promise::Fenced], &[]);
        let inherent = (Property::MutualExclusion, "nobody can".to_owned());
        run.situation.as_mut().unwrap().inherent = BTreeMap::from([inherent]);
        assert_eq!(run.inherent(), [(Property::MutualExclusion, "nobody can")]);
        assert_eq!(run.outcome_of_situation(), Some(Outcome::AsExpected));
    }
}
