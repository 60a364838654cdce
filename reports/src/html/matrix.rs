//! The comparison as a table; each cell leads to its run.

use maud::{Markup, html};

use super::link;
use super::page;
use super::verdict::{class, icon};
use crate::grid::{Cell, Grid, Tally, run_verdict};
use crate::inert::visible;
use crate::model::{SuiteRecord, SuiteRun};
use crate::words;

const HOW: &str = "Rows are locks on a topology, columns are hazards. A cell says in how many \
                   runs a violation was found, and of what; with several, also the range in \
                   which the true rate lies (95 % interval). It leads to the run. A framed cell \
                   is not as its scenario expects.";

fn table(suite: &SuiteRecord) -> Markup {
    let grid = Grid::new(suite);
    html! {
        div.scroll.bleed tabindex="0" {
            table.matrix {
                thead {
                    tr {
                        th scope="col" { "Lock" }
                        @for hazard in &grid.hazards {
                            th scope="col" { (visible(hazard)) }
                        }
                    }
                }
                tbody {
                    @for row in &grid.rows {
                        tr {
                            th scope="row" {
                                (visible(row.lock))
                                span.topology { (visible(row.topology)) }
                            }
                            @for cell in &row.cells { (cell_markup(cell)) }
                        }
                    }
                }
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
    }
}

/// The section of the comparison.
pub(super) fn section(suite: &SuiteRecord) -> Markup {
    page::section("matrix", "Comparison", HOW, &table(suite))
}

fn cell_markup(cell: &Cell) -> Markup {
    match cell {
        Cell::Ran(tally) => ran(cell, tally),
        Cell::NotApplicable(reason) => html! {
            td.empty title=(visible(reason)) { (cell.headline()) }
        },
        Cell::NotRun => html! { td.empty { (cell.headline()) } },
    }
}

/// The run that a cell leads to: the first with the cell's verdict.
fn representative<'a>(tally: &Tally<'a>) -> Option<&'a SuiteRun> {
    let mut runs = tally.runs.iter();
    runs.find(|run| run_verdict(&run.record) == tally.verdict)
        .or(tally.runs.first())
        .copied()
}

fn ran(cell: &Cell, tally: &Tally) -> Markup {
    let address = representative(tally).map(|run| link::report_of(&run.folder));
    let detail = cell.detail();
    html! {
        td.ran.(class(tally.verdict)).unexpected[cell.is_unexpected()] {
            a href=[address] {
                span.headline { (icon(tally.verdict)) (cell.headline()) }
                @if !detail.is_empty() { span.detail { (detail) } }
                @if tally.runs.len() > 1 {
                    @let (low, high) = tally.rate_interval();
                    span.detail title="share of violated runs: Wilson interval, 95 %" {
                        (format!("rate {low:.0}–{high:.0} %"))
                    }
                }
                @if cell.is_unexpected() { span.flag { "not as expected" } }
            }
        }
    }
}
