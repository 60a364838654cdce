//! What the run contained, so that its verdict can be weighed.

use lockstorm_checker::verdict::Coverage;
use maud::{Markup, html};

use super::page;
use crate::words;

const HOW: &str = "A verdict is worth no more than what the run put to the test. Without contended \
                   acquires, or without a grant under a fault, a run could not have shown a \
                   violation.";

/// The section of coverage.
pub(super) fn section(coverage: &Coverage) -> Markup {
    let counters = [
        ("Events", coverage.events, false),
        ("Operations", coverage.operations, false),
        ("Lock keys", coverage.keys, false),
        ("Owners that asked", coverage.owners, false),
        ("Acquires granted", coverage.granted, true),
        ("Acquires refused", coverage.refused, false),
        ("Acquires contended", coverage.contended, true),
        ("Grants under a fault", coverage.granted_under_fault, false),
        ("Leases that ran out", coverage.expired, false),
        ("Without answer", coverage.indeterminate, false),
        ("Redirects", coverage.redirects, false),
        ("Reconnects", coverage.reconnects, false),
    ];
    let body = html! {
        dl.counters {
            @for (name, count, needed) in counters {
                div {
                    dt { (name) }
                    dd.flag[needed && count == 0] { (count) }
                }
            }
        }
        @if let Some(cost) = words::cost(coverage) { p { "All in all " (cost) "." } }
    };
    page::section("coverage", "Coverage", HOW, &body)
}
