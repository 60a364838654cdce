//! Changes against an earlier run or suite: which findings are new, ongoing or resolved.
//!
//! For: the first question of everybody who has seen the last report. Findings are matched by their
//! cell (lock, topology, hazard), property and signature. Not for: judging; a finding that is gone
//! proves nothing, and says so where the run could not have shown it.

use std::collections::BTreeMap;

use lockstorm_checker::{Property, Verdict};

use crate::encode::Record;
use crate::finding::kinds;
use crate::model::{Change, ChangeState, Changes, RunRecord, Share, SuiteRecord};
use crate::words;

/// Fewer runs of a cell say nothing of how rare a finding is.
const RARE_RUNS_MIN: u64 = 5;
/// A finding is rare if at most one run in so many shows it.
const RARE_ONE_IN: u64 = 5;

impl Share {
    /// As in `3 of 20 runs`.
    pub fn words(self) -> String {
        match self.runs {
            0 => "not run".to_owned(),
            runs => format!("{} of {}", self.seen, words::count(runs, "run")),
        }
    }

    /// Tells whether it was seen, and in few of many runs.
    fn is_rare(self) -> bool {
        self.seen > 0 && self.runs >= RARE_RUNS_MIN && self.seen * RARE_ONE_IN <= self.runs
    }
}

impl Changes {
    /// The findings of a run beside those of `baseline`.
    pub fn of_run(run: &RunRecord, baseline: &Record) -> Self {
        Self::between(&[run], baseline, |_| true)
    }

    /// The findings of a run beside those of the same cell of `baseline`, for a run of a suite:
    /// the other cells have runs of their own.
    pub fn of_cell(run: &RunRecord, baseline: &Record) -> Self {
        Self::between(&[run], baseline, |before| before.labels == run.labels)
    }

    /// The findings of a suite beside those of `baseline`.
    pub fn of_suite(suite: &SuiteRecord, baseline: &Record) -> Self {
        let runs: Vec<&RunRecord> = suite.runs.iter().map(|run| &run.record).collect();
        Self::between(&runs, baseline, |_| true)
    }

    fn between(now: &[&RunRecord], baseline: &Record, counts: impl Fn(&RunRecord) -> bool) -> Self {
        let (name, mut before): (String, Vec<&RunRecord>) = match baseline {
            Record::Run(run) => (name(&run.scenario, run.seed, &run.started), vec![run]),
            Record::Suite(suite) => {
                let runs = suite.runs.iter().map(|run| &run.record);
                (
                    name(&suite.name, suite.seed, &suite.started),
                    runs.collect(),
                )
            }
        };
        before.retain(|run| counts(run));
        let (now, before) = (Side::of(now), Side::of(&before));
        let mut findings: Vec<Change> = Vec::new();
        for (kind, found) in &now.found {
            let is_old = before.found.contains_key(kind);
            let state = if is_old {
                ChangeState::Ongoing
            } else {
                ChangeState::New
            };
            findings.push(change(state, kind, found, (&now, &before)));
        }
        for (kind, found) in &before.found {
            if !now.found.contains_key(kind) {
                let state = now.state_of_gone(kind);
                findings.push(change(state, kind, found, (&now, &before)));
            }
        }
        findings.sort_by_key(|change| change.state);
        Self {
            baseline: name,
            comparable: now.cells.keys().any(|cell| before.cells.contains_key(cell)),
            findings,
        }
    }

    /// How many there are of each state, as in `2 new, 1 ongoing`; a sentence for none.
    pub fn summary(&self) -> String {
        if !self.comparable {
            return "the two have no cell in common, so nothing can be compared".to_owned();
        }
        let of = |state: ChangeState| self.findings.iter().filter(move |c| c.state == state);
        let mut counts: Vec<String> = ChangeState::ALL
            .into_iter()
            .map(|state| (state, of(state).count()))
            .filter(|(_, count)| *count > 0)
            .map(|(state, count)| format!("{count} {}", state.word()))
            .collect();
        let rare = self.findings.iter().filter(|change| change.rare).count();
        if rare > 0 {
            counts.push(format!("{rare} of them rare"));
        }
        if counts.is_empty() {
            "no finding, now or before".to_owned()
        } else {
            counts.join(", ")
        }
    }
}

impl Change {
    /// Its state in words: `new, rare`.
    pub fn words(&self) -> String {
        let rare = if self.rare { ", rare" } else { "" };
        format!("{}{rare}", self.state.word())
    }

    /// In how many runs it is found, now and before.
    pub fn shares(&self) -> String {
        format!("{}, before {}", self.now.words(), self.before.words())
    }
}

fn name(name: &str, seed: u64, started: &str) -> String {
    format!("{name}, seed {seed}, {started}")
}

/// Lock, topology and hazard.
type Cell<'a> = (&'a str, &'a str, &'a str);
/// Facts that two findings of one kind have in common.
type Kind<'a> = (Cell<'a>, Property, &'a str);

/// The first run that shows a finding, its claim, and how many do.
struct Found<'a> {
    run: &'a RunRecord,
    claim: &'a str,
    seen: u64,
}

/// One of the two sides.
struct Side<'a> {
    cells: BTreeMap<Cell<'a>, Vec<&'a RunRecord>>,
    found: BTreeMap<Kind<'a>, Found<'a>>,
}

impl<'a> Side<'a> {
    fn of(runs: &[&'a RunRecord]) -> Self {
        let mut side = Self {
            cells: BTreeMap::new(),
            found: BTreeMap::new(),
        };
        for run in runs {
            let labels = &run.labels;
            let cell: Cell = (&labels.lock, &labels.topology, &labels.hazard);
            side.cells.entry(cell).or_default().push(run);
            for finding in kinds(run, None) {
                let witness = finding.witness;
                let kind = (cell, finding.property, witness.signature.as_str());
                let found = side.found.entry(kind).or_insert(Found {
                    run,
                    claim: &witness.claim,
                    seen: 0,
                });
                found.seen += 1;
            }
        }
        side
    }

    fn share(&self, kind: &Kind) -> Share {
        Share {
            seen: self.found.get(kind).map_or(0, |found| found.seen),
            runs: self.cells.get(&kind.0).map_or(0, |runs| runs.len() as u64),
        }
    }

    /// A finding that is gone is resolved only where each run could have shown it.
    fn state_of_gone(&self, (cell, property, _): &Kind) -> ChangeState {
        let runs = self.cells.get(cell).map_or(&[][..], Vec::as_slice);
        let could_tell = |run: &&RunRecord| {
            let judged = run.analysis.properties.get(property);
            let decided = judged.is_some_and(|judged| judged.verdict != Verdict::Unknown);
            decided && run.stopped.is_none()
        };
        if !runs.is_empty() && runs.iter().all(could_tell) {
            ChangeState::Resolved
        } else {
            ChangeState::Undecided
        }
    }
}

fn change(state: ChangeState, kind: &Kind, found: &Found, (now, before): (&Side, &Side)) -> Change {
    let (now, before) = (now.share(kind), before.share(kind));
    Change {
        state,
        rare: match state {
            ChangeState::New | ChangeState::Ongoing => now.is_rare(),
            // Its absence may be luck.
            ChangeState::Resolved | ChangeState::Undecided => before.is_rare(),
        },
        labels: found.run.labels.clone(),
        property: kind.1,
        signature: kind.2.to_owned(),
        claim: found.claim.to_owned(),
        now,
        before,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::SuiteRun;
    use crate::sample;

    fn states(changes: &Changes) -> Vec<(ChangeState, Property)> {
        let findings = changes.findings.iter();
        findings
            .map(|change| (change.state, change.property))
            .collect()
    }

    /// The failover run, without its violations.
    fn healed() -> RunRecord {
        let mut run = sample::failover_run();
        run.analysis = sample::control_run().analysis;
        run
    }

    fn repeated(violated: usize, clean: usize) -> SuiteRecord {
        let runs = (0..violated).map(|_| sample::failover_run());
        let runs = runs.chain((0..clean).map(|_| healed()));
        SuiteRecord {
            runs: runs
                .map(|record| SuiteRun {
                    folder: "cells/x".to_owned(),
                    record,
                })
                .collect(),
            ..sample::suite()
        }
    }

    fn run(record: RunRecord) -> Record {
        Record::Run(Box::new(record))
    }

    #[test]
    fn a_finding_is_new_ongoing_or_resolved() {
        let (with, without) = (sample::failover_run(), healed());
        let (exclusion, lost) = (Property::MutualExclusion, Property::LostLock);

        let new = Changes::of_run(&with, &run(without.clone()));
        assert_eq!(
            states(&new),
            [(ChangeState::New, exclusion), (ChangeState::New, lost)]
        );
        assert_eq!(new.summary(), "2 new");

        let ongoing = Changes::of_run(&with, &run(with.clone()));
        assert_eq!(ongoing.summary(), "2 ongoing");

        let resolved = Changes::of_run(&without, &run(with));
        assert_eq!(resolved.summary(), "2 resolved");
        assert_eq!(
            resolved.findings[0].shares(),
            "0 of 1 run, before 1 of 1 run"
        );
    }

    #[test]
    fn what_a_run_could_not_have_shown_is_not_resolved() {
        let mut blind = healed();
        let judged = blind.analysis.properties.values_mut();
        judged.for_each(|judgement| judgement.verdict = Verdict::Unknown);
        let changes = Changes::of_run(&blind, &run(sample::failover_run()));
        assert_eq!(changes.summary(), "2 not judged this time");

        let mut stopped = healed();
        stopped.stopped = Some("step 2: refused".to_owned());
        let changes = Changes::of_run(&stopped, &run(sample::failover_run()));
        assert_eq!(changes.summary(), "2 not judged this time");
    }

    #[test]
    fn another_kind_of_the_same_property_is_another_finding() {
        let mut other = sample::failover_run();
        for judgement in other.analysis.properties.values_mut() {
            for witness in &mut judgement.witnesses {
                witness.signature.push_str(", another");
            }
        }
        let changes = Changes::of_run(&sample::failover_run(), &run(other));
        assert_eq!(changes.summary(), "2 new, 2 resolved");
    }

    #[test]
    fn a_finding_of_few_of_many_repetitions_is_rare() {
        let none = Record::Suite(Box::new(repeated(0, 1)));
        let of = |violated, clean| Changes::of_suite(&repeated(violated, clean), &none).summary();
        assert_eq!(of(1, 4), "2 new, 2 of them rare", "one in five");
        assert_eq!(of(2, 8), "2 new, 2 of them rare");
        assert_eq!(of(2, 7), "2 new", "more than one in five");
        assert_eq!(of(1, 3), "2 new", "four runs are too few to tell");
    }

    #[test]
    fn the_absence_of_a_rare_finding_may_be_luck() {
        let before = Record::Suite(Box::new(repeated(1, 9)));
        let changes = Changes::of_suite(&repeated(0, 10), &before);
        assert_eq!(changes.summary(), "2 resolved, 2 of them rare");
        assert_eq!(changes.findings[0].words(), "resolved, rare");
    }

    #[test]
    fn runs_without_a_common_cell_are_not_compared() {
        let changes = Changes::of_run(&sample::control_run(), &run(sample::failover_run()));
        assert!(!changes.comparable);
        assert!(changes.summary().contains("no cell in common"));
    }

    #[test]
    fn changes_are_stored_with_the_run_and_read_back() {
        let mut run = sample::failover_run();
        run.changed = Some(Changes::of_run(&run, &Record::Run(Box::new(healed()))));
        let folder = tempfile::tempdir().unwrap();
        crate::encode::write_run(folder.path(), &run).unwrap();
        assert_eq!(crate::encode::read_run(folder.path()).unwrap(), run);
    }
}
