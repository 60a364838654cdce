//! Findings with other releases of their libraries: `make track-record` installs each, runs the
//! scenario of each finding with it, and writes `docs/track-record.md`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use lockstorm_reports::Answer;
use lockstorm_scenarios::Promise;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::evidence::folder;
use super::known::{Finding, Known};
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
#[serde(deny_unknown_fields)]
pub struct Tried {
    /// As it was asked for.
    version: String,
    /// Release that the program says it is; as it was asked for, where there was no run.
    release: String,
    pub promise: Promise,
    /// How many of the runs broke the promise; or why there was none.
    broken: Result<usize, String>,
}

/// Tries each finding of a library with the releases with which it was not tried yet.
pub fn try_releases(library: &Library, known: &mut Known) {
    for version in &library.versions {
        let is_open = |found: &&Finding| {
            let mut tried = known.releases.iter();
            !tried.any(|one| one.version == *version && one.promise == found.promise)
        };
        let open: Vec<&Finding> = known.confirmed().filter(is_open).collect();
        if !open.is_empty() {
            let tried = try_release(library, &open, version);
            known.releases.extend(tried);
            known.write(library);
        }
    }
}

fn try_release(library: &Library, findings: &[&Finding], version: &str) -> Vec<Tried> {
    let into = folder(library).join("versions").join(version);
    let program = library.at_version(version, &into);
    let tried = findings.iter().map(|found| {
        let mut release = library.asked_for(version);
        let broken = program.clone().and_then(|program| {
            let command = library.command_with(&program, version);
            times(found, &command, &mut release)
        });
        Tried {
            version: version.to_owned(),
            release,
            promise: found.promise,
            broken,
        }
    });
    tried.collect()
}

/// In how many runs with this adapter the promise broke; `release` becomes what it says it is.
///
/// # Errors
/// When none of them broke it, and one could not tell: the reason of that one.
fn times(found: &Finding, command: &[&str], release: &mut String) -> Result<usize, String> {
    let set = format!("lock.adapter.command={}", json!(command));
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
pub fn page(all: &[(Library, Known)]) -> String {
    let mut page = HEAD.to_owned();
    for (library, known) in all {
        for found in known.confirmed() {
            writeln!(page, "{}", line(library, known, found)).expect("a string takes all");
        }
    }
    page.push_str(&reasons(all));
    page
}

fn line(library: &Library, known: &Known, found: &Finding) -> String {
    let tried = known.releases.iter();
    let tried = tried.filter(|tried| tried.promise == found.promise);
    let tried: Vec<&Tried> = tried.collect();
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
    let upstream = library.upstream(found.promise);
    let upstream = upstream.map_or_else(String::new, |address| format!("<{address}>"));
    let name = &known.name;
    let with = if with.is_empty() {
        "the pinned one".to_owned()
    } else {
        format!("the pinned one, {with}")
    };
    format!(
        "| [{name}](scoreboard.md#{}) | {} | [{}](../{}) | {with} | {not} | {none} | {upstream} |",
        library.slug(),
        found.promise.name(),
        found.hazard,
        found.file,
    )
}

/// Reasons why releases told nothing, each once.
fn reasons(all: &[(Library, Known)]) -> String {
    let mut reasons = BTreeMap::new();
    for (_, known) in all {
        for tried in &known.releases {
            if let Err(reason) = &tried.broken {
                let first = reason.lines().next().unwrap_or_default();
                // Where its log is, is of no use to others.
                let first = first.split("; what it wrote").next().unwrap_or_default();
                let root = format!("{}/", root().display());
                let of = (&known.name, &tried.release);
                reasons.insert(of, first.replace(&root, ""));
            }
        }
    }
    let lines = reasons
        .iter()
        .map(|((name, release), reason)| format!("- {name}, {release}: `{reason}`\n"));
    let lines: String = lines.collect();
    if lines.is_empty() {
        return lines;
    }
    format!("\nWhat was undecided, and why:\n\n{lines}")
}
