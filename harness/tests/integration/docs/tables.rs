//! Tables and lists of the documentation name what there is, and nothing else.

use std::process::Command;

use lockstorm_checker::Property;
use lockstorm_harness::cli::ExitCode;

use super::pages::{code_spans, pages, read, root, table};

/// The names that `lockstorm list WHAT` gives, in their order.
fn listed(what: &str) -> Vec<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_lockstorm"))
        .args(["list", what])
        .current_dir(root())
        .output()
        .expect("the program can be started");
    assert!(output.status.success(), "lists {what}");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let names = text
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    names.map(str::to_owned).collect()
}

#[test]
fn the_page_of_everything_names_what_there_is() {
    let page = read("docs/what-there-is.md");
    let rows = table(&page, "# Everything there is");
    for what in ["locks", "topologies", "faults", "properties"] {
        let row = rows.iter().find(|row| row[0] == what);
        let row = row.unwrap_or_else(|| panic!("it has no row of {what}"));
        assert_eq!(
            code_spans(&row[1]),
            listed(what),
            "docs/what-there-is.md on {what}"
        );
    }
}

#[test]
fn the_reference_of_scenarios_has_every_lock_topology_fault_and_property() {
    let text = read("docs/scenarios.md");
    let spans = code_spans(&text);
    let has = |word: &str| spans.iter().any(|span| span == word);
    for name in listed("topologies").iter().chain(&listed("locks")) {
        let form = |kind: &str| format!("{kind}.{name} = {{");
        let is_there = [form("lock"), form("topology")]
            .iter()
            .any(|form| spans.iter().any(|span| span.starts_with(form)));
        assert!(is_there, "docs/scenarios.md on {name}");
    }
    for name in listed("faults").iter().chain(&listed("properties")) {
        assert!(has(name), "docs/scenarios.md on {name}");
    }
}

#[test]
fn the_glossary_defines_every_property() {
    let text = read("docs/glossary.md");
    for property in Property::ALL {
        let name = property.name().replace('-', " ");
        let name = format!("**{}{}**:", name[..1].to_uppercase(), &name[1..]);
        assert!(text.contains(&name), "docs/glossary.md on {name}");
    }
}

#[test]
fn tables_of_exit_codes_are_those_of_the_program() {
    let all: Vec<Vec<String>> = ExitCode::ALL
        .into_iter()
        .map(|code| vec![code.number().to_string(), code.meaning().to_owned()])
        .collect();
    let page = read("docs/reading-a-report.md");
    assert_eq!(table(&page, "## Exit codes"), all);
}

/// A row behind a blank line is no row: it shows as text.
#[test]
fn no_row_is_cut_off_from_its_table() {
    for (page, text) in pages() {
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines
            .iter()
            .enumerate()
            .filter(|(_, line)| line.starts_with("| "))
        {
            let is_first = at == 0 || !lines[at - 1].starts_with('|');
            let has_head = lines
                .get(at + 1)
                .is_some_and(|next| next.starts_with("|--"));
            assert!(!is_first || has_head, "{page}:{}: {line}", at + 1);
        }
    }
}

/// A page that nobody finds is not read.
#[test]
fn every_page_is_in_the_list_of_all_pages() {
    let list = read("docs/README.md");
    for (page, _) in pages() {
        let Some(name) = page
            .strip_prefix("docs/")
            .filter(|name| *name != "README.md")
        else {
            continue;
        };
        assert!(
            list.contains(&format!("]({name})")),
            "docs/README.md on {name}"
        );
    }
    let readme = read("README.md");
    assert!(
        readme.lines().count() <= 120,
        "the README is read in a minute"
    );
    assert!(readme.contains("(docs/README.md)"));
}
