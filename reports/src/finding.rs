//! Findings: the violations that a report tells, each with one witness.

use lockstorm_checker::verdict::{Judgement, Witness};
use lockstorm_checker::{Property, Verdict};

use crate::model::{ExpectationResult, RunRecord, SuiteRecord, SuiteRun};

/// Findings that a report tells in full; what is left out is counted. More than this nobody
/// reads, and a page with thousands of drawings does not open.
pub(crate) const FINDINGS_MAX: usize = 50;

/// One violation with its witness.
pub(crate) struct Finding<'a> {
    pub(crate) run: &'a RunRecord,
    /// Run folder, relative to the suite folder; absent in the report of a single run.
    pub(crate) folder: Option<&'a str>,
    pub(crate) property: Property,
    pub(crate) judgement: &'a Judgement,
    pub(crate) witness: &'a Witness,
    /// Further runs of the same cell with a violation of the same property.
    pub(crate) also: Vec<&'a SuiteRun>,
}

impl Finding<'_> {
    /// What the scenario expects of the property.
    pub(crate) fn expectation(&self) -> Option<&ExpectationResult> {
        self.run
            .expectations
            .iter()
            .find(|result| result.property == self.property)
    }
}

/// What a report tells, and how many findings there are in all.
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

    /// Each witness of a run.
    pub(crate) fn of_run(run: &'a RunRecord) -> Self {
        let each = violated(run).flat_map(|(property, judgement)| {
            judgement.witnesses.iter().map(move |witness| Finding {
                run,
                folder: None,
                property,
                judgement,
                witness,
                also: Vec::new(),
            })
        });
        Self::limited(each.collect())
    }

    /// The first witness of each violated property of each cell; unexpected ones come first.
    pub(crate) fn of_suite(suite: &'a SuiteRecord) -> Self {
        let mut told: Vec<Finding<'a>> = Vec::new();
        for run in &suite.runs {
            for (property, judgement) in violated(&run.record) {
                let known = told.iter_mut().find(|finding| {
                    finding.property == property && finding.run.labels == run.record.labels
                });
                if let Some(finding) = known {
                    finding.also.push(run);
                } else if let Some(witness) = judgement.witnesses.first() {
                    told.push(Finding {
                        run: &run.record,
                        folder: Some(&run.folder),
                        property,
                        judgement,
                        witness,
                        also: Vec::new(),
                    });
                }
            }
        }
        told.sort_by_key(|finding| finding.expectation().is_none_or(|result| result.met));
        Self::limited(told)
    }

    /// How many are left out.
    pub(crate) fn left_out(&self) -> usize {
        self.total - self.told.len()
    }
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

    #[test]
    fn findings_beyond_the_limit_are_counted() {
        let mut run = sample::failover_run();
        let judgement = run
            .analysis
            .properties
            .get_mut(&Property::MutualExclusion)
            .unwrap();
        let witness = judgement.witnesses[0].clone();
        judgement.witnesses = vec![witness; FINDINGS_MAX + 7];
        let findings = Findings::of_run(&run);
        assert_eq!(findings.told.len(), FINDINGS_MAX);
        assert_eq!(findings.left_out(), 8, "seven more, and the lost lock");
    }
}
