//! Time for which a lock could not be had while somebody wanted it and nobody held it.
//!
//! ```text
//! a   |-- try --|       |-- try --|       |-- try, granted --|=====
//!     <------------------- without a grant ------------------>
//! ```
//!
//! For: a measure of the deployment, over all keys. Not for: accusing the lock; that is liveness.
//! A lock is wanted while somebody tries to get it, and from a try that was not granted to the
//! next of the same owner, unless the pause between them is long. It is held from a grant to the
//! sending of its release, or to the lease ceiling. A history does not tell which server leads:
//! the time in which a majority was down counts, unless nobody asked in it.

use std::collections::HashMap;

use crate::history::Nanos;
use crate::holds::{Hold, Windows};
use crate::operations::{Action, Digest, Interval, KeyId, OpId, Outcome, OwnerId, StallAside};
use crate::verdict::Availability;

/// Longest pause between two tries that leaves the lock wanted: a client that polls for it asks
/// again sooner.
pub(crate) const PAUSE_MAX: Nanos = Nanos::from_millis(1000);

/// A stretch without a grant, with the last try that was sent when it began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outage {
    pub(crate) key: KeyId,
    pub(crate) interval: Interval,
    pub(crate) attempt: OpId,
}

/// The figures of all stretches without a grant, and those stretches that are longer than `length`;
/// holds are grouped by key. Of the times that were `missed` nobody can say whether the lock could
/// be had, and they count as if it could.
pub(crate) fn availability(
    digest: &Digest,
    holds: &[Hold],
    length: Nanos,
    missed: &[Interval],
) -> (Availability, Vec<Outage>) {
    let mut groups = holds.chunk_by(|a, b| a.key == b.key).peekable();
    let (mut figures, mut outages) = (Availability::default(), Vec::new());
    for key in digest.all_keys() {
        let all = digest.operations_on(key);
        let tries: Vec<OpId> = all
            .filter(|(_, operation)| operation.action == Action::Acquire)
            .map(|(id, _)| id)
            .collect();
        while groups.next_if(|group| group[0].key < key).is_some() {}
        let group = groups.next_if(|group| group[0].key == key).unwrap_or(&[]);
        let held = group.iter().filter(|hold| hold.is_granted()).map(held);
        let free =
            Windows::union(held.chain(missed.iter().copied()).collect()).gaps_longer_than(Nanos(0));
        let mut next = 0;
        for &want in wants(digest, &tries).each() {
            figures.wanted = figures.wanted + want.length();
            next += free[next..].partition_point(|gap| gap.end <= want.start);
            let inside = free[next..].iter().take_while(|gap| gap.start < want.end);
            for interval in inside.map(|gap| gap.intersect(want)) {
                figures.without_grant = figures.without_grant + interval.length();
                figures.longest = figures.longest.max(interval.length());
                if interval.length() > length {
                    outages.push(Outage {
                        key,
                        interval,
                        attempt: attempt_at(digest, &tries, interval.start),
                    });
                }
            }
        }
    }
    (figures, outages)
}

/// Returns the times in which nobody can say whether the lock could be had, as the recorder of the
/// history stood still.
pub(crate) fn stalled(digest: &Digest) -> Vec<Interval> {
    let stalls = digest.asides.stalls.iter();
    let interval = |stall: &StallAside| Interval::new(stall.interval.0, stall.interval.1);
    stalls.map(interval).collect()
}

/// Returns the interval in which a hold that was granted kept others out.
pub(crate) fn held(hold: &Hold) -> Interval {
    let end = hold.core.end.min(hold.lease.ceiling);
    Interval::new(hold.core.start, end.max(hold.core.start))
}

/// The times in which somebody wanted the lock.
fn wants(digest: &Digest, tries: &[OpId]) -> Windows {
    // When the last try of an owner ended that was not granted: it wants the lock on.
    let mut refused: HashMap<OwnerId, Nanos> = HashMap::new();
    let want = |&id: &OpId| {
        let attempt = digest.operation(id);
        let completion = attempt.completion;
        let end = completion.map_or(digest.end, |completion| completion.time);
        let before = refused.remove(&attempt.owner);
        let since = before.filter(|&before| attempt.invoked <= before + PAUSE_MAX);
        if attempt.outcome != Outcome::Ok {
            refused.insert(attempt.owner, end);
        }
        let start = since.unwrap_or(attempt.invoked).min(attempt.invoked);
        Interval::new(start, end)
    };
    Windows::union(tries.iter().map(want).collect())
}

/// The last try that was sent by `time`.
fn attempt_at(digest: &Digest, tries: &[OpId], time: Nanos) -> OpId {
    let sent = tries.partition_point(|&id| digest.operation(id).invoked <= time);
    tries[sent.saturating_sub(1)]
}
