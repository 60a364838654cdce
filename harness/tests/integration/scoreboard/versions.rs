//! Findings with other releases of their libraries: `make track-record` installs each, runs the
//! scenario of each finding with it, and writes `docs/track-record.md`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use lockstorm_reports::Answer;
use lockstorm_scenarios::Promise;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::evidence::{Confirmed, Evidence, TIMES, folder};
use super::list::Library;
use crate::support::root;
use crate::support::situations::outcome_of_file;

/// How often a scenario is run with each release.
const RUNS: usize = 3;

const HEAD: &str = "\
# Track record

What the [scoreboard](scoreboard.md) found, and with which releases of the libraries. The scenario
of each finding was run three times with each release, by a copy of the adapter that has it in the
place of the pinned one: `adapters/at-version` makes such a copy. Not broken is what each of the
three runs kept. A release with which the adapter cannot be built, or whose runs could not tell,
says nothing either way: the reasons stand below.

This page is written by `make track-record`, from real runs. An issue is named where one was found
that says the same of the library; nothing was reported from here.

| library | promise | scenario | broken with | not broken with | could not tell | said elsewhere |
|---|---|---|---|---|---|---|
";

/// Outcome of one finding with one release.
#[derive(Serialize, Deserialize)]
struct Tried {
    version: String,
    /// Release that the program says it is; as it was asked for, where there was no run.
    release: String,
    promise: Promise,
    /// How many of the runs broke the promise; or why there was none.
    broken: Result<usize, String>,
}

/// A library, and what came of its findings with its releases.
pub struct Track {
    library: Library,
    evidence: Evidence,
    tried: Vec<Tried>,
}

fn path(library: &Library) -> PathBuf {
    folder(library).join("versions.json")
}

impl Track {
    /// Reads what an earlier call has found, or tries the releases if `anew`.
    pub fn of(library: Library, evidence: Evidence, anew: bool) -> Self {
        let known = fs::read_to_string(path(&library));
        let known = known.map(|text| serde_json::from_str(&text).expect("it was written so"));
        let mut tried: Vec<Tried> = known.unwrap_or_default();
        if anew {
            let known = |version: &String| tried.iter().any(|tried| tried.version == *version);
            let open: Vec<_> = library.versions.iter().filter(|one| !known(one)).collect();
            for version in open {
                tried.extend(try_release(&library, &evidence, version));
                let text = serde_json::to_string_pretty(&tried).expect("it can be written as JSON");
                fs::write(path(&library), text).expect("target/ can be written");
            }
        }
        Self {
            library,
            evidence,
            tried,
        }
    }
}

fn try_release(library: &Library, evidence: &Evidence, version: &str) -> Vec<Tried> {
    let into = folder(library).join("versions").join(version);
    let program = library.at_version(version, &into);
    let findings = confirmed(evidence);
    let tried = findings.map(|found| {
        let mut release = library.asked_for(version);
        let broken = program
            .clone()
            .and_then(|program| times(library, found, &program, &mut release));
        Tried {
            version: version.to_owned(),
            release,
            promise: found.promise,
            broken,
        }
    });
    tried.collect()
}

fn confirmed(evidence: &Evidence) -> impl Iterator<Item = &Confirmed> {
    let all = evidence.confirmed.iter();
    all.filter(|found| found.times == TIMES)
}

/// In how many runs with this program the promise broke; `release` becomes what it says it is.
///
/// # Errors
/// When none of them broke it, and one could not tell: the reason of that one.
fn times(
    library: &Library,
    found: &Confirmed,
    program: &str,
    release: &mut String,
) -> Result<usize, String> {
    let command = json!(library.command_of(program));
    let set = format!("lock.adapter.command={command}");
    let mut times = 0;
    let mut untold = None;
    for _ in 0..RUNS {
        let run = outcome_of_file(&root().join(&found.file), &["--set", &set])?;
        let said = run.environment.adapter.as_deref().unwrap_or_default();
        if let Some((_, said)) = said.rsplit_once(' ') {
            said.clone_into(release);
        }
        let mut outcomes = run.outcomes().into_iter();
        let outcome = outcomes.find(|outcome| outcome.promise == found.promise);
        match outcome.map(|outcome| (outcome.seen, outcome.reason)) {
            Some((Answer::Broken, _)) => times += 1,
            Some((Answer::Kept, _)) => {}
            Some((_, reason)) => untold = reason,
            None => untold = Some("the run does not test it".to_owned()),
        }
    }
    match untold {
        Some(reason) if times == 0 => Err(reason),
        _ => Ok(times),
    }
}

/// The whole page.
pub fn page(tracks: &[Track]) -> String {
    let mut page = HEAD.to_owned();
    for track in tracks {
        for found in confirmed(&track.evidence) {
            writeln!(page, "{}", line(track, found)).expect("a string takes all");
        }
    }
    page.push_str(&reasons(tracks));
    page
}

fn line(track: &Track, found: &Confirmed) -> String {
    let tried: Vec<&Tried> = track
        .tried
        .iter()
        .filter(|tried| tried.promise == found.promise)
        .collect();
    let those = |which: fn(&Tried) -> Option<String>| {
        let versions: Vec<String> = tried.iter().filter_map(|tried| which(tried)).collect();
        versions.join(", ")
    };
    let with = those(|tried| match tried.broken {
        Ok(0) | Err(_) => None,
        Ok(RUNS) => Some(tried.release.clone()),
        Ok(times) => Some(format!("{} ({times} of {RUNS})", tried.release)),
    });
    let not = those(|tried| matches!(tried.broken, Ok(0)).then(|| tried.release.clone()));
    let none = those(|tried| tried.broken.is_err().then(|| tried.release.clone()));
    let upstream = track.library.upstream(found.promise);
    let upstream = upstream.map_or_else(String::new, |address| format!("<{address}>"));
    let name = super::page::name(&track.evidence);
    let with = if with.is_empty() {
        "the pinned one".to_owned()
    } else {
        format!("the pinned one, {with}")
    };
    format!(
        "| [{name}](scoreboard.md#{}) | {} | [{}](../{}) | {with} | {not} | {none} | {upstream} |",
        track.library.slug(),
        found.promise.name(),
        found.hazard,
        found.file,
    )
}

/// Reasons why releases told nothing, each once.
fn reasons(tracks: &[Track]) -> String {
    let mut all = BTreeMap::new();
    for track in tracks {
        for tried in &track.tried {
            if let Err(reason) = &tried.broken {
                let first = reason.lines().next().unwrap_or_default();
                // Where its log is, is of no use to others.
                let first = first.split("; what it wrote").next().unwrap_or_default();
                let root = format!("{}/", root().display());
                let name = super::page::name(&track.evidence);
                all.insert((name, &tried.release), first.replace(&root, ""));
            }
        }
    }
    let lines = all
        .iter()
        .map(|((name, release), reason)| format!("- {name}, {release}: `{reason}`\n"));
    let lines: String = lines.collect();
    if lines.is_empty() {
        return lines;
    }
    format!("\nWhat could not be told, and why:\n\n{lines}")
}
