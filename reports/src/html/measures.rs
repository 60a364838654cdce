//! Latency and hand-off: a picture each, and the same in numbers.

use maud::{Markup, html};

use super::page::{self, figure};
use crate::model::RunRecord;
use crate::plots;
use crate::trace::Trace;
use crate::words;

const LATENCY_HOW: &str = "Each mark is one acquire, at the time it was sent; higher is slower, \
                           on a logarithmic scale. Marks tell how it was answered, bands are \
                           faults.";
const HANDOFF_HOW: &str = "How long a lock lay free between two holders. Left of the zero line \
                           the next grant came before the hold before it had ended: two holders \
                           at once.";

/// The section of latency.
pub(super) fn latency_section(run: &RunRecord, trace: Option<&Trace>) -> Markup {
    let latency = trace.and_then(|trace| plots::latency(trace, &run.analysis.faults));
    let body = latency.map_or_else(
        || html! { p.none { "No acquire to measure." } },
        |latency| {
            html! {
                (figure(&latency.drawing, latency.note.as_deref()))
                table.numbers {
                    thead { tr {
                        th scope="col" { "Answer" }
                        th scope="col" { "Count" }
                        th scope="col" { "Median" }
                        th scope="col" { "95 %" }
                        th scope="col" { "99 %" }
                        th scope="col" { "Longest" }
                    } }
                    tbody {
                        @for row in &latency.rows {
                            tr {
                                th scope="row" { (plots::answer_words(row.answer)) }
                                td { (row.count) }
                                td { (words::length(row.p50)) }
                                td { (words::length(row.p95)) }
                                td { (words::length(row.p99)) }
                                td { (words::length(row.max)) }
                            }
                        }
                    }
                }
            }
        },
    );
    page::section("latency", "Latency of acquires", LATENCY_HOW, &body)
}

/// The section of hand-offs.
pub(super) fn handoff_section(trace: Option<&Trace>) -> Markup {
    let body = trace.and_then(plots::handoff).map_or_else(
        || html! { p.none { "No lock changed hands." } },
        |handoff| {
            html! {
                (figure(&handoff.drawing, None))
                details {
                    summary { "The same in numbers" }
                    table.numbers {
                        thead { tr {
                            th scope="col" { "Length" }
                            th scope="col" { "Hand-offs" }
                        } }
                        tbody {
                            @for (name, count) in &handoff.bins {
                                tr { th scope="row" { (name) } td { (count) } }
                            }
                        }
                    }
                }
            }
        },
    );
    page::section("hand-off", "Hand-off", HANDOFF_HOW, &body)
}
