//! The faults of a run, put together from the notes of the nemesis.

use std::collections::HashMap;

use crate::history::{FaultPhase, FaultTarget, Name, Nanos};
use crate::holds::Windows;
use crate::operations::{Digest, Interval};
use crate::text;
use crate::verdict::{FaultStage, FaultSummary};

/// The faults of a history, by injection (or, failing that, by their first note).
pub(crate) fn faults(digest: &Digest) -> Vec<FaultSummary> {
    let mut by_id = HashMap::new();
    let mut faults: Vec<FaultSummary> = Vec::new();
    for seen in &digest.faults {
        let position = *by_id.entry(&seen.note.id).or_insert_with(|| {
            faults.push(FaultSummary::of(&seen.note));
            faults.len() - 1
        });
        // Which servers a word such as `replicas` meant is known from the injection on.
        faults[position].target.clone_from(&seen.note.target);
        faults[position].stages.push(FaultStage {
            phase: seen.note.phase,
            time: seen.time,
            event: seen.event,
            evidence: seen.note.evidence.as_deref().map(str::to_owned),
            offset_ns: seen.note.offset_ns,
            lost: seen.note.lost,
        });
    }
    faults.sort_by_key(|fault| {
        let first = fault.stages.first().map(|stage| stage.time);
        fault.at(FaultPhase::Injected).or(first)
    });
    count_operations(&mut faults, digest);
    faults
}

/// Returns the time in which a fault was active: from its injection, or else from when it was first
/// observed, until it was healed, or without end. `None` if it was neither injected nor observed.
pub(crate) fn window(fault: &FaultSummary) -> Option<Interval> {
    let start = fault
        .at(FaultPhase::Injected)
        .or(fault.at(FaultPhase::Observed))?;
    let healed = fault.stages.iter().rev();
    let end = healed
        .filter(|stage| stage.phase == FaultPhase::Healed)
        .map(|stage| stage.time)
        .next();
    Some(Interval::new(start, end.unwrap_or(Nanos::MAX)))
}

/// The times in which any fault was active.
pub(crate) fn windows(faults: &[FaultSummary]) -> Windows {
    Windows::union(faults.iter().filter_map(window).collect())
}

/// The faults that were active at some time in `interval`.
pub(crate) fn active(faults: &[FaultSummary], interval: Interval) -> Vec<&FaultSummary> {
    let meets =
        |fault: &&FaultSummary| window(fault).is_some_and(|window| window.touches(interval));
    faults.iter().filter(meets).collect()
}

/// Tells whether a fault hits a client or one of its links.
pub(crate) fn touches_client(fault: &FaultSummary, client: &str) -> bool {
    let has = |names: &[Name]| names.iter().any(|name| **name == *client);
    match &fault.target {
        FaultTarget::Client(name) | FaultTarget::Connections { client: name, .. } => {
            **name == *client
        }
        FaultTarget::Link { from, to } => has(from) || has(to),
        FaultTarget::Sides(sides) => sides.iter().any(|side| has(side)),
        FaultTarget::Node(_) | FaultTarget::Key { .. } | FaultTarget::Words(_) => false,
    }
}

/// A fault with its kind and target: `F1 (kill n1)`.
pub(crate) fn title(fault: &FaultSummary) -> String {
    let target = if fault.target.is_empty() {
        String::new()
    } else {
        format!(" {}", text::target(&fault.target))
    };
    format!(
        "{} ({}{target})",
        text::name(&fault.id),
        text::name(&fault.kind)
    )
}

fn count_operations(faults: &mut [FaultSummary], digest: &Digest) {
    if faults.is_empty() {
        return;
    }
    let operations = &digest.operations;
    let mut starts: Vec<Nanos> = operations
        .iter()
        .map(|operation| operation.invoked)
        .collect();
    let mut ends: Vec<Nanos> = operations
        .iter()
        .map(|operation| {
            operation
                .completion
                .map_or(Nanos::MAX, |completion| completion.time)
        })
        .collect();
    starts.sort_unstable();
    ends.sort_unstable();
    for fault in faults {
        if let Some(window) = window(fault) {
            let begun = starts.partition_point(|&start| start <= window.end);
            let over = ends.partition_point(|&end| end < window.start);
            fault.operations = (begun - over) as u64;
        }
    }
}
