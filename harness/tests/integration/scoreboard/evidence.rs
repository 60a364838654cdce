//! Evidence of a library: an assessment of it, and each broken promise looked at again. The runs
//! stay in `target/scoreboard`; what they showed goes into [`Known`].

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use lockstorm_reports::{
    Answer, NotRun, Record, RunRecord, SuiteRecord, SuiteRun, read_record, terminal_story,
};
use lockstorm_scenarios::Promise;

use super::known::{Finding, Known, TIMES, since};
use super::list::Library;
use crate::support::situations::broken_by_file;
use crate::support::{crew, lockstorm, root, stderr};

/// Scenarios that are tried for one promise.
const TRIES_MAX: usize = 3;

/// Where the runs of a library are kept.
pub fn folder(library: &Library) -> PathBuf {
    root().join("target/scoreboard").join(library.slug())
}

/// The folder of its assessment, if it was made here and came to its end.
pub fn assessed(library: &Library) -> Option<PathBuf> {
    Some(assessment(library)?.0)
}

fn assessment(library: &Library) -> Option<(PathBuf, SuiteRecord)> {
    let latest = fs::canonicalize(folder(library).join("latest")).ok()?;
    let Ok(Record::Suite(suite)) = read_record(&latest) else {
        return None;
    };
    if suite.started < since() {
        return None;
    }
    let ended = !suite.not_run.iter().any(NotRun::was_not_reached);
    ended.then_some((latest, *suite))
}

/// Finds out what the library keeps and breaks.
pub fn gather(library: &Library) -> Known {
    let (folder, suite) = assessment(library).unwrap_or_else(|| assess(library));
    had_clients(library, &suite);
    // What was found before, and is not found now, is kept no longer.
    let _ = fs::remove_dir_all(root().join(found_in(library)));
    let broken: Vec<_> = broken(&suite).into_iter().collect();
    let findings = crew::all(&broken, |(promise, runs)| {
        let mut found = confirm(library, *promise, runs, &folder);
        found.story = story(&suite, &found);
        found
    });
    let mut known = Known::of(&suite, findings);
    known.name.push_str(&library.on());
    known
}

fn assess(library: &Library) -> (PathBuf, SuiteRecord) {
    let mut command = lockstorm();
    command.args(["assess", "--adapter", &library.command()]);
    command.args(["--topology", &library.topologies.join(",")]);
    command.args(["--jobs", "4", "--seed", "1", "--report", "html,md"]);
    command.args(["--progress", "none", "--out"]);
    let output = command.arg(folder(library)).output();
    let output = output.expect("the program can be started");
    assessment(library).unwrap_or_else(|| panic!("{}: {}", library.slug(), stderr(&output)))
}

/// A row cannot rest on runs for which the library did not start, as where the machine is busy.
fn had_clients(library: &Library, suite: &SuiteRecord) {
    let stopped = suite
        .runs
        .iter()
        .filter_map(|run| run.record.stopped.as_deref());
    let had_none = stopped
        .filter(|why| why.contains("cannot be started"))
        .count();
    let all = suite.runs.len();
    let slug = library.slug();
    assert!(
        had_none * 20 <= all,
        "{slug}: {had_none} of {all} runs had no client"
    );
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

/// Where its findings are kept, from the checkout.
fn found_in(library: &Library) -> String {
    format!("scenarios/found/{}", library.slug())
}

/// Runs the scenario again, and if it does not do it each time, the next.
fn confirm(library: &Library, promise: Promise, runs: &[&SuiteRun], suite: &Path) -> Finding {
    let mut best: Option<Finding> = None;
    for run in runs.iter().take(TRIES_MAX) {
        let from = suite.join(&run.folder).join("scenario.toml");
        let again = (0..TIMES).filter(|_| broken_by_file(&from).contains(&promise));
        let times = again.count();
        let found = Finding {
            promise,
            file: format!("{}/{}.toml", found_in(library), name(run)),
            hazard: run.record.labels.hazard.clone(),
            times,
            story: None,
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

/// Story of the finding, as the terminal tells it of the run in the assessment; or the answer that
/// broke the promise.
fn story(suite: &SuiteRecord, found: &Finding) -> Option<String> {
    let runs = suite.runs.iter().map(|run| &run.record);
    let mut of_hazard = runs.filter(|run| run.labels.hazard == found.hazard);
    of_hazard.find_map(|run| terminal_story(&of_any_checkout(run), found.promise))
}

/// The run with the files of this checkout named as from its root.
fn of_any_checkout(run: &RunRecord) -> RunRecord {
    let text = serde_json::to_string(run).expect("it can be written as JSON");
    let root = format!("{}/", root().display());
    serde_json::from_str(&text.replace(&root, "")).expect("it was just written")
}
