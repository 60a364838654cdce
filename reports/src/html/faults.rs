//! The faults of a run, stage by stage.

use lockstorm_checker::history::FaultPhase;
use lockstorm_checker::verdict::FaultSummary;
use maud::{Markup, html};

use super::page;
use crate::inert::visible;
use crate::model::RunRecord;
use crate::words;

const HOW: &str = "A fault counts from the moment a probe saw its effect. One that nobody saw has \
                   proved nothing.";

/// The section of faults.
pub(super) fn section(run: &RunRecord) -> Markup {
    let body = html! {
        @if run.analysis.faults.is_empty() {
            p.none { "No fault was injected." }
        } @else {
            div.scroll tabindex="0" {
                table.faults {
                    thead { tr {
                        th scope="col" { "Fault" }
                        th scope="col" { "Target" }
                        th scope="col" { "Requested" }
                        th scope="col" { "Injected" }
                        th scope="col" { "Effect observed" }
                        th scope="col" { "Healed" }
                        th scope="col" { "Operations" }
                        th scope="col" { "Violations" }
                    } }
                    tbody { @for fault in &run.analysis.faults { (row(fault)) } }
                }
            }
        }
    };
    page::section("faults", "Faults", HOW, &body)
}

fn row(fault: &FaultSummary) -> Markup {
    html! {
        tr {
            th scope="row" { (visible(&fault.id)) " " (visible(&fault.kind)) }
            td { (visible(&fault.target)) }
            (stage(fault, FaultPhase::Requested))
            (stage(fault, FaultPhase::Injected))
            @if fault.at(FaultPhase::Observed).is_some() {
                (stage(fault, FaultPhase::Observed))
            } @else {
                td { strong.flag { "no observed effect" } }
            }
            (stage(fault, FaultPhase::Healed))
            td { (fault.operations) }
            td { (fault.violations) }
        }
    }
}

fn stage(fault: &FaultSummary, phase: FaultPhase) -> Markup {
    let stage = fault.stages.iter().find(|stage| stage.phase == phase);
    html! {
        td {
            @if let Some(stage) = stage {
                span.time title=(format!("event {}", stage.event)) { (words::instant(stage.time)) }
                @if let Some(evidence) = &stage.evidence {
                    span.proof { (visible(evidence)) }
                }
            } @else { "–" }
        }
    }
}
