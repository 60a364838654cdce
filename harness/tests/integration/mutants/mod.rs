//! Known-bad locks are caught, and correct ones are not accused by what catches them.
//!
//! The matrix of all mutants and all scenarios is `docs/mutants.md`, written by `make mutants`. The
//! tests that always run hold it to what it says: a catch of each mutant, and every scenario that
//! was made to catch mutants, with the correct locks.

mod column;
mod crew;
mod table;
mod trial;

use std::fs;
use std::path::PathBuf;

use crate::support::{have_server, root, run};
use column::{Column, columns};
use lockstorm_scenarios::{LockKind, Mutant};
use table::Section;
use trial::{Trial, Verdicts};

/// How many catches of a mutant are tried, until one catches again.
const CATCHES_MAX: usize = 3;

fn page() -> PathBuf {
    root().join("docs/mutants.md")
}

/// Every lock from which a mutant is made.
fn locks() -> Vec<LockKind> {
    let has_mutants = |lock: &LockKind| Mutant::of(*lock).next().is_some();
    LockKind::ALL.into_iter().filter(has_mutants).collect()
}

#[test]
fn every_mutant_is_caught_by_a_scenario_that_its_column_names() {
    if !have_server() {
        return;
    }
    let page = fs::read_to_string(page()).expect("docs/mutants.md is there");
    let columns = columns();
    let missed = crew::all(&Mutant::ALL, |&mutant| {
        let catches = table::catches(&page, mutant);
        let mut said = format!(
            "{}: its column names {} catches",
            mutant.name(),
            catches.len()
        );
        // Most are caught by the first; a few of the later ones need some luck.
        for (scenario, properties) in catches.iter().take(CATCHES_MAX) {
            let column = columns
                .iter()
                .find(|column| column.lock == mutant.lock() && column.scenario == *scenario)
                .unwrap_or_else(|| panic!("{scenario} has no case for {}", mutant.lock().name()));
            let trial = Trial::of(column, Some(mutant));
            let verdicts = trial.run();
            let accusations = verdicts.accusations();
            if properties.iter().any(|said| accusations.contains(said)) {
                return None;
            }
            said = format!("{said}\n{}: not caught, {verdicts}", trial.title());
        }
        Some(said)
    });
    let missed: Vec<_> = missed.into_iter().flatten().collect();
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn no_correct_lock_is_accused_by_a_scenario_made_to_catch_mutants() {
    if !have_server() {
        return;
    }
    let wrong = crew::all(&column::made_for_mutants(), |trial| {
        let verdicts = trial.run();
        (!verdicts.as_expected()).then(|| format!("{}: {verdicts}", trial.title()))
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

/// Runs the whole matrix. With `UPDATE_MUTANTS` set, writes `docs/mutants.md`.
#[test]
#[ignore = "takes minutes; make mutants"]
fn the_whole_matrix_catches_every_mutant_and_accuses_no_correct_lock() {
    assert!(have_server(), "without a server there is no matrix");
    let columns = columns();
    let trials: Vec<(&Column, Trial)> = columns
        .iter()
        .flat_map(|column| {
            let mutants = Mutant::of(column.lock).map(Some);
            let row = std::iter::once(None).chain(mutants);
            row.map(move |mutant| (column, Trial::of(column, mutant)))
        })
        .collect();
    let verdicts = crew::all(&trials, |(_, trial)| trial.run());
    let mut sections: Vec<Section> = locks().into_iter().map(Section::of).collect();
    let mut wrong = Vec::new();
    for ((column, trial), verdicts) in trials.iter().zip(&verdicts) {
        match trial.mutant {
            None if !verdicts.accusations().is_empty() => {
                wrong.push(format!("{}: {verdicts}", trial.title()));
            }
            None => {}
            Some(mutant) => {
                let section = sections
                    .iter_mut()
                    .find(|section| section.lock == column.lock)
                    .expect("each mutant's lock has a section");
                section.note(mutant, &column.scenario, verdicts.accusations());
            }
        }
    }
    let missed = sections.iter().flat_map(Section::missed);
    wrong.extend(missed.map(|mutant| format!("{mutant:?}: nothing catches it")));
    if std::env::var_os("UPDATE_MUTANTS").is_some() {
        fs::write(page(), table::page(&sections)).expect("docs/ can be written");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What a run said, for a message.
impl std::fmt::Display for Verdicts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}
