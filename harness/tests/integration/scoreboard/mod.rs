//! What the lock libraries of others keep and break is in `docs/scoreboard.md`, written by `make
//! scoreboard` from the adapters that `adapters/scoreboard.toml` names. What breaks a promise is
//! run five times more, and only what breaks it each time counts; its scenario is kept in
//! `scenarios/found`. The tests that always run hold the page to its reasons and its files.

mod evidence;
mod list;
mod page;

use std::fs;
use std::path::{Path, PathBuf};

use lockstorm_scenarios::load;

use crate::support::{have_server, root};
use evidence::Evidence;

fn path() -> PathBuf {
    root().join("docs/scoreboard.md")
}

/// Every file below `folder`.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder can be listed");
    let paths = entries.map(|entry| entry.expect("the folder can be listed").path());
    let inside = |path: PathBuf| {
        if path.is_dir() {
            files(&path)
        } else {
            vec![path]
        }
    };
    paths.flat_map(inside).collect()
}

#[test]
fn each_finding_has_its_reason_and_its_file() {
    let page = fs::read_to_string(path()).expect("docs/scoreboard.md is there");
    let lacking: Vec<&str> = page
        .lines()
        .filter(|line| line.contains(page::NO_WHY))
        .collect();
    assert!(lacking.is_empty(), "{}", lacking.join("\n"));
    for file in files(&root().join("scenarios/found")) {
        let relative = file.strip_prefix(root()).expect("it is below the checkout");
        assert!(
            page.contains(&relative.display().to_string()),
            "{}",
            file.display()
        );
        if let Err(mistakes) = load(&file, &[]) {
            panic!("{mistakes}");
        }
    }
}

/// Assesses each library, or takes what an earlier call has found, and writes the page. With
/// `LOCKSTORM_ONLY` only those whose adapter is named so are assessed; the page has all of which
/// something is known.
#[test]
#[ignore = "takes hours; make scoreboard"]
fn every_library_is_on_the_scoreboard() {
    assert!(have_server(), "without a server nothing is found");
    let only = std::env::var("LOCKSTORM_ONLY").unwrap_or_default();
    let mut all = Vec::new();
    for library in list::read() {
        let named = only.split(',').any(|part| library.slug().contains(part));
        if named {
            evidence::gather(&library);
        }
        if let Some(evidence) = Evidence::read(&library) {
            all.push((library, evidence));
        }
    }
    fs::write(path(), page::page(&all)).expect("docs/ can be written");
}
