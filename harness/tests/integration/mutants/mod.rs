//! Known-bad locks are broken by situations that do not know them, and correct ones are not.
//!
//! `make mutants` writes into `docs/mutants.md` what breaks each mutant. The tests that always run
//! hold the page to what it says: one catch of each mutant, and the correct lock in the same
//! situation.

mod column;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use crate::support::situations::broken;
use crate::support::{crew, have_server, is_asked_for, root, run};
use column::{Column, columns};
use lockstorm_scenarios::{LockKind, Mutant, Promise};
use table::{Catch, Section};

/// How many catches of a mutant are looked for, and tried until one catches again.
const CATCHES_MAX: usize = 3;

fn page() -> PathBuf {
    root().join("docs/mutants.md")
}

/// Every lock from which a mutant is made.
fn locks() -> Vec<LockKind> {
    let has_mutants = |lock: &LockKind| Mutant::of(*lock).next().is_some();
    LockKind::ALL.into_iter().filter(has_mutants).collect()
}

fn all_columns() -> BTreeMap<LockKind, Vec<Column>> {
    let locks = locks().into_iter();
    locks.map(|lock| (lock, columns(lock))).collect()
}

fn of_situation<'a>(columns: &'a [Column], situation: &str) -> &'a Column {
    let found = columns.iter().find(|column| column.situation == situation);
    found.unwrap_or_else(|| panic!("{situation} does not fit the lock: run 'make mutants'"))
}

#[test]
fn every_mutant_is_broken_by_a_situation_that_the_page_names() {
    if !have_server() {
        return;
    }
    let page = fs::read_to_string(page()).expect("docs/mutants.md is there");
    let columns = all_columns();
    let missed = crew::all(&Mutant::ALL, |&mutant| {
        let mut said = mutant.name().to_owned();
        let catches = table::catches(&page, mutant);
        // Most are caught by the first; a busy machine can spoil a run.
        for catch in catches.iter().chain(&catches) {
            let column = of_situation(&columns[&mutant.lock()], &catch.situation);
            let now = broken(&column.with(mutant));
            if now.iter().any(|promise| catch.broken.contains(promise)) {
                return None;
            }
            said = format!("{said}\n  {}: broken is {now:?}", catch.situation);
        }
        Some(said)
    });
    let missed: Vec<_> = missed.into_iter().flatten().collect();
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn no_correct_lock_breaks_what_its_mutants_break() {
    if !have_server() {
        return;
    }
    let page = fs::read_to_string(page()).expect("docs/mutants.md is there");
    let columns = all_columns();
    let mut first: BTreeMap<(LockKind, String), BTreeSet<Promise>> = BTreeMap::new();
    for mutant in Mutant::ALL {
        let Some(catch) = table::catches(&page, mutant).into_iter().next() else {
            continue;
        };
        let of_mutants = first.entry((mutant.lock(), catch.situation)).or_default();
        of_mutants.extend(catch.broken);
    }
    let first: Vec<_> = first.into_iter().collect();
    let wrong = crew::all(&first, |((lock, situation), of_mutants)| {
        let column = of_situation(&columns[lock], situation);
        let mut now = broken(&column.case);
        now.retain(|promise| of_mutants.contains(promise));
        (!now.is_empty()).then(|| format!("{} in {situation}: broken is {now:?}", lock.name()))
    });
    let wrong: Vec<_> = wrong.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The table of changed lines names each mutant: with its line, or among those that the code makes.
#[test]
fn each_mistake_is_made_in_one_line_of_a_script_or_at_one_place_of_the_code() {
    let mut code = String::new();
    for folder in ["locks", "client", "workload"] {
        read_all(&root().join("harness/src").join(folder), &mut code);
    }
    for mutant in Mutant::ALL {
        let name = format!("Mutant::{mutant:?}");
        let named = code
            .match_indices(&name)
            .filter(|(at, _)| !code[at + name.len()..].starts_with(char::is_alphanumeric));
        let in_a_script = code.contains(&format!("{name} => change("));
        assert_eq!(named.count(), if in_a_script { 1 } else { 2 }, "{name}");
    }
}

fn read_all(folder: &std::path::Path, code: &mut String) {
    for entry in fs::read_dir(folder).expect("the folder can be listed") {
        let path = entry.expect("the folder can be listed").path();
        if path.is_dir() {
            read_all(&path, code);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            *code += &fs::read_to_string(&path).expect("sources are text");
        }
    }
}

#[test]
fn the_list_names_every_mutant_with_its_lock() {
    let output = run(&["list", "mutants"]);
    let text = crate::support::stdout(&output);
    for mutant in Mutant::ALL {
        let line = text.lines().find(|line| {
            line.split_whitespace()
                .next()
                .is_some_and(|name| name == mutant.name())
        });
        let line = line.unwrap_or_else(|| panic!("{mutant:?} is not listed"));
        assert!(line.contains(&format!("  {}: ", mutant.lock().name())));
    }
}

/// Promises that correct locks broke, by lock and situation.
type Correct = Mutex<BTreeMap<(LockKind, String), Vec<Promise>>>;

/// Promises that the correct lock broke in a situation; it is asked once.
fn of_the_correct(known: &Correct, column: &Column, lock: LockKind) -> Vec<Promise> {
    let place = (lock, column.situation.clone());
    let so_far = known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(promises) = so_far.get(&place) {
        return promises.clone();
    }
    drop(so_far);
    let promises = broken(&column.case);
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    known.insert(place, promises.clone());
    promises
}

/// Puts a mutant into one situation after the other until enough have caught it.
fn search(mutant: Mutant, columns: &[Column], correct: &Correct) -> Vec<Catch> {
    let caught = columns.iter().filter_map(|column| {
        let mut broken = broken(&column.with(mutant));
        if broken.is_empty() {
            return None;
        }
        let by_itself = of_the_correct(correct, column, mutant.lock());
        broken.retain(|promise| !by_itself.contains(promise));
        let situation = column.situation.clone();
        (!broken.is_empty()).then_some(Catch { situation, broken })
    });
    caught.take(CATCHES_MAX).collect()
}

/// Looks for what breaks a mutant or, where `LOCKSTORM_ONLY` names others, takes it from the page.
fn catches(mutant: Mutant, page: &str, columns: &[Column], correct: &Correct) -> Vec<Catch> {
    if is_asked_for(mutant.name()) {
        search(mutant, columns, correct)
    } else {
        table::catches(page, mutant)
    }
}

/// Looks for what breaks each mutant. With `UPDATE_MUTANTS` set, writes `docs/mutants.md`.
#[test]
#[ignore = "takes half an hour; make mutants"]
fn every_mutant_is_broken_by_a_shipped_situation() {
    assert!(have_server(), "without a server nothing is found");
    let page_so_far = fs::read_to_string(page()).expect("docs/mutants.md is there");
    let columns = all_columns();
    let correct = Correct::default();
    let found = crew::all(&Mutant::ALL, |&mutant| {
        catches(mutant, &page_so_far, &columns[&mutant.lock()], &correct)
    });
    let mut sections: BTreeMap<LockKind, Section> = BTreeMap::new();
    for (mutant, catches) in Mutant::ALL.into_iter().zip(found) {
        let lock = mutant.lock();
        let mutants = Vec::new();
        let section = sections.entry(lock).or_insert(Section { lock, mutants });
        section.mutants.push((mutant, catches));
    }
    let sections: Vec<Section> = sections.into_values().collect();
    if std::env::var_os("UPDATE_MUTANTS").is_some() {
        fs::write(page(), table::page(&sections)).expect("docs/ can be written");
    }
    let all = sections.iter().flat_map(|section| &section.mutants);
    let missed = all.filter(|(_, catches)| catches.is_empty());
    let missed: Vec<&str> = missed.map(|(mutant, _)| mutant.name()).collect();
    assert!(missed.is_empty(), "nothing breaks {}", missed.join(", "));
}
