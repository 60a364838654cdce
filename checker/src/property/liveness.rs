//! Liveness: a lock that is free can be had within a named bound.
//!
//! Two readings, each with its own evidence:
//! - **The final phase.** Every fault is healed and every holder was asked to release. Each key
//!   that was ever asked for must be granted to somebody within the bound. Refused to the end of
//!   the bound, it is stuck; not asked for, or left without an answer, nobody can tell.
//! - **A wait.** An acquire that is refused after a long wait, or never answered, while the lock
//!   was certainly free for longer than the bound: outside every hold that may have existed, and
//!   outside every fault, for a lock need not be had from a server that is down.

use std::collections::BTreeMap;

use crate::case::{Case, Finding, Ruling, keep_first};
use crate::digest::FinalPhase;
use crate::faults;
use crate::history::Nanos;
use crate::interval::Interval;
use crate::operation::{Action, KeyId, OpId, Operation, Outcome};
use crate::text;
use crate::verdict::Property;
use crate::windows::Windows;

/// A refusal counts for the rest of the bound if it comes in the last tenth of it: who asks again
/// and again asks a little before the end for the last time.
const LAST_REFUSAL_SHARE: (u64, u64) = (9, 10);

pub(super) fn judge(case: &Case) -> Ruling {
    let mut ruling = Ruling {
        engine: "gap-scan",
        has_matter: false,
        count: 0,
        findings: Vec::new(),
        vacuous: None,
    };
    let keys = acquires_by_key(case);
    if let Some(phase) = case.digest.final_phase {
        ruling.has_matter = true;
        if keys.is_empty() {
            ruling.vacuous = Some("nobody ever asked for a lock".to_owned());
        }
        for (&key, acquires) in &keys {
            judge_final(case, &mut ruling, phase, key, acquires);
        }
    }
    judge_waits(case, &mut ruling, &keys);
    ruling.count = ruling.findings.len() as u64;
    keep_first(&mut ruling.findings);
    if !ruling.has_matter {
        let bound = text::length(case.options.bound(None));
        ruling.vacuous = Some(format!(
            "there was no final phase, and no acquire waited longer than {bound}"
        ));
    }
    ruling
}

type Acquires = Vec<OpId>;

fn acquires_by_key(case: &Case) -> BTreeMap<KeyId, Acquires> {
    let mut keys: BTreeMap<KeyId, Acquires> = BTreeMap::new();
    for (id, operation) in (0..).map(OpId).zip(&case.digest.operations) {
        if operation.action == Action::Acquire {
            keys.entry(operation.key).or_default().push(id);
        }
    }
    keys
}

/// What the final phase says of one key.
fn judge_final(case: &Case, ruling: &mut Ruling, phase: FinalPhase, key: KeyId, acquires: &[OpId]) {
    let bound = case.options.bound(phase.bound);
    let window = Interval::new(phase.time, phase.time + bound);
    let mut last_refusal: Option<(Nanos, OpId)> = None;
    let mut asked = false;
    for &id in acquires {
        let acquire = case.digest.operation(id);
        let until = acquire
            .completion
            .map_or(Nanos::MAX, |completion| completion.time);
        if !Interval::new(acquire.invoked, until).touches(window) {
            continue;
        }
        asked = true;
        match (acquire.outcome, acquire.answered()) {
            (Outcome::Ok, Some(granted)) if granted <= window.end => return,
            (Outcome::Refused, Some(refused)) => {
                last_refusal = last_refusal.max(Some((refused, id)));
            }
            (Outcome::Ok | Outcome::NotOwner | Outcome::Failed | Outcome::Unknown, _)
            | (Outcome::Refused, None) => {}
        }
    }
    let (part, whole) = LAST_REFUSAL_SHARE;
    let late = Nanos(bound.0 / whole * part);
    match last_refusal {
        Some((refused, id)) if refused >= phase.time + late => ruling.findings.push(Finding {
            property: Property::Liveness,
            key,
            holds: Vec::new(),
            operation: Some(id),
            interval: Interval::new(phase.time, window.end.min(case.digest.end)),
            certain: true,
        }),
        Some(_) | None => {
            let lock = text::lock(case.digest.key(key));
            let why = if asked {
                "was neither granted nor refused to the end of the final phase"
            } else {
                "was not asked for in the final phase"
            };
            ruling
                .vacuous
                .get_or_insert_with(|| format!("{lock} {why}"));
        }
    }
}

/// Long waits for a lock that was free.
fn judge_waits(case: &Case, ruling: &mut Ruling, keys: &BTreeMap<KeyId, Acquires>) {
    let bound = case.options.bound(None);
    let mut groups = case.keys().peekable();
    for (&key, acquires) in keys {
        let waits: Vec<OpId> = acquires
            .iter()
            .copied()
            .filter(|&id| wait(case, case.digest.operation(id)).is_some_and(|w| w.length() > bound))
            .collect();
        while groups
            .next_if(|group| case.holds[group.start].key < key)
            .is_some()
        {}
        if waits.is_empty() {
            continue;
        }
        ruling.has_matter = true;
        let group = groups.next_if(|group| case.holds[group.start].key == key);
        let gaps = free_longer_than(bound, case, group.unwrap_or(0..0));
        for id in waits {
            let waited = wait(case, case.digest.operation(id));
            let free = waited.and_then(|waited| first_gap(&gaps, waited, bound));
            ruling.findings.extend(free.map(|interval| Finding {
                property: Property::Liveness,
                key,
                holds: Vec::new(),
                operation: Some(id),
                interval,
                certain: true,
            }));
        }
    }
}

/// How long an acquire waited in vain; `None` if it was granted, or its client gave it up.
fn wait(case: &Case, acquire: &Operation) -> Option<Interval> {
    let end = match (acquire.outcome, acquire.completion) {
        (Outcome::Refused, Some(completion)) => completion.time,
        (Outcome::Unknown, None) => case.digest.end,
        (Outcome::Ok | Outcome::NotOwner | Outcome::Failed, _)
        | (Outcome::Unknown, Some(_))
        | (Outcome::Refused, None) => return None,
    };
    Some(Interval::new(acquire.invoked, end))
}

/// When nobody can have held the lock and no fault was active, in stretches longer than `bound`.
/// Acquires that never settle are not holders here: they are the ones that wait.
fn free_longer_than(bound: Nanos, case: &Case, group: std::ops::Range<usize>) -> Vec<Interval> {
    let settled = |acquire: OpId| case.digest.operation(acquire).completion.is_some();
    let held = case.holds[group]
        .iter()
        .filter(|hold| hold.is_granted() || settled(hold.acquire))
        .map(crate::Hold::possible);
    let faulty = case.faults.iter().filter_map(faults::window);
    Windows::union(held.chain(faulty).collect()).gaps_longer_than(bound)
}

/// The first stretch of `gaps` within `waited` that is longer than `bound`.
fn first_gap(gaps: &[Interval], waited: Interval, bound: Nanos) -> Option<Interval> {
    let first = gaps.partition_point(|gap| gap.end <= waited.start);
    // The first gap may be cut short by the wait; a second one is whole, or the last.
    gaps.iter()
        .skip(first)
        .take(2)
        .map(|gap| gap.intersect(waited))
        .find(|free| !free.is_empty() && free.length() > bound)
}
