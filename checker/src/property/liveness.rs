//! Liveness: a lock that is free can be had within a named bound.
//!
//! Two readings, each with its own evidence:
//! - **The final phase.** Every fault is healed and every holder was asked to release. Each key
//!   that was ever asked for must be granted to somebody within the bound. Refused or left waiting
//!   to the end of the bound, it is stuck, unless a lease from before was still running; not asked
//!   for, or given up by who asked, nobody can tell. Who goes on renewing a lease in this phase is
//!   what the lock is stuck for, and no excuse. Who waits by itself asks once, and may begin while
//!   that lease is running: where the history names a bound, which has room for it, what was waited
//!   of the rest of the bound counts.
//! - **A wait.** An acquire that is refused after a long wait, or never answered, while the lock
//!   was certainly free for longer than the bound: outside every hold that may have existed, and
//!   outside every fault, for a lock need not be had from a server that is down. It need not be
//!   known why it was refused: a hold that its own client may have had without knowing keeps
//!   nobody out but this client.

use std::collections::BTreeMap;

use super::replay;
use super::rule::{BlameWindow, Causes, Evidence, Rule};
use crate::case::{Case, Finding, Ruling, Run, Tested, faults, keep_first, stalled};
use crate::history::Nanos;
use crate::holds::{Hold, Windows};
use crate::operations::{Action, Drift, FinalPhase, Interval, KeyId, OpId, Operation, Outcome};
use crate::story::Teller;
use crate::text;
use crate::verdict::Property;

/// A refusal counts for the rest of the bound if it comes in the last tenth of it: who asks again
/// and again asks a little before the end for the last time, and who waits may give up a little
/// before.
const LAST_REFUSAL_SHARE: (u64, u64) = (9, 10);

/// The rule of this property.
pub(super) struct Liveness;

impl Rule for Liveness {
    fn judge(&self, case: &Case) -> Ruling {
        judge(case)
    }

    fn claim(&self, case: &Case, finding: &Finding, interval: Interval) -> String {
        stuck(case, finding, interval)
    }

    fn narrate(&self, teller: &mut Teller, interval: Interval) {
        teller.stuck(interval);
    }

    fn vacuity_reason(&self, _run: &Run) -> Option<String> {
        // The final phase comes after the faults.
        None
    }

    fn verify_witness(&self, case: &Case, finding: &Finding) -> bool {
        replay::refusal(case, finding)
    }

    fn blame_window(&self) -> BlameWindow {
        BlameWindow::Shown
    }

    fn causes(&self) -> Causes {
        Causes::Any
    }

    fn survives_clock_error(&self) -> bool {
        true
    }

    fn rests_on(&self) -> &'static [Evidence] {
        &[Evidence::FinalPhase, Evidence::End]
    }
}

fn judge(case: &Case) -> Ruling {
    let mut ruling = Ruling {
        engine: "gap-scan",
        has_matter: false,
        count: 0,
        findings: Vec::new(),
        tested: Tested::Yes,
    };
    let keys = acquires_by_key(case);
    if let Some(phase) = case.digest.final_phase {
        ruling.has_matter = true;
        if keys.is_empty() {
            ruling.tested = Tested::No("nobody ever asked for a lock".to_owned());
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
        ruling.tested = Tested::No(format!(
            "there was no final phase, and no acquire waited longer than {bound}"
        ));
    }
    ruling
}

fn stuck(case: &Case, finding: &Finding, interval: Interval) -> String {
    let lock = text::lock(case.digest.key(finding.key));
    let free = text::length(interval.length());
    let waiting = finding.operation().map(|id| case.digest.operation(id));
    let in_final_phase = case
        .digest
        .final_phase
        .is_some_and(|phase| phase.time == interval.start);
    match waiting {
        Some(waiting) if !in_final_phase => {
            let owner = text::name(case.digest.owner(waiting.owner));
            let end = if waiting.outcome == Outcome::Refused || waiting.is_told_no {
                "was refused"
            } else {
                "was never answered"
            };
            format!("{owner} waited for {lock} and {end}, though it was free for {free}")
        }
        Some(_) | None => {
            format!(
                "{lock} could not be had for {free}, with every fault healed and nobody at work"
            )
        }
    }
}

type Acquires = Vec<OpId>;

fn acquires_by_key(case: &Case) -> BTreeMap<KeyId, Acquires> {
    let mut keys: BTreeMap<KeyId, Acquires> = BTreeMap::new();
    for (id, operation) in OpId::each(&case.digest.operations) {
        if operation.action == Action::Acquire {
            keys.entry(operation.key).or_default().push(id);
        }
    }
    keys
}

/// Judges one key by the final phase.
fn judge_final(case: &Case, ruling: &mut Ruling, phase: FinalPhase, key: KeyId, acquires: &[OpId]) {
    let bound = case.options.bound(phase.bound);
    let window = Interval::new(phase.time, phase.time + bound);
    let tries: Vec<(OpId, &Operation)> = acquires
        .iter()
        .map(|&id| (id, case.digest.operation(id)))
        .filter(|(_, acquire)| until(acquire) >= window.start)
        .collect();
    let asked = tries
        .iter()
        .any(|(_, attempt)| attempt.invoked <= window.end);
    let granted = |attempt: &Operation| attempt.is_grant() && until(attempt) <= window.end;
    if tries.iter().any(|(_, attempt)| granted(attempt)) {
        return;
    }
    let vain = Vain::of(case, key, window, phase.bound.is_some(), &tries);
    let last = tries
        .iter()
        .filter_map(|&(id, attempt)| Some((vain.shown_by(attempt)?, id)))
        .max();
    match last {
        Some((_, id)) if asked => ruling.findings.push(Finding {
            property: Property::Liveness,
            key,
            holds: Vec::new(),
            operations: vec![id],
            interval: Interval::new(phase.time, window.end.min(case.digest.end)),
            certain: true,
        }),
        Some(_) | None => {
            let lock = text::lock(case.digest.key(key));
            let why = if asked && vain.free >= window.end {
                "may have been leased to the end of the final phase"
            } else if asked {
                "was neither granted nor refused to the end of the final phase"
            } else {
                "was not asked for in the final phase"
            };
            if ruling.tested == Tested::Yes {
                ruling.tested = Tested::No(format!("{lock} {why}"));
            }
        }
    }
}

/// When an acquire shows that a key, which nobody was granted in the final phase, is stuck.
struct Vain {
    window: Interval,
    /// From when on a refusal counts for the rest of the bound.
    late: Nanos,
    /// Time at which the leases from before have run out; a refusal until then is in order.
    free: Nanos,
    /// Time that somebody who asked before must have waited after it; `None` where
    /// nothing is left of the bound by then.
    wait: Option<Nanos>,
    /// Time at which somebody asked who may have got the lock after the bound.
    taken: Nanos,
    /// Until when waiting without an answer counts: the end of the bound, if the history reaches
    /// it and no fault was left that may have kept the answer back.
    patience: Option<Nanos>,
}

impl Vain {
    fn of(
        case: &Case,
        key: KeyId,
        window: Interval,
        is_named: bool,
        tries: &[(OpId, &Operation)],
    ) -> Self {
        let free = leases_end(case, key, window);
        // A bound that the history does not name has no room for leases from before.
        let rest = if is_named {
            Interval::new(window.start.max(free).min(window.end), window.end)
        } else {
            window
        };
        let took_later = |acquire: &&Operation| match acquire.outcome {
            Outcome::Ok => true,
            Outcome::Unknown => acquire.invoked > window.end,
            Outcome::Refused | Outcome::NotOwner | Outcome::Failed => false,
        };
        let faulty = case.faults.iter().filter_map(faults::window);
        let mut faulty = faulty.chain(stalled(case.digest));
        let calm = !faulty.any(|fault| fault.overlaps(window));
        let later = tries.iter().map(|&(_, acquire)| acquire);
        Self {
            window,
            late: window.start + most_of(window),
            free,
            wait: (!rest.is_empty()).then(|| most_of(rest)),
            taken: later
                .filter(took_later)
                .map(|acquire| acquire.invoked)
                .min()
                .unwrap_or(Nanos::MAX),
            patience: (calm && case.digest.end >= window.end).then_some(window.end),
        }
    }

    /// Until when `acquire` waited in vain, if for long enough.
    fn shown_by(&self, acquire: &Operation) -> Option<Nanos> {
        let since = acquire.invoked.max(self.free).max(self.window.start);
        let waited = |from: Nanos, to: Nanos| self.wait.is_some_and(|wait| from + wait <= to);
        match (acquire.outcome, acquire.completion) {
            (Outcome::Refused, Some(refused)) => {
                let late = refused.time >= self.late;
                let free = acquire.invoked > self.free || waited(self.free, refused.time);
                let alone = acquire.invoked <= self.window.end || refused.time < self.taken;
                (late && free && alone).then_some(refused.time)
            }
            (Outcome::Ok, Some(_)) => self.patience.filter(|&patience| waited(since, patience)),
            // Who asked before and has no completion may have died of a fault.
            (Outcome::Unknown, None) => self.patience.filter(|&patience| {
                acquire.invoked >= self.window.start && waited(since, patience)
            }),
            (Outcome::Refused | Outcome::Ok, None)
            | (Outcome::Unknown, Some(_))
            | (Outcome::NotOwner | Outcome::Failed, _) => None,
        }
    }
}

/// So much of an interval that it counts for the whole.
fn most_of(interval: Interval) -> Nanos {
    let (part, whole) = LAST_REFUSAL_SHARE;
    Nanos((interval.length().0 / whole).saturating_mul(part))
}

/// When the last lease on `key` that was asked for in time has run out. A hold without a lease
/// does not count: in the final phase every holder was asked to release.
fn leases_end(case: &Case, key: KeyId, window: Interval) -> Nanos {
    let drift = case.options.drift(&case.digest.header);
    let end = |hold: &Hold| {
        if hold.is_granted() {
            let counts = hold.is_leased() && hold.core.start <= window.end;
            return counts.then(|| lease_end(case, hold, window, drift));
        }
        let acquire = case.digest.operation(hold.acquire);
        let asked = acquire
            .completion
            .map_or(acquire.invoked, |given_up| given_up.time);
        let length = acquire.lease.filter(|_| asked <= window.end)?;
        Some(asked + length + drift.of(length))
    };
    let first = case.holds.partition_point(|hold| hold.key < key);
    let holds = case.holds[first..]
        .iter()
        .take_while(|hold| hold.key == key);
    holds.filter_map(end).max().unwrap_or(Nanos(0))
}

/// When the lease of a granted hold has run out, as far as it was asked for before the final phase.
fn lease_end(case: &Case, hold: &Hold, window: Interval, drift: Drift) -> Nanos {
    let end = hold.hull.end.min(hold.lease.ceiling);
    let acquire = case.digest.operation(hold.acquire);
    // Most holds are long over, and of few the renewals have to be looked up.
    if end <= window.start || acquire.invoked >= window.start {
        return end;
    }
    let of_owner = case.operations_of(hold.owner).iter();
    let own = of_owner.map(|&id| case.digest.operation(id));
    let renewals = own.filter(|own| own.action == Action::Renew && own.key == hold.key);
    let (late, early): (Vec<_>, Vec<_>) =
        renewals.partition(|renewal| renewal.invoked >= window.start);
    if late.is_empty() {
        return end;
    }
    let ends = |operation: &Operation| match (operation.outcome, operation.completion) {
        (Outcome::NotOwner | Outcome::Refused | Outcome::Failed, _) => Nanos(0),
        (Outcome::Ok, Some(answered)) => match operation.lease.or(acquire.lease) {
            Some(length) => answered.time + length + drift.of(length),
            None => Nanos::MAX,
        },
        (Outcome::Ok, None) | (Outcome::Unknown, _) => Nanos::MAX,
    };
    let asked_before = early.into_iter().map(ends).max();
    hold.hull
        .end
        .min(ends(acquire).max(asked_before.unwrap_or_default()))
}

/// Time for which an acquire was under way.
fn until(acquire: &Operation) -> Nanos {
    acquire
        .completion
        .map_or(Nanos::MAX, |completion| completion.time)
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
        let group = group.unwrap_or(0..0);
        let gaps = free_longer_than(bound, case, group.clone());
        let doubtful: Vec<&Hold> = case.holds[group]
            .iter()
            .filter(|hold| is_doubtful(case, hold, bound))
            .collect();
        for id in waits {
            let waited = wait(case, case.digest.operation(id));
            let free = waited.and_then(|waited| first_gap(&gaps, waited, bound));
            let is_free = |free: &Interval| {
                let others = doubtful.iter().filter(|hold| hold.acquire != id);
                !others
                    .map(|hold| hold.possible())
                    .any(|held| held.overlaps(*free))
            };
            let free = free.filter(is_free);
            ruling.findings.extend(free.map(|interval| Finding {
                property: Property::Liveness,
                key,
                holds: Vec::new(),
                operations: vec![id],
                interval,
                certain: true,
            }));
        }
    }
}

/// Time for which an acquire waited in vain; `None` if it was granted, or its client gave it up.
fn wait(case: &Case, acquire: &Operation) -> Option<Interval> {
    let end = match (acquire.outcome, acquire.completion) {
        (Outcome::Refused, Some(completion)) => completion.time,
        (Outcome::Unknown, Some(completion)) if acquire.is_told_no => completion.time,
        (Outcome::Unknown, None) => case.digest.end,
        (Outcome::Ok | Outcome::NotOwner | Outcome::Failed, _)
        | (Outcome::Unknown, Some(_))
        | (Outcome::Refused, None) => return None,
    };
    Some(Interval::new(acquire.invoked, end))
}

/// Tells whether a hold that may have been is that of a long wait which ended with a no.
fn is_doubtful(case: &Case, hold: &Hold, bound: Nanos) -> bool {
    let acquire = case.digest.operation(hold.acquire);
    let waited = wait(case, acquire).filter(|_| acquire.is_told_no);
    !hold.is_granted() && waited.is_some_and(|waited| waited.length() > bound)
}

/// When nobody can have held the lock and no fault was active, in stretches longer than `bound`.
/// Acquires that never settle, or end with a no after so long, are not holders here: they are the
/// ones that wait.
fn free_longer_than(bound: Nanos, case: &Case, group: std::ops::Range<usize>) -> Vec<Interval> {
    let settled = |acquire: OpId| case.digest.operation(acquire).completion.is_some();
    let held = case.holds[group]
        .iter()
        .filter(|hold| hold.is_granted() || settled(hold.acquire))
        .filter(|hold| !is_doubtful(case, hold, bound))
        .map(Hold::possible);
    let faulty = case.faults.iter().filter_map(faults::window);
    let faulty = faulty.chain(stalled(case.digest));
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
