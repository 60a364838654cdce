//! The runs of a suite, one a row.

use maud::{Markup, html};

use super::verdict::outcome;
use super::{link, page, table};
use crate::head::Head;
use crate::inert::visible;
use crate::model::{SuiteRecord, SuiteRun};
use crate::words;

/// Rows of the table; the folders of the suite hold them all.
const RUNS_MAX: usize = 500;

const HOW: &str = "All runs, and what each one exercised. Each has its own report.";

const COLUMNS: [&str; 9] = [
    "Run",
    "Seed",
    "Outcome",
    "Found",
    "Operations",
    "Granted",
    "Contended",
    "Under fault",
    "Seconds",
];

/// The section of runs.
pub(super) fn section(suite: &SuiteRecord) -> Markup {
    let body = html! {
        div.scroll tabindex="0" {
            table {
                (table::head(&COLUMNS))
                tbody { @for run in suite.runs.iter().take(RUNS_MAX) { (row(run)) } }
            }
        }
        @if suite.runs.len() > RUNS_MAX {
            p.warning { "Showing only the first " (RUNS_MAX) " of " (suite.runs.len()) " runs." }
        }
    };
    page::section("runs", "Runs", HOW, &body)
}

fn row(run: &SuiteRun) -> Markup {
    let record = &run.record;
    let head = Head::of_run(record);
    let coverage = &record.analysis.coverage;
    html! {
        tr {
            th scope="row" {
                a href=(link::report_of(&run.folder)) {
                    (visible(&words::cell_name(&record.labels)))
                }
            }
            td { (record.seed) }
            (outcome(&head))
            td.found { (visible(&head.found)) }
            td { (coverage.operations) }
            td { (coverage.granted) }
            td { (coverage.contended) }
            td { (coverage.granted_under_fault) }
            td { (format!("{:.1}", record.duration_s)) }
        }
    }
}
