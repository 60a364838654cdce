//! The page of a hunt: what each promise endures, the grid of single faults, and the stories.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::page;
use crate::endurance::{breaking_number, coverage, finding, inherent, pace, tried};
use crate::inert::visible;
use crate::model::{Cell, CellAnswer, Endurance, Found, HuntRecord, Hunted};

const GRID: &str = "A column is a message of a client, a row is what went wrong at it, alone. What \
                    was kept was kept in these trials, which says nothing about others; a cell \
                    that is broken opens its story. Servers that are alike, and the patience of \
                    the clients, share a cell, and the worst of them is shown.";

const NUMBERS: &str = "The smallest number of faults that break each promise, as far as it was \
                       searched. '≥ 2' says that every single fault was tried, and that every \
                       trial which tests the promise showed that it was kept; '≥ 1' that it was \
                       kept where nothing went wrong. What stands in brackets is not promised.";

/// The page of a hunt.
pub(crate) fn hunt_page(hunt: &HuntRecord) -> String {
    let body = html! {
        (page::header("hunt", "The fewest faults that break each lock, tried on real servers."))
        @for (n, hunted) in hunt.hunts.iter().enumerate() { (of_lock(n, hunt, hunted)) }
        (page::section("repeat", "Repeat", "", &html! { pre { (visible(&hunt.rerun)) } }))
    };
    page::page("hunt", &body)
}

fn of_lock(n: usize, hunt: &HuntRecord, hunted: &Hunted) -> Markup {
    let title = format!("{} on {}", hunted.lock, hunted.topology);
    let body = html! {
        p { (visible(&pace(hunted))) "." }
        ul {
            @for size in &hunted.sizes { li { (coverage(size)) } }
            @for (behaviour, reason) in &hunted.left_out {
                li { "not tried with " (visible(behaviour)) ": " (visible(reason)) }
            }
            @if let Some(error) = &hunted.ended_by { li { "ended early: " (visible(error)) } }
        }
        (numbers(hunted))
        (grid(n, hunted))
        @for (at, found) in hunted.found.iter().enumerate() {
            (story(n, at, &hunt.folder, found))
        }
        (untold(hunted))
    };
    page::section(&format!("hunt-{n}"), &visible(&title), NUMBERS, &body)
}

fn numbers(hunted: &Hunted) -> Markup {
    let row = |endurance: &Endurance| {
        let name = endurance.promise.name();
        let class = match endurance.broken_with {
            Some(_) if endurance.is_promised => "ran bad",
            _ => "empty",
        };
        html! {
            tr {
                th scope="row" {
                    @if endurance.is_promised { (name) } @else { "(" (name) ")" }
                    span.topology { (endurance.promise.sentence()) }
                }
                td class=(class) { (breaking_number(hunted, endurance)) }
                td.empty {
                    (tried(endurance))
                    @if let Some(sentence) = inherent(endurance) {
                        span.topology { "fails " (visible(&sentence)) }
                    }
                }
            }
        }
    };
    html! {
        div.scroll tabindex="0" {
            table.matrix.promises {
                thead {
                    tr { th scope="col" { "Promise" } th scope="col" { "Broken with" }
                         th scope="col" { "Tried" } }
                }
                tbody { @for endurance in &hunted.promises { (row(endurance)) } }
            }
        }
    }
}

/// The grid of single faults.
fn grid(n: usize, hunted: &Hunted) -> Markup {
    let mut rows: BTreeMap<&str, BTreeMap<&str, &Cell>> = BTreeMap::new();
    for cell in &hunted.cells {
        rows.entry(&cell.fault)
            .or_default()
            .insert(&cell.point, cell);
    }
    html! {
        p { (GRID) }
        div.scroll tabindex="0" {
            table.matrix.dense {
                thead {
                    tr {
                        th scope="col" { "Fault" }
                        @for point in &hunted.columns {
                            th.hazard scope="col" { span { (visible(point)) } }
                        }
                    }
                }
                tbody {
                    @for (fault, cells) in &rows {
                        tr {
                            th scope="row" { (fault) }
                            @for point in &hunted.columns {
                                (cell(n, cells.get(point.as_str()).copied()))
                            }
                        }
                    }
                }
            }
        }
        p { "✗ broken, ✗ in brackets: not promised, ○ no lock of its kind prevents it, ✓ kept, \
             ? could not tell" }
    }
}

fn cell(n: usize, cell: Option<&Cell>) -> Markup {
    let Some(cell) = cell else {
        return html! { td.empty.undashed {} };
    };
    let (class, mark) = match cell.answer {
        CellAnswer::Kept => ("ran good", "✓"),
        CellAnswer::CouldNotTell => ("ran open", "?"),
        CellAnswer::Inherent => ("empty", "○"),
        CellAnswer::NotPromised => ("empty", "(✗)"),
        CellAnswer::Broken => ("ran bad", "✗"),
    };
    let about = visible(&cell.about);
    html! {
        td class=(class) title=(about) {
            @match cell.found {
                Some(at) => a href=(format!("#found-{n}-{at}")) { span.headline { (mark) } },
                None => span.headline { (mark) },
            }
        }
    }
}

fn story(n: usize, at: usize, folder: &str, found: &Found) -> Markup {
    let lines = found.story.lines().map(visible);
    let lines: Vec<_> = lines.collect();
    html! {
        div id=(format!("found-{n}-{at}")) {
            h3 { (visible(&finding(found))) }
            p { (visible(&found.claim)) }
            pre { "lockstorm run " (visible(folder)) "/" (visible(&found.file)) }
            @if !found.story.is_empty() { pre { (lines.join("\n")) } }
            p { a href=(format!("{}/report.html", found.run)) {
                @if found.story.is_empty() { "The last run of this script" }
                @else { "The run of this story" }
            } }
        }
    }
}

fn untold(hunted: &Hunted) -> Markup {
    html! {
        @if !hunted.untold.is_empty() {
            details {
                summary { "Inconclusive trials" }
                ul {
                    @for (reason, times) in &hunted.untold {
                        li { (times) ": " (visible(reason)) }
                    }
                }
            }
        }
    }
}
