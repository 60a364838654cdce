//! Events of the picture: a row each.

use lockstorm_checker::Nanos;
use lockstorm_checker::history::FaultPhase;
use lockstorm_checker::verdict::{FaultStage, FaultSummary, StepKind, Witness};

use crate::closeup::Deed;

/// Rows of one picture; more are not small.
pub(super) const ROWS_MAX: usize = 44;

/// One event.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    pub(super) time: Nanos,
    pub(super) event: u64,
    pub(super) what: What<'a>,
}

/// Kind of an event.
#[derive(Clone, Copy)]
pub(super) enum What<'a> {
    Sent(&'a Deed),
    Ended,
    Fault(&'a FaultSummary, &'a FaultStage),
    /// The violation begins.
    Contradiction,
}

/// The rows of a finding in order, and how many were left out at the end.
pub(super) fn rows<'a>(
    witness: &'a Witness,
    deeds: &[&'a Deed],
    faults: &[&'a FaultSummary],
) -> (Vec<Row<'a>>, usize) {
    let mut rows: Vec<Row> = Vec::new();
    for deed in deeds {
        rows.push(Row {
            time: deed.sent,
            event: deed.index,
            what: What::Sent(deed),
        });
        if let (Some(time), Some(event)) = (deed.ended, deed.completed) {
            let what = What::Ended;
            rows.push(Row { time, event, what });
        }
    }
    let told = witness.story.iter().map(|step| step.t).max();
    for fault in faults {
        let stages = fault.stages.iter().filter(|stage| is_shown(fault, stage));
        rows.extend(
            stages
                .filter(|stage| Some(stage.time) <= told)
                .map(|stage| Row {
                    time: stage.time,
                    event: stage.event,
                    what: What::Fault(fault, stage),
                }),
        );
    }
    rows.push(Row {
        time: witness.interval.0,
        // Whatever happened at this instant led to it.
        event: u64::MAX,
        what: What::Contradiction,
    });
    rows.sort_by_key(|row| (row.time, row.event));
    let left_out = rows.len().saturating_sub(ROWS_MAX);
    rows.truncate(ROWS_MAX);
    (rows, left_out)
}

/// A fault has a row where it took effect, or failing that where it was injected, and one where it
/// was healed.
fn is_shown(fault: &FaultSummary, stage: &FaultStage) -> bool {
    match stage.phase {
        FaultPhase::Requested => false,
        FaultPhase::Injected => fault.at(FaultPhase::Observed).is_none(),
        FaultPhase::Observed | FaultPhase::Healed => true,
    }
}

/// The numbers of the steps that cite an event.
pub(super) fn numbers(witness: &Witness, event: u64) -> Vec<u32> {
    let steps = witness.story.iter();
    let citing = steps.filter(|step| {
        let is_last = event == u64::MAX;
        match step.kind {
            StepKind::Contradiction => is_last,
            // The answer, which comes last, is what a step tells of.
            StepKind::Grant
            | StepKind::Refuse
            | StepKind::Renew
            | StepKind::Expire
            | StepKind::Command
            | StepKind::Route
            | StepKind::Role
            | StepKind::Trace
            | StepKind::Fault
            | StepKind::Release => step.evidence.last() == Some(&event),
        }
    });
    citing.map(|step| step.n).collect()
}
