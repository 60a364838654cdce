//! Lock libraries of others, and what they keep and break: `make scoreboard` writes it into
//! `docs/scoreboard.md`, of the adapters that `adapters/scoreboard.toml` names. A scenario that
//! breaks a promise is run five times more, and kept in `scenarios/found` if it does so each time.
//! The tests that always run hold the page to its reasons and its files, and repeat the findings of
//! the adapters that are set up.

mod evidence;
mod list;
mod page;
mod versions;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use lockstorm_scenarios::load;

use crate::support::situations::broken_by_file;
use crate::support::{TRIES_MAX, crew, have_server, lockstorm, root, skipped, stderr};
use evidence::Evidence;
use list::Library;
use versions::Track;

fn path() -> PathBuf {
    root().join("docs/scoreboard.md")
}

fn track_path() -> PathBuf {
    root().join("docs/track-record.md")
}

fn written() -> String {
    fs::read_to_string(path()).expect("docs/scoreboard.md is there")
}

#[test]
fn each_finding_has_its_reason_and_its_file() {
    let page = written();
    let lacking = page.lines().filter(|line| line.contains(page::NO_WHY));
    assert_eq!(lacking.collect::<Vec<_>>(), Vec::<&str>::new());
    let found = page::found(&page);
    let named: BTreeSet<PathBuf> = found.iter().map(|(_, file)| root().join(file)).collect();
    let mut kept = BTreeSet::new();
    for library in listed(&root().join("scenarios/found")) {
        kept.extend(listed(&library));
    }
    assert_eq!(named, kept);
    let track = fs::read_to_string(track_path()).expect("docs/track-record.md is there");
    for (promise, file) in &found {
        let of_both = |line: &str| line.contains(file) && line.contains(promise.name());
        assert!(track.lines().any(of_both), "{file} is not on {track}");
    }
    for file in kept {
        if let Err(mistakes) = load(&file, &[]) {
            panic!("{mistakes}");
        }
    }
}

fn listed(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder can be listed");
    let entries = entries.map(|entry| entry.expect("the folder can be listed").path());
    entries.collect()
}

#[test]
fn what_was_found_is_found_again_where_the_adapter_is_set_up() {
    if !have_server() {
        return;
    }
    let libraries: Vec<Library> = list::read()
        .into_iter()
        .filter(Library::is_set_up)
        .collect();
    let page = written();
    let found = page::found(&page).into_iter();
    let found: Vec<_> = found
        .filter(|(_, file)| {
            let mut slugs = libraries.iter().map(Library::slug);
            slugs.any(|slug| file.starts_with(&format!("scenarios/found/{slug}/")))
        })
        .collect();
    if found.is_empty() {
        skipped("none of the adapters on the scoreboard is set up: run 'bash .ci/setup adapters'");
    }
    let wrong = crew::all(&found, |(promise, file)| {
        let broken = (0..TRIES_MAX).any(|_| broken_by_file(&root().join(file)).contains(promise));
        (!broken).then(|| format!("{file} did not break {}", promise.name()))
    });
    let wrong: Vec<_> = wrong.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Assesses each library, or takes what an earlier call has found, and writes the page. With
/// `LOCKSTORM_ONLY` only those whose adapter is named so are assessed; the page has all of which
/// something is known.
#[test]
#[ignore = "takes hours; make scoreboard"]
fn every_library_is_on_the_scoreboard() {
    assert!(have_server(), "without a server nothing is found");
    let mut all = Vec::new();
    for library in list::read() {
        if library.is_asked_for() {
            evidence::gather(&library);
        }
        if let Some(evidence) = Evidence::read(&library) {
            all.push((library, evidence));
        }
    }
    fs::write(path(), page::page(&all)).expect("docs/ can be written");
    write_for_browsers(&all);
}

/// Makes one page of all assessments, with every run and its story: it needs nothing beside itself.
fn write_for_browsers(all: &[(Library, Evidence)]) {
    let folder = root().join("target/scoreboard/page");
    let _ = fs::remove_dir_all(&folder);
    let mut command = lockstorm();
    command.args(["report", "--report", "html", "--out"]);
    command.arg(&folder);
    let assessed = |library: &Library| evidence::folder(library).join("latest");
    command.args(all.iter().map(|(library, _)| assessed(library)));
    let output = command.output().expect("the program can be started");
    let text = stderr(&output);
    assert!(folder.join("report.html").exists(), "{text}");
}

/// Tries each finding with other releases of its library, or takes what an earlier call has found,
/// and writes the page. With `LOCKSTORM_ONLY` only those whose adapter is named so are tried.
#[test]
#[ignore = "installs many releases; make track-record"]
fn every_finding_is_tried_with_other_releases() {
    assert!(have_server(), "without a server nothing is found");
    let mut tracks = Vec::new();
    for library in list::read() {
        if let Some(evidence) = Evidence::read(&library) {
            let anew = library.is_asked_for();
            tracks.push(Track::of(library, evidence, anew));
        }
    }
    fs::write(track_path(), versions::page(&tracks)).expect("docs/ can be written");
}
