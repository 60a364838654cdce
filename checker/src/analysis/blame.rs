//! Blames a violation on faults: those that were active when it was decided, and could decide it.
//!
//! ```text
//! a        |--granted--|   |--renewed--|
//! b                                              |--granted--|
//! decided                  <------------------------------->
//! ```
//!
//! A lock that is granted twice was lost between the last instant at which the service certainly
//! still knew of the first hold and the answer to the second grant. That it knew, its owner's
//! renewals show, and refusals of others that nobody else can have caused. A fault that was healed
//! before, or came after, has no part in it, unless its server says that it ended leases then; nor
//! has one that only a client felt, as long as there is one that hit the service, and never one of
//! a client that has no part in the violation. Where a client acted after its lease, it is the
//! faults of that client that count, and only without any those of the servers. Whatever else was
//! active is not blamed.
//!
//! For: the table of faults, and the sentence below a story. Not for: proving a cause; a fault that
//! is blamed may have been harmless beside another that is blamed too.

use crate::case::{Case, Finding, failure, touches_client, window};
use crate::history::{FaultClass, FaultTarget, Name, Nanos};
use crate::holds::Hold;
use crate::operations::{Action, Digest, ExpiredAside, Interval, Operation, Outcome, OwnerId};
use crate::property::{BlameWindow, Causes, rule};
use crate::verdict::FaultSummary;

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
    let could = (0..case.faults.len()).filter(|at| {
        let lasts = active.contains(at) || outlasts_itself(case, finding, decided, *at);
        lasts && could_decide(case, finding, &case.faults[*at])
    });
    let could: Vec<usize> = could.collect();
    if !could.is_empty() {
        return could;
    }
    // What a client felt that has no part in it, cannot even explain it.
    let owners = concerned(case, finding);
    let felt = |fault| {
        let mut owners = owners.iter();
        owners.any(|&owner| touches_client(fault, case.digest.owners.name(owner.0)))
    };
    let concerns = |&at: &usize| {
        let fault = &case.faults[at];
        match &fault.target {
            FaultTarget::Client(_) | FaultTarget::Connections { .. } => felt(fault),
            FaultTarget::Link { .. } | FaultTarget::Sides(_) => {
                felt(fault) || parts_servers(case.digest, &fault.target)
            }
            FaultTarget::Key { key, .. } => **key == **case.digest.keys.name(finding.key.0),
            FaultTarget::Node(_) | FaultTarget::Words(_) => fault.class != FaultClass::Scripts,
        }
    };
    active.into_iter().filter(concerns).collect()
}

/// Tells whether a fault of a server was over when a lock was lost, but not what the server did of
/// it: it had touched the hold, and by the server's own count it then ended leases.
fn outlasts_itself(case: &Case, finding: &Finding, decided: Interval, at: usize) -> bool {
    let fault = &case.faults[at];
    let (Some(node), Causes::Forgetting) = (fault.target.node(), rule(finding.property).causes())
    else {
        return false;
    };
    let held = finding.holds.iter().map(|&at| case.holds[at].hull.start);
    let held = Interval::new(held.min().unwrap_or(decided.start), decided.end);
    let mut counts = case.digest.asides.expired.iter();
    let ended = |count: &ExpiredAside| {
        let looked = Interval::new(count.note.since, count.time);
        count.note.node == *node && looked.touches(decided)
    };
    window(fault).is_some_and(|lasted| lasted.touches(held)) && counts.any(ended)
}

/// Returns the owners that take part in a violation.
fn concerned(case: &Case, finding: &Finding) -> Vec<OwnerId> {
    let holders = finding.holds.iter().map(|&at| case.holds[at].owner);
    let others = finding.operations.iter();
    let others = others.map(|&id| case.digest.operation(id).owner);
    holders.chain(others).collect()
}

/// Returns the interval in which the violation was decided.
pub(crate) fn decided(case: &Case, finding: &Finding) -> Interval {
    let holds = || finding.holds.iter().map(|&at| &case.holds[at]);
    let (start, end) = (finding.interval.start, finding.interval.end);
    let between = |alone: Nanos| {
        let first = holds().min_by_key(|hold| hold.core.start);
        let second = holds().map(|hold| hold.core.start).max();
        let second = second.filter(|_| finding.holds.len() > 1).unwrap_or(alone);
        let from = first.map_or(start, |hold| known(case, hold, second));
        Interval::new(from, second)
    };
    let sent = || {
        let operation = finding.operation().map(|id| case.digest.operation(id));
        operation.map(|operation| operation.invoked)
    };
    match rule(finding.property).blame_window() {
        BlameWindow::Shown => finding.interval,
        BlameWindow::SinceSent => Interval::new(sent().unwrap_or(start), end),
        BlameWindow::SinceKnown => {
            let stale = holds().next();
            Interval::new(stale.map_or(start, |hold| known(case, hold, start)), end)
        }
        BlameWindow::BetweenHolds => between(end),
        BlameWindow::UntilToldOrHeld => between(start),
        BlameWindow::UntilSeen => {
            let first = holds().next().map(|hold| hold.hull.start);
            Interval::new(first.or_else(sent).unwrap_or(start), start)
        }
    }
}

/// So many of the events before a violation are looked at for a refusal, and so many refusals.
const EDGES_MAX: usize = 64;
const REFUSALS_MAX: usize = 4;
/// Number of holds of a lock above which refusals show nothing that would be worth the search.
const HOLDS_MAX: usize = 2_000;

/// The last instant before `until` at which the service certainly knew of a hold.
fn known(case: &Case, hold: &Hold, until: Nanos) -> Nanos {
    let own = known_by_owner(case, hold, until);
    own.max(known_by_refusal(case, hold, until).unwrap_or(own))
}

/// Returns the time at which the last acquire of another owner was sent that was refused before
/// `until` while nobody else can have had the lock. Of a lock that is granted by several servers a
/// refusal shows nothing: some of them may have forgotten.
fn known_by_refusal(case: &Case, hold: &Hold, until: Nanos) -> Option<Nanos> {
    let digest = case.digest;
    let givers = digest.givers(digest.operation(hold.acquire));
    let is_one = givers.is_none_or(|givers| givers.0.len() < 2);
    let has_queue = !digest.queued.is_empty();
    if !is_one || has_queue || case.permits() > 1 || digest.has_two_modes() {
        return None;
    }
    let first = case.holds.partition_point(|other| other.key < hold.key);
    let end = case.holds.partition_point(|other| other.key <= hold.key);
    let group = case
        .holds
        .get(first..end)
        .filter(|group| group.len() <= HOLDS_MAX)?;
    let edges = digest.edges(hold.key);
    let before = edges.partition_point(|edge| {
        let operation = digest.operation(edge.operation());
        let completion = operation.completion.map(|completion| completion.time);
        let at = if edge.is_sent() { None } else { completion };
        at.unwrap_or(operation.invoked) <= until
    });
    // Events of several clients may be a little out of order.
    let near = edges.len().min(before + EDGES_MAX / 4);
    let last = edges[..near].iter().rev().take(EDGES_MAX);
    let answers = last.filter(|edge| !edge.is_sent());
    let answers = answers.map(|edge| digest.operation(edge.operation()));
    let refusals = answers.filter(|answer| {
        let of_other = answer.owner != hold.owner && answer.outcome == Outcome::Refused;
        let in_time = answer.answered().is_some_and(|answered| answered <= until);
        let asks = answer.action == Action::Acquire && hold.core.start < answer.invoked;
        of_other && asks && in_time
    });
    let alone = |refusal: &&Operation| {
        let answered = refusal.answered().unwrap_or(refusal.invoked);
        let asked = Interval::new(refusal.invoked, answered);
        let is_other = |other: &&Hold| other.acquire != hold.acquire;
        let mut others = group.iter().filter(is_other);
        !others.any(|other| other.possible().touches(asked))
    };
    let mut refusals = refusals.take(REFUSALS_MAX);
    refusals.find(alone).map(|refusal| refusal.invoked)
}

/// Returns the time at which the owner's last acquire or renewal was sent that was answered as done
/// by `until`.
fn known_by_owner(case: &Case, hold: &Hold, until: Nanos) -> Nanos {
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

/// Tells whether a fault is one that can bring about such a violation.
fn could_decide(case: &Case, finding: &Finding, fault: &FaultSummary) -> bool {
    match rule(finding.property).causes() {
        Causes::Any => true,
        Causes::FirstHolder => {
            let stale = finding.holds.first().map(|&at| &case.holds[at]);
            stale.is_some_and(|hold| touches_client(fault, case.digest.owners.name(hold.owner.0)))
        }
        Causes::Forgetting => can_forget(case, finding, fault),
        Causes::OwnOrServers => {
            let failed = failure(case, finding);
            let is_own = || failed.is_some_and(|failure| touches_client(fault, &failure.owner));
            match &fault.target {
                FaultTarget::Client(_) | FaultTarget::Connections { .. } => is_own(),
                FaultTarget::Link { .. } | FaultTarget::Sides(_) => {
                    failed.is_none() || is_own() || parts_servers(case.digest, &fault.target)
                }
                FaultTarget::Key { .. } | FaultTarget::Node(_) | FaultTarget::Words(_) => true,
            }
        }
    }
}

/// Tells whether a fault can make the service lose a lock.
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
            FaultTarget::Key { key, .. } => **key == **digest.keys.name(finding.key.0),
            FaultTarget::Link { .. } | FaultTarget::Sides(_) => {
                parts_servers(digest, &fault.target)
            }
            FaultTarget::Node(node) => voted(case, finding, node),
            FaultTarget::Words(_) => true,
        }
}

/// Tells whether a link or a partition has servers on more than one side.
fn parts_servers(digest: &Digest, target: &FaultTarget) -> bool {
    let is_server = |name: &Name| digest.owners.find(name).is_none();
    let has_server = |side: &[Name]| side.iter().any(is_server);
    match target {
        FaultTarget::Link { from, to } => has_server(from) && has_server(to),
        FaultTarget::Sides(sides) => sides.iter().filter(|side| has_server(side)).count() > 1,
        _ => false,
    }
}

/// Tells whether `node` may have known of the first hold: of a quorum, only the nodes that granted
/// it have anything to forget.
fn voted(case: &Case, finding: &Finding, node: &str) -> bool {
    let holds = finding.holds.iter().map(|&at| &case.holds[at]);
    let Some(first) = holds.min_by_key(|hold| hold.core.start) else {
        return true;
    };
    let givers = case.digest.givers(case.digest.operation(first.acquire));
    givers.is_none_or(|givers| givers.0.len() < 2 || givers.has(node))
}
