//! The names and sentences of the embedded history, and what is drawn around its operations.

use std::collections::HashMap;

use lockstorm_checker::history::{CommandNote, FaultPhase};
use lockstorm_checker::verdict::{FaultSummary, Witness};
use lockstorm_checker::{Digest, Interval, Nanos};
use serde::Serialize;

use super::lanes::Lanes;
use super::servers::{Server, servers};
use crate::inert::{short, visible};
use crate::model::RunRecord;
use crate::plots::Ink;
use crate::words;

/// Everything that is no column. Times are nanoseconds; `null` is an instant that never comes.
#[derive(Debug, Serialize)]
pub(super) struct Scene {
    /// Of this layout. The script beside it knows no other.
    version: u32,
    /// Nanoseconds of a tick in the columns.
    pub(super) unit: u64,
    /// The last event.
    end: u64,
    /// How many of each the columns hold.
    pub(super) events: usize,
    pub(super) operations: usize,
    pub(super) holds: usize,
    /// Bins of each lane; zero where the history is whole.
    pub(super) bins: usize,
    /// Where the history is whole; absent if everywhere.
    windows: Option<Vec<(u64, u64)>>,
    clients: Vec<String>,
    keys: Vec<String>,
    /// Numbers of key and client.
    lanes: Vec<(u32, u32)>,
    faults: Vec<Band>,
    violations: Vec<Violation>,
    servers: Vec<Server>,
    commands: Vec<Command>,
    pub(super) large_tokens: Vec<(usize, String)>,
}

/// A fault.
#[derive(Debug, Serialize)]
struct Band {
    id: String,
    kind: String,
    target: String,
    /// Name of its colour in the style of the page.
    ink: &'static str,
    from: u64,
    to: Option<u64>,
    /// Name, time, event and evidence of each stage.
    stages: Vec<(String, u64, u64, String)>,
}

/// A violation.
#[derive(Debug, Serialize)]
struct Violation {
    property: String,
    /// Words at its box.
    brief: String,
    claim: String,
    from: u64,
    to: Option<u64>,
    certain: bool,
    /// Its lanes; all lanes of its lock where it has no holder.
    lanes: Vec<u32>,
    /// Invocations of the acquires of its holders.
    acquires: Vec<u64>,
}

/// Command that a server was sent: event, time, key, server, sender, text.
type Command = (u64, u64, String, String, Option<String>, String);

impl Scene {
    pub(super) fn of(
        run: &RunRecord,
        digest: &Digest,
        lanes: &Lanes,
        windows: Option<&[Interval]>,
    ) -> Self {
        let names = |names: &lockstorm_checker::history::names::Names| {
            let all = 0..names.len() as u32;
            all.map(|id| visible(names.shown(id)).into_owned())
                .collect()
        };
        let span = |window: &Interval| (window.start.0, window.end.min(digest.end).0);
        Self {
            version: 1,
            unit: 1,
            end: digest.end.0,
            events: 0,
            operations: 0,
            holds: 0,
            bins: 0,
            windows: windows.map(|windows| windows.iter().map(span).collect()),
            clients: names(&digest.owners),
            keys: names(&digest.keys),
            lanes: lanes
                .places
                .iter()
                .map(|(key, owner)| (key.0, owner.0))
                .collect(),
            faults: run.analysis.faults.iter().filter_map(band).collect(),
            violations: violations(run, digest, lanes),
            servers: servers(run, digest),
            commands: commands(digest, windows),
            large_tokens: Vec::new(),
        }
    }
}

fn finite(at: Nanos) -> Option<u64> {
    (at != Nanos::MAX).then_some(at.0)
}

/// A fault that was at least set out for.
fn band(fault: &FaultSummary) -> Option<Band> {
    let from = fault
        .at(FaultPhase::Injected)
        .or_else(|| fault.at(FaultPhase::Requested))?;
    let stages = fault.stages.iter().map(|stage| {
        let evidence = stage.evidence.as_deref().unwrap_or_default();
        let phase = phase(stage.phase).to_owned();
        (
            phase,
            stage.time.0,
            stage.event,
            visible(evidence).into_owned(),
        )
    });
    Some(Band {
        id: visible(&fault.id).into_owned(),
        kind: visible(&fault.kind).into_owned(),
        target: visible(&fault.target.to_string()).into_owned(),
        ink: Ink::of_fault(fault.class)
            .variable()
            .trim_start_matches("--"),
        from: from.0,
        to: fault.at(FaultPhase::Healed).and_then(finite),
        stages: stages.collect(),
    })
}

const fn phase(phase: FaultPhase) -> &'static str {
    match phase {
        FaultPhase::Requested => "requested",
        FaultPhase::Injected => "injected",
        FaultPhase::Observed => "observed",
        FaultPhase::Healed => "healed",
    }
}

/// All witnesses, by the beginning of what they show.
fn violations(run: &RunRecord, digest: &Digest, lanes: &Lanes) -> Vec<Violation> {
    let ids: HashMap<&str, u32> = (0..digest.owners.len() as u32)
        .map(|id| (&**digest.owners.shown(id), id))
        .collect();
    let judged = run.analysis.properties.values();
    let mut witnesses: Vec<&Witness> = judged.flat_map(|judgement| &judgement.witnesses).collect();
    witnesses.sort_by_key(|witness| witness.interval);
    let of = |witness: &&Witness| violation(witness, digest, lanes, &ids);
    witnesses.iter().map(of).collect()
}

fn violation(
    witness: &Witness,
    digest: &Digest,
    lanes: &Lanes,
    ids: &HashMap<&str, u32>,
) -> Violation {
    let key = digest.keys.find(&witness.lock_key);
    let is_holder = |owner: u32| {
        let mut holders = witness.holders.iter();
        holders.any(|holder| ids.get(holder.client.as_str()) == Some(&owner))
    };
    let is_part = |owner: u32| witness.holders.is_empty() || is_holder(owner);
    let own = (0..).zip(&lanes.places);
    let own = own.filter(|(_, (of_key, owner))| Some(of_key.0) == key && is_part(owner.0));
    let brief = witness.property.brief();
    Violation {
        property: words::property(witness.property),
        brief: match witness.holders.len() {
            0 | 1 => brief.to_owned(),
            holders => format!("{holders} holders, {brief}"),
        },
        claim: visible(&witness.claim).into_owned(),
        from: witness.interval.0.0,
        to: finite(witness.interval.1),
        certain: witness.certain,
        lanes: own.map(|(number, _)| number).collect(),
        acquires: witness
            .holders
            .iter()
            .map(|holder| holder.op_acquire)
            .collect(),
    }
}

/// Returns the commands that servers were sent where the history is whole.
fn commands(digest: &Digest, windows: Option<&[Interval]>) -> Vec<Command> {
    let is_inside = |at: Nanos| {
        let inside = |window: &Interval| window.start <= at && at <= window.end;
        windows.is_none_or(|windows| windows.iter().any(inside))
    };
    let told = digest
        .asides
        .commands
        .iter()
        // A reply is no command.
        .filter(|told| !told.note.is_reply && is_inside(told.time));
    told.map(|told| {
        let CommandNote {
            node, from, text, ..
        } = &told.note;
        (
            told.event,
            told.time.0,
            visible(&short(&told.key)).into_owned(),
            visible(node).into_owned(),
            from.as_deref().map(|from| visible(from).into_owned()),
            visible(text).into_owned(),
        )
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use lockstorm_checker::history::FaultClass;

    use super::*;
    use crate::sample;

    #[test]
    fn a_fault_has_the_colour_on_the_canvas_that_it_has_in_pictures() {
        let mut run = sample::failover_run();
        let fault = &mut run.analysis.faults[0];
        for (class, ink) in [
            (FaultClass::Cut, "fault-cut"),
            (FaultClass::Death, "fault-death"),
            (FaultClass::Data, "fault"),
        ] {
            fault.class = class;
            assert_eq!(band(fault).map(|band| band.ink), Some(ink));
        }
    }
}
