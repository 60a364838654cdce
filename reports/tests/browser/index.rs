//! The list of runs: found by eye, by filter and by key, and without scripts.

use serde_json::Value;

use crate::driver::{Key, Page};
use crate::hostile::{ATTACK, nothing_came_alive, poisoned};
use crate::report::{RESULTS, Report};

/// Expression for the text of the rows that can be seen.
const ROWS: &str = "[...document.querySelectorAll('table.index tbody tr')]
  .filter((row) => row.checkVisibility()).map((row) => row.innerText).join('\\n')";

/// The failover story under another name, started at another hour.
fn named(name: &str, hour: u32) -> String {
    let mut record: Value = serde_json::from_str(RESULTS).expect("the fixture is JSON");
    record["scenario"] = name.into();
    record["started"] = format!("2026-11-21T{hour:02}:00:00Z").into();
    record.to_string()
}

fn list() -> Report {
    Report::of_list(&[
        ("ant/20261121T010000Z-1", named("ant", 1)),
        ("bee/20261121T020000Z-2", named("bee", 2)),
        ("cat/20261121T030000Z-3", named("cat", 3)),
    ])
}

#[test]
fn the_runs_are_listed_newest_first_with_their_verdicts() {
    let report = list();
    let Some(page) = report.open() else { return };
    let rows = page.text(ROWS);
    let places: Vec<_> = ["cat", "bee", "ant"].map(|name| rows.find(name)).into();
    assert!(places.iter().all(Option::is_some), "{rows}");
    assert!(places.is_sorted(), "{rows}");
    assert_eq!(page.seen("table.index td.outcome.good"), 3);
    let link = page.text("document.querySelector('table.index tbody a').getAttribute('href')");
    let record = "cat/20261121T030000Z-3/results.json";
    assert_eq!(link, record, "it has no page");
    report.was_quiet(&page);
}

#[test]
fn a_filter_keeps_the_rows_with_all_its_words_and_is_reached_by_key() {
    let report = list();
    let Some(page) = report.open() else { return };
    for _ in 0..20 {
        page.press(Key::Tab);
        if page.evaluate("document.activeElement.name === 'filter'") == true {
            break;
        }
    }
    page.write("BEE violated");
    page.wait_until("document.querySelector('.shown').textContent === '1 of 3'");
    let rows = page.text(ROWS);
    assert!(rows.contains("bee") && !rows.contains("ant"), "{rows}");
    page.press(Key::Enter);
    assert_eq!(
        page.seen("table.index tbody tr"),
        1,
        "Enter sends nothing away"
    );
    page.evaluate("document.activeElement.select()");
    page.write("nothing has this");
    page.wait_until("document.querySelector('.shown').textContent === '0 of 3'");
    report.was_quiet(&page);
}

#[test]
fn without_scripts_the_list_is_whole_and_offers_no_filter() {
    let report = list();
    let Some(page) = Page::new() else { return };
    page.without_scripts();
    page.visit(&report.file, "");
    assert_eq!(page.seen("table.index tbody tr"), 3);
    assert_eq!(page.seen("form.filter, button"), 0, "they would do nothing");
    report.was_quiet(&page);
}

#[test]
fn hostile_names_and_folders_are_shown_and_do_nothing() {
    // A name of a folder has no slash in it.
    let folder = "<img src=x onerror=globalThis.pwned=1>\"'";
    let report = Report::of_list(&[
        (
            &format!("{folder}/javascript:globalThis.pwned=1"),
            poisoned(RESULTS),
        ),
        ("ant/20261121T010000Z-1", named("ant", 1)),
    ]);
    let Some(page) = report.open() else { return };
    let rows = page.text(ROWS);
    let attack = ATTACK.split("javascript:").next().unwrap_or_default();
    assert!(rows.contains(attack), "it is shown as what it is: {rows}");
    nothing_came_alive(&page);
    page.evaluate("document.querySelector('input[name=filter]').focus()");
    page.write("<img src=x");
    page.wait_until("document.querySelector('.shown').textContent === '1 of 2'");
    nothing_came_alive(&page);
    report.was_quiet(&page);
}
