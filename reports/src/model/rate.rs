//! How many of the repeated runs of a scenario violate a property, against what it expects of them.
//!
//! For: expectations such as `lost-lock = { violated = "1.." }`, which one run cannot meet or miss.
//! They are judged from the runs that a suite has, so that shards which are put together are judged
//! as the whole. Not for: words.

use lockstorm_checker::{Property, Verdict};
use lockstorm_scenarios::{CaseLabels, Expected, RunRange};

use super::record::{NotRun, Outcome, RunRecord, SuiteRecord};

/// One such expectation, and the runs that it counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate<'a> {
    /// Name of the scenario.
    pub scenario: &'a str,
    /// Place of the runs in a comparison.
    pub labels: &'a CaseLabels,
    /// The property.
    pub property: Property,
    /// How many runs are expected to violate it.
    pub expected: RunRange,
    /// How many do.
    pub violated: u64,
    /// How many could not tell, or were not reached.
    pub unknown: u64,
    /// How many there are.
    pub of: u64,
    /// The first of them.
    pub first: &'a RunRecord,
}

impl Rate<'_> {
    /// Judges it: not met only if no answer of the runs that could not tell would meet it.
    pub fn outcome(&self) -> Outcome {
        let possible = self.violated..=self.violated + self.unknown;
        let met = possible
            .clone()
            .filter(|count| self.expected.contains(*count, self.of))
            .count();
        if met == possible.count() {
            Outcome::AsExpected
        } else if met > 0 {
            Outcome::Unknown
        } else if self.property.is_safety() || self.is_missed_below() {
            Outcome::Unexpected
        } else {
            Outcome::LivenessFailed
        }
    }

    /// Counts a run with this verdict; what one that stopped early has not shown says nothing.
    fn count(&mut self, run: &RunRecord, verdict: Verdict) {
        self.of += 1;
        match verdict {
            Verdict::Violated => self.violated += 1,
            Verdict::Valid if run.stopped.is_none() => {}
            Verdict::Valid | Verdict::Unknown => self.unknown += 1,
        }
    }

    /// Tells whether too few runs are violated: as with a violation that was to come and did not,
    /// that is no matter of waiting.
    fn is_missed_below(&self) -> bool {
        let least = RunRange {
            max: None,
            ..self.expected
        };
        !least.contains(self.violated + self.unknown, self.of)
    }
}

impl SuiteRecord {
    /// The expectations that count runs, each once, in the order of the runs.
    pub fn rates(&self) -> Vec<Rate<'_>> {
        let mut rates: Vec<Rate<'_>> = Vec::new();
        for run in self.runs.iter().map(|run| &run.record) {
            for result in &run.expectations {
                let Expected::ViolatedIn(expected) = result.expected else {
                    continue;
                };
                let property = result.property;
                let is_same = |rate: &Rate<'_>| {
                    (rate.scenario, rate.labels, rate.property)
                        == (&*run.scenario, &run.labels, property)
                };
                let known = rates.iter().position(is_same);
                let at = known.unwrap_or_else(|| {
                    rates.push(self.uncounted(run, property, expected));
                    rates.len() - 1
                });
                rates[at].count(run, result.actual);
            }
        }
        rates
    }

    /// The expectation of a run before any run is counted but those whose turn never came.
    fn uncounted<'a>(
        &'a self,
        run: &'a RunRecord,
        property: Property,
        expected: RunRange,
    ) -> Rate<'a> {
        let unreached = self.unreached(&run.labels);
        Rate {
            scenario: &run.scenario,
            labels: &run.labels,
            property,
            expected,
            violated: 0,
            unknown: unreached,
            of: unreached,
            first: run,
        }
    }

    /// Number of runs of a cell whose turn never came.
    fn unreached(&self, labels: &CaseLabels) -> u64 {
        let cells = self.not_run.iter().filter(|cell| cell.labels == *labels);
        cells.filter(|cell| NotRun::was_not_reached(cell)).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    /// Outcome of `expected` where so many of ten runs are violated, and so many could not tell.
    fn outcome(property: Property, expected: &str, violated: u64, unknown: u64) -> Outcome {
        let run = sample::failover_run();
        let rate = Rate {
            scenario: &run.scenario,
            labels: &run.labels,
            property,
            expected: expected.parse().expect(expected),
            violated,
            unknown,
            of: 10,
            first: &run,
        };
        rate.outcome()
    }

    #[test]
    fn runs_that_could_not_tell_leave_open_only_what_they_could_change() {
        let lost =
            |expected, violated, unknown| outcome(Property::LostLock, expected, violated, unknown);
        assert_eq!(lost("1..", 1, 9), Outcome::AsExpected);
        assert_eq!(lost("1..", 0, 0), Outcome::Unexpected);
        assert_eq!(lost("1..", 0, 1), Outcome::Unknown);
        assert_eq!(lost("..2", 3, 0), Outcome::Unexpected);
        assert_eq!(lost("..2", 1, 2), Outcome::Unknown);
        assert_eq!(lost("3..", 1, 1), Outcome::Unexpected);
        assert_eq!(lost("50%..", 5, 0), Outcome::AsExpected);
    }

    #[test]
    fn too_many_missed_bounds_are_told_apart_from_a_lock_that_failed() {
        let late = |expected, violated| outcome(Property::Liveness, expected, violated, 0);
        assert_eq!(late("..2", 3), Outcome::LivenessFailed);
        assert_eq!(late("1..", 0), Outcome::Unexpected);
    }

    #[test]
    fn the_runs_of_a_cell_are_counted_together() {
        let mut suite = sample::suite();
        let runs = suite.runs.len();
        for run in &mut suite.runs {
            run.record.scenario = "same".to_owned();
            run.record.labels = suite_label();
            for result in &mut run.record.expectations {
                result.expected = Expected::ViolatedIn("1..".parse().expect("a range"));
            }
        }
        let rates = suite.rates();
        let most = rates.iter().map(|rate| rate.of).max();
        assert_eq!(most, Some(runs as u64));
        let mut properties: Vec<_> = rates.iter().map(|rate| rate.property).collect();
        properties.dedup();
        assert_eq!(properties.len(), rates.len(), "each once");
    }

    fn suite_label() -> CaseLabels {
        sample::failover_run().labels
    }
}
