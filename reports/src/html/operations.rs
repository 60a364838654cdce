//! The raw operations behind a finding, and the holds that follow from them.

use lockstorm_checker::Nanos;
use lockstorm_checker::verdict::Holder;
use maud::{Markup, html};

use super::{evidence, table};
use crate::closeup::{CloseUp, Deed};
use crate::finding::Finding;
use crate::inert::visible;
use crate::words;

/// Operations of one table; results.json names the events of all.
const OPERATIONS_MAX: usize = 60;

const OPERATION_COLUMNS: [&str; 10] = [
    "Client",
    "Process",
    "Operation",
    "Key",
    "Lease",
    "Sent",
    "Answered",
    "Answer",
    "Token",
    "Events",
];

const HOLD_COLUMNS: [&str; 8] = [
    "Holder",
    "Asked",
    "Granted",
    "Release sent",
    "Lease holds until",
    "Lease over by",
    "Token",
    "Event",
];

/// Both tables of a card; without a history there are only the holds.
pub(super) fn tables(finding: &Finding, close: Option<&CloseUp>) -> Markup {
    let deeds = close.map_or_else(Vec::new, |close| close.deeds_of(finding.witness));
    html! {
        @if !deeds.is_empty() { (operations(&deeds, finding.folder)) }
        (holds(finding))
    }
}

fn operations(deeds: &[&Deed], folder: Option<&str>) -> Markup {
    html! {
        h3 { "The operations" }
        div.scroll tabindex="0" {
            table.raw {
                (table::head(&OPERATION_COLUMNS))
                tbody { @for deed in deeds.iter().take(OPERATIONS_MAX) { (row(deed, folder)) } }
            }
        }
        @if deeds.len() > OPERATIONS_MAX {
            p.warning {
                "Showing only the first " (OPERATIONS_MAX) " of " (deeds.len())
                " operations of this finding."
            }
        }
    }
}

fn row(deed: &Deed, folder: Option<&str>) -> Markup {
    let events: Vec<u64> = std::iter::once(deed.index).chain(deed.completed).collect();
    html! {
        tr {
            th scope="row" { (visible(&deed.client)) }
            td { (deed.process) }
            td { code { (visible(&deed.asked)) } }
            td { code { (visible(&deed.key)) } }
            td { (deed.lease.map_or_else(none, |lease| words::length(lease.0))) }
            td.time { (words::precise(deed.sent)) }
            td.time { (deed.ended.map_or_else(none, words::precise)) }
            td .inferred[!deed.answer.is_known] { (visible(&deed.answer.text)) }
            td { (deed.token.map_or_else(none, |token| token.to_string())) }
            td { (evidence::links(&events, folder)) }
        }
    }
}

fn none() -> String {
    "–".to_owned()
}

fn holds(finding: &Finding) -> Markup {
    let witness = finding.witness;
    let optional = |at: Option<Nanos>| at.map_or_else(none, words::instant);
    let row = |holder: &Holder| {
        html! {
            tr {
                th scope="row" { (visible(&holder.client)) }
                td { (words::instant(holder.acquire_invoked)) }
                td { (words::instant(holder.granted)) }
                td { (optional(holder.release_invoked)) }
                td { (optional(holder.lease_floor)) }
                td { (optional(holder.lease_ceiling)) }
                td { (holder.token.map_or_else(none, |token| token.to_string())) }
                td { (evidence::link(holder.op_acquire, finding.folder)) }
            }
        }
    };
    html! {
        @if !witness.holders.is_empty() {
            h3 { "The holds of \"" (visible(&witness.lock_key)) "\"" }
            div.scroll tabindex="0" {
                table {
                    (table::head(&HOLD_COLUMNS))
                    tbody { @for holder in &witness.holders { (row(holder)) } }
                }
            }
        }
    }
}
