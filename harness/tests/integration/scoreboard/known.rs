//! Facts of a library that its pages tell: what its assessment showed, and its findings. They stand
//! in `adapters/scoreboard/`, so that the pages can be written again, and the next library added,
//! where nobody has the runs any more.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use lockstorm_reports::{Answer, SuiteRecord};
use lockstorm_scenarios::Promise;
use serde::{Deserialize, Serialize};

use super::list::Library;
use super::versions::Tried;
use crate::support::root;

/// How often a scenario has to break a promise.
pub const TIMES: usize = 5;

/// All that the pages tell of one library.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// Name of the library, with its version, as its adapter says it.
    pub name: String,
    pub date: String,
    pub server: String,
    pub runs: usize,
    pub promises: BTreeMap<Promise, Fate>,
    pub findings: Vec<Finding>,
    /// Reasons why runs could not tell of a promise of the library, and how often each was given;
    /// `None` if nobody counted them.
    pub untold: Option<BTreeMap<String, usize>>,
    /// The findings with other releases.
    #[serde(default)]
    pub releases: Vec<Tried>,
}

/// Fate of a promise over all runs of the library.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    NotPromised,
    Kept,
    CouldNotTell,
    Broken,
}

/// A broken promise that was looked at again.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    pub promise: Promise,
    /// The scenario, from the checkout.
    pub file: String,
    pub hazard: String,
    /// How often it broke the promise again.
    pub times: usize,
    /// The story, as the terminal tells it.
    pub story: Option<String>,
}

impl Finding {
    pub fn is_confirmed(&self) -> bool {
        self.times == TIMES
    }
}

/// The day before which facts are gathered again, as `2026-11-28`; empty to keep them all.
pub fn since() -> String {
    std::env::var("LOCKSTORM_SINCE").unwrap_or_default()
}

fn path(library: &Library) -> PathBuf {
    let file = format!("{}.json", library.slug());
    root().join("adapters/scoreboard").join(file)
}

impl Known {
    /// Sums up the runs of an assessment.
    pub fn of(suite: &SuiteRecord, findings: Vec<Finding>) -> Self {
        let first = suite.runs.first().map(|run| &run.record);
        let date = suite.started.split('T').next().unwrap_or_default();
        Self {
            name: first.map_or_else(String::new, |run| run.labels.lock.clone()),
            date: date.to_owned(),
            server: first.map_or_else(String::new, |run| run.environment.server.clone()),
            runs: suite.runs.len(),
            promises: fates(suite, &findings),
            untold: Some(untold(suite)),
            findings,
            releases: Vec::new(),
        }
    }

    /// Reads what is known of a library, if anything is.
    pub fn read(library: &Library) -> Option<Self> {
        let text = fs::read_to_string(path(library)).ok()?;
        let known = serde_json::from_str(&text);
        Some(known.unwrap_or_else(|error| panic!("{}: {error}", path(library).display())))
    }

    pub fn write(&self, library: &Library) {
        let mut text = serde_json::to_string_pretty(self).expect("it can be written as JSON");
        text.push('\n');
        fs::write(path(library), text).expect("adapters/scoreboard/ can be written");
    }

    /// Tells whether it is from before the day in `LOCKSTORM_SINCE`.
    pub fn is_out_of_date(&self) -> bool {
        self.date < since()
    }

    /// Takes over what other releases did with the scenarios that show the findings now as then.
    pub fn take_releases(&mut self, earlier: Self) {
        let was = |promise| earlier.confirmed().find(|found| found.promise == promise);
        let scenarios = self.confirmed().filter(|found| {
            let was = was(found.promise);
            was.is_some_and(|was| was.file == found.file)
        });
        let same: BTreeSet<Promise> = scenarios.map(|found| found.promise).collect();
        let releases = earlier.releases.into_iter();
        self.releases = releases
            .filter(|tried| same.contains(&tried.promise))
            .collect();
    }

    /// The promises of which no run could tell, and which nothing seemed to break either.
    pub fn undecided(&self) -> impl Iterator<Item = Promise> {
        let fates = self.promises.iter();
        let undecided = fates.filter(|(_, fate)| **fate == Fate::CouldNotTell);
        undecided
            .map(|(promise, _)| *promise)
            .filter(|promise| !self.findings.iter().any(|found| found.promise == *promise))
    }

    /// The findings that were broken each time.
    pub fn confirmed(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|found| found.is_confirmed())
    }
}

fn fates(suite: &SuiteRecord, findings: &[Finding]) -> BTreeMap<Promise, Fate> {
    let outcomes = suite.runs.iter().flat_map(|run| run.record.outcomes());
    let mut answers: BTreeMap<Promise, Vec<Answer>> = BTreeMap::new();
    for outcome in outcomes {
        let of_promise = answers.entry(outcome.promise).or_default();
        if outcome.is_promised {
            of_promise.push(outcome.seen);
        }
    }
    let confirmed = |promise| {
        let mut confirmed = findings.iter().filter(|found| found.is_confirmed());
        confirmed.any(|found| found.promise == promise)
    };
    let fate = |promise, answers: &[Answer]| {
        if answers.is_empty() {
            Fate::NotPromised
        } else if confirmed(promise) {
            Fate::Broken
        } else if answers.contains(&Answer::Broken) || !answers.contains(&Answer::Kept) {
            Fate::CouldNotTell
        } else {
            Fate::Kept
        }
    };
    let fates = answers.iter();
    fates
        .map(|(&of, answers)| (of, fate(of, answers)))
        .collect()
}

fn untold(suite: &SuiteRecord) -> BTreeMap<String, usize> {
    let mut reasons = BTreeMap::new();
    for outcome in suite.runs.iter().flat_map(|run| run.record.outcomes()) {
        if outcome.is_promised && outcome.seen == Answer::CouldNotTell {
            let reason = without_numbers(&outcome.reason.unwrap_or_default());
            *reasons.entry(reason).or_default() += 1;
        }
    }
    reasons
}

/// The words of a reason up to its second colon, with `N` for each number: many are the same but
/// for those.
fn without_numbers(reason: &str) -> String {
    let words = reason.split_inclusive(": ").take(2).collect::<String>();
    let mut out = String::new();
    for c in words.trim_end_matches([':', ' ']).chars() {
        let c = if c.is_ascii_digit() { 'N' } else { c };
        if c != 'N' || !out.ends_with('N') {
            out.push(c);
        }
    }
    out
}
