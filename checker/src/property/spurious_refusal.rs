//! Spurious refusal: a try is refused though the lock was certainly free all the time.
//!
//! ```text
//! a   |--========--|                     a has given the lock back, and knows it
//! b                    |--refused--|     nobody else can have had it
//! ```
//!
//! Certainly free is the time outside every hold that may have existed: from the sending of an
//! acquire to the answer of its release, or to the lease ceiling; what was never answered may hold
//! forever. A reader is kept out by writers only, a semaphore by as many permits as leave too few,
//! and a fair lock may refuse a newcomer while others stand in its queue.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use super::mutual_exclusion::unknown_permits;
use super::replay;
use super::rule::{BlameWindow, Causes, Rule};
use crate::case::{Case, Finding, Ruling, Run, Tested, keep_few, keep_first};
use crate::engine::occupancy::Occupancy;
use crate::history::{Mode, Nanos};
use crate::holds::Hold;
use crate::operations::{Action, Interval, KeyId, Lease, OpId, Operation, Outcome, OwnerId};
use crate::story::{Teller, last_gone};
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

    fn narrate(&self, teller: &mut Teller, interval: Interval) {
        teller.needless(interval);
    }

    /// Since it was free, as far as anybody could know.
    fn told_since(&self, case: &Case, finding: &Finding, interval: Interval) -> Nanos {
        let last = last_gone(case, finding, interval);
        last.map_or(interval.start, |hold| hold.possible().end)
    }

    fn vacuity_reason(&self, _run: &Run) -> Option<String> {
        // Every refusal is a test of its own, under a fault or not.
        None
    }

    fn verify_witness(&self, case: &Case, finding: &Finding) -> bool {
        replay::needless(case, finding)
    }

    fn blame_window(&self) -> BlameWindow {
        BlameWindow::Shown
    }

    fn causes(&self) -> Causes {
        Causes::Any
    }

    /// It rests on what each owner did one after the other: clocks that are off tell nothing of it.
    fn survives_clock_error(&self) -> bool {
        false
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
        tested: unknown_permits(case).map_or(Tested::Yes, Tested::Never),
    };
    if !has_matter {
        ruling.tested = Tested::No("no acquire was refused".to_owned());
    }
    if ruling.tested != Tested::Yes {
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

/// Acquires of one lock that were refused, those that were granted, and the releases that
/// succeeded.
#[derive(Default)]
struct Traffic {
    refused: Vec<OpId>,
    granted: Vec<OpId>,
    released: Vec<OpId>,
}

fn traffic(case: &Case) -> BTreeMap<KeyId, Traffic> {
    let mut keys: BTreeMap<KeyId, Traffic> = BTreeMap::new();
    for (id, operation) in OpId::each(&case.digest.operations) {
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
            interval: Interval::new(hold.hull.start, out_until(case, hold)),
            permits: hold.permits.into(),
            shared: hold.mode == Mode::Read,
        })
        .collect();
    let reentries = reentries(case, holds, traffic);
    for (&at, entries) in &reentries {
        let loan = &mut loans[at];
        for &id in entries {
            let entry = case.digest.operation(id);
            loan.permits += u64::from(entry.permits);
            loan.shared &= entry.mode == Mode::Read;
            loan.interval.start = loan.interval.start.min(entry.invoked);
        }
    }
    let last_releases = last_releases(case, holds, &reentries, traffic);
    for (hold, loan) in holds.iter().zip(&mut loans) {
        if let Some(last) = last_releases.get(&hold.owner) {
            // Later renewals are not counted to such a hold, so its ceiling does not bind.
            let next = last.partition_point(|&release| release < hold.core.end);
            loan.interval.end = last.get(next).copied().unwrap_or(Nanos::MAX);
        }
    }
    loans
}

/// Until when a hold may have been out. A release that was granted and did not end it for certain
/// may have given back one of several grants, and extended the lease of the others by that. A
/// library may report less than the lease that it asked the servers for, which keep all of it; and
/// servers may end a lease late.
fn out_until(case: &Case, hold: &Hold) -> Nanos {
    let late = case.digest.header.ends_late_ms.unwrap_or_default();
    let kept = hold.lease.ceiling + case.digest.shortfall + Nanos::from_millis(late);
    let out = hold.possible().end.max(kept).min(hold.hull.end);
    let release = hold.release.map(|id| case.digest.operation(id));
    let partial = release.filter(|release| release.outcome == Outcome::Ok);
    match partial.and_then(Operation::answered) {
        Some(answered) if hold.hull.end == Nanos::MAX => {
            let length = case.digest.operation(hold.acquire).lease;
            let drift = case.options.drift(&case.digest.header);
            out.max(Lease::granted(answered, answered, length, drift).ceiling)
        }
        Some(_) | None => out,
    }
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

/// Returns the times at which each owner that entered again had certainly given back all that it
/// may have entered: the answers of those releases by which there were as many releases as
/// acquires, indeterminate acquires included. Each release before is a partial one, after which the
/// owner may enter once more.
fn last_releases(
    case: &Case,
    holds: &[Hold],
    reentries: &HashMap<usize, Vec<OpId>>,
    traffic: &Traffic,
) -> HashMap<OwnerId, Vec<Nanos>> {
    let reentrant = reentries
        .keys()
        .map(|&at| (holds[at].owner, (vec![], vec![])));
    let mut by_owner: HashMap<OwnerId, (Vec<Nanos>, Vec<Nanos>)> = reentrant.collect();
    for (at, hold) in holds.iter().enumerate() {
        if let Some((acquires, _)) = by_owner.get_mut(&hold.owner) {
            let further = reentries.get(&at).into_iter().flatten();
            let all = [hold.acquire].into_iter().chain(further.copied());
            acquires.extend(all.map(|id| case.digest.operation(id).invoked));
        }
    }
    for release in traffic.released.iter().map(|&id| case.digest.operation(id)) {
        if let Some((_, releases)) = by_owner.get_mut(&release.owner) {
            releases.extend(release.answered());
        }
    }
    let mut last = HashMap::new();
    for (owner, (mut acquires, mut releases)) in by_owner {
        acquires.sort_unstable();
        releases.sort_unstable();
        let all = |&(before, time): &(usize, Nanos)| {
            before >= acquires.partition_point(|&acquire| acquire <= time)
        };
        let counted = (1..).zip(releases).filter(all);
        last.insert(owner, counted.map(|(_, time)| time).collect());
    }
    last
}

/// Lists who stood in the queue of each fair lock: the acquire, where it is known, and the interval
/// in which it waited.
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

    /// Tells whether somebody else stood in the queue at an instant of `interval`.
    fn keeps_out(&self, id: OpId, interval: Interval) -> bool {
        let come = self.starts.partition_point(|&start| start <= interval.end);
        let gone = self.ends.partition_point(|&end| end < interval.start);
        come - gone > usize::from(self.waiting.contains(&id))
    }
}
