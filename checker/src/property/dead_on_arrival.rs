//! Dead on arrival: a lease is over when its owner learns that it was granted.
//!
//! ```text
//!  x sent                    floor      ceiling    x answered: "granted"
//!    |-------------------------|~~~~~~~~~~|!!!!!!!!!!|
//!    the lease counts from here
//! ```
//!
//! No second client is needed: the lock tells its caller that it holds what it may have no more.
//! Accused is an acquire or a renewal that was answered after the floor of its own lease, unless
//! another grant or renewal of the same owner, sent before that answer, has a lease that lasts
//! beyond it, or the owner had begun to give the lock back. A reply that names a validity of
//! nothing accuses itself.
//!
//! The floor counts from the request that was granted. Where nothing says when that was sent (a
//! library may wait, or ask again by itself), it counts from the last command of the owner that a
//! server was seen to get before the answer, or from the last reply that a server was seen to send
//! it. The finding is certain where that was so early that the lease was over on all servers, or
//! where another owner was granted the lock since and certainly had it. Without such a trace a call
//! that may have come late is not judged; and a reply can only accuse, for it may be the reply to
//! something that was asked for after the lease had begun. Nor is a call accused by a trace if the
//! servers say afterwards that its owner has the lock.

use super::replay;
use super::rule::{BlameWindow, Causes, Evidence, Rule};
use crate::case::{Case, Finding, Ruling, Run, Tested, is_shared, keep_first, vacuity};
use crate::history::{Mode, Nanos, NodeView};
use crate::holds::Hold;
use crate::operations::{Action, Drift, Interval, Lease, OpId, Operation, Outcome};
use crate::story::Teller;
use crate::text;
use crate::verdict::Property;

/// A trace of fewer commands was not cut off: so many are noted of a run at most.
const COMMANDS_WHOLE: usize = 10_000;

/// The rule of this property.
pub(super) struct DeadOnArrival;

impl Rule for DeadOnArrival {
    fn judge(&self, case: &Case) -> Ruling {
        judge(case)
    }

    fn claim(&self, case: &Case, finding: &Finding, interval: Interval) -> String {
        claim(case, finding, interval)
    }

    fn narrate(&self, teller: &mut Teller, _interval: Interval) {
        teller.arrival();
    }

    fn vacuity_reason(&self, run: &Run) -> Option<String> {
        // A call that a fault delays is answered after it, if at all.
        vacuity::of_answers(run)
    }

    fn verify_witness(&self, case: &Case, finding: &Finding) -> bool {
        replay::arrival(case, finding)
    }

    fn blame_window(&self) -> BlameWindow {
        BlameWindow::SinceSent
    }

    fn causes(&self) -> Causes {
        Causes::Any
    }

    /// A widened call waits longer than its owner did.
    fn survives_clock_error(&self) -> bool {
        false
    }

    fn rests_on(&self) -> &'static [Evidence] {
        &[Evidence::Commands]
    }
}

fn judge(case: &Case) -> Ruling {
    let leased = || OpId::each(&case.digest.operations).filter(|(_, one)| gives_lease(one));
    let mut findings: Vec<Finding> = leased()
        .filter_map(|(id, operation)| finding(case, id, operation))
        .collect();
    let count = findings.len() as u64;
    keep_first(&mut findings);
    name_holds(case, &mut findings);
    let traced = !case.digest.asides.commands.is_empty() || asks_once(case);
    let has_matter =
        leased().any(|(id, one)| traced || one.is_timed || one.is_void || is_dated(case, id, one));
    // What nobody can date may have been over.
    let mut undated = leased().filter(|(id, one)| !is_dated(case, *id, one));
    let is_missed = undated.clone().any(|(_, one)| has_missed(case, one));
    let is_told = count > 0 || undated.next().is_none();
    let why = if is_missed {
        "the harness stood still while it waited for the grant of a lease that came late"
    } else if has_matter {
        "of a lease that came late, the history does not say when the request for it was sent"
    } else {
        "of no lease does the history say when the request for it was sent"
    };
    Ruling {
        engine: "operation-scan",
        has_matter,
        count,
        findings,
        tested: if has_matter && is_told {
            Tested::Yes
        } else {
            Tested::No(why.to_owned())
        },
    }
}

fn claim(case: &Case, finding: &Finding, interval: Interval) -> String {
    let lock = text::lock(case.digest.key(finding.key));
    let Some(operation) = finding.operation().map(|id| case.digest.operation(id)) else {
        return format!("a lease on {lock} was over when it was granted");
    };
    let owner = text::name(case.digest.owner(operation.owner));
    let got = match operation.action {
        Action::Renew => format!("told that {lock} is renewed"),
        Action::Acquire | Action::Release | Action::Resource(_) | Action::Other => {
            format!("granted {lock}")
        }
    };
    if operation.is_void {
        return format!("{owner} was {got}, with a validity of nothing");
    }
    let late = text::length(interval.length());
    let over = match successor(case, operation, interval.end) {
        Some(next) => {
            let next = text::name(case.digest.owner(next.owner));
            format!(", when {next} had it")
        }
        None if finding.certain => {
            let seen = seen(case, operation, interval.end);
            let what = if seen.is_some_and(|seen| seen.is_reply) {
                "the servers sent it their last reply"
            } else {
                "the servers got its last request"
            };
            format!(", counted from when {what}")
        }
        None => String::new(),
    };
    format!("{owner} was {got} {late} after its lease could last be relied upon{over}")
}

/// Tells whether an operation tells its owner that it holds the lock for some time.
fn gives_lease(operation: &Operation) -> bool {
    let gives = matches!(operation.action, Action::Acquire | Action::Renew);
    let is_known = operation.is_void || operation.lease.is_some_and(|lease| lease > Nanos(0));
    gives && operation.outcome == Outcome::Ok && is_known
}

/// Tells whether each call is one request, by the word of the history.
fn asks_once(case: &Case) -> bool {
    case.digest.header.asks_once == Some(true)
}

/// Tells whether the history says from when on the lease counts, as far as that matters: one that
/// would last even if it counted from the call is good in any case.
fn is_dated(case: &Case, id: OpId, operation: &Operation) -> bool {
    let (Some(answered), Some(length)) = (operation.answered(), operation.lease) else {
        return operation.is_void;
    };
    let drift = case.options.drift(&case.digest.header);
    let is_good = answered < floor(operation.asked(), length, drift)
        || operation.is_void
        || is_kept(case, id, operation, answered, drift);
    let is_told = operation.is_timed || asks_once(case);
    let is_known = is_told
        || is_had(case, operation, answered)
        || seen(case, operation, answered).is_some_and(|seen| !seen.is_reply);
    is_good || is_known && !has_missed(case, operation)
}

/// Tells whether the harness stood still before the answer, so that nobody knows when it came.
fn has_missed(case: &Case, operation: &Operation) -> bool {
    let answered = operation.answered();
    answered.is_some_and(|answered| case.digest.asides.is_stalled(operation.invoked, answered))
}

fn finding(case: &Case, id: OpId, operation: &Operation) -> Option<Finding> {
    let drift = case.options.drift(&case.digest.header);
    let answered = operation.answered()?;
    let accuse = |floor: Nanos, certain: bool| Finding {
        property: Property::DeadOnArrival,
        key: operation.key,
        holds: Vec::new(),
        operations: vec![id],
        interval: Interval::new(floor, answered),
        certain,
    };
    if operation.is_void {
        return Some(accuse(answered, true));
    }
    if has_missed(case, operation) {
        return None;
    }
    let length = operation.lease?;
    // Whatever the servers saw, the lease did not begin before.
    if answered < floor(operation.asked(), length, drift) {
        return None;
    }
    let seen = seen(case, operation, answered);
    let is_told = operation.is_timed || asks_once(case);
    let from = if is_told {
        operation.asked()
    } else if is_had(case, operation, answered) {
        return None;
    } else {
        seen?.time
    };
    let floor = floor(from, length, drift);
    let is_dead = answered >= floor && !is_kept(case, id, operation, answered, drift);
    // By then the servers have ended it, though some end leases late.
    let late = Nanos::from_millis(case.digest.header.ends_late_ms.unwrap_or_default());
    let ceiling = seen.map(|seen| seen.time + length + drift.of(length) + late);
    is_dead.then(|| {
        let is_over = ceiling.is_some_and(|ceiling| answered > ceiling);
        accuse(
            floor,
            is_over || successor(case, operation, answered).is_some(),
        )
    })
}

/// The hold of another owner who was granted the lock after the operation was sent, and certainly
/// had it, alone or against the wish of the operation, when that was answered.
fn successor<'a>(case: &Case<'a>, operation: &Operation, answered: Nanos) -> Option<&'a Hold> {
    if case.permits() > 1 {
        return None;
    }
    let first = case.holds.partition_point(|hold| hold.key < operation.key);
    let of_key = &case.holds[first..];
    let since = |hold: &Hold| (hold.key, hold.core.start) <= (operation.key, operation.asked());
    let until = |hold: &Hold| (hold.key, hold.core.start) <= (operation.key, answered);
    let meanwhile = of_key.partition_point(since)..of_key.partition_point(until);
    of_key[meanwhile].iter().find(|hold| {
        let is_shared = is_shared(hold) && operation.mode == Mode::Read;
        hold.owner != operation.owner && !is_shared && hold.guaranteed().end > answered
    })
}

/// Until when a lease can be relied upon that was asked for at `from`.
pub(crate) fn floor(from: Nanos, length: Nanos, drift: Drift) -> Nanos {
    Lease::granted(from, from, Some(length), drift).floor
}

/// Sight of a client that deals with a server.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Seen {
    time: Nanos,
    /// True if the server replied, false if it got a command.
    is_reply: bool,
}

/// When a server was last seen to get a command of the owner, or to reply to it, while the
/// operation was under way, not before the try that was granted. The trace has it a little late,
/// and never early.
fn seen(case: &Case, operation: &Operation, answered: Nanos) -> Option<Seen> {
    let digest = case.digest;
    let key = digest.keys.name(operation.key.0);
    let owner = digest.owners.name(operation.owner.0);
    let commands = digest.asides.commands.iter();
    let own = commands.filter(|command| {
        let from = command.note.from.as_deref();
        command.key == *key && from == Some(&**owner)
    });
    // What was sent before is of an earlier try than the one that was granted.
    let inside = |seen: &Seen| operation.asked() <= seen.time && seen.time <= answered;
    let sights = own.map(|command| Seen {
        time: command.time,
        is_reply: command.note.is_reply,
    });
    let last = sights.filter(inside).max();
    // A trace that was cut off before the answer may lack a later command.
    let end = digest.asides.commands.last().map(|command| command.time);
    last.filter(|_| digest.asides.commands.len() < COMMANDS_WHOLE || end >= Some(answered))
}

/// Tells whether all servers that said what they have of the lock, when they were first asked after
/// the answer, named the owner as its holder: its lease was not over, whenever it began.
fn is_had(case: &Case, operation: &Operation, answered: Nanos) -> bool {
    let digest = case.digest;
    let key = digest.keys.name(operation.key.0);
    let owner = digest.owners.name(operation.owner.0);
    let views = digest.asides.views.iter();
    let mut later = views.filter(|view| {
        let since = view.note.since;
        view.key == *key && since.is_some_and(|since| since >= answered)
    });
    let Some(view) = later.next() else {
        return false;
    };
    let own = case.operations_of(operation.owner).iter();
    let mut own = own.map(|&id| digest.operation(id));
    let is_of_another = own.any(|one| {
        let is_later = answered < one.invoked && one.invoked <= view.time;
        one.action == Action::Acquire && one.key == operation.key && is_later
    });
    let has = |node: &NodeView| node.held_by.iter().any(|name| name == owner);
    let mut nodes = view.note.nodes.iter().filter(|node| node.error.is_none());
    !is_of_another && nodes.clone().all(has) && nodes.any(has)
}

/// Tells whether the owner has another lease at that time, or has begun to give the lock back.
fn is_kept(case: &Case, id: OpId, operation: &Operation, at: Nanos, drift: Drift) -> bool {
    let own = case.operations_of(operation.owner).iter();
    let others = own
        .filter(|&&other| other != id)
        .map(|&other| case.digest.operation(other));
    let mut others = others.filter(|other| other.key == operation.key && other.invoked <= at);
    others.any(|other| match other.action {
        Action::Acquire | Action::Renew => {
            let lasts = other
                .lease
                .is_none_or(|length| floor(other.asked(), length, drift) > at);
            other.outcome == Outcome::Ok && lasts
        }
        Action::Release => operation.invoke < other.invoke,
        Action::Resource(_) | Action::Other => false,
    })
}

/// Names the hold that each operation began or was meant to keep.
fn name_holds(case: &Case, findings: &mut [Finding]) {
    if findings.is_empty() {
        return;
    }
    let by_acquire = case.holds_by_acquire();
    for finding in findings {
        let Some(id) = finding.operation() else {
            continue;
        };
        let owner = case.digest.operation(id).owner;
        let own = case.operations_of(owner);
        let end = own.partition_point(|&other| other <= id);
        let of_key = own[..end].iter().rev();
        let mut of_key = of_key.filter(|&&other| case.digest.operation(other).key == finding.key);
        finding.holds = of_key
            .find_map(|other| by_acquire.get(other).copied())
            .into_iter()
            .collect();
    }
}
