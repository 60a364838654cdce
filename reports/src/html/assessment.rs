//! The promises of each lock as a table, each answer with the runs behind it.

use maud::{Markup, html};

use super::verdict::{class, icon};
use super::{link, page};
use crate::assessment::{Assessment, PromiseRow, PromiseTally, Told, assessments};
use crate::fates::Fates;
use crate::head::Sign;
use crate::inert::visible;
use crate::model::{Answer, SuiteRecord};
use crate::standing::standings;
use crate::words;

const HOW: &str = "A row is a promise, a column the servers. 'kept 12' says that no run of these \
                   broke it, and no more. What a lock does not promise is never counted against \
                   it. Inherent is what no lock of this kind can prevent.";

/// The section of an assessment.
pub(super) fn section(suite: &SuiteRecord, fates: &Fates) -> Markup {
    let locks = assessments(suite);
    let body = html! {
        @for standing in standings(fates) {
            p {
                strong { (visible(standing.lock)) " on " (visible(standing.topology)) }
                " " (visible(&standing.sentences.join(". "))) "."
            }
        }
        @for lock in &locks { (of_lock(lock)) }
    };
    page::section("promises", "Promises", HOW, &body)
}

fn of_lock(lock: &Assessment) -> Markup {
    html! {
        h3 { (visible(lock.lock)) }
        ul { @for sentence in lock.summary() { li { (visible(&sentence)) } } }
        div.scroll tabindex="0" {
            table.matrix.promises {
                thead {
                    tr {
                        th scope="col" { "Promise" }
                        @for topology in &lock.topologies { th scope="col" { (visible(topology)) } }
                    }
                }
                tbody { @for row in &lock.promises { (promise(row)) } }
            }
        }
        @if !lock.inherent.is_empty() {
            ul {
                @for inherent in &lock.inherent {
                    li {
                        (words::property(inherent.property)) " is inherent in: "
                        (visible(&inherent.hazards.join("; "))) ". " (visible(inherent.reason))
                    }
                }
            }
        }
    }
}

fn promise(row: &PromiseRow) -> Markup {
    html! {
        tr {
            th scope="row" {
                (row.promise.name())
                span.topology { (row.promise.sentence()) }
            }
            @for (at, tally) in row.tallies.iter().enumerate() { (cell(row, tally, at)) }
        }
    }
}

fn cell(row: &PromiseRow, tally: &PromiseTally, at: usize) -> Markup {
    let sign = match tally.seen() {
        Some(Answer::Broken) if row.is_promised => Some(Sign::Bad),
        Some(Answer::Kept) if row.is_promised => Some(Sign::Good),
        Some(Answer::CouldNotTell) if row.is_promised => Some(Sign::Open),
        Some(_) | None => None,
    };
    let words = row.words(at);
    let Some(sign) = sign else {
        return html! { td.empty { (words) (runs(&tally.broken)) } };
    };
    html! {
        td.ran.(class(sign)) {
            span.headline { (icon(sign)) (words) }
            (runs(&tally.broken))
            @if tally.seen() == Some(Answer::CouldNotTell) { (runs(&tally.open)) }
        }
    }
}

/// Links to runs, each by its situation; the reason is there for pointers.
fn runs(told: &[Told]) -> Markup {
    html! {
        @for told in told {
            a.detail href=(link::report_of(&told.run.folder)) title=(visible(&told.reason)) {
                (visible(&told.run.record.labels.hazard))
            }
        }
    }
}
