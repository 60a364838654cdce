//! Findings: a card for each violation, with its story and its picture.

use lockstorm_checker::verdict::{Holder, StepKind, Witness};
use lockstorm_checker::{Nanos, Verdict};
use lockstorm_scenarios::Expected;
use maud::{Markup, html};

use super::link;
use super::page::{figure, section as page_section};
use super::verdict::icon;
use crate::finding::{Finding, Findings};
use crate::inert::visible;
use crate::plots;
use crate::story;
use crate::trace::Trace;
use crate::words;

/// Cards that are open when the page is.
const OPEN_MAX: usize = 3;
/// Further runs that a card links to.
const ALSO_MAX: usize = 24;

const HOW: &str = "Each card is one violation: the claim, a picture of it, the steps that led to \
                   it with the events that prove each, and the holds that cannot both be right.";

/// The section of findings; `trace` gives the history behind one.
pub(super) fn section(findings: &Findings, trace: impl Fn(&Finding) -> Option<Trace>) -> Markup {
    let body = html! {
        @if findings.total == 0 {
            p.none { "No violation was found." }
        }
        @for (at, finding) in findings.told.iter().enumerate() {
            (card(at + 1, finding, trace(finding)))
        }
        @if findings.left_out() > 0 {
            p.warning {
                "Showing only the first " (findings.told.len()) " of " (findings.total)
                " findings; results.json has more."
            }
        }
    };
    page_section("findings", "Findings", HOW, &body)
}

fn card(number: usize, finding: &Finding, trace: Option<Trace>) -> Markup {
    let witness = finding.witness;
    let met = finding.expectation().is_none_or(|result| result.met);
    let claimed = finding
        .expectation()
        .is_some_and(|result| result.expected != Expected::Any);
    let trace = trace.unwrap_or_else(|| Trace::of_witness(witness));
    let picture = plots::around(witness, &finding.run.analysis.faults, &trace);
    html! {
        details.card id=(format!("finding-{number}")) open[number <= OPEN_MAX] {
            summary {
                (icon(Verdict::Violated))
                span.property { (words::property(finding.property)) }
                span.chip { @if witness.certain { "certain" } @else { "possible" } }
                span.chip.flag[!met] {
                    @if !met { "not as expected" }
                    @else if claimed { "as expected" }
                    @else { "nothing expected" }
                }
                @if finding.folder.is_some() {
                    span.place { (visible(&words::cell_name(&finding.run.labels))) }
                }
            }
            p.claim { (visible(&witness.claim)) }
            (figure(&picture.drawing, picture.note.as_deref()))
            (steps(witness))
            (holders(witness))
            (why(finding, number == 1))
            (elsewhere(finding))
        }
    }
}

fn steps(witness: &Witness) -> Markup {
    html! {
        h3 { "What happened" }
        ol.story {
            @for (line, step) in story::lines(witness).iter().zip(&witness.story) {
                li .contradiction[step.kind == StepKind::Contradiction]
                    .inferred[!step.certain] {
                    span.number { (line.number) }
                    span.time { (line.time) }
                    div {
                        (line.text)
                        @if !line.change.is_empty() { span.change { (line.change) } }
                        @if !line.evidence.is_empty() { span.evidence { (line.evidence) } }
                    }
                }
            }
        }
    }
}

fn holders(witness: &Witness) -> Markup {
    let optional = |at: Option<Nanos>| at.map_or_else(|| "–".to_owned(), words::instant);
    let row = |holder: &Holder| {
        html! {
            tr {
                th scope="row" { (visible(&holder.client)) }
                td { (words::instant(holder.acquire_invoked)) }
                td { (words::instant(holder.granted)) }
                td { (optional(holder.release_invoked)) }
                td { (optional(holder.lease_floor)) }
                td { (optional(holder.lease_ceiling)) }
                td { (holder.token.map_or_else(|| "–".to_owned(), |token| token.to_string())) }
                td { (holder.op_acquire) }
            }
        }
    };
    html! {
        @if !witness.holders.is_empty() {
            h3 { "The holds of \"" (visible(&witness.lock_key)) "\"" }
            div.scroll tabindex="0" {
                table {
                    thead { tr {
                        th scope="col" { "Holder" }
                        th scope="col" { "Asked" }
                        th scope="col" { "Granted" }
                        th scope="col" { "Release sent" }
                        th scope="col" { "Lease holds until" }
                        th scope="col" { "Lease over by" }
                        th scope="col" { "Token" }
                        th scope="col" { "Event" }
                    } }
                    tbody { @for holder in &witness.holders { (row(holder)) } }
                }
            }
        }
    }
}

/// The property in one line, and its long text, which is open on the first card.
fn why(finding: &Finding, open: bool) -> Markup {
    let count = finding.judgement.count;
    html! {
        h3 { "Why this is not allowed" }
        p.why {
            "It must never happen that " (finding.property.summary()) "."
        }
        details.definition open[open] {
            summary { "Definition, whose fault it is, and what to do" }
            pre tabindex="0" { (finding.property.explain()) }
        }
        @if count > 1 {
            p.why {
                "There are " (count) " violations of this property in the run; the engine '"
                (visible(&finding.judgement.engine)) "' kept the first "
                (finding.judgement.witnesses.len()) "."
            }
        }
    }
}

/// The run's own report, and the other runs of the cell that show the same.
fn elsewhere(finding: &Finding) -> Markup {
    html! {
        @if let Some(folder) = finding.folder {
            p.elsewhere {
                a href=(link::report_of(folder)) { "Report of this run" }
                " · repeat: " code { (visible(&finding.run.rerun)) }
            }
        }
        @if !finding.also.is_empty() {
            p.elsewhere {
                "The same property is violated in "
                (words::count(finding.also.len() as u64, "more run")) ": "
                @for run in finding.also.iter().take(ALSO_MAX) {
                    a href=(link::report_of(&run.folder)) { "seed " (run.record.seed) } " "
                }
                @if finding.also.len() > ALSO_MAX { "…" }
            }
        }
    }
}
