//! Which faults a violation is blamed on: those that were active when it was decided, and could
//! decide it.
//!
//! ```text
//! a        |--granted--|   |--renewed--|
//! b                                              |--granted--|
//! decided                  <------------------------------->
//! ```
//!
//! A lock that is granted twice was lost between the last instant at which the service certainly
//! still knew of the first hold and the answer to the second grant. A fault that was healed before,
//! or came after, has no part in it; nor has one that only a client felt, as long as there is one
//! that hit the service. Where a client acted after its lease, it is the faults of that client that
//! count, and only without any those of the servers. Whatever else was active is not blamed.
//!
//! For: the table of faults, and the sentence below a story. Not for: proving a cause; a fault that
//! is blamed may have been harmless beside another that is blamed too.

use crate::case::{Case, Finding};
use crate::digest::Digest;
use crate::faults::window;
use crate::history::{FaultClass, FaultTarget, Name, Nanos};
use crate::hold::Hold;
use crate::interval::Interval;
use crate::operation::{Action, Operation, Outcome};
use crate::verdict::{FaultSummary, Property};

/// The positions of the faults that a violation is blamed on, in order of their injection.
pub(crate) fn blamed(case: &Case, finding: &Finding) -> Vec<usize> {
    if case.faults.is_empty() {
        return Vec::new();
    }
    let decided = decided(case, finding);
    let active = (0..case.faults.len()).filter(|&at| {
        let lasted = window(&case.faults[at]);
        lasted.is_some_and(|lasted| lasted.touches(decided))
    });
    let active: Vec<usize> = active.collect();
    let could = active.iter().copied();
    let could: Vec<usize> = could
        .filter(|&at| could_decide(case, finding, &case.faults[at]))
        .collect();
    if could.is_empty() { active } else { could }
}

/// When the violation was decided.
pub(crate) fn decided(case: &Case, finding: &Finding) -> Interval {
    let holds = || finding.holds.iter().map(|&at| &case.holds[at]);
    let (start, end) = (finding.interval.start, finding.interval.end);
    match finding.property {
        Property::DeadOnArrival => {
            let sent = finding
                .operation()
                .map(|id| case.digest.operation(id).invoked);
            Interval::new(sent.unwrap_or(start), end)
        }
        Property::LeaseOverrun => {
            let stale = holds().next();
            Interval::new(stale.map_or(start, |hold| known(case, hold, start)), end)
        }
        Property::MutualExclusion
        | Property::LostLock
        | Property::Fencing
        | Property::Ownership
        | Property::Reentrancy
        | Property::GuardedResource
        | Property::Model => {
            let first = holds().min_by_key(|hold| hold.core.start);
            let second = holds().map(|hold| hold.core.start).max();
            let shown = match finding.property {
                // From here on its owner knows; the rest of the interval is what it lost.
                Property::LostLock => start,
                _ => end,
            };
            let second = second.filter(|_| finding.holds.len() > 1).unwrap_or(shown);
            Interval::new(
                first.map_or(start, |hold| known(case, hold, second)),
                second,
            )
        }
        Property::Leftover => {
            let closing = finding.operation().map(|id| case.digest.operation(id));
            let first = holds().next().map(|hold| hold.hull.start);
            Interval::new(
                first
                    .or(closing.map(|closing| closing.invoked))
                    .unwrap_or(start),
                start,
            )
        }
        Property::LossNotice
        | Property::SpuriousRefusal
        | Property::Fairness
        | Property::Liveness
        | Property::Availability => finding.interval,
    }
}

/// The last instant before `until` at which the service certainly knew of a hold: when its last
/// acquire or renewal was sent that was answered as done.
fn known(case: &Case, hold: &Hold, until: Nanos) -> Nanos {
    let digest = case.digest;
    let first = digest.operation(hold.acquire).invoked;
    let own = case.operations_of(hold.owner);
    let end = own.partition_point(|&id| digest.operation(id).invoked <= until);
    let before = own[..end].iter().rev().map(|&id| digest.operation(id));
    let mut since = before.take_while(|operation| operation.invoked >= first);
    let last = since.find(|operation| {
        let keeps = matches!(operation.action, Action::Acquire | Action::Renew);
        let done = keeps && operation.outcome == Outcome::Ok && operation.key == hold.key;
        done && operation
            .answered()
            .is_some_and(|answered| answered <= until)
    });
    last.map_or(hold.hull.start, Operation::asked)
}

/// Whether a fault is of those that can bring about such a violation.
fn could_decide(case: &Case, finding: &Finding, fault: &FaultSummary) -> bool {
    match finding.property {
        Property::LeaseOverrun => {
            let stale = finding.holds.first().map(|&at| &case.holds[at]);
            stale.is_some_and(|hold| touches_client(fault, case.digest.owner(hold.owner)))
        }
        Property::MutualExclusion
        | Property::LostLock
        | Property::Fencing
        | Property::Ownership
        | Property::Reentrancy
        | Property::GuardedResource
        | Property::Model => can_forget(case, finding, fault),
        Property::DeadOnArrival
        | Property::Leftover
        | Property::LossNotice
        | Property::SpuriousRefusal
        | Property::Fairness
        | Property::Liveness
        | Property::Availability => true,
    }
}

/// Whether a fault hits a client or one of its links.
pub(crate) fn touches_client(fault: &FaultSummary, client: &str) -> bool {
    let has = |names: &[Name]| names.iter().any(|name| **name == *client);
    match &fault.target {
        FaultTarget::Client(name) | FaultTarget::Connections { client: name, .. } => {
            **name == *client
        }
        FaultTarget::Link { from, to } => has(from) || has(to),
        FaultTarget::Sides(sides) => sides.iter().any(|side| has(side)),
        FaultTarget::Node(_) | FaultTarget::Key { .. } | FaultTarget::Words(_) => false,
    }
}

/// Whether the service can lose a lock by a fault.
fn can_forget(case: &Case, finding: &Finding, fault: &FaultSummary) -> bool {
    let harms = match fault.class {
        FaultClass::Death
        | FaultClass::Stall
        | FaultClass::Cut
        | FaultClass::Packet
        | FaultClass::Clock
        | FaultClass::Data
        | FaultClass::Promotion
        | FaultClass::Migration
        | FaultClass::Other => true,
        // What is forgotten is loaded again.
        FaultClass::Scripts => false,
    };
    let digest = case.digest;
    harms
        && match &fault.target {
            FaultTarget::Client(_) | FaultTarget::Connections { .. } => false,
            FaultTarget::Key { key, .. } => **key == *digest.key(finding.key),
            FaultTarget::Link { from, to } => {
                from.iter().any(|name| is_server(digest, name))
                    && to.iter().any(|name| is_server(digest, name))
            }
            FaultTarget::Sides(sides) => {
                let with_servers = sides
                    .iter()
                    .filter(|side| side.iter().any(|name| is_server(digest, name)));
                with_servers.count() > 1
            }
            FaultTarget::Node(node) => voted(case, finding, node),
            FaultTarget::Words(_) => true,
        }
}

fn is_server(digest: &Digest, name: &str) -> bool {
    digest.owners.find(name).is_none()
}

/// Whether `node` may have known of the first hold: of a quorum, only who said yes has anything to
/// forget.
fn voted(case: &Case, finding: &Finding, node: &str) -> bool {
    let holds = finding.holds.iter().map(|&at| &case.holds[at]);
    let Some(first) = holds.min_by_key(|hold| hold.core.start) else {
        return true;
    };
    let givers = case.digest.givers(case.digest.operation(first.acquire));
    givers.is_none_or(|givers| givers.0.len() < 2 || givers.has(node))
}
