//! Lock libraries of others, and what they keep and break: `make scoreboard` writes it into
//! `docs/scoreboard.md`, of the adapters that `adapters/scoreboard.toml` names. A scenario that
//! breaks a promise is run five times more, and kept in `scenarios/found` if it does so each time.
//! The tests that always run hold the page to its reasons and its files, and repeat the findings of
//! the adapters that are set up.

mod evidence;
mod known;
mod list;
mod page;
mod versions;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use lockstorm_scenarios::load;

use crate::breaking_numbers::known as hunts;
use crate::support::situations::broken_by_file;
use crate::support::{
    TRIES_MAX, crew, have_server, have_system, listed, lockstorm, root, skipped, stderr,
};
use known::Known;
use list::Library;

/// Findings of each adapter that are always repeated; `lockstorm run` repeats any other.
const OF_EACH: usize = 1;

/// Time for the trials of a hunt for each library on servers of one kind.
const WITHIN: &str = "10m";

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

#[test]
fn what_was_found_is_found_again_where_the_adapter_is_set_up() {
    if !have_server() {
        return;
    }
    let libraries: Vec<Library> = list::read()
        .into_iter()
        .filter(|library| library.is_set_up() && have_system(library.system()))
        .collect();
    let page = written();
    let found = page::found(&page).into_iter();
    // Of each adapter the first: those of a library that is used in many ways take long.
    let mut taken: BTreeMap<&str, usize> = BTreeMap::new();
    let found: Vec<_> = found
        .filter(|(_, file)| {
            let mut libraries = libraries.iter();
            let is_of = |library: &&Library| {
                file.starts_with(&format!("scenarios/found/{}/", library.slug()))
            };
            let Some(library) = libraries.find(is_of) else {
                return false;
            };
            let taken = taken.entry(library.adapter()).or_default();
            *taken += 1;
            *taken <= OF_EACH
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

/// All libraries of which something is known, in the order of the pages.
fn all() -> Vec<(Library, Known)> {
    let libraries = list::read().into_iter();
    let known = libraries.filter_map(|library| {
        let known = Known::read(&library)?;
        Some((library, known))
    });
    known.collect()
}

fn write_pages() {
    let all = all();
    fs::write(path(), page::page(&all)).expect("docs/ can be written");
    fs::write(track_path(), versions::page(&all)).expect("docs/ can be written");
}

#[test]
fn the_pages_say_what_is_known() {
    let all = all();
    let wrong = "write them with `make scoreboard ONLY=nothing`";
    assert!(page::page(&all) == written(), "{wrong}");
    let track = fs::read_to_string(track_path()).expect("docs/track-record.md is there");
    assert!(versions::page(&all) == track, "{wrong}");
}

/// Assesses each library of which nothing is known yet, or nothing since the day in
/// `LOCKSTORM_SINCE`, and writes the pages. With `LOCKSTORM_ONLY` only those whose adapter is named
/// so are assessed.
#[test]
#[ignore = "takes hours; make scoreboard"]
fn every_library_is_on_the_scoreboard() {
    assert!(have_server(), "without a server nothing is found");
    for library in list::read().iter().filter(|one| one.is_asked_for()) {
        let earlier = Known::read(library);
        if earlier.as_ref().is_none_or(Known::is_out_of_date) {
            let mut known = evidence::gather(library);
            if let Some(earlier) = earlier {
                known.take_releases(earlier);
            }
            known.write(library);
            write_pages();
        }
    }
    write_pages();
    write_for_browsers();
}

/// Hunts each library that was not hunted yet, and writes the pages. With `LOCKSTORM_ONLY` only
/// those whose adapter is named so are hunted.
#[test]
#[ignore = "takes hours; make scoreboard-hunts"]
fn every_library_is_hunted() {
    assert!(have_server(), "without a server nothing is found");
    let asked = list::read().into_iter().filter(Library::is_asked_for);
    for library in asked.filter(Library::is_set_up) {
        let slug = library.slug();
        if hunts::read(&slug).is_none() {
            let (command, servers) = (library.command(), library.topologies.join(","));
            let words = [
                "--adapter",
                &command,
                "--topology",
                &servers,
                "--for",
                WITHIN,
            ];
            hunts::hunt(&slug, &words);
            write_pages();
        }
    }
}

/// Makes one page of the assessments that were made in this checkout, with every run and its story:
/// it needs nothing beside itself.
fn write_for_browsers() {
    let assessed: Vec<PathBuf> = list::read().iter().filter_map(evidence::assessed).collect();
    if assessed.is_empty() {
        return;
    }
    let folder = root().join("target/scoreboard/page");
    let _ = fs::remove_dir_all(&folder);
    let mut command = lockstorm();
    command.args(["report", "--report", "html", "--out"]);
    let output = command.arg(&folder).args(assessed).output();
    let text = stderr(&output.expect("the program can be started"));
    assert!(folder.join("report.html").exists(), "{text}");
}

/// Tries each finding with other releases of its library that were not tried yet, and writes the
/// pages. With `LOCKSTORM_ONLY` only those whose adapter is named so are tried.
#[test]
#[ignore = "installs many releases; make track-record"]
fn every_finding_is_tried_with_other_releases() {
    assert!(have_server(), "without a server nothing is found");
    for library in list::read().iter().filter(|one| one.is_asked_for()) {
        if let Some(mut known) = Known::read(library) {
            versions::try_releases(library, &mut known);
        }
    }
    write_pages();
}
