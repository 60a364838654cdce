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

use std::collections::{BTreeMap, HashMap};

use crate::case::Tested;
use crate::examine::{Answer, Examination, Mark};
use crate::options::Options;
use crate::property::rule;
use crate::vacuity::Run;
use crate::verdict::{
    Analysis, Availability, Coverage, FaultSummary, Judgement, Property, Verdict, Witness,
};

/// What was found so far.
#[derive(Default)]
pub(crate) struct Sum {
    coverage: Coverage,
    availability: Availability,
    /// As the last look knows them, with the counts of all looks.
    faults: Vec<FaultSummary>,
    is_granted: bool,
    answers: BTreeMap<Property, Total>,
}

/// What was found of one property.
struct Total {
    engine: &'static str,
    has_matter: bool,
    tested: Tested,
    count: u64,
    told: BTreeMap<Mark, Witness>,
    stands: bool,
}

impl Sum {
    /// Adds the answers to a part of the history, with what was carried into it.
    pub(crate) fn add(&mut self, mut found: Examination) {
        let Coverage {
            events,
            keys,
            owners,
            ..
        } = found.coverage;
        self.each_count(&found.coverage, u64::saturating_add);
        // These do not add up: the same keys and owners come again.
        (self.coverage.events, self.coverage.keys) = (events, keys);
        self.coverage.owners = owners;
        let (sum, new) = (&mut self.availability, found.availability);
        sum.wanted = sum.wanted + new.wanted;
        sum.without_grant = sum.without_grant + new.without_grant;
        sum.longest = sum.longest.max(new.longest);
        self.is_granted |= found.is_granted;
        for (at, fault) in found.faults.iter_mut().enumerate() {
            let answers = found.answers.iter();
            fault.violations = answers.map(|(_, answer)| answer.by_fault[at]).sum();
        }
        self.each_fault(&found.faults, u64::saturating_add);
        for (property, answer) in found.answers {
            match self.answers.get_mut(&property) {
                Some(total) => total.add(property, answer),
                None => drop(self.answers.insert(property, Total::of(answer))),
            }
        }
    }

    /// Takes off the answers to what is carried into the next part.
    pub(crate) fn subtract(&mut self, carried: &Examination) {
        self.each_count(&carried.coverage, u64::saturating_sub);
        let (sum, old) = (&mut self.availability, carried.availability);
        sum.wanted = sum.wanted.saturating_sub(old.wanted);
        sum.without_grant = sum.without_grant.saturating_sub(old.without_grant);
        let mut faults = carried.faults.clone();
        for (at, fault) in faults.iter_mut().enumerate() {
            let answers = carried.answers.iter();
            fault.violations = answers.map(|(_, answer)| answer.by_fault[at]).sum();
        }
        self.each_fault(&faults, u64::saturating_sub);
        for (property, answer) in &carried.answers {
            if let Some(total) = self.answers.get_mut(property) {
                total.count = total.count.saturating_sub(answer.count);
                for (mark, _) in &answer.told {
                    total.told.remove(mark);
                }
            }
        }
    }

    /// The verdicts.
    pub(crate) fn conclude(self, options: &Options) -> Analysis {
        let run = Run {
            coverage: &self.coverage,
            faults: &self.faults,
            availability: self.availability,
            model: options.model,
            is_granted: self.is_granted,
        };
        let is_told = |total: &Total| total.has_matter || options.only.is_some();
        let told = self.answers.into_iter().filter(|(_, total)| is_told(total));
        let properties: BTreeMap<Property, Judgement> = told
            .map(|(property, total)| (property, total.judgement(property, &run, options)))
            .collect();
        let verdicts = properties.values().map(|judgement| judgement.verdict);
        let is_wanted = self.availability.wanted > Availability::default().wanted;
        Analysis {
            verdict: verdicts.reduce(Verdict::merge).unwrap_or(Verdict::Unknown),
            properties,
            coverage: self.coverage,
            faults: self.faults,
            availability: is_wanted.then_some(self.availability),
        }
    }

    fn each_count(&mut self, other: &Coverage, change: impl Fn(u64, u64) -> u64) {
        let sum = &mut self.coverage;
        for (count, other) in [
            (&mut sum.operations, other.operations),
            (&mut sum.granted, other.granted),
            (&mut sum.refused, other.refused),
            (&mut sum.indeterminate, other.indeterminate),
            (&mut sum.contended, other.contended),
            (&mut sum.granted_under_fault, other.granted_under_fault),
            (&mut sum.expired, other.expired),
        ] {
            *count = change(*count, other);
        }
    }

    /// Takes the faults of another look, with the counts of both.
    fn each_fault(&mut self, others: &[FaultSummary], change: impl Fn(u64, u64) -> u64) {
        let known: HashMap<&str, &FaultSummary> = self
            .faults
            .iter()
            .map(|fault| (fault.id.as_str(), fault))
            .collect();
        let merged = others.iter().map(|other| {
            let known = known.get(other.id.as_str());
            let (operations, violations) =
                known.map_or((0, 0), |fault| (fault.operations, fault.violations));
            FaultSummary {
                operations: change(operations, other.operations),
                violations: change(violations, other.violations),
                ..other.clone()
            }
        });
        self.faults = merged.collect();
    }
}

impl Total {
    fn of(answer: Answer) -> Self {
        Self {
            engine: answer.engine,
            has_matter: answer.has_matter,
            tested: answer.tested,
            count: answer.count,
            told: answer.told.into_iter().collect(),
            stands: answer.stands,
        }
    }

    fn add(&mut self, property: Property, answer: Answer) {
        self.count = self.count.saturating_add(answer.count);
        self.stands &= answer.stands;
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

    fn judgement(self, property: Property, run: &Run, options: &Options) -> Judgement {
        let mut judgement = Judgement {
            engine: self.engine.to_owned(),
            count: self.count,
            ..Judgement::default()
        };
        let witnesses = self.told.into_values().take(options.witnesses_max);
        match self.tested {
            _ if !self.stands => {
                judgement.reason = Some(
                    "a witness did not stand up to its replay, which is a fault of the checker: \
                     please report it with the history"
                        .to_owned(),
                );
            }
            Tested::Never(reason) => {
                judgement.count = 0;
                judgement.reason = Some(reason);
            }
            _ if self.count > 0 => {
                judgement.verdict = Verdict::Violated;
                judgement.witnesses = witnesses.collect();
                return judgement;
            }
            Tested::No(reason) => judgement.reason = Some(reason),
            Tested::Yes => match rule(property).weigh(run) {
                Some(reason) => judgement.reason = Some(reason),
                None => {
                    judgement.verdict = Verdict::Valid;
                    judgement.reason = rule(property).remark(run);
                    return judgement;
                }
            },
        }
        judgement.verdict = Verdict::Unknown;
        judgement
    }
}
