//! Promises that a plan puts to the test, and violations that no lock can prevent in it.
//!
//! A promise holds under some faults and not under others: a server that forgets what it
//! had granted is not the lock's.

use std::collections::{BTreeMap, BTreeSet};

use lockstorm_checker::Property;
use lockstorm_scenarios::{LockOperation, Promise, TopologyKind};

use super::fault::{Fault, Victim};
use super::plan::{Base, Placement, Plan};
use super::script::Terms;

/// Promises that hold whatever goes wrong.
const ALWAYS: [Promise; 9] = [
    Promise::ValidOnReturn,
    Promise::OwnRelease,
    Promise::LeavesNothing,
    Promise::Settles,
    Promise::HonestRefusal,
    Promise::Obtainable,
    Promise::Fenced,
    Promise::SharedReaders,
    Promise::Permits,
];

/// Tells whether a server forgets what it had granted: before the first request there is nothing to
/// be forgotten, unless it is granted while a failover goes on.
fn forgets(placement: &Placement) -> bool {
    let has_granted = placement.fault == Fault::Failover || !placement.point.is_first_of_all();
    placement.fault.victim() == Victim::Memory && has_granted
}

/// The promises that a plan puts to the test.
pub fn tests(plan: &Plan, terms: &Terms) -> Vec<Promise> {
    let mut tests: BTreeSet<Promise> = ALWAYS.into();
    let forgetting = plan.placements.iter().filter(|one| forgets(one));
    let forgetting: Vec<&Placement> = forgetting.collect();
    let is_failover = |placement: &&Placement| placement.fault == Fault::Failover;
    if forgetting.is_empty() {
        tests.insert(Promise::Exclusive);
    } else {
        // It counts by the same properties, and what a server forgets is not the lock's.
        tests.remove(&Promise::SharedReaders);
        tests.remove(&Promise::Permits);
        // A counter of tokens is forgotten with the rest.
        tests.remove(&Promise::Fenced);
        if forgetting.iter().all(is_failover) {
            tests.insert(Promise::SurvivesFailover);
        }
    }
    if why_it_lasts(plan).is_some() {
        tests.remove(&Promise::LeavesNothing);
    }
    if why_it_is_refused(plan, terms).is_some() {
        tests.remove(&Promise::HonestRefusal);
    }
    if !plan.base.is_careful() {
        // A release by a client that was refused may free a lock that was stuck.
        tests.remove(&Promise::Obtainable);
    }
    match plan.base {
        Base::Reentrant => tests.insert(Promise::Reentrant),
        Base::Queue | Base::Line => tests.insert(Promise::Fair),
        Base::Patient
        | Base::Impatient
        | Base::Renewed
        | Base::Threads
        | Base::Readers
        | Base::UnlikeReaders
        | Base::Permits
        | Base::BothPermits => false,
    };
    if hits_minority(plan, terms) {
        tests.insert(Promise::SurvivesMinority);
    }
    // A lost message is gone in a moment; all else lasts for longer than a lease.
    let is_moment = |placement: &Placement| placement.fault == Fault::Lose;
    if plan.base == Base::Renewed && plan.placements.iter().all(is_moment) {
        tests.insert(Promise::KeepsAlive);
    }
    let tests = Promise::ALL.into_iter().filter(|one| tests.contains(one));
    tests.collect()
}

/// The reason why servers may keep a lock longer than any client could help; `None` if nothing in
/// the plan makes them.
fn why_it_lasts(plan: &Plan) -> Option<&'static str> {
    let has = |fault: Fault| plan.placements.iter().any(|one| one.fault == fault);
    if has(Fault::Failover) {
        Some("A replica that takes over may not know what was given back.")
    } else if has(Fault::ClockJump) {
        Some(
            "Redis ends leases by the wall clock of the server: one that was granted while the \
             clock was ahead lasts longer once it is put right.",
        )
    } else {
        None
    }
}

/// The reason why a client may be refused though nobody holds; `None` if nothing in the plan is
/// one.
fn why_it_is_refused(plan: &Plan, terms: &Terms) -> Option<&'static str> {
    let votes_split = terms.topology.kind() == TopologyKind::Independent && tries_meet(plan);
    let split = "Of two that ask several servers at the same time, each may get some: both may be \
                 refused, or the one that came later.";
    why_it_lasts(plan).or_else(|| votes_split.then_some(split))
}

/// Tells whether one client may ask for the lock while another's try is under way.
fn tries_meet(plan: &Plan) -> bool {
    let lets_others_in = |placement: &Placement| {
        placement.point.operation == LockOperation::Acquire && placement.fault.lets_another_ask()
    };
    matches!(plan.base, Base::Queue | Base::Line) || plan.placements.iter().any(lets_others_in)
}

/// Tells whether everything that goes wrong is on fewer than half of servers that decide together.
fn hits_minority(plan: &Plan, terms: &Terms) -> bool {
    if terms.topology.kind() != TopologyKind::Independent {
        return false;
    }
    let masters = terms.topology.nodes().into_iter();
    let masters = masters.filter(|name| !name.contains("-replica-")).count();
    let is_of_client = |placement: &Placement| placement.fault.victim() == Victim::Client;
    let hit: BTreeSet<&str> = plan
        .placements
        .iter()
        .map(|placement| placement.point.server())
        .collect();
    let only_servers = !plan.placements.iter().any(is_of_client);
    only_servers && !hit.is_empty() && 2 * hit.len() < masters
}

/// Violations that no lock of this kind can prevent under this plan, each with the reason.
pub fn inherent(plan: &Plan, terms: &Terms) -> BTreeMap<Property, String> {
    let mut inherent = BTreeMap::new();
    let tested = tests(plan, terms);
    let is_judged = |property: Property| {
        let mut properties = tested.iter().flat_map(|promise| promise.properties());
        properties.any(|judged| *judged == property)
    };
    if let Some(placement) = plan.placements.iter().find(|one| forgets(one)) {
        let reason = match placement.fault {
            Fault::Failover => "A replica that takes over may not know what was granted.",
            Fault::ClockJump => "Redis ends leases by the wall clock of the server.",
            _ => "A server that comes back without its memory grants again what it had granted.",
        };
        let forgotten = [
            Property::MutualExclusion,
            Property::LostLock,
            Property::Fencing,
        ];
        for property in forgotten {
            if !is_judged(property) {
                inherent.insert(property, reason.to_owned());
            }
        }
    }
    for (property, reason) in [
        (Property::SpuriousRefusal, why_it_is_refused(plan, terms)),
        (Property::Leftover, why_it_lasts(plan)),
    ] {
        if let Some(reason) = reason.filter(|_| !is_judged(property)) {
            inherent.insert(property, reason.to_owned());
        }
    }
    if !is_judged(Property::LeaseOverrun) {
        let reason = "A client that learns too late that its lease is over cannot stop in time; a \
                      resource that looks at fencing tokens can.";
        inherent.insert(Property::LeaseOverrun, reason.to_owned());
    }
    inherent
}

#[cfg(test)]
mod tests {
    use lockstorm_scenarios::{Message, Topology};

    use super::super::point::Point;
    use super::*;
    use crate::conformance::usual_servers;

    fn plan(fault: Fault, node: &str) -> Plan {
        let point = Point {
            client: "a".to_owned(),
            operation: LockOperation::Acquire,
            ordinal: 1,
            nth: 1,
            message: Message::Request,
            command: "SET".to_owned(),
            node: Some(node.to_owned()),
        };
        let placements = vec![Placement { point, fault }];
        let base = Base::Patient;
        Plan { base, placements }
    }

    fn terms(topology: Topology) -> Terms {
        Terms {
            topology,
            lease_ms: 400,
            renews: true,
            promised: Vec::new(),
        }
    }

    #[test]
    fn votes_that_are_split_are_not_held_against_a_lock_on_several_servers() {
        let meets = Fault::lets_another_ask;
        for (kind, splits) in [
            (TopologyKind::Independent, true),
            (TopologyKind::Single, false),
        ] {
            let terms = terms(usual_servers(kind));
            for fault in Fault::ALL {
                let plan = plan(fault, "n2");
                if why_it_lasts(&plan).is_some() {
                    continue;
                }
                let tested = tests(&plan, &terms).contains(&Promise::HonestRefusal);
                assert_eq!(tested, !(splits && meets(fault)), "{kind:?}: {fault:?}");
                let inherent = inherent(&plan, &terms);
                assert_eq!(inherent.contains_key(&Property::SpuriousRefusal), !tested);
            }
        }
    }

    #[test]
    fn a_server_that_has_granted_nothing_yet_forgets_nothing() {
        let terms = terms(usual_servers(TopologyKind::Replicated));
        for fault in Fault::ALL {
            let mut plan = plan(fault, "primary");
            let is_exclusive = |plan: &Plan| {
                let tested = tests(plan, &terms).contains(&Promise::Exclusive);
                let inherent = inherent(plan, &terms);
                let is_inherent = inherent.contains_key(&Property::MutualExclusion);
                // What a failover forgets is a promise of its own.
                assert!(
                    tested != is_inherent || fault == Fault::Failover,
                    "{fault:?}"
                );
                tested
            };
            let is_failover = fault == Fault::Failover;
            assert_eq!(is_exclusive(&plan), !is_failover, "{fault:?}");
            plan.placements[0].point.message = Message::Reply;
            let keeps = fault.victim() != Victim::Memory;
            assert_eq!(is_exclusive(&plan), keeps, "{fault:?}");
        }
    }

    #[test]
    fn a_lock_that_the_servers_keep_too_long_is_not_held_against_it() {
        let terms = terms(usual_servers(TopologyKind::Replicated));
        for fault in Fault::ALL {
            let plan = plan(fault, "primary");
            let lasts = matches!(fault, Fault::Failover | Fault::ClockJump);
            let (tests, inherent) = (tests(&plan, &terms), inherent(&plan, &terms));
            for (promise, property) in [
                (Promise::HonestRefusal, Property::SpuriousRefusal),
                (Promise::LeavesNothing, Property::Leftover),
            ] {
                assert_eq!(tests.contains(&promise), !lasts, "{fault:?}");
                assert_eq!(inherent.contains_key(&property), lasts, "{fault:?}");
            }
        }
    }
}
