//! Content of the run, so that its verdict can be weighed.

use maud::{Markup, html};

use super::page;
use crate::coverage::{Counter, counters, undecided};
use crate::inert::visible;
use crate::model::RunRecord;
use crate::words;

const HOW: &str = "A verdict is worth no more than what the run put to the test. Without contended \
                   acquires, or without a grant under a fault, a run could not have shown a \
                   violation.";

/// The section of coverage.
pub(super) fn section(run: &RunRecord) -> Markup {
    let body = html! {
        (missing(run))
        table.numbers {
            thead { tr {
                th scope="col" { "Counter" }
                th scope="col" { "Count" }
                th scope="col" { "Needed" }
                th.what-for scope="col" { "Because" }
            } }
            tbody { @for counter in counters(run) { (row(&counter)) } }
        }
        @if let Some(cost) = words::cost(&run.analysis.coverage) { p { "All in all " (cost) "." } }
    };
    page::section("coverage", "Coverage", HOW, &body)
}

/// Renders what is missing for a verdict.
fn missing(run: &RunRecord) -> Markup {
    let undecided = undecided(run);
    html! {
        @if run.analysis.properties.is_empty() {
            p.summary { strong.flag { "Nothing was judged." } }
        } @else if undecided.is_empty() {
            p.summary { "Nothing is missing: every judged property has a verdict." }
        } @else {
            p.summary { strong { "Missing for a verdict:" } }
            ul.missing {
                @for (property, reason) in undecided {
                    li.open {
                        span.glyph aria-hidden="true" { "?" }
                        (words::property(property)) ": " (visible(reason))
                    }
                }
            }
        }
    }
}

fn row(counter: &Counter) -> Markup {
    let is_short = counter.is_short();
    html! {
        tr {
            th scope="row" { (counter.name) }
            td { span.flag[is_short] { (counter.count) } }
            td {
                @match counter.needed {
                    Some(needed) => { "≥ " (needed) }
                    None => "–",
                }
            }
            td.what-for { (counter.what_for) }
        }
    }
}
