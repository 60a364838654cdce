//! Findings: the violations that a report tells, grouped by their kind, each with one witness.

use std::borrow::Cow;
use std::collections::HashMap;

use lockstorm_checker::verdict::{Judgement, Witness};
use lockstorm_checker::{Property, Verdict};
use lockstorm_scenarios::{Expected, Promise};

use crate::model::{Answer, ExpectationResult, RunRecord, SuiteRecord, SuiteRun};
use crate::remedy::Scene;
use crate::words;

/// Findings that a report tells in full; what is left out is counted. More than this nobody
/// reads, and a page with thousands of drawings does not open.
pub(crate) const FINDINGS_MAX: usize = 50;

/// One kind of violation at one place, told by its first witness: the group is that of the property
/// and the signature, in a run, or in the runs of one cell of a suite.
pub(crate) struct Finding<'a> {
    pub(crate) run: &'a RunRecord,
    /// Run folder, relative to the suite folder; absent in the report of a single run.
    pub(crate) folder: Option<&'a str>,
    pub(crate) property: Property,
    pub(crate) judgement: &'a Judgement,
    pub(crate) witness: &'a Witness,
    /// How many witnesses of this kind the run has, this one among them.
    pub(crate) here: usize,
    /// Further runs of the same cell that show the same kind.
    pub(crate) also: Vec<&'a SuiteRun>,
}

impl<'a> Finding<'a> {
    /// Returns the expectation of the scenario of the property.
    pub(crate) fn expectation(&self) -> Option<&ExpectationResult> {
        self.run
            .expectations
            .iter()
            .find(|result| result.property == self.property)
    }

    /// Tells whether the scenario expects something else.
    pub(crate) fn is_unexpected(&self) -> bool {
        if self.run.situation.is_some() {
            return !self.broken().is_empty();
        }
        let result = self.expectation();
        !self.run.without_scenario && result.is_some_and(|result| !result.met)
    }

    /// Tells whether the scenario expects it, in words.
    pub(crate) fn against(&self) -> Cow<'static, str> {
        let broken = self.broken();
        if !broken.is_empty() {
            return format!("breaks {}", broken.join(", ")).into();
        }
        Cow::Borrowed(match self.expectation() {
            Some(_) | None if self.run.without_scenario => "nothing expected",
            Some(_) | None if self.is_inherent() => "inherent",
            Some(_) | None if self.is_not_promised() => "not promised",
            Some(_) | None if self.run.situation.is_some() => "not what the situation tests",
            Some(result) if !result.met => "not as expected",
            Some(result) if result.expected.of_one_run() != Expected::Any => "as expected",
            Some(_) | None => "nothing expected",
        })
    }

    /// Names of the promises that it breaks, in a situation.
    fn broken(&self) -> Vec<&'static str> {
        let outcomes = self.run.outcomes().into_iter();
        let broken = outcomes.filter(|outcome| {
            let is_by = outcome.promise.properties().contains(&self.property);
            is_by && outcome.answer() == Answer::Broken
        });
        broken.map(|outcome| outcome.promise.name()).collect()
    }

    /// Tells whether no lock of this kind can prevent it, in the situation of the run.
    fn is_inherent(&self) -> bool {
        let situation = self.run.situation.as_ref();
        situation.is_some_and(|tested| tested.inherent.contains_key(&self.property))
    }

    /// Tells whether it would break a promise that the situation tests and the lock does not make.
    fn is_not_promised(&self) -> bool {
        let is_by = |promise: &&Promise| promise.properties().contains(&self.property);
        self.run.situation.as_ref().is_some_and(|tested| {
            let mut tested_by = tested.tests.iter().filter(is_by).peekable();
            tested_by.peek().is_some() && tested_by.all(|by| !tested.promised.contains(by))
        })
    }

    /// The witness with what its run tells of faults and servers.
    pub(crate) fn scene(&self) -> Scene<'a> {
        Scene::of_run(self.run, self.witness)
    }

    /// How often this was found, in sentences; none where it was found once.
    pub(crate) fn counted(&self) -> Option<String> {
        let mut sentences = Vec::new();
        if self.here > 1 {
            sentences.push(format!(
                "{} witnesses of this kind in the run; the first is shown.",
                self.here
            ));
        }
        let kept = self.judgement.witnesses.len() as u64;
        if self.judgement.count > kept {
            sentences.push(format!(
                "The run violates {} {} times in all; the first {kept} have a witness.",
                words::property(self.property),
                self.judgement.count
            ));
        }
        if !self.also.is_empty() {
            sentences.push(format!(
                "The same kind is found in {}.",
                words::count(self.also.len() as u64, "more run")
            ));
        }
        (!sentences.is_empty()).then(|| sentences.join(" "))
    }

    fn is_like(&self, property: Property, witness: &Witness) -> bool {
        self.property == property && self.witness.signature == witness.signature
    }
}

/// Findings that a report tells, and how many there are in all.
pub(crate) struct Findings<'a> {
    pub(crate) told: Vec<Finding<'a>>,
    pub(crate) total: usize,
}

impl<'a> Findings<'a> {
    fn limited(mut told: Vec<Finding<'a>>) -> Self {
        let total = told.len();
        told.truncate(FINDINGS_MAX);
        Self { told, total }
    }

    /// Each kind of violation of a run.
    pub(crate) fn of_run(run: &'a RunRecord) -> Self {
        Self::limited(kinds(run, None))
    }

    /// Each kind of violation of each cell, by the first run that shows it; unexpected ones come
    /// first.
    pub(crate) fn of_suite(suite: &'a SuiteRecord) -> Self {
        Self::limited(kinds_of_suite(suite))
    }

    /// Those of a suite that are not as expected.
    pub(crate) fn unexpected(suite: &'a SuiteRecord) -> Self {
        let mut told = kinds_of_suite(suite);
        told.retain(Finding::is_unexpected);
        Self::limited(told)
    }

    /// How many are left out.
    pub(crate) fn left_out(&self) -> usize {
        self.total - self.told.len()
    }
}

/// Each kind of violation of each cell, without a limit.
pub(crate) fn kinds_of_suite(suite: &SuiteRecord) -> Vec<Finding<'_>> {
    let mut told: Vec<Finding> = Vec::new();
    // By cell and kind: a suite of ten thousand runs is not searched for each of them.
    let mut known: HashMap<(Cell, Property, &str), usize> = HashMap::new();
    for run in &suite.runs {
        for finding in kinds(&run.record, Some(&run.folder)) {
            let kind = (
                cell(&run.record),
                finding.property,
                finding.witness.signature.as_str(),
            );
            if let Some(&at) = known.get(&kind) {
                told[at].also.push(run);
            } else {
                known.insert(kind, told.len());
                told.push(finding);
            }
        }
    }
    told.sort_by_key(|finding| !finding.is_unexpected());
    told
}

/// Lock, topology and hazard: a place in a comparison.
type Cell<'a> = (&'a str, &'a str, &'a str);

fn cell(run: &RunRecord) -> Cell<'_> {
    let labels = &run.labels;
    (&labels.lock, &labels.topology, &labels.hazard)
}

/// Each kind of violation of a run, without a limit.
pub(crate) fn kinds<'a>(run: &'a RunRecord, folder: Option<&'a str>) -> Vec<Finding<'a>> {
    let mut told: Vec<Finding> = Vec::new();
    for (property, judgement) in violated(run) {
        for witness in &judgement.witnesses {
            let mut known = told.iter_mut();
            if let Some(finding) = known.find(|finding| finding.is_like(property, witness)) {
                finding.here += 1;
                continue;
            }
            told.push(Finding {
                run,
                folder,
                property,
                judgement,
                witness,
                here: 1,
                also: Vec::new(),
            });
        }
    }
    told
}

fn violated(run: &RunRecord) -> impl Iterator<Item = (Property, &Judgement)> {
    let judged = run.analysis.properties.iter();
    judged
        .filter(|(_, judgement)| judgement.verdict == Verdict::Violated)
        .map(|(property, judgement)| (*property, judgement))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn repetitions_of_a_cell_share_one_finding() {
        let suite = sample::suite();
        let findings = Findings::of_suite(&suite);
        let again: Vec<usize> = findings.told.iter().map(|f| f.also.len()).collect();
        assert_eq!(again, [0, 1, 1, 0], "two cells, two properties each");
    }

    #[test]
    fn what_nobody_expected_comes_first() {
        let suite = sample::suite();
        let findings = Findings::of_suite(&suite);
        assert_eq!(findings.told[0].run.labels.topology, "single");
        assert_eq!(findings.told[0].property, Property::MutualExclusion);
    }

    /// The failover run with so many witnesses of mutual exclusion, each of the given kind.
    fn run_with(kinds: impl Iterator<Item = String>) -> RunRecord {
        let mut run = sample::failover_run();
        let judgement = run
            .analysis
            .properties
            .get_mut(&Property::MutualExclusion)
            .unwrap();
        let witness = judgement.witnesses[0].clone();
        let of = |signature| Witness {
            signature,
            ..witness.clone()
        };
        judgement.witnesses = kinds.map(of).collect();
        run
    }

    #[test]
    fn findings_beyond_the_limit_are_counted() {
        let kinds = (0..FINDINGS_MAX + 7).map(|n| format!("kind {n}"));
        let run = run_with(kinds);
        let findings = Findings::of_run(&run);
        assert_eq!(findings.told.len(), FINDINGS_MAX);
        assert_eq!(findings.left_out(), 8, "seven more, and the lost lock");
    }

    #[test]
    fn witnesses_of_one_kind_share_a_finding_that_counts_them() {
        let mut run = run_with(["x", "y", "x", "x"].map(str::to_owned).into_iter());
        let judgement = run.analysis.properties.get_mut(&Property::MutualExclusion);
        judgement.unwrap().count = 421;
        let findings = Findings::of_run(&run);
        let counts: Vec<usize> = findings.told.iter().map(|f| f.here).collect();
        assert_eq!(counts, [3, 1, 1], "x, y, and the lost lock");
        assert_eq!(
            findings.told[0].counted().as_deref(),
            Some(
                "3 witnesses of this kind in the run; the first is shown. The run violates mutual \
                 exclusion 421 times in all; the first 4 have a witness."
            )
        );
        assert_eq!(findings.told[2].counted(), None, "found once");
    }

    #[test]
    fn other_kinds_of_one_cell_are_findings_of_their_own() {
        let mut suite = sample::suite();
        let again = suite.runs[2].record.analysis.properties.values_mut();
        for judgement in again {
            for witness in &mut judgement.witnesses {
                witness.signature.push_str(", another");
            }
        }
        let findings = Findings::of_suite(&suite);
        assert_eq!(findings.total, 6, "two of three runs each, and two more");
        assert!(findings.told.iter().all(|finding| finding.also.is_empty()));
    }
}
