//! Assessments: suites whose runs are situations, read promise by promise.
//!
//! For: the one place that gathers the answers of many runs, so that terminal, page and Markdown
//! say the same. Not for: judging; each run has its own answers.

use std::collections::{BTreeMap, BTreeSet};

use lockstorm_checker::Property;
use lockstorm_scenarios::Promise;

use crate::model::{Answer, Endured, HuntSummary, PromiseOutcome, SuiteRecord, SuiteRun};
use crate::words;

/// Tells whether the runs of a suite are situations.
pub fn is_assessment(suite: &SuiteRecord) -> bool {
    suite.runs.iter().any(|run| run.record.situation.is_some())
}

/// Returns the worst answer of all runs and hunts; `None` where none could tell of a promise that
/// the lock makes.
pub fn worst_answer(suite: &SuiteRecord) -> Option<Answer> {
    let mut hunted = suite.hunts.iter().flat_map(|hunt| &hunt.promises);
    let hunted = hunted.any(Endured::is_broken).then_some(Answer::Broken);
    let worst = answers(suite).chain(hunted).max()?;
    let is_kept = || answers(suite).any(|answer| answer == Answer::Kept);
    (worst != Answer::CouldNotTell || is_kept()).then_some(worst)
}

fn answers(suite: &SuiteRecord) -> impl Iterator<Item = Answer> {
    let outcomes = suite.runs.iter().flat_map(|run| run.record.outcomes());
    outcomes.map(|outcome| outcome.answer())
}

/// Locks of which a sentence says what each broke; of more it says how many broke what.
const NAMED_MAX: usize = 4;

/// Says what was broken, in a sentence.
pub(crate) fn sentence(suite: &SuiteRecord) -> String {
    let mut runs = words::count(suite.runs.len() as u64, "run");
    if !suite.hunts.is_empty() {
        let hunts = words::count(suite.hunts.len() as u64, "hunt");
        runs = format!("{runs} and {hunts}");
    }
    let left = words::unfinished(suite);
    let locks = assessments(suite);
    let broken = locks.iter().map(|lock| (lock.lock, lock.broken()));
    let broken: Vec<_> = broken.filter(|(_, names)| !names.is_empty()).collect();
    if !broken.is_empty() {
        let said = if broken.len() <= NAMED_MAX {
            each_with_its_own(&broken)
        } else {
            counted(&broken, locks.len())
        };
        return format!("{said} ({runs}{left})");
    }
    match worst_answer(suite) {
        Some(_) => format!("nothing that is promised was broken in {runs}{left}"),
        None if answers(suite).next().is_some() => {
            format!("nothing could be told of any promise in {runs}{left}")
        }
        None => format!("no promise was put to the test in {runs}{left}"),
    }
}

fn each_with_its_own(broken: &[(&str, Vec<Promise>)]) -> String {
    let own = broken.iter().map(|(lock, promises)| {
        let names: Vec<&str> = promises.iter().map(|promise| promise.name()).collect();
        format!("{lock} broke {}", names.join(", "))
    });
    own.collect::<Vec<_>>().join("; ")
}

fn counted(broken: &[(&str, Vec<Promise>)], all: usize) -> String {
    let mut by_promise: BTreeMap<Promise, usize> = BTreeMap::new();
    for promise in broken.iter().flat_map(|(_, promises)| promises) {
        *by_promise.entry(*promise).or_default() += 1;
    }
    let counts = by_promise
        .iter()
        .map(|(promise, times)| format!("{} ({times})", promise.name()));
    let counts: Vec<String> = counts.collect();
    format!(
        "{} of {all} locks broke what they promise: {}",
        broken.len(),
        counts.join(", ")
    )
}

/// Promises that one lock kept and broke, in all its situations.
pub(crate) struct Assessment<'a> {
    /// Name of the lock.
    pub(crate) lock: &'a str,
    /// The servers on which it ran, in order.
    pub(crate) topologies: Vec<&'a str>,
    /// A row for each promise that a situation tested, in the order of reports.
    pub(crate) promises: Vec<PromiseRow<'a>>,
    /// Violations that no lock of this kind prevents, each with its reason and the situations.
    pub(crate) inherent: Vec<Inherent<'a>>,
    /// Hunts for the fewest faults that break it.
    hunts: Vec<&'a HuntSummary>,
}

impl Assessment<'_> {
    /// Returns the promises of the lock that some run or hunt broke.
    fn broken(&self) -> Vec<Promise> {
        let rows = self.promises.iter().filter(|row| row.is_promised);
        let rows = rows.filter(|row| row.tallies.iter().any(|tally| !tally.broken.is_empty()));
        let hunted = self.hunted().filter(|one| one.is_broken());
        let hunted = hunted.map(|one| one.promise);
        let broken: BTreeSet<Promise> = rows.map(|row| row.promise).chain(hunted).collect();
        broken.into_iter().collect()
    }

    fn hunted(&self) -> impl Iterator<Item = &Endured> {
        self.hunts.iter().flat_map(|hunt| &hunt.promises)
    }
}

/// One promise on each of the topologies.
pub(crate) struct PromiseRow<'a> {
    /// The promise.
    pub(crate) promise: Promise,
    /// True if the lock makes it.
    pub(crate) is_promised: bool,
    /// One tally for each topology.
    pub(crate) tallies: Vec<PromiseTally<'a>>,
}

/// Runs on one topology that tested a promise, by their answers.
#[derive(Default)]
pub(crate) struct PromiseTally<'a> {
    /// Number of runs in which it was kept.
    pub(crate) kept: usize,
    /// Runs in which it was broken.
    pub(crate) broken: Vec<Told<'a>>,
    /// Runs that could not tell.
    pub(crate) open: Vec<Told<'a>>,
}

/// A run that broke a promise or could not tell, and why.
pub(crate) struct Told<'a> {
    /// The run.
    pub(crate) run: &'a SuiteRun,
    /// Evidence or reason, in a sentence.
    pub(crate) reason: String,
}

/// Promises of which runs in a situation could not tell, for the same reason.
pub(crate) struct Undecided<'a> {
    /// The situation.
    pub(crate) hazard: &'a str,
    /// The servers.
    pub(crate) topology: &'a str,
    /// Reason, in a sentence.
    pub(crate) reason: &'a str,
    /// The promises.
    pub(crate) promises: Vec<Promise>,
    /// True if other runs on those servers could tell of them.
    pub(crate) is_told: bool,
}

impl<'a> Undecided<'a> {
    fn of(told: &'a Told, is_told: bool) -> Self {
        let labels = &told.run.record.labels;
        Self {
            hazard: &labels.hazard,
            topology: &labels.topology,
            reason: &told.reason,
            promises: Vec::new(),
            is_told,
        }
    }

    fn is_like(&self, other: &Self) -> bool {
        let facts = |one: &Self| (one.hazard, one.topology, one.reason, one.is_told);
        facts(self) == facts(other)
    }

    /// The sentence of reports.
    pub(crate) fn sentence(&self) -> String {
        let names: Vec<&str> = self.promises.iter().map(|promise| promise.name()).collect();
        format!(
            "'{}' on {} could not tell of {}: {}",
            self.hazard,
            self.topology,
            names.join(", "),
            self.reason
        )
    }
}

/// A violation that no lock of this kind prevents.
pub(crate) struct Inherent<'a> {
    /// Property that was violated.
    pub(crate) property: Property,
    /// Situations in which it happened.
    pub(crate) hazards: Vec<&'a str>,
    /// Reason why no lock prevents it.
    pub(crate) reason: &'a str,
}

impl PromiseTally<'_> {
    /// Number of runs that put the promise to the test here.
    pub(crate) fn total(&self) -> usize {
        self.kept + self.broken.len() + self.open.len()
    }

    /// Returns what was seen in these runs, the worst first; `None` where there were none.
    pub(crate) fn seen(&self) -> Option<Answer> {
        if !self.broken.is_empty() {
            Some(Answer::Broken)
        } else if self.kept > 0 {
            Some(Answer::Kept)
        } else if !self.open.is_empty() {
            Some(Answer::CouldNotTell)
        } else {
            None
        }
    }
}

impl PromiseRow<'_> {
    /// Returns the answer on one topology, in a few words: `kept 12`, `broken 2 of 14`.
    pub(crate) fn words(&self, at: usize) -> String {
        let tally = &self.tallies[at];
        let of = |part: usize, word: &str| {
            if part == tally.total() {
                format!("{word} {part}")
            } else {
                format!("{word} {part} of {}", tally.total())
            }
        };
        match tally.seen() {
            None => "not tested".to_owned(),
            Some(Answer::Broken) if self.is_promised => of(tally.broken.len(), "broken"),
            Some(Answer::Broken) => of(tally.broken.len(), "not promised, violated"),
            Some(Answer::Kept) if self.is_promised => of(tally.kept, "kept"),
            Some(_) if self.is_promised => of(tally.open.len(), "could not tell"),
            Some(_) => "not promised".to_owned(),
        }
    }
}

/// Reads the assessment of each lock, in the order in which they ran.
pub(crate) fn assessments(suite: &SuiteRecord) -> Vec<Assessment<'_>> {
    let mut locks: Vec<Assessment> = Vec::new();
    for run in &suite.runs {
        let labels = &run.record.labels;
        let topology = kind(&labels.topology);
        let at = locks.iter().position(|known| known.lock == labels.lock);
        let at = at.unwrap_or_else(|| {
            locks.push(Assessment {
                lock: &labels.lock,
                topologies: Vec::new(),
                promises: Vec::new(),
                inherent: Vec::new(),
                hunts: suite
                    .hunts
                    .iter()
                    .filter(|hunt| hunt.lock == labels.lock)
                    .collect(),
            });
            locks.len() - 1
        });
        locks[at].add(run, topology);
    }
    for lock in &mut locks {
        lock.promises.sort_by_key(|row| row.promise);
        let topologies = lock.topologies.len();
        for row in &mut lock.promises {
            row.tallies.resize_with(topologies, PromiseTally::default);
        }
    }
    locks
}

/// Returns the kind of servers, without their number: the first word of a topology's label.
pub(crate) fn kind(label: &str) -> &str {
    label.split(' ').next().unwrap_or(label)
}

impl<'a> Assessment<'a> {
    fn add(&mut self, run: &'a SuiteRun, topology: &'a str) {
        if !self.topologies.contains(&topology) {
            self.topologies.push(topology);
        }
        let on = self.topologies.iter().position(|known| *known == topology);
        let on = on.unwrap_or_default();
        for outcome in run.record.outcomes() {
            let tally = self.tally(&outcome, on);
            let told = || Told {
                run,
                reason: outcome.reason.clone().unwrap_or_default(),
            };
            match outcome.seen {
                Answer::Broken => tally.broken.push(told()),
                Answer::Kept => tally.kept += 1,
                Answer::CouldNotTell | Answer::NotPromised => tally.open.push(told()),
            }
        }
        for (property, reason) in run.record.inherent() {
            self.add_inherent(property, &run.record.labels.hazard, reason);
        }
    }

    fn tally(&mut self, outcome: &PromiseOutcome, on: usize) -> &mut PromiseTally<'a> {
        let known = self
            .promises
            .iter()
            .position(|row| row.promise == outcome.promise);
        let at = known.unwrap_or_else(|| {
            self.promises.push(PromiseRow {
                promise: outcome.promise,
                is_promised: outcome.is_promised,
                tallies: Vec::new(),
            });
            self.promises.len() - 1
        });
        let row = &mut self.promises[at];
        while row.tallies.len() <= on {
            row.tallies.push(PromiseTally::default());
        }
        &mut row.tallies[on]
    }

    fn add_inherent(&mut self, property: Property, hazard: &'a str, reason: &'a str) {
        let mut known = self.inherent.iter_mut();
        match known.find(|known| known.property == property && known.reason == reason) {
            Some(known) if known.hazards.contains(&hazard) => {}
            Some(known) => known.hazards.push(hazard),
            None => self.inherent.push(Inherent {
                property,
                hazards: vec![hazard],
                reason,
            }),
        }
    }

    /// Returns the lock's standing in two or three sentences: what it keeps, what breaks it.
    pub(crate) fn summary(&self) -> Vec<String> {
        let promised = self.promises.iter().filter(|row| row.is_promised);
        let (mut kept, mut broken, mut open) = (Vec::new(), Vec::new(), Vec::new());
        for row in promised {
            let seen = row.tallies.iter().filter_map(PromiseTally::seen).max();
            match seen {
                Some(Answer::Broken) => broken.push(row),
                Some(Answer::Kept) => kept.push(row),
                Some(Answer::CouldNotTell | Answer::NotPromised) | None => open.push(row),
            }
        }
        let names = |rows: &[&PromiseRow]| {
            let names: Vec<&str> = rows.iter().map(|row| row.promise.name()).collect();
            names.join(", ")
        };
        let mut sentences = Vec::new();
        for row in &broken {
            sentences.push(format!("breaks {} by: {}", row.promise.name(), causes(row)));
        }
        for one in self.hunted().filter(|one| one.is_broken()) {
            let by = one.broken_by.as_deref().unwrap_or_default();
            sentences.push(format!("broke {} in a hunt by {by}", one.promise.name()));
        }
        if !kept.is_empty() {
            sentences.push(format!("kept in these runs: {}", names(&kept)));
        }
        if !open.is_empty() {
            sentences.push(format!("undecided: {}", names(&open)));
        }
        sentences
    }

    /// Returns why runs could not tell of promises that the lock makes, each reason once: first
    /// those of which no other run on the same servers could tell.
    pub(crate) fn undecided(&self) -> Vec<Undecided<'_>> {
        let mut all: Vec<Undecided> = Vec::new();
        for row in self.promises.iter().filter(|row| row.is_promised) {
            for tally in &row.tallies {
                let is_told = tally.seen() != Some(Answer::CouldNotTell);
                for told in &tally.open {
                    let one = Undecided::of(told, is_told);
                    let at = all.iter().position(|known| known.is_like(&one));
                    let at = at.unwrap_or_else(|| {
                        all.push(one);
                        all.len() - 1
                    });
                    if !all[at].promises.contains(&row.promise) {
                        all[at].promises.push(row.promise);
                    }
                }
            }
        }
        all.sort_by_key(|one| one.is_told);
        all
    }

    /// Returns the promises that the lock does not make and would not have kept.
    pub(crate) fn violated_without_promise(&self) -> impl Iterator<Item = &PromiseRow<'a>> {
        let rows = self.promises.iter().filter(|row| !row.is_promised);
        rows.filter(|row| row.tallies.iter().any(|tally| !tally.broken.is_empty()))
    }
}

/// Returns the situations in which a promise was broken, each once, with its servers.
pub(crate) fn causes(row: &PromiseRow) -> String {
    let mut hazards: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for told in row.tallies.iter().flat_map(|tally| &tally.broken) {
        let labels = &told.run.record.labels;
        let on = hazards.entry(&labels.hazard).or_default();
        let topology = kind(&labels.topology);
        if !on.contains(&topology) {
            on.push(topology);
        }
    }
    let hazards = hazards
        .into_iter()
        .map(|(hazard, on)| format!("{hazard} ({})", on.join(", ")));
    hazards.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_locks_are_counted_and_few_are_named() {
        let late = vec![Promise::ValidOnReturn];
        let both = vec![Promise::Exclusive, Promise::ValidOnReturn];
        let broken = [("a", late), ("b", both)];
        assert_eq!(
            each_with_its_own(&broken),
            "a broke valid-on-return; b broke exclusive, valid-on-return"
        );
        assert_eq!(
            counted(&broken, 7),
            "2 of 7 locks broke what they promise: exclusive (1), valid-on-return (2)"
        );
    }
}
