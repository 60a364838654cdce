//! Tries a witness by its own operations: the same accusation, computed a second time.
//!
//! For: an assertion on every witness before it is reported, against slips in the engines that
//! find pairs and crowds. Which operations belong to a hold, and what proves it, it takes from the
//! holds: it shares their reading of the history (up to when a client is known to have acted, for
//! one), and the arithmetic of leases. Not for: finding
//! anything, nor for what a violation rests on; for that an excerpt of the history is judged from
//! its beginning, see `basis.rs`.

use super::resource::{self, Damage};
use crate::case::{Case, Finding};
use crate::history::{Mode, Nanos, NodeView};
use crate::holds::Hold;
use crate::operations::{Action, Lease, OpId, Operation, Outcome, OwnerId};

/// Account of one holder, as its own operations tell it.
struct Account {
    owner: OwnerId,
    shared: bool,
    permits: u64,
    start: Nanos,
    /// When it left, or was told to.
    left: Nanos,
    lease: Lease,
    /// Up to when it is known to have acted as holder.
    acting: Nanos,
}

impl Account {
    /// From the grant until it left, and no longer than `end`.
    fn until(&self, end: Nanos) -> (Nanos, Nanos) {
        (self.start, self.left.min(end))
    }
}

/// Holds of a witness that are inside their leases.
#[derive(Clone, Copy)]
pub(crate) enum Guaranteed {
    /// Each of them.
    Both,
    /// The second: the first goes on after its lease.
    Second,
}

/// Tells whether the holders of the witness exclude each other, and yet held (or acted as holders)
/// at one time.
pub(crate) fn holders(case: &Case, finding: &Finding, guaranteed: Guaranteed) -> bool {
    let accounts: Option<Vec<Account>> =
        finding.holds.iter().map(|&at| account(case, at)).collect();
    let Some(accounts) = accounts else {
        return false;
    };
    let owners: std::collections::HashSet<OwnerId> =
        accounts.iter().map(|account| account.owner).collect();
    let permits: u64 = accounts.iter().map(|account| account.permits).sum();
    let excluded = if case.permits() > 1 {
        permits > u64::from(case.permits())
    } else {
        accounts.len() == 2 && !accounts.iter().all(|account| account.shared)
    };
    let spans = accounts
        .iter()
        .enumerate()
        .map(|(position, account)| match guaranteed {
            Guaranteed::Both => account.until(account.lease.floor),
            Guaranteed::Second if position == 0 => {
                let belief = account.until(account.acting);
                (belief.0.max(account.lease.floor), belief.1)
            }
            Guaranteed::Second => account.until(account.acting),
        });
    let (start, end) = spans.fold((Nanos(0), Nanos::MAX), |all, one| {
        (all.0.max(one.0), all.1.min(one.1))
    });
    excluded && owners.len() == accounts.len() && start < end
}

/// Tells whether the denied operation of the witness was sent and answered inside the lease, with
/// no other release of its owner under way.
pub(crate) fn denial(case: &Case, finding: &Finding) -> bool {
    let (Some(denial), [at]) = (finding.operation(), &*finding.holds) else {
        return false;
    };
    let denied = case.digest.operation(denial);
    let others = case.operations_of_hold(&case.holds[*at]);
    let (Some(answered), Some(account)) = (denied.answered(), account(case, *at)) else {
        return false;
    };
    let released = others.iter().any(|&id| {
        let operation = case.digest.operation(id);
        id != denial
            && operation.action == Action::Release
            && matches!(operation.outcome, Outcome::Ok | Outcome::Unknown)
            && operation.invoked <= answered
    });
    let hold = &case.holds[*at];
    let granting = case.digest.operation(hold.proof.unwrap_or(hold.acquire));
    let inside = granting.precedes(denied) && answered < account.lease.floor;
    denied.outcome == Outcome::NotOwner && inside && !released
}

/// Tells whether the operation of the witness is an acquire that was not granted in the interval of
/// the witness, and nobody else was granted the lock in it.
pub(crate) fn refusal(case: &Case, finding: &Finding) -> bool {
    let Some(waiting) = finding.operation().map(|id| case.digest.operation(id)) else {
        return false;
    };
    let inside =
        |answered: Nanos| finding.interval.start < answered && answered < finding.interval.end;
    let granted = case
        .digest
        .operations_on(finding.key)
        .any(|(_, operation)| operation.is_grant() && operation.answered().is_some_and(inside));
    let late = waiting
        .answered()
        .is_some_and(|answered| answered > finding.interval.end);
    waiting.action == Action::Acquire && (late || !waiting.is_grant()) && !granted
}

/// Tells whether the operation of the witness is an acquire that was refused, and nobody whose hold
/// would have kept it out was granted the lock in the time that it took.
pub(crate) fn needless(case: &Case, finding: &Finding) -> bool {
    let Some(attempt) = finding.operation().map(|id| case.digest.operation(id)) else {
        return false;
    };
    let excludes = |other: &Operation| {
        let alone = other.mode == Mode::Write || attempt.mode == Mode::Write;
        other.is_grant() && alone && case.permits() == 1
    };
    let inside =
        |answered: Nanos| finding.interval.start <= answered && answered <= finding.interval.end;
    let refused = attempt.action == Action::Acquire && attempt.outcome == Outcome::Refused;
    let others = case.digest.operations_on(attempt.key);
    let mut others = others.filter(|(_, other)| excludes(other));
    refused && !others.any(|(_, other)| other.answered().is_some_and(inside))
}

/// Tells whether the operations of the witness alone show the damage: what was read, what was
/// written, and in which order.
pub(crate) fn damage(case: &Case, finding: &Finding) -> bool {
    let all: Vec<&Operation> = finding
        .operations
        .iter()
        .map(|&id| case.digest.operation(id))
        .collect();
    let same_key = all.iter().all(|operation| operation.key == finding.key);
    let seen = |read: &Operation, append: &Operation| resource::shown(case.digest, read, append);
    let shows = match (Damage::of(case, finding), &*all) {
        (Damage::StaleWrite, [late, early]) => {
            let done = early.outcome == Outcome::Ok && late.outcome == Outcome::Ok;
            done && early.owner != late.owner && early.precedes(late)
        }
        (Damage::LostUpdate, [late, early, late_read, early_read]) => {
            let value = |read| resource::read_value(case.digest, read);
            let builds = |read: &Operation, write: &Operation| {
                let one = read.invoke == write.invoke || read.precedes(write);
                one && read.owner == write.owner && write.outcome == Outcome::Ok
            };
            let same = value(late_read).is_some() && value(late_read) == value(early_read);
            same && builds(late_read, late) && builds(early_read, early)
        }
        (Damage::LostAppend, [append, read]) => {
            append.outcome == Outcome::Ok && append.precedes(read) && seen(read, append).is_some()
        }
        (Damage::DoubleEffect, [read, append]) => seen(read, append) > Some(1),
        (Damage::Repeat, [late, early, late_read, early_read]) => {
            let missed = |read: &Operation, append: &Operation| {
                let own = read.owner == append.owner && append.outcome == Outcome::Ok;
                own && read.precedes(append) && seen(read, append) == Some(0)
            };
            let value = |append| resource::written_value(case.digest, append);
            let same = value(late).is_some() && value(late) == value(early);
            let both = missed(late_read, late) && missed(early_read, early);
            same && both && late.owner != early.owner && !early.precedes(late_read)
        }
        (
            Damage::StaleWrite
            | Damage::LostUpdate
            | Damage::LostAppend
            | Damage::DoubleEffect
            | Damage::Repeat,
            _,
        ) => false,
    };
    same_key && shows
}

/// Tells whether the operation of the witness was answered as done after its own lease.
pub(crate) fn arrival(case: &Case, finding: &Finding) -> bool {
    let Some(late) = finding.operation().map(|id| case.digest.operation(id)) else {
        return false;
    };
    let drift = case.options.drift(&case.digest.header);
    let (Some(answered), Some(length)) = (late.answered(), late.lease) else {
        return false;
    };
    let over = finding.interval.start + drift.of(length) >= late.asked() + length;
    let done = late.outcome == Outcome::Ok && finding.interval.end == answered;
    done && (late.is_void || over && finding.interval.start <= answered)
}

/// Tells whether the holder of the witness was not told, and did not leave, inside its interval.
pub(crate) fn untold(case: &Case, finding: &Finding) -> bool {
    let Some(account) = finding.holds.first().and_then(|&at| account(case, at)) else {
        return false;
    };
    let left = if account.left < Nanos::MAX {
        account.left
    } else {
        account.acting
    };
    account.lease.ceiling <= finding.interval.start && left >= finding.interval.end
}

/// Tells whether the owner of the witness was done, and a server had its token after that.
pub(crate) fn left(case: &Case, finding: &Finding) -> bool {
    let Some(closing) = finding.operation().map(|id| case.digest.operation(id)) else {
        return false;
    };
    let owner = case.digest.owners.name(closing.owner.0);
    let since = closing.completion.map(|end| end.time);
    let views = case.digest.asides.views.iter();
    let mut later = views.filter(|view| {
        *view.key == **case.digest.keys.name(finding.key.0)
            && view.note.since.is_some_and(|at| Some(at) > since)
    });
    let holds = |node: &NodeView| node.held_by.iter().any(|name| name == owner);
    let seen = later.any(|view| view.note.nodes.iter().any(holds));
    seen && since.is_some() && closing.action != Action::Renew
}

/// Tells whether a client failed at the end of the witness, in the call or inside the hold that it
/// names.
pub(crate) fn failed(case: &Case, finding: &Finding) -> bool {
    let end = finding.interval.end;
    let mut failures = case.digest.asides.failures.iter();
    failures.any(|failure| {
        let is_own = |owner: OwnerId| *failure.owner == **case.digest.owners.name(owner.0);
        let in_call = finding.operation().is_some_and(|id| {
            let call = case.digest.operation(id);
            let ended = call.completion.map_or(Nanos::MAX, |end| end.time);
            is_own(call.owner) && call.invoked <= end && end <= ended
        });
        let in_hold = finding.holds.iter().any(|&at| {
            let Some(account) = account(case, at) else {
                return false;
            };
            is_own(account.owner) && account.start <= end && end < account.lease.floor
        });
        failure.time == end && (in_call || in_hold)
    })
}

/// Tells whether nobody was granted the lock of the witness inside its interval.
pub(crate) fn outage(case: &Case, finding: &Finding) -> bool {
    let inside =
        |answered: Nanos| finding.interval.start < answered && answered < finding.interval.end;
    let mut grants = case
        .digest
        .operations
        .iter()
        .filter(|operation| operation.key == finding.key && operation.is_grant());
    !grants.any(|grant| grant.answered().is_some_and(inside))
}

/// Accounts for a hold from its own operations, in the order in which they took effect: the acquire
/// opens it; each renewal that was granted inside it moves its lease; and it ends with the first of
/// a release, an answer that says it is lost, a notice of the loss, and an acquire or renewal by
/// which its owner asked for a new hold.
fn account(case: &Case, at: usize) -> Option<Account> {
    let hold = &case.holds[at];
    let drift = case.options.drift(&case.digest.header);
    let mut operations = case.operations_of_hold(hold);
    operations.sort_by_key(|&id| {
        let is_later = id != hold.acquire;
        (is_later, case.digest.operation(id).effective_at())
    });
    let (first, rest) = operations.split_first()?;
    let acquire = case.digest.operation(*first);
    // An acquire without an answer began a hold where a later answer proves it: the hold is then
    // accounted from that answer on.
    let proof = hold.proof.map(|id| case.digest.operation(id));
    let start = acquire.answered().or(proof.and_then(Operation::answered))?;
    let granting = proof.unwrap_or(acquire);
    let granted = granting.last_event();
    let mut notices =
        case.digest.lost.iter().filter(|note| {
            (note.key, note.owner) == (hold.key, hold.owner) && note.event > granted
        });
    let told = notices.next();
    let mut account = Account {
        owner: acquire.owner,
        shared: case.permits() == 1 && crate::case::is_shared(hold),
        permits: acquire.permits.into(),
        start,
        left: told.map_or(Nanos::MAX, |note| note.time),
        lease: Lease::granted(acquire.asked(), start, acquire.lease, drift),
        acting: hold.acting.max(start),
    };
    let past = asked(case, hold);
    // Equal times go by index, as in any program order.
    let mut told = told.map_or((Nanos::MAX, 0), |note| (note.time, note.event));
    for &id in rest {
        let operation = case.digest.operation(id);
        let asked = operation.effective_at();
        let own = case.concerns(operation, hold);
        // Asking after the lease, or after word of the loss, is asking for a new hold; so is asking
        // in another mode.
        let is_late = asked.0 > account.lease.floor || asked > told;
        let is_new = is_late
            || is_of_other_mode(case, operation, acquire, own)
            || (hold.anew == Some(id) && operation.is_vague);
        // A release that may have been of the other hold.
        let ended = operation.action == Action::Release && hold.anew == Some(id);
        let asks = hold.proof != Some(id) && asks_for_hold(hold, id, operation, &past);
        if ended || (asks && is_new) {
            account.left = account.left.min(operation.invoked);
            break;
        }
        let sent_inside = granting.precedes(operation) || hold.proof == Some(id);
        let counts = own && (sent_inside || operation.action == Action::Acquire);
        match (operation.action, operation.outcome, operation.answered()) {
            (Action::Release, _, _) => account.left = account.left.min(operation.invoked),
            (Action::Renew, Outcome::NotOwner, Some(_)) if counts && !operation.by_library => {
                told = told.min(asked);
                account.left = account.left.min(asked.0);
            }
            (Action::Acquire | Action::Renew, Outcome::Ok, Some(answered)) if counts => {
                let length = operation.lease.or(acquire.lease);
                let lease = Lease::granted(operation.asked(), answered, length, drift);
                account.lease = account.lease.extended(lease);
            }
            (Action::Acquire | Action::Renew | Action::Resource(_) | Action::Other, _, _) => {}
        }
    }
    Some(account)
}

/// Tells whether an operation may have begun a hold: an acquire that was not refused, or a renewal
/// that was granted after the owner had asked for more than this hold.
fn asks_for_hold(hold: &Hold, id: OpId, operation: &Operation, past: &[Asked]) -> bool {
    match operation.action {
        Action::Acquire => matches!(operation.outcome, Outcome::Ok | Outcome::Unknown),
        // Where the hold ends by it, it may be one of an acquire without an answer.
        Action::Renew => {
            let is_asking = hold.anew == Some(id) || is_asking(past, operation);
            operation.outcome == Outcome::Ok && is_asking
        }
        Action::Release | Action::Resource(_) | Action::Other => false,
    }
}

/// Tells whether an operation is of another mode than the hold's acquire. A writer's own reads
/// belong to its hold in locks that have both modes.
fn is_of_other_mode(case: &Case, operation: &Operation, acquire: &Operation, own: bool) -> bool {
    if case.digest.has_two_modes() {
        !own && operation.mode == Mode::Write
    } else {
        operation.mode != acquire.mode
    }
}

/// The acquires of an owner that were sent up to some time.
struct Asked {
    /// Time at which the last of them was sent: time and event.
    sent: (Nanos, u64),
    /// Their last answer, and the last of them that has none.
    answered: (Nanos, u64),
    unanswered: Option<u64>,
}

/// Returns what the owner of a hold had asked for after each of its acquires, in order.
fn asked(case: &Case, hold: &Hold) -> Vec<Asked> {
    let own = case.operations_of(hold.owner).iter();
    let own = own.map(|&id| case.digest.operation(id));
    let acquires = own.filter(|own| {
        let asks = matches!(own.outcome, Outcome::Ok | Outcome::Unknown);
        let acquires = own.key == hold.key && own.action == Action::Acquire && asks;
        acquires && case.is_of_mode(own, hold)
    });
    let mut asked: Vec<Asked> = acquires
        .map(|acquire| Asked {
            sent: (acquire.invoked, acquire.invoke),
            answered: acquire
                .answered()
                .map_or((Nanos(0), 0), |_| acquire.effective_at()),
            unanswered: (acquire.outcome == Outcome::Unknown).then_some(acquire.invoke),
        })
        .collect();
    asked.sort_unstable_by_key(|asked| asked.sent);
    let (mut answered, mut unanswered) = ((Nanos(0), 0), None);
    for asked in &mut asked {
        answered = answered.max(asked.answered);
        unanswered = unanswered.max(asked.unanswered);
        (asked.answered, asked.unanswered) = (answered, unanswered);
    }
    asked
}

/// Tells whether an acquire was under way when a renewal was answered, so that the renewal may be
/// one of what that acquire was granted.
fn is_asking(asked: &[Asked], renewal: &Operation) -> bool {
    let answered = renewal.effective_at();
    let sent = asked.partition_point(|asked| asked.sent < answered);
    asked[..sent]
        .last()
        .is_some_and(|last| answered < last.answered || last.unanswered > Some(renewal.invoke))
}
