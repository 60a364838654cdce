//! Breaking numbers of the built-in locks: `make breaking-numbers` hunts each lock on all servers
//! and writes them into `docs/breaking-numbers.md`, with the smallest script for each broken
//! promise in `scenarios/hunted`. The tests that always run hold the page to what was found and to
//! the literature, and repeat a script of each lock.

pub mod known;
mod literature;
mod mutants;
mod page;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use crate::support::situations::broken_by_file;
use crate::support::{TRIES_MAX, crew, have_server, is_asked_for, listed, root};
use known::{built_in, hunted};
use lockstorm_reports::{Found, HuntRecord, Hunted};
use lockstorm_scenarios::{LockKind, Mutant, Step, load};

/// Time for the trials of a lock on servers of one kind.
const WITHIN: &str = "2m";

/// All servers, and those that take no seconds to notice anything.
const ON_ALL: &str = "single,replicated,sentinel,cluster,independent";
const ON_QUICK: &str = "single,replicated,independent";

fn path() -> PathBuf {
    root().join("docs/breaking-numbers.md")
}

fn all() -> Vec<(LockKind, HuntRecord)> {
    let known = built_in().filter_map(|lock| Some((lock, known::read(lock.name())?)));
    known.collect()
}

/// Every finding of these hunts.
fn findings<'a>(
    all: impl IntoIterator<Item = &'a HuntRecord>,
) -> impl Iterator<Item = (&'a Hunted, &'a Found)> {
    let hunts = all.into_iter().flat_map(|hunt| &hunt.hunts);
    hunts.flat_map(|hunted| hunted.found.iter().map(move |found| (hunted, found)))
}

/// All hunts of which something is kept, those of libraries too.
fn everything() -> Vec<HuntRecord> {
    let names = listed(&folder()).into_iter().filter_map(|path| {
        let name = path.file_name()?.to_str()?.strip_suffix(".json")?;
        (name != mutants::NAME).then(|| name.to_owned())
    });
    names.filter_map(|name| known::read(&name)).collect()
}

fn folder() -> PathBuf {
    root().join("scenarios/hunted")
}

#[test]
fn the_page_says_what_was_hunted() {
    let written = fs::read_to_string(path()).expect("docs/breaking-numbers.md is there");
    let wrong = "write it with `make breaking-numbers ONLY=nothing`";
    assert!(page::page(&all(), &mutants::read()) == written, "{wrong}");
}

#[test]
fn every_finding_has_its_script_and_every_script_its_finding() {
    let all = everything();
    let named: BTreeSet<PathBuf> = findings(&all)
        .map(|(_, found)| root().join(&found.file))
        .collect();
    let folders = listed(&folder()).into_iter();
    let files = folders.filter(|path| path.is_dir());
    let kept: BTreeSet<PathBuf> = files.flat_map(|folder| listed(&folder)).collect();
    assert_eq!(named, kept);
    for file in kept {
        if let Err(mistakes) = load(&file, &[]) {
            panic!("{mistakes}");
        }
    }
}

#[test]
fn every_mutant_that_no_hunt_caught_has_its_reason_and_no_other_has() {
    let hunted = mutants::read().into_iter();
    let not_caught = hunted.filter(|(_, caught)| caught.is_none());
    let not_caught: BTreeSet<String> = not_caught.map(|(name, _)| name).collect();
    let with_reason = mutants::WHY_NONE.iter();
    let with_reason = with_reason.map(|(mutant, _)| mutant.name().to_owned());
    assert_eq!(not_caught, with_reason.collect());
}

/// A hunt shortens what clients do, and never what goes wrong.
#[test]
fn every_script_has_the_faults_of_its_number() {
    let all = everything();
    let wrong = findings(&all).filter_map(|(_, found)| {
        let loaded = load(&root().join(&found.file), &[]).expect("the script loads");
        let steps = loaded.scenario.step.iter();
        let is_held = |step: &&Step| step.kind() == "hold-message";
        let goes_wrong = |step: &&Step| step.fault().is_some() || step.kind() == "cancel";
        let others = steps.clone().filter(goes_wrong).filter(|one| !is_held(one));
        // To hold a message is enough where another client comes in between.
        let in_between = found.plan.matches("another client in between").count();
        let has_all = others.count() + in_between >= found.faults;
        (!has_all).then(|| format!("{}: {}", found.file, found.plan))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_numbers_are_those_of_the_literature() {
    let all = all();
    let wrong = literature::STATED.iter().filter_map(|stated| {
        let number = hunted(&all, stated.lock, stated.topology)
            .and_then(|hunt| known::endured(hunt, stated.promise))
            .map(|endured| endured.number());
        let agrees = number.as_deref() == Some(stated.number);
        let (lock, promise) = (stated.lock.name(), stated.promise.name());
        let on = stated.topology.name();
        (!agrees).then(|| {
            format!(
                "{lock} on {on}, {promise}: {number:?}, not {}",
                stated.number
            )
        })
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_script_of_each_lock_breaks_its_promise_again() {
    if !have_server() {
        return;
    }
    let all = all();
    let mut locks = BTreeSet::new();
    let one_each: Vec<&Found> = findings(all.iter().map(|(_, hunt)| hunt))
        .filter(|(hunted, _)| locks.insert(hunted.lock.clone()))
        .map(|(_, found)| found)
        .collect();
    assert!(!one_each.is_empty(), "a hunt must have found something");
    let wrong = crew::all(&one_each, |found| {
        let script = root().join(&found.file);
        let broken = (0..TRIES_MAX).any(|_| broken_by_file(&script).contains(&found.promise));
        (!broken).then(|| format!("{} did not break {}", found.file, found.promise.name()))
    });
    let wrong: Vec<_> = wrong.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The words of the hunt for a lock. Where a failover is slow, a few locks stand for all: how it
/// goes is up to the servers.
fn words(lock: LockKind) -> Vec<&'static str> {
    let on_all = [LockKind::Token, LockKind::Redisson].contains(&lock);
    let servers = if on_all { ON_ALL } else { ON_QUICK };
    vec![lock.name(), "--topology", servers, "--for", WITHIN]
}

/// Hunts each lock of which nothing is known yet, and writes the page. With `LOCKSTORM_ONLY` only
/// those that it names.
#[test]
#[ignore = "takes two hours; make breaking-numbers"]
fn every_lock_is_hunted() {
    assert!(have_server(), "without a server nothing is found");
    for lock in built_in().filter(|lock| is_asked_for(lock.name())) {
        if known::read(lock.name()).is_none() {
            known::hunt(lock.name(), &words(lock));
        }
    }
    write_page();
}

fn write_page() {
    fs::write(path(), page::page(&all(), &mutants::read())).expect("docs/ can be written");
}

/// Hunts each mutant that was not hunted yet, and writes the page. With `LOCKSTORM_ONLY` only those
/// that it names.
#[test]
#[ignore = "takes two hours; make breaking-numbers"]
fn every_mutant_is_hunted() {
    assert!(have_server(), "without a server nothing is found");
    let asked = Mutant::ALL.into_iter();
    for mutant in asked.filter(|mutant| is_asked_for(mutant.name())) {
        if !mutants::read().contains_key(mutant.name()) {
            mutants::hunt(mutant);
        }
    }
    write_page();
}

/// Runs each script twenty times, and tells how often it broke its promise.
#[test]
#[ignore = "takes half an hour; make breaking-numbers"]
fn scripts_break_their_promise_nineteen_times_in_twenty() {
    assert!(have_server(), "without a server nothing is found");
    let all = everything();
    let scripts: Vec<&Found> = findings(&all).map(|(_, found)| found).collect();
    let seldom = crew::all(&scripts, |found| {
        let script = root().join(&found.file);
        let times = (0..20).filter(|_| broken_by_file(&script).contains(&found.promise));
        let times = times.count();
        (times < 19).then(|| format!("{}: {times} of 20", found.file))
    });
    let seldom: Vec<_> = seldom.into_iter().flatten().collect();
    assert!(
        seldom.is_empty(),
        "of {}:\n{}",
        scripts.len(),
        seldom.join("\n")
    );
}
