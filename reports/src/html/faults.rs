//! The faults of a run, stage by stage.

use lockstorm_checker::history::FaultPhase;
use lockstorm_checker::verdict::FaultSummary;
use maud::{Markup, html};

use super::{page, table};
use crate::inert::visible;
use crate::model::RunRecord;
use crate::words;

/// Rows of the table; results.json has them all.
const ROWS_MAX: usize = 500;

const HOW: &str = "A fault is requested, injected, seen to take effect, and healed, each apart. It \
                   counts from the moment a probe saw its effect; one that nobody saw has proved \
                   nothing, and the verdict is then unknown at best.";

const COLUMNS: [&str; 8] = [
    "Fault",
    "Target",
    "Requested",
    "Injected",
    "Effect observed",
    "Healed",
    "Operations",
    "Blamed for",
];

/// The section of faults.
pub(super) fn section(run: &RunRecord) -> Markup {
    let faults = &run.analysis.faults;
    let body = html! {
        @if faults.is_empty() {
            p.none { "No fault was injected." }
        } @else {
            (summary(faults))
            div.scroll tabindex="0" {
                table.faults {
                    (table::head(&COLUMNS))
                    tbody { @for fault in faults.iter().take(ROWS_MAX) { (row(fault)) } }
                }
            }
        }
        @if faults.len() > ROWS_MAX {
            p.warning {
                "Showing only the first " (ROWS_MAX) " of " (faults.len())
                " faults; results.json has more."
            }
        }
    };
    page::section("faults", "Faults", HOW, &body)
}

fn summary(faults: &[FaultSummary]) -> Markup {
    let is_idle = |fault: &&FaultSummary| fault.at(FaultPhase::Observed).is_none();
    let (all, idle) = (faults.len(), faults.iter().filter(is_idle).count());
    let blamed = faults.iter().filter(|fault| fault.violations > 0).count();
    html! {
        p.summary {
            (words::count(all as u64, "fault")) ", "
            @if idle == 0 { "all seen to take effect; " }
            @else { strong.flag { (idle) " never seen to take effect" } "; " }
            "violations are blamed on " (blamed) "."
        }
    }
}

fn row(fault: &FaultSummary) -> Markup {
    html! {
        tr.idle[fault.at(FaultPhase::Observed).is_none()] {
            th scope="row" { (visible(&fault.id)) " " (visible(&fault.kind)) }
            td { (visible(&fault.target.to_string())) }
            (stage(fault, FaultPhase::Requested))
            (stage(fault, FaultPhase::Injected))
            @if fault.at(FaultPhase::Observed).is_some() {
                (stage(fault, FaultPhase::Observed))
            } @else {
                td { strong.flag { "no observed effect" } }
            }
            (stage(fault, FaultPhase::Healed))
            td { (fault.operations) }
            td { span.flag[fault.violations > 0] { (fault.violations) } }
        }
    }
}

fn stage(fault: &FaultSummary, phase: FaultPhase) -> Markup {
    let stage = fault.stages.iter().find(|stage| stage.phase == phase);
    html! {
        td {
            @if let Some(stage) = stage {
                a.time href=(format!("#event={}", stage.event)) { (words::instant(stage.time)) }
                @if let Some(evidence) = &stage.evidence {
                    span.proof { (visible(evidence)) }
                }
            } @else { "–" }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_fault_that_nobody_saw_is_flagged_and_counted() {
        let mut run = sample::failover_run();
        let seen = section(&run).into_string();
        assert!(seen.contains("3 faults, all seen to take effect"), "{seen}");
        let stages = &mut run.analysis.faults[1].stages;
        stages.retain(|stage| stage.phase != FaultPhase::Observed);
        let unseen = section(&run).into_string();
        assert!(unseen.contains("1 never seen to take effect"), "{unseen}");
        assert!(unseen.contains("no observed effect"), "{unseen}");
        assert_eq!(unseen.matches("class=\"idle\"").count(), 1);
    }

    #[test]
    fn more_faults_than_rows_are_counted() {
        let mut run = sample::failover_run();
        let fault = run.analysis.faults[0].clone();
        run.analysis.faults = vec![fault; ROWS_MAX + 3];
        let page = section(&run).into_string();
        assert!(page.contains("Showing only the first 500 of 503 faults"));
    }
}
