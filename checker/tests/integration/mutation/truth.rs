//! Tells whether a defect could be seen, from what the clients saw, and which property must tell.
//!
//! Worked out for each defect by itself, from the operations of the run and the one that it struck,
//! and only where nothing is left to interpretation: a defect that some sound reading of the
//! history excuses counts as not observable.

use lockstorm_checker::Property;

use crate::mutation::plan::{Defect, Lock, floor};
use crate::mutation::record::{Note, Op, Record};
use crate::mutation::service::{Ask, Reply};
use crate::mutation::world::Run;

/// Time in which a client certainly had the lock: between its grant and whatever came first of
/// leaving, notice and the end of its lease.
struct Certain {
    owner: String,
    key: usize,
    read: bool,
    permits: u32,
    from: u64,
    to: u64,
}

/// The properties of which at least one must be violated; none, if the defect left no trace.
pub(crate) fn observable(run: &Run) -> Vec<Property> {
    let (Some(defect), Some(struck)) = (run.plan.defect, run.struck) else {
        return vec![];
    };
    let record = &run.record;
    let op = &record.ops[struck];
    match defect {
        Defect::DoubleGrant => both_held(run),
        Defect::EarlyExpiry | Defect::ForeignRelease | Defect::ReadReleaseFreesWriter => {
            let mut seen = both_held(run);
            if was_denied(record) {
                seen.push(Property::LostLock);
            }
            seen
        }
        Defect::DuplicateToken | Defect::LowerToken => only(falls(record, op), Property::Fencing),
        Defect::StaleWrite => only(was_stale(record, op), Property::Fencing),
        Defect::Stuck => only(is_stuck(run, op), Property::Liveness),
        Defect::SpuriousRefusal => only(was_free(run, op), Property::SpuriousRefusal),
        Defect::LostUpdate => only(is_missed(record, op), Property::GuardedResource),
        Defect::DoubleEffect => only(is_doubled(record, op), Property::GuardedResource),
        Defect::Overtaking => only(is_overtaken(record, struck), Property::Fairness),
        Defect::LateGrant => only(was_dead(record, struck), Property::DeadOnArrival),
        Defect::Leftover => only(was_seen_left(record, op), Property::Leftover),
        // Nothing else can be the cause of it.
        Defect::Hang | Defect::Crash => vec![Property::Progress],
        Defect::PartialReleaseFrees => only(is_let_in(record, struck), Property::Reentrancy),
    }
}

fn only(is_seen: bool, property: Property) -> Vec<Property> {
    is_seen.then_some(property).into_iter().collect()
}

/// Tells whether the answer came after the lease, and nothing else that its owner did on the lock,
/// before or since, can be an excuse.
fn was_dead(record: &Record, at: usize) -> bool {
    let op = &record.ops[at];
    let late = op.is_grant() && op.answered() > floor(op.inv, op.lease()) + 1;
    let mut others = record
        .ops
        .iter()
        .enumerate()
        .filter(|&(other, _)| other != at);
    late && !others.any(|(_, other)| {
        let same = other.owner == op.owner && other.key == op.key;
        let beside = other.answered() > op.inv;
        let lasts = floor(other.inv, other.lease()) >= op.answered();
        same && other.inv <= op.answered() && (beside || other.lease().is_some() && lasts)
    })
}

/// Tells whether the service was asked after the answer, and the owner had not asked anew by then.
fn was_seen_left(record: &Record, op: &Op) -> bool {
    let anew = record.ops.iter().filter(|other| {
        let same = other.owner == op.owner && other.key == op.key;
        same && other.inv >= op.answered()
    });
    let anew = anew.map(|other| other.inv).min().unwrap_or(u64::MAX);
    let before = record.ops.iter().filter(|other| {
        let same = other.owner == op.owner && other.key == op.key;
        same && other.inv < op.answered()
    });
    let before: Vec<&Op> = before.collect();
    let sure = before.iter().all(|other| other.answered() <= op.answered());
    // Of a grant that was not given back the token may be, for all that one can tell.
    let granted = before.iter().filter(|other| other.is_grant()).count();
    let is_return = |other: &&&Op| {
        let done = matches!(other.answer, Some((_, Reply::Done { .. })));
        matches!(other.ask, Ask::Release { .. }) && done
    };
    let sure = sure && granted == before.iter().filter(is_return).count();
    let seen = |&(key, time): &(usize, u64)| key == op.key && op.answered() < time && time < anew;
    op.answer.is_some() && sure && record.looks.iter().any(seen)
}

/// Tells whether two owners, or too many permits, were certainly there at once.
fn both_held(run: &Run) -> Vec<Property> {
    let all = certain(&run.record);
    let permits = run.plan.lock.permits();
    let crowd = all.iter().any(|one| {
        let there: Vec<&Certain> = all
            .iter()
            .filter(|other| other.key == one.key && other.from <= one.from && one.from < other.to)
            .collect();
        let sum: u32 = there.iter().map(|other| other.permits).sum();
        let excluded = |other: &&Certain| other.owner != one.owner && !(other.read && one.read);
        match permits {
            Some(limit) => sum > limit,
            None => there.iter().any(excluded),
        }
    });
    if crowd {
        vec![Property::MutualExclusion]
    } else {
        vec![]
    }
}

/// Lists the times in which each owner certainly had the lock, as a writer and as a reader. An
/// owner is counted up to its first operation without an answer.
fn certain(record: &Record) -> Vec<Certain> {
    let mut all: Vec<Certain> = Vec::new();
    for (at, op) in record.ops.iter().enumerate() {
        let own = |other: &&Op| other.owner == op.owner && other.key == op.key;
        let before = || record.ops[..at].iter().filter(own);
        let same = |other: &&Op| own(other) && other.ask.is_of(op.ask);
        let Ask::Acquire {
            read,
            permits,
            lease,
        } = op.ask
        else {
            continue;
        };
        let reentrant = open_before(record, at);
        if !op.is_grant() || before().any(|other| other.answer.is_none()) || reentrant {
            continue;
        }
        let mut to = floor(op.inv, lease);
        let told = record.notes.iter().find(|note| {
            let lost = note.queued.is_none() && note.owner == op.owner && note.key == op.key;
            lost && note.time >= op.answered()
        });
        for later in record.ops[at + 1..].iter().filter(same) {
            match (later.ask, &later.answer) {
                (Ask::Renew { lease, .. }, Some((_, Reply::Done { .. }))) => {
                    to = to.max(floor(later.inv, lease));
                }
                (Ask::Release { .. } | Ask::Acquire { .. }, _) => {
                    to = to.min(later.inv);
                    break;
                }
                (Ask::Renew { .. }, Some((time, _))) => {
                    to = to.min(*time);
                    break;
                }
                _ => {}
            }
        }
        to = to.min(told.map_or(u64::MAX, |note: &Note| note.time));
        if op.answered() < to {
            all.push(Certain {
                owner: op.owner.clone(),
                key: op.key,
                read,
                permits,
                from: op.answered(),
                to,
            });
        }
    }
    all
}

/// Tells whether the owner had entered and not certainly left when this acquire was sent.
fn open_before(record: &Record, at: usize) -> bool {
    let op = &record.ops[at];
    let own = |other: &&Op| {
        let same = other.owner == op.owner && other.key == op.key;
        same && other.ask.is_of(op.ask)
    };
    let last = record.ops[..at]
        .iter()
        .filter(own)
        .rfind(|other| matches!(other.ask, Ask::Release { .. }) || other.is_grant());
    last.is_some_and(Op::is_grant)
}

/// Tells whether the holder of a certain hold was denied while it lasted, and had not released.
fn was_denied(record: &Record) -> bool {
    certain(record).iter().any(|hold| {
        record.ops.iter().any(|op| {
            let same = op.owner == hold.owner && op.key == hold.key;
            let own = same && op.ask.reads() == hold.read;
            let denied = matches!(op.answer, Some((_, Reply::NotOwner)));
            let is_renewal = matches!(op.ask, Ask::Renew { .. });
            own && denied && is_renewal && op.inv > hold.from && op.answered() < hold.to
        })
    })
}

/// Tells whether the token of a grant is not larger than that of a grant that came certainly before
/// it, or not smaller than that of one that came certainly later.
fn falls(record: &Record, op: &Op) -> bool {
    let Some(token) = op.granted_token() else {
        return false;
    };
    record.ops.iter().any(|other| {
        let Some(held) = other.granted_token().filter(|_| other.key == op.key) else {
            return false;
        };
        let before = other.answered() < op.inv && held >= token;
        let after = op.answered() < other.inv && token >= held;
        other.owner != op.owner && (before || after)
    })
}

/// Tells whether a write with a larger token had been accepted, and its answer received, before the
/// write was sent. A resource need not look at the tokens of those who read.
fn was_stale(record: &Record, op: &Op) -> bool {
    record.ops.iter().any(|other| {
        let writes = matches!(other.ask, Ask::Write(_) | Ask::Append(_));
        let accepted = matches!(other.answer, Some((_, Reply::Done { .. })));
        let earlier = other.key == op.key && other.answered() < op.inv;
        op.answer.is_some() && writes && accepted && earlier && other.token > op.token
    })
}

/// Replies to those who asked after the answer to a write.
fn later_reads<'a>(record: &'a Record, write: &'a Op) -> impl Iterator<Item = &'a Reply> {
    let later = |op: &&Op| op.key == write.key && write.answered() < op.inv;
    let replies = record.ops.iter().filter(later);
    replies.filter_map(|op| op.answer.as_ref().map(|(_, reply)| reply))
}

/// Tells whether a later holder wrote the same number, having read the same version before, or a
/// later reader missed what was appended.
fn is_missed(record: &Record, write: &Op) -> bool {
    let same_number = |op: &Op| {
        let later = op.key == write.key && write.answered() < op.inv && op.owner != write.owner;
        let done = matches!(op.answer, Some((_, Reply::Done { .. })));
        later && done && op.ask == write.ask && is_in_order(record, op)
    };
    match write.ask {
        Ask::Write(number) => {
            let before = |op: &&Op| op.key == write.key && Some(op.ask) == version(number);
            // One that was never answered may have come back later.
            let sure = record
                .ops
                .iter()
                .filter(before)
                .all(|op| op.answer.is_some());
            sure && record.ops.iter().filter(before).count() <= 1
                && is_in_order(record, write)
                && record.ops.iter().any(same_number)
        }
        Ask::Append(value) => later_reads(record, write).any(|reply| match reply {
            Reply::List(list) => !list.contains(&value),
            _ => false,
        }),
        _ => false,
    }
}

/// The write of the version on which `number` builds.
fn version(number: u64) -> Option<Ask> {
    number.checked_sub(1).map(Ask::Write)
}

/// Tells whether grant, read and write of a section follow each other without a tie.
fn is_in_order(record: &Record, write: &Op) -> bool {
    let own = |op: &&Op| op.key == write.key && op.owner == write.owner && op.inv < write.inv;
    let read = record
        .ops
        .iter()
        .filter(own)
        .rfind(|op| op.ask == Ask::Read);
    read.is_some_and(|read| {
        let acquires = |op: &&Op| matches!(op.ask, Ask::Acquire { .. });
        let mut acquires = record.ops.iter().filter(own).filter(acquires);
        let granted = acquires.all(|acquire| acquire.answered() < read.inv);
        granted && read.answered() < write.inv
    })
}

/// Tells whether a later reader saw a value twice.
fn is_doubled(record: &Record, write: &Op) -> bool {
    let Ask::Append(value) = write.ask else {
        return false;
    };
    later_reads(record, write).any(|reply| match reply {
        Reply::List(list) => list.iter().filter(|&&seen| seen == value).count() > 1,
        _ => false,
    })
}

/// Tells whether somebody knew its place in the queue before the one that was let through even
/// asked, was still waiting when that one had its grant, and was granted the lock after it had left
/// again. Who was refused in the queue may have kept its place, and who may still hold needs none:
/// such a one overtakes nobody.
fn is_overtaken(record: &Record, struck: usize) -> bool {
    let quick = &record.ops[struck];
    if has_place_left(record, struck) || may_hold(record, struck) {
        return false;
    }
    let left = record.ops.iter().find(|op| {
        let release = matches!(op.ask, Ask::Release { .. });
        release && op.owner == quick.owner && op.key == quick.key && op.inv >= quick.answered()
    });
    let mut waits = record.notes.iter().filter_map(|note| {
        let slow = &record.ops[note.queued?];
        let since = note.key == quick.key && note.time < quick.inv;
        // It cannot have been granted the lock before, and have lost it again.
        let waits = floor(note.time, slow.lease()) > quick.answered();
        (since && waits).then_some(slow)
    });
    let left = left.map_or(u64::MAX, |release| release.inv);
    quick.is_grant() && waits.any(|slow| slow.is_grant() && slow.answered() > left)
}

/// Tells whether an owner had a place in the queue, and no grant since.
fn has_place_left(record: &Record, at: usize) -> bool {
    let op = &record.ops[at];
    let own = |(_, other): &(usize, &Op)| {
        let acquires = matches!(other.ask, Ask::Acquire { .. });
        acquires && other.owner == op.owner && other.key == op.key
    };
    let queued = |at: usize| record.notes.iter().any(|note| note.queued == Some(at));
    let earlier = record.ops[..at].iter().enumerate().filter(own);
    earlier.fold(false, |had_place, (at, other)| {
        !other.is_grant() && (had_place || queued(at))
    })
}

/// Tells whether an owner may hold the lock when it asks for it.
fn may_hold(record: &Record, at: usize) -> bool {
    let op = &record.ops[at];
    let own = |other: &&Op| other.owner == op.owner && other.key == op.key;
    let mut earlier = record.ops[..at].iter().filter(own);
    earlier.any(|other| {
        let released = record.ops[..at].iter().filter(own).any(|later| {
            let done = matches!(later.answer, Some((_, Reply::Done { .. })));
            let release = matches!(later.ask, Ask::Release { .. });
            release && done && later.inv >= other.answered() && later.answered() < op.inv
        });
        let acquire = matches!(other.ask, Ask::Acquire { .. });
        let refused = matches!(other.answer, Some((_, Reply::Refused)));
        acquire && !refused && !released
    })
}

/// Tells whether somebody else asked and was granted the lock between a partial release and the
/// next operation of its owner, inside the lease of the last grant, with nothing left in doubt. Who
/// had let go of the lock before need not know how often the service says that it holds.
fn is_let_in(record: &Record, at: usize) -> bool {
    let op = &record.ops[at];
    let own = |other: &&Op| other.owner == op.owner && other.key == op.key;
    let let_go = record.notes.iter().any(|note| {
        let lost = note.queued.is_none() && note.owner == op.owner && note.key == op.key;
        lost && note.time <= op.inv
    });
    if let_go {
        return false;
    }
    let sure = record
        .ops
        .iter()
        .filter(own)
        .all(|other| other.answer.is_some());
    let grant = record.ops[..at]
        .iter()
        .filter(own)
        .rfind(|other| other.is_grant());
    let end = grant.map_or(0, |grant| floor(grant.inv, grant.lease()));
    let next = record.ops[at + 1..]
        .iter()
        .find(own)
        .map_or(0, |other| other.inv);
    record.ops.iter().enumerate().any(|(at, other)| {
        // Who leaves at the instant of its grant was there for no time.
        let same = |later: &&Op| later.owner == other.owner && later.key == other.key;
        let later = record.ops[at + 1..].iter().find(same);
        let stayed = later.is_none_or(|later| later.inv > other.answered());
        let inside = op.answered() < other.inv && other.answered() < end.min(next) && stayed;
        sure && other.key == op.key && other.owner != op.owner && other.is_grant() && inside
    })
}

/// Tells whether somebody tried the stuck key to the end of the final phase. A lease that was asked
/// for and never answered may begin at any time, and a partial release that was never answered may
/// extend one.
fn is_stuck(run: &Run, op: &Op) -> bool {
    let record = &run.record;
    let extends = |other: &Op| {
        let releases = matches!(other.ask, Ask::Release { .. });
        other.lease().is_some() || releases && run.plan.lock == Lock::Reentrant
    };
    let tried = record.last.is_some_and(|(start, bound)| {
        record.ops.iter().any(|other| {
            let refused = matches!(other.answer, Some((_, Reply::Refused)));
            let late = other.answered() >= start + bound - bound / 20;
            other.key == op.key && other.inv > start && refused && late
        })
    });
    let asked = |other: &&Op| other.key == op.key && extends(other);
    let sure = record
        .ops
        .iter()
        .filter(asked)
        .all(|other| other.answer.is_some());
    tried && sure
}

/// Tells whether every acquire that may have been in force when this one was refused had been given
/// back for certain. Reentry, leases and doubts are left out: there it takes more to be certain.
fn was_free(run: &Run, op: &Op) -> bool {
    let ops = &run.record.ops;
    let Some((_, Reply::Refused)) = op.answer else {
        return false;
    };
    let others = ops.iter().enumerate().filter(|(_, other)| {
        let acquire = matches!(other.ask, Ask::Acquire { .. });
        acquire && other.key == op.key && other.inv <= op.answered()
    });
    others.into_iter().all(|(at, other)| {
        let refused = matches!(other.answer, Some((_, Reply::Refused)));
        let own = |later: &&Op| later.owner == other.owner && later.key == other.key;
        let next = ops[at + 1..]
            .iter()
            .filter(own)
            .find(|later| matches!(later.ask, Ask::Release { .. } | Ask::Acquire { .. }));
        let left = next.is_some_and(|next| {
            let done = matches!(next.answer, Some((_, Reply::Done { .. })));
            matches!(next.ask, Ask::Release { .. }) && done && next.answered() < op.inv
        });
        let waited = run.record.notes.iter().any(|note| note.queued.is_some());
        refused && !waited || other.is_grant() && left && !waited
    })
}
