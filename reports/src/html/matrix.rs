//! The comparison as a table; each cell leads to its run, and beside the cells stand the costs.

use maud::{Markup, html};

use super::verdict::{class, icon};
use super::{link, page};
use crate::grid::{Cell, Figure, Grid, HEADINGS, Heading, Row, Tally};
use crate::inert::visible;
use crate::model::{SuiteRecord, SuiteRun, run_verdict};
use crate::words;

const HOW: &str = "Rows are locks on a topology, columns are hazards. A cell says in how many \
                   runs a violation was found, and of what; with several, also the range in \
                   which the true rate lies (95 % interval). Click a cell to open its run. A \
                   framed cell is not as its scenario expects, a hatched one could not be \
                   decided, and a dashed one has no run.";

/// The section of the comparison.
pub(super) fn section(suite: &SuiteRecord) -> Markup {
    let grid = Grid::new(suite);
    let body = html! {
        (table(&grid))
        (about_costs(&grid))
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
    page::section("matrix", "Comparison", HOW, &body)
}

fn table(grid: &Grid) -> Markup {
    html! {
        div.scroll.bleed tabindex="0" {
            table.matrix.dense[grid.is_dense()] {
                thead {
                    tr {
                        th scope="col" { "Lock" }
                        @for hazard in &grid.hazards {
                            th.hazard scope="col" { span { (visible(hazard)) } }
                        }
                        @for heading in headings(grid) {
                            th.cost scope="col" title=(heading.meaning) { (heading.name) }
                        }
                    }
                }
                tbody { @for row in &grid.rows { (row_markup(grid, row)) } }
            }
        }
    }
}

fn row_markup(grid: &Grid, row: &Row) -> Markup {
    html! {
        tr {
            th scope="row" {
                (visible(row.lock))
                span.topology { (visible(row.topology)) }
            }
            @for (hazard, cell) in grid.hazards.iter().zip(&row.cells) {
                @if grid.is_dense() {
                    (dense_cell(cell, hazard))
                } @else {
                    (wordy_cell(cell))
                }
            }
            @for at in &grid.costs { (cost(&row.price.figures[*at])) }
        }
    }
}

/// Renders the meaning of the costs, for those who have no pointer to rest on their names.
fn about_costs(grid: &Grid) -> Markup {
    if !grid.has_prices() {
        return html! {
            p.how { "No costs: no run without a fault, or none that they were measured in." }
        };
    }
    html! {
        details {
            summary { "What the costs mean" }
            p {
                "Measured in the row's runs without a fault; of several runs, the median. A – \
                 means too few samples."
            }
            dl.facts.wide {
                @for heading in headings(grid) {
                    dt { (heading.name) } dd { (heading.meaning) }
                }
            }
            p {
                "Below the longest gap stands the worst under any fault, with its hazard. Scripts \
                 wait on purpose: what they cost is the latency of few grants, and no pace."
            }
        }
    }
}

fn headings(grid: &Grid) -> impl Iterator<Item = &'static Heading> {
    grid.costs.iter().map(|at| &HEADINGS[*at])
}

fn cost(figure: &Figure) -> Markup {
    html! {
        td.cost {
            (figure.text())
            @if !figure.below.is_empty() {
                span.detail { (visible(&figure.below)) }
            }
        }
    }
}

fn wordy_cell(cell: &Cell) -> Markup {
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

fn address(tally: &Tally) -> Option<String> {
    representative(tally).map(|run| link::report_of(&run.folder))
}

fn ran(cell: &Cell, tally: &Tally) -> Markup {
    let detail = cell.detail();
    html! {
        td.ran.(class(tally.verdict.into())).unexpected[cell.is_unexpected()] {
            a href=[address(tally)] {
                span.headline { (icon(tally.verdict.into())) (cell.headline()) }
                @if !detail.is_empty() { span.detail { (detail) } }
                @if let Some(rate) = cell.rate() {
                    span.detail title="share of violated runs: Wilson interval, 95 %" { (rate) }
                }
                @if cell.is_unexpected() { span.flag { "not as expected" } }
            }
        }
    }
}

/// A cell with a sign; its words are there for pointers and for those who listen to the page.
fn dense_cell(cell: &Cell, hazard: &str) -> Markup {
    let Cell::Ran(tally) = cell else {
        let title = match cell {
            Cell::NotApplicable(reason) => (*reason).to_owned(),
            Cell::Ran(_) | Cell::NotRun => cell.headline(),
        };
        let is_dashed = matches!(cell, Cell::NotRun);
        return html! {
            td.empty.undashed[!is_dashed] title=(visible(&title)) {
                span.unseen { (cell.headline()) }
            }
        };
    };
    let words = in_words(cell, hazard);
    html! {
        td.ran.(class(tally.verdict.into())).unexpected[cell.is_unexpected()] {
            a href=[address(tally)] title=(visible(&words)) {
                span.headline {
                    (icon(tally.verdict.into()))
                    span.unseen { (cell.headline()) }
                    @if tally.runs.len() > 1 {
                        span aria-hidden="true" { (tally.share()) }
                    }
                }
            }
        }
    }
}

fn in_words(cell: &Cell, hazard: &str) -> String {
    let unexpected = cell.is_unexpected().then(|| "not as expected".to_owned());
    let detail = Some(cell.detail()).filter(|detail| !detail.is_empty());
    let parts = [Some(cell.headline()), detail, cell.rate(), unexpected];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    format!("{hazard}: {}", parts.join(", "))
}
