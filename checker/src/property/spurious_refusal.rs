//! Spurious refusal: a try is refused though the lock was certainly free all the time.
//!
//! ```text
//! a   |--========--|                     a has given the lock back, and knows it
//! b                    |--refused--|     nobody else can have had it
//! ```
//!
//! Certainly free is the time outside every hold that may have existed: from the sending of an
//! acquire to the answer of its release, or to the lease ceiling; what was never answered may hold
//! for ever. A reader is kept out by writers only, a semaphore by as many permits as leave too few,
//! and a fair lock may refuse a newcomer while others stand in its queue.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use super::mutual_exclusion::unknown_permits;
use super::rule::Rule;
use crate::case::{Case, Finding, Ruling, keep_few, keep_first};
use crate::engine::occupancy::Occupancy;
use crate::history::{Mode, Nanos};
use crate::hold::Hold;
use crate::interval::Interval;
use crate::operation::{Action, KeyId, OpId, Operation, Outcome, OwnerId};
use crate::replay;
use crate::story::Teller;
use crate::text;
use crate::verdict::Property;

/// The rule of this property.
pub(super) struct SpuriousRefusal;

impl Rule for SpuriousRefusal {
    fn judge(&self, case: &Case) -> Ruling {
        judge(case)
    }

    fn claim(&self, case: &Case, finding: &Finding, interval: Interval) -> String {
        refused(case, finding, interval)
    }

    fn tell(&self, teller: &mut Teller, interval: Interval) {
        teller.needless(interval);
    }

    fn stands_alone(&self, case: &Case, finding: &Finding) -> bool {
        replay::needless(case, finding)
    }
}

fn judge(case: &Case) -> Ruling {
    let mut keys = traffic(case);
    keys.retain(|_, traffic| !traffic.refused.is_empty());
    let has_matter = !keys.is_empty();
    let mut ruling = Ruling {
        engine: "gap-scan",
        has_matter,
        count: 0,
        findings: Vec::new(),
        // Every refusal is a test of its own, under a fault or not.
        vacuous: unknown_permits(case),
    };
    if !has_matter {
        ruling.vacuous = Some("no acquire was refused".to_owned());
    }
    if !has_matter || unknown_permits(case).is_some() {
        return ruling;
    }
    let groups: HashMap<KeyId, Range<usize>> = case
        .keys()
        .map(|group| (case.holds[group.start].key, group))
        .collect();
    let mut waiting = queues(case);
    for (key, traffic) in &keys {
        let group = groups.get(key).cloned().unwrap_or_default();
        let queue = Queue::of(waiting.remove(key).unwrap_or_default());
        judge_key(case, &mut ruling, &case.holds[group], traffic, &queue);
    }
    keep_first(&mut ruling.findings);
    ruling
}

fn refused(case: &Case, finding: &Finding, interval: Interval) -> String {
    let lock = text::lock(case.digest.key(finding.key));
    let attempt = finding.operation().map(|id| case.digest.operation(id));
    let owner = attempt.map_or("somebody".to_owned(), |attempt| {
        text::name(case.digest.owner(attempt.owner))
    });
    let free = if case.permits() > 1 {
        "enough permits must have been left"
    } else if attempt.is_some_and(|attempt| attempt.mode == Mode::Read) {
        "no writer can have held it"
    } else {
        "nobody can have held it"
    };
    let time = text::length(interval.length());
    format!("{owner} was refused {lock}, though {free} in the {time} that the try took")
}

/// What was asked of one lock.
#[derive(Default)]
struct Traffic {
    refused: Vec<OpId>,
    granted: Vec<OpId>,
    released: Vec<OpId>,
}

fn traffic(case: &Case) -> BTreeMap<KeyId, Traffic> {
    let mut keys: BTreeMap<KeyId, Traffic> = BTreeMap::new();
    for (id, operation) in (0..).map(OpId).zip(&case.digest.operations) {
        let traffic = keys.entry(operation.key).or_default();
        match (operation.action, operation.outcome) {
            (Action::Acquire, Outcome::Refused) => traffic.refused.push(id),
            (Action::Acquire, Outcome::Ok) => traffic.granted.push(id),
            (Action::Release, Outcome::Ok) => traffic.released.push(id),
            (
                Action::Acquire
                | Action::Release
                | Action::Renew
                | Action::Resource(_)
                | Action::Other,
                _,
            ) => {}
        }
    }
    keys
}

fn judge_key(case: &Case, ruling: &mut Ruling, holds: &[Hold], traffic: &Traffic, queue: &Queue) {
    let loans = loans(case, holds, traffic);
    let permits = u64::from(case.permits());
    let of = |loan: &Loan| (loan.interval, loan.permits);
    let all = Occupancy::of(loans.iter().map(of));
    let writers = Occupancy::of(loans.iter().filter(|loan| !loan.shared).map(of));
    for &id in &traffic.refused {
        let attempt = case.digest.operation(id);
        let Some(interval) = under_way(attempt) else {
            continue;
        };
        let free = if permits > 1 {
            all.most_in(interval) + u64::from(attempt.permits) <= permits
        } else {
            let excluding = match attempt.mode {
                Mode::Write => &all,
                Mode::Read => &writers,
            };
            excluding.most_in(interval) == 0
        };
        if !free || queue.keeps_out(id, interval) {
            continue;
        }
        ruling.count += 1;
        ruling.findings.push(Finding {
            property: Property::SpuriousRefusal,
            key: attempt.key,
            holds: Vec::new(),
            operations: vec![id],
            interval,
            certain: true,
        });
        keep_few(&mut ruling.findings);
    }
}

/// From sending to answer; `None` without an answer.
fn under_way(operation: &Operation) -> Option<Interval> {
    Some(Interval::new(operation.invoked, operation.answered()?))
}

/// Permits that may have been out.
struct Loan {
    interval: Interval,
    permits: u64,
    shared: bool,
}

/// Every hold as far as it may have reached.
fn loans(case: &Case, holds: &[Hold], traffic: &Traffic) -> Vec<Loan> {
    let mut loans: Vec<Loan> = holds
        .iter()
        .map(|hold| Loan {
            interval: hold.possible(),
            permits: hold.permits.into(),
            shared: hold.mode == Mode::Read,
        })
        .collect();
    let reentries = reentries(case, holds, traffic);
    let releases = if reentries.is_empty() {
        HashMap::new()
    } else {
        releases(case, traffic)
    };
    for (at, entries) in reentries {
        let loan = &mut loans[at];
        for &id in &entries {
            let entry = case.digest.operation(id);
            loan.permits += u64::from(entry.permits);
            loan.shared &= entry.mode == Mode::Read;
            loan.interval.start = loan.interval.start.min(entry.invoked);
        }
        // Later renewals are not counted to such a hold, so its ceiling does not bind.
        let own = releases
            .get(&holds[at].owner)
            .map_or(&[][..], Vec::as_slice);
        loan.interval.end = last_release(&holds[at], entries.len(), own);
    }
    loans
}

/// Grants that only extended a hold, by the position of that hold: its owner has the lock more than
/// once, and may keep it after the first release.
fn reentries(case: &Case, holds: &[Hold], traffic: &Traffic) -> HashMap<usize, Vec<OpId>> {
    let begins: HashSet<OpId> = holds.iter().map(|hold| hold.acquire).collect();
    let further = traffic.granted.iter().filter(|id| !begins.contains(id));
    let mut further = further.copied().peekable();
    let mut entries: HashMap<usize, Vec<OpId>> = HashMap::new();
    if further.peek().is_none() {
        return entries;
    }
    let mut by_owner: HashMap<OwnerId, Vec<usize>> = HashMap::new();
    for (at, hold) in holds
        .iter()
        .enumerate()
        .filter(|(_, hold)| hold.is_granted())
    {
        by_owner.entry(hold.owner).or_default().push(at);
    }
    for own in by_owner.values_mut() {
        own.sort_by_key(|&at| holds[at].core.start);
    }
    for id in further {
        let entry = case.digest.operation(id);
        let own = by_owner.get(&entry.owner).map_or(&[][..], Vec::as_slice);
        let granted = entry.answered().unwrap_or(Nanos::MAX);
        let next = own.partition_point(|&at| holds[at].core.start <= granted);
        if let Some(&at) = own[..next].last() {
            entries.entry(at).or_default().push(id);
        }
    }
    entries
}

/// The releases of each owner that took effect, by sending: sent and answered.
fn releases(case: &Case, traffic: &Traffic) -> HashMap<OwnerId, Vec<Interval>> {
    let mut by_owner: HashMap<OwnerId, Vec<Interval>> = HashMap::new();
    for release in traffic.released.iter().map(|&id| case.digest.operation(id)) {
        let own = by_owner.entry(release.owner).or_default();
        own.extend(under_way(release));
    }
    for own in by_owner.values_mut() {
        own.sort_unstable_by_key(|release| release.start);
    }
    by_owner
}

/// When a hold that was entered `further` times more was released as often; never, if it was not.
fn last_release(hold: &Hold, further: usize, own: &[Interval]) -> Nanos {
    let first = own.partition_point(|release| release.start < hold.core.end);
    let all = own[first..].get(..=further);
    let last = all.and_then(|all| all.iter().map(|release| release.end).max());
    last.unwrap_or(Nanos::MAX)
}

/// Who stood in the queue of each fair lock: the acquire, where it is known, and since when.
fn queues(case: &Case) -> HashMap<KeyId, Vec<(Option<OpId>, Interval)>> {
    let mut queues: HashMap<KeyId, Vec<(Option<OpId>, Interval)>> = HashMap::new();
    for note in &case.digest.queued {
        let acquire = note.acquire.map(|id| case.digest.operation(id));
        let end = acquire.and_then(Operation::answered).unwrap_or(Nanos::MAX);
        let wait = (note.acquire, Interval::new(note.time, end));
        queues.entry(note.key).or_default().push(wait);
    }
    queues
}

/// The queue of one lock.
struct Queue {
    starts: Vec<Nanos>,
    ends: Vec<Nanos>,
    waiting: HashSet<OpId>,
}

impl Queue {
    fn of(waits: Vec<(Option<OpId>, Interval)>) -> Self {
        let mut queue = Self {
            starts: waits.iter().map(|(_, wait)| wait.start).collect(),
            ends: waits.iter().map(|(_, wait)| wait.end).collect(),
            waiting: waits.into_iter().filter_map(|(id, _)| id).collect(),
        };
        queue.starts.sort_unstable();
        queue.ends.sort_unstable();
        queue
    }

    /// Whether somebody else stood in the queue at an instant of `interval`.
    fn keeps_out(&self, id: OpId, interval: Interval) -> bool {
        let come = self.starts.partition_point(|&start| start <= interval.end);
        let gone = self.ends.partition_point(|&end| end < interval.start);
        come - gone > usize::from(self.waiting.contains(&id))
    }
}
