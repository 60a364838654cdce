//! The comparison of an assessment: what became of each lock in each situation.

use maud::{Markup, html};

use super::{link, page};
use crate::endurance;
use crate::fates::{Column, Fate, FateKind, Fates, Group};
use crate::grid::HEADINGS;
use crate::inert::visible;
use crate::model::{Endured, SuiteRecord};
use crate::words;

const HOW: &str = "A row is a situation, a column a lock on its servers. Situations with as many \
                   faults stand together, so that like is compared with like. What happened counts \
                   here whether the lock promises otherwise or not. A cell leads to its run.";

/// The section of the comparison.
pub(super) fn section(suite: &SuiteRecord, fates: &Fates) -> Markup {
    let body = html! {
        ul.legend {
            @for kind in FateKind::ALL {
                li.(class(kind)) { (sign(kind)) (kind.meaning()) }
            }
        }
        div.scroll tabindex="0" {
            table.fates {
                thead {
                    tr {
                        th scope="col" { "Situation" }
                        @for column in &fates.columns { (heading(column)) }
                    }
                }
                (costs(&fates.columns))
                (endured(fates))
                @for group in &fates.groups { (group_markup(group, fates.columns.len())) }
            }
        }
        @if !suite.not_run.is_empty() {
            details {
                summary {
                    (words::count(suite.not_run.len() as u64, "combination")) " without a run"
                }
                ul {
                    @for not_run in &suite.not_run {
                        li {
                            (visible(&words::cell_name(&not_run.labels))) ": "
                            (visible(&not_run.reason))
                        }
                    }
                }
            }
        }
    };
    page::section("comparison", "Comparison", HOW, &body)
}

fn heading(column: &Column) -> Markup {
    html! {
        th scope="col" {
            (visible(column.lock))
            span.topology { (visible(column.topology)) }
        }
    }
}

/// The costs of each lock where nothing goes wrong, a row for each figure.
fn costs(columns: &[Column]) -> Markup {
    let is_known = |at: &usize| {
        let mut figures = columns.iter().map(|column| &column.price.figures[*at]);
        figures.any(|figure| figure.value.is_some())
    };
    let known: Vec<usize> = (0..HEADINGS.len()).filter(is_known).collect();
    if known.is_empty() {
        return html! {};
    }
    html! {
        tbody {
            (group_title("Cost where nothing goes wrong", columns.len()))
            @for at in known {
                tr.figures {
                    th scope="row" title=(HEADINGS[at].meaning) { (HEADINGS[at].name) }
                    @for column in columns { td { (column.price.figures[at].text()) } }
                }
            }
        }
    }
}

/// The fewest faults that break each promise of each lock, a row for each promise.
fn endured(fates: &Fates) -> Markup {
    if fates.endurance.is_empty() {
        return html! {};
    }
    html! {
        tbody {
            (group_title(endurance::NUMBERS, fates.columns.len()))
            @for row in &fates.endurance {
                tr.figures {
                    th scope="row" title=(endurance::NUMBERS_MEANING) { (row.promise.name()) }
                    @for (cell, column) in row.cells.iter().zip(&fates.columns) {
                        td { (number(cell.as_ref(), column)) }
                    }
                }
            }
        }
    }
}

/// A number that leads to the page of its hunt.
fn number(endured: Option<&Endured>, column: &Column) -> Markup {
    let number = endurance::cell(endured);
    let Some(hunt) = column.hunt.filter(|_| endured.is_some()) else {
        return html! { (number) };
    };
    let by = endured
        .and_then(|one| one.broken_by.as_deref())
        .unwrap_or_default();
    html! { a href=(link::report_of(&hunt.folder)) title=(visible(by)) { (number) } }
}

fn group_title(title: &str, columns: usize) -> Markup {
    html! { tr.group { th scope="rowgroup" colspan=(columns + 1) { (title) } } }
}

fn group_markup(group: &Group, columns: usize) -> Markup {
    html! {
        tbody {
            (group_title(&group.title, columns))
            @for row in &group.rows {
                tr {
                    th scope="row" { (visible(row.hazard)) }
                    @for fate in &row.fates { (cell(fate)) }
                }
            }
        }
    }
}

fn cell(fate: &Fate) -> Markup {
    let words = html! {
        (sign(fate.kind)) span.headline { (fate.headline()) }
        @if !fate.detail.is_empty() && fate.run.is_some() {
            " " span.detail { (visible(&fate.detail)) }
        }
    };
    let Some(run) = fate.run else {
        return html! { td.(class(fate.kind)) title=(visible(&fate.detail)) { (words) } };
    };
    html! {
        td.(class(fate.kind)) { a href=(link::report_of(&run.folder)) { (words) } }
    }
}

fn sign(kind: FateKind) -> Markup {
    html! { span.glyph aria-hidden="true" { (kind.glyph()) } " " }
}

/// Class of a fate: its colours in the style sheet.
const fn class(kind: FateKind) -> &'static str {
    match kind {
        FateKind::LockFailed => "bad",
        FateKind::Overran => "overran",
        FateKind::Unavailable => "away",
        FateKind::Withstood => "good",
        FateKind::Open => "open",
        FateKind::NotTested => "untested",
    }
}
