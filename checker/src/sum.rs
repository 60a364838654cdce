//! The answers of several looks at one history, added up.
//!
//! A long history is looked at part by part. What may still matter later is carried into the next
//! part, and would count again there; so the answers to what is carried alone are taken off.
//!
//! ```text
//! history      |---- first part ----|---- second part ----|
//! looks        |====================|                        + all answers
//!                         |=========|                        - what is carried
//!                         |===============================|  + all answers
//! ```

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::case::Tested;
use crate::examine::{Answer, Examination, Mark};
use crate::history::Nanos;
use crate::options::Options;
use crate::property::rule;
use crate::vacuity::Run;
use crate::verdict::{
    Analysis, Availability, Coverage, Cycles, FaultSummary, Judgement, Property, Verdict, Witness,
};

/// Violations that no look need tell of.
pub(crate) type Known = BTreeMap<Property, BTreeSet<Mark>>;

/// What was found so far.
#[derive(Default)]
pub(crate) struct Sum {
    added: Figures,
    taken: Figures,
    /// As the last look knows them.
    faults: Vec<FaultSummary>,
    is_granted: bool,
    answers: BTreeMap<Property, Total>,
}

/// What adds up.
#[derive(Default)]
struct Figures {
    coverage: Coverage,
    availability: Availability,
    /// Operations and violations of each fault, by its id.
    faults: HashMap<String, (u64, u64)>,
    violations: BTreeMap<Property, u64>,
}

/// What was found of one property.
struct Total {
    engine: &'static str,
    has_matter: bool,
    tested: Tested,
    told: BTreeMap<Mark, Witness>,
    /// Those of them that the next look will find again, or know better.
    carried: Vec<Mark>,
    stands: bool,
}

impl Sum {
    /// Adds the answers to a part of the history, with what was carried into it.
    pub(crate) fn add(&mut self, found: Examination) {
        self.added.add(&found);
        self.faults = found.faults;
        self.is_granted |= found.is_granted;
        for (property, answer) in found.answers {
            match self.answers.get_mut(&property) {
                Some(total) => total.add(property, answer),
                None => drop(self.answers.insert(property, Total::of(answer))),
            }
        }
    }

    /// Takes off the answers to what is carried into the next part. Answered is which violations
    /// only seem to be there for what was not carried; the next look need not tell of them.
    pub(crate) fn subtract(&mut self, carried: &Examination) -> Known {
        self.taken.add(carried);
        let mut known = Known::new();
        for (property, answer) in &carried.answers {
            let total = self.answers.get_mut(property);
            let seeming = total.map(|total| total.subtract(answer));
            known.extend(seeming.map(|seeming| (*property, seeming)));
        }
        known
    }

    /// The verdicts.
    pub(crate) fn conclude(self, options: &Options) -> Analysis {
        let figures = self.added.less(&self.taken);
        let mut faults = self.faults;
        for fault in &mut faults {
            let counts = figures.faults.get(&fault.id);
            (fault.operations, fault.violations) = counts.copied().unwrap_or_default();
        }
        let run = Run {
            coverage: &figures.coverage,
            faults: &faults,
            availability: figures.availability,
            model: options.model,
            is_granted: self.is_granted,
        };
        let is_told = |total: &Total| total.has_matter || options.only.is_some();
        let told = self.answers.into_iter().filter(|(_, total)| is_told(total));
        let properties: BTreeMap<Property, Judgement> = told
            .map(|(property, total)| {
                let count = figures.violations.get(&property).copied();
                let judgement = total.judgement(property, count.unwrap_or(0), &run, options);
                (property, judgement)
            })
            .collect();
        let verdicts = properties.values().map(|judgement| judgement.verdict);
        let is_wanted = figures.availability.wanted > Nanos(0);
        Analysis {
            verdict: verdicts.reduce(Verdict::merge).unwrap_or(Verdict::Unknown),
            properties,
            coverage: figures.coverage,
            faults,
            availability: is_wanted.then_some(figures.availability),
        }
    }
}

impl Figures {
    fn add(&mut self, found: &Examination) {
        self.coverage = combined(&self.coverage, &found.coverage, u64::saturating_add);
        let (sum, new) = (&mut self.availability, found.availability);
        sum.wanted = sum.wanted + new.wanted;
        sum.without_grant = sum.without_grant + new.without_grant;
        sum.longest = sum.longest.max(new.longest);
        for (at, fault) in found.faults.iter().enumerate() {
            let inside = found.answers.iter().map(|(_, answer)| answer.by_fault[at]);
            let counts = self.faults.entry(fault.id.clone()).or_default();
            counts.0 += fault.operations;
            counts.1 += inside.sum::<u64>();
        }
        for (property, answer) in &found.answers {
            *self.violations.entry(*property).or_default() += answer.count;
        }
    }

    fn less(mut self, taken: &Self) -> Self {
        self.coverage = combined(&self.coverage, &taken.coverage, u64::saturating_sub);
        let (sum, old) = (&mut self.availability, taken.availability);
        sum.wanted = sum.wanted.saturating_sub(old.wanted);
        sum.without_grant = sum.without_grant.saturating_sub(old.without_grant);
        for (id, (operations, violations)) in &mut self.faults {
            let taken = taken.faults.get(id).copied().unwrap_or_default();
            *operations = operations.saturating_sub(taken.0);
            *violations = violations.saturating_sub(taken.1);
        }
        for (property, count) in &mut self.violations {
            let taken = taken.violations.get(property).copied();
            *count = count.saturating_sub(taken.unwrap_or(0));
        }
        self
    }
}

/// The counts of both; of events, keys, owners and turns each look knows all, or none at all.
fn combined(one: &Coverage, other: &Coverage, each: impl Fn(u64, u64) -> u64) -> Coverage {
    Coverage {
        events: one.events.max(other.events),
        keys: one.keys.max(other.keys),
        owners: one.owners.max(other.owners),
        redirects: one.redirects.max(other.redirects),
        reconnects: one.reconnects.max(other.reconnects),
        operations: each(one.operations, other.operations),
        granted: each(one.granted, other.granted),
        refused: each(one.refused, other.refused),
        indeterminate: each(one.indeterminate, other.indeterminate),
        contended: each(one.contended, other.contended),
        granted_under_fault: each(one.granted_under_fault, other.granted_under_fault),
        expired: each(one.expired, other.expired),
        cycles: cycles(one.cycles, other.cycles, each),
    }
}

fn cycles(
    one: Option<Cycles>,
    other: Option<Cycles>,
    each: impl Fn(u64, u64) -> u64,
) -> Option<Cycles> {
    let none = Cycles {
        count: 0,
        since: Nanos::MAX,
        until: Nanos(0),
    };
    let (one, other) = (one.unwrap_or(none), other.unwrap_or(none));
    let both = Cycles {
        count: each(one.count, other.count),
        since: one.since.min(other.since),
        until: one.until.max(other.until),
    };
    (both.count > 0).then_some(both)
}

impl Total {
    fn of(answer: Answer) -> Self {
        Self {
            engine: answer.engine,
            has_matter: answer.has_matter,
            tested: answer.tested,
            told: answer.told.into_iter().collect(),
            carried: Vec::new(),
            stands: answer.stands,
        }
    }

    fn add(&mut self, property: Property, answer: Answer) {
        self.stands &= answer.stands;
        if answer.is_all {
            // What a longer history takes back, such as a wait that was answered at last.
            for mark in self.carried.drain(..) {
                self.told.remove(&mark);
            }
        }
        self.carried.clear();
        self.told.extend(answer.told);
        let ends = rule(property).decides_last() && answer.has_matter;
        self.has_matter |= answer.has_matter;
        let before = std::mem::replace(&mut self.tested, Tested::Yes);
        self.tested = match (before, answer.tested) {
            (never @ Tested::Never(_), _) | (_, never @ Tested::Never(_)) => never,
            (_, last) if ends => last,
            (Tested::Yes, _) | (_, Tested::Yes) => Tested::Yes,
            (Tested::No(_), Tested::No(reason)) => Tested::No(reason),
        };
    }

    /// Answered is what was not told of before.
    fn subtract(&mut self, answer: &Answer) -> BTreeSet<Mark> {
        let marks = answer.told.iter().map(|(mark, _)| mark.clone());
        let (carried, seeming) = marks.partition(|mark| self.told.contains_key(mark));
        self.carried = carried;
        let seeming: Vec<Mark> = seeming;
        seeming.into_iter().collect()
    }

    fn judgement(self, property: Property, count: u64, run: &Run, options: &Options) -> Judgement {
        let mut judgement = Judgement {
            verdict: Verdict::Unknown,
            engine: self.engine.to_owned(),
            count,
            ..Judgement::default()
        };
        let reason = match self.tested {
            _ if !self.stands => Some(
                "a witness did not stand up to its replay, which is a fault of the checker: \
                 please report it with the history"
                    .to_owned(),
            ),
            Tested::Never(reason) => {
                judgement.count = 0;
                Some(reason)
            }
            _ if count > 0 => {
                // One violation may have been told of twice, as seen beside different operations.
                let all = usize::try_from(count).unwrap_or(usize::MAX);
                let told = all.min(options.witnesses_max);
                let witnesses = self.told.into_values().take(told);
                judgement.witnesses = witnesses.collect();
                judgement.verdict = Verdict::Violated;
                None
            }
            Tested::No(reason) => Some(reason),
            Tested::Yes => rule(property).weigh(run).or_else(|| {
                judgement.verdict = Verdict::Valid;
                rule(property).remark(run)
            }),
        };
        judgement.reason = reason;
        judgement
    }
}
