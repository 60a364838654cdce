//! Counts what a history contains, so that a verdict can be weighed.

use std::ops::Range;

use super::faults;
use crate::history::{Mode, Nanos};
use crate::holds::Hold;
use crate::operations::{Action, Digest, KeyId, Operation, Outcome, OwnerId};
use crate::parallel;
use crate::verdict::{Coverage, Cycles, FaultSummary};

/// Counts once over a history, what was tried in it, and its holds, which are grouped by key.
pub(crate) fn coverage(
    threads: usize,
    digest: &Digest,
    tries: &Tries,
    holds: &[Hold],
    faults: &[FaultSummary],
) -> Coverage {
    let (contended, held) = parallel::both(
        threads,
        || tries.contended(threads, holds),
        || of_holds(digest, holds, faults),
    );
    Coverage {
        contended,
        granted_under_fault: held.granted_under_fault,
        expired: held.expired,
        cycles: held.cycles,
        ..tries.counted.clone()
    }
}

/// Tries in a history, and all that can be counted without the holds.
pub(crate) struct Tries {
    /// Counts that need nothing more.
    counted: Coverage,
    by_key: Vec<Attempts>,
}

impl Tries {
    pub(crate) fn of(digest: &Digest) -> Self {
        let mut counted = Coverage {
            events: digest.events,
            operations: digest.operations.len() as u64,
            redirects: digest.asides.redirects,
            reconnects: digest.asides.reconnects,
            ..Coverage::default()
        };
        let mut asked = vec![false; digest.owners.len()];
        let on = |&key: &KeyId| Attempts::on(digest, key, &mut counted, &mut asked);
        let by_key = digest.all_keys().iter().map(on).collect();
        counted.owners = asked.into_iter().map(u64::from).sum();
        Self { counted, by_key }
    }

    /// Counts the tries that were made while another owner held the lock, or may have held it, in a
    /// mode that excludes them.
    fn contended(&self, threads: usize, holds: &[Hold]) -> u64 {
        let counts = parallel::map(
            threads,
            &self.by_key,
            || (),
            |(), attempts| attempts.contended(&holds[group(holds, attempts.key)]),
        );
        counts.into_iter().sum()
    }
}

/// Counts what became of the holds.
fn of_holds(digest: &Digest, holds: &[Hold], faults: &[FaultSummary]) -> Coverage {
    let mut coverage = Coverage::default();
    let windows = faults::windows(faults);
    let end = digest.final_phase.map_or(Nanos::MAX, |phase| phase.time);
    for hold in holds.iter().filter(|hold| hold.is_granted()) {
        coverage.granted_under_fault += u64::from(windows.touch(hold.possible()));
        let outlived = hold.lease.ceiling < hold.core.end.min(digest.end);
        coverage.expired += u64::from(outlived);
        if let Some(released) = released(digest, hold).filter(|&released| released <= end) {
            let cycles = coverage.cycles.get_or_insert(Cycles {
                count: 0,
                since: hold.hull.start,
                until: released,
            });
            cycles.count += 1;
            cycles.since = cycles.since.min(hold.hull.start);
            cycles.until = cycles.until.max(released);
        }
    }
    coverage
}

/// Returns the time at which the release of a hold was answered, if the release was granted.
fn released(digest: &Digest, hold: &Hold) -> Option<Nanos> {
    let release = digest.operation(hold.release?);
    let is_granted = release.outcome == Outcome::Ok;
    release.answered().filter(|_| is_granted)
}

/// Returns the range of positions that the holds of `key` take up.
fn group(holds: &[Hold], key: KeyId) -> Range<usize> {
    let start = holds.partition_point(|hold| hold.key < key);
    start..holds.partition_point(|hold| hold.key <= key)
}

/// An acquire that may have had an effect, or was refused, in the few bytes that are compared.
struct Attempt {
    sent: Nanos,
    until: Nanos,
    owner: OwnerId,
    mode: Mode,
    is_refused: bool,
}

/// Tries on one key.
struct Attempts {
    key: KeyId,
    /// By their end.
    all: Vec<Attempt>,
}

impl Attempts {
    fn on(digest: &Digest, key: KeyId, counted: &mut Coverage, asked: &mut [bool]) -> Self {
        let (mut all, mut pending) = (Vec::new(), Vec::new());
        let mut is_asked_for = false;
        for edge in digest.edges(key) {
            let operation = digest.operation(edge.operation());
            if edge.is_sent() {
                counted.indeterminate += u64::from(operation.outcome == Outcome::Unknown);
            }
            if operation.action != Action::Acquire {
                continue;
            }
            if edge.is_sent() {
                is_asked_for = true;
                asked[operation.owner.0 as usize] = true;
                counted.granted += u64::from(operation.outcome == Outcome::Ok);
                counted.refused += u64::from(operation.outcome == Outcome::Refused);
            }
            match operation.completion {
                _ if operation.outcome == Outcome::Failed => {}
                None => pending.push(attempt(operation, Nanos::MAX)),
                Some(completion) if !edge.is_sent() => {
                    all.push(attempt(operation, completion.time));
                }
                Some(_) => {}
            }
        }
        all.append(&mut pending);
        if !digest.is_in_time() {
            all.sort_by_key(|attempt| attempt.until);
        }
        counted.keys += u64::from(is_asked_for);
        Self { key, all }
    }

    /// See [`Tries::contended`]. One that was refused met a holder by the server's own word; an
    /// indeterminate one that nothing proves is nobody's holder.
    fn contended(&self, holds: &[Hold]) -> u64 {
        let mut contended = 0;
        let granted = holds.iter().filter(|hold| hold.is_granted());
        let mut rivals: Vec<Rival> = granted.map(Rival::of).collect();
        rivals.sort_by_key(|rival| rival.start);
        let mut rivals = rivals.iter().peekable();
        let (mut writers, mut all) = (Reach::default(), Reach::default());
        for attempt in &self.all {
            while let Some(rival) = rivals.next_if(|rival| rival.start < attempt.until) {
                all.add(rival);
                if rival.mode == Mode::Write {
                    writers.add(rival);
                }
            }
            let excluding = match attempt.mode {
                Mode::Write => &all,
                Mode::Read => &writers,
            };
            let met = excluding.of_others(attempt.owner) > attempt.sent;
            contended += u64::from(met || attempt.is_refused);
        }
        contended
    }
}

fn attempt(acquire: &Operation, until: Nanos) -> Attempt {
    Attempt {
        sent: acquire.invoked,
        until,
        owner: acquire.owner,
        mode: acquire.mode,
        is_refused: acquire.outcome == Outcome::Refused,
    }
}

/// A hold, in the few bytes that are compared.
struct Rival {
    start: Nanos,
    end: Nanos,
    owner: OwnerId,
    mode: Mode,
}

impl Rival {
    fn of(hold: &Hold) -> Self {
        Self {
            start: hold.hull.start,
            end: hold.possible().end,
            owner: hold.owner,
            mode: hold.mode,
        }
    }
}

/// Ends of the holds seen so far: the latest, and the latest of any other owner.
#[derive(Default)]
struct Reach {
    first: (Nanos, Option<OwnerId>),
    other: Nanos,
}

impl Reach {
    fn add(&mut self, rival: &Rival) {
        let end = rival.end;
        if self.first.1 == Some(rival.owner) {
            self.first.0 = self.first.0.max(end);
        } else if end > self.first.0 {
            self.other = self.first.0;
            self.first = (end, Some(rival.owner));
        } else {
            self.other = self.other.max(end);
        }
    }

    fn of_others(&self, owner: OwnerId) -> Nanos {
        if self.first.1 == Some(owner) {
            self.other
        } else {
            self.first.0
        }
    }
}
