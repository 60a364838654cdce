//! Evidence of a library: its assessment, and the findings that were confirmed. Both stay in
//! `target/scoreboard`, so that the next call goes on where this one ended.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use lockstorm_reports::{Answer, NotRun, Record, SuiteRecord, SuiteRun, read_record};
use lockstorm_scenarios::Promise;
use serde::{Deserialize, Serialize};

use super::list::Library;
use crate::support::situations::broken_by_file;
use crate::support::{crew, lockstorm, root, stderr};

/// How often a scenario has to break a promise.
pub const TIMES: usize = 5;
/// Scenarios that are tried for one promise.
const TRIES_MAX: usize = 3;

/// An assessment of a library, and its findings.
pub struct Evidence {
    pub suite: SuiteRecord,
    pub confirmed: Vec<Confirmed>,
}

/// A broken promise that was looked at again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Confirmed {
    pub promise: Promise,
    /// The scenario, from the checkout.
    pub file: String,
    pub hazard: String,
    /// How often it broke the promise again.
    pub times: usize,
}

/// Where all that is known of a library is kept.
pub fn folder(library: &Library) -> PathBuf {
    root().join("target/scoreboard").join(library.slug())
}

fn confirmed_path(library: &Library) -> PathBuf {
    folder(library).join("confirmed.json")
}

/// The assessment and its folder, if it was made and came to its end.
fn assessment(library: &Library) -> Option<(PathBuf, SuiteRecord)> {
    let latest = fs::canonicalize(folder(library).join("latest")).ok()?;
    let Ok(Record::Suite(suite)) = read_record(&latest) else {
        return None;
    };
    let ended = !suite.not_run.iter().any(NotRun::was_not_reached);
    ended.then_some((latest, *suite))
}

impl Evidence {
    /// Reads the evidence of a library, if there is any.
    pub fn read(library: &Library) -> Option<Self> {
        let (_, suite) = assessment(library)?;
        let text = fs::read_to_string(confirmed_path(library)).ok()?;
        let confirmed = serde_json::from_str(&text).ok()?;
        Some(Self { suite, confirmed })
    }
}

/// Sees to it that something is known of the library.
pub fn gather(library: &Library) {
    let (folder, suite) = assessment(library).unwrap_or_else(|| assess(library));
    if confirmed_path(library).exists() {
        return;
    }
    let broken: Vec<_> = broken(&suite).into_iter().collect();
    let confirmed = crew::all(&broken, |(promise, runs)| {
        confirm(library, *promise, runs, &folder)
    });
    let text = serde_json::to_string_pretty(&confirmed).expect("it can be written as JSON");
    fs::write(confirmed_path(library), text).expect("target/ can be written");
}

fn assess(library: &Library) -> (PathBuf, SuiteRecord) {
    let mut command = lockstorm();
    command.args(["assess", "--adapter", &library.command()]);
    command.args(["--topology", &library.topologies.join(",")]);
    command.args(["--jobs", "4", "--seed", "1", "--report", "html,md"]);
    command.args(["--progress", "none", "--out"]);
    let output = command.arg(folder(library)).output();
    let output = output.expect("the program can be started");
    // Findings of an earlier assessment say nothing of this one.
    let _ = fs::remove_file(confirmed_path(library));
    assessment(library).unwrap_or_else(|| panic!("{}: {}", library.slug(), stderr(&output)))
}

/// The runs that broke each promise, those first that are the easiest to follow.
fn broken(suite: &SuiteRecord) -> BTreeMap<Promise, Vec<&SuiteRun>> {
    let mut broken: BTreeMap<Promise, Vec<&SuiteRun>> = BTreeMap::new();
    for run in &suite.runs {
        for outcome in run.record.outcomes() {
            if outcome.is_promised && outcome.seen == Answer::Broken {
                broken.entry(outcome.promise).or_default().push(run);
            }
        }
    }
    for runs in broken.values_mut() {
        runs.sort_by_key(|run| (is_storm(run), run.record.analysis.faults.len()));
    }
    broken
}

fn is_storm(run: &SuiteRun) -> bool {
    run.record.scenario.starts_with("storm-")
}

/// Runs the scenario again, and if it does not do it each time, the next.
fn confirm(library: &Library, promise: Promise, runs: &[&SuiteRun], suite: &Path) -> Confirmed {
    let mut best: Option<Confirmed> = None;
    for run in runs.iter().take(TRIES_MAX) {
        let from = suite.join(&run.folder).join("scenario.toml");
        let again = (0..TIMES).filter(|_| broken_by_file(&from).contains(&promise));
        let times = again.count();
        let found = Confirmed {
            promise,
            file: format!("scenarios/found/{}/{}.toml", library.slug(), name(run)),
            hazard: run.record.labels.hazard.clone(),
            times,
        };
        if times == TIMES {
            keep(&from, &root().join(&found.file));
            return found;
        }
        if best.as_ref().is_none_or(|best| best.times < times) {
            best = Some(found);
        }
    }
    best.expect("something has broken it")
}

/// Name of its file: the hazard and the servers, in small letters.
fn name(run: &SuiteRun) -> String {
    let labels = &run.record.labels;
    let servers = labels.topology.split(' ').next().unwrap_or_default();
    let words = format!("{} on {servers}", labels.hazard);
    let letters = words.chars().map(|letter| match letter {
        ' ' => '-',
        letter => letter.to_ascii_lowercase(),
    });
    letters
        .filter(|letter| letter.is_ascii_alphanumeric() || *letter == '-')
        .collect()
}

fn keep(from: &Path, to: &Path) {
    let folder = to.parent().expect("it is in a folder");
    fs::create_dir_all(folder).expect("scenarios/ can be written");
    fs::copy(from, to).expect("scenarios/ can be written");
}
