//! The tokens that servers were seen to have.

use std::collections::BTreeMap;

use super::finding::Finding;
use super::parts::Case;
use crate::history::{Nanos, NodeView};
use crate::operations::{KeyId, OwnerId, ViewAside};

/// Token of an owner that a server was seen to have.
#[derive(Clone, Copy)]
pub(crate) struct Sight<'a> {
    pub(crate) view: &'a ViewAside,
    pub(crate) node: &'a NodeView,
    /// Time at which the first server was asked.
    pub(crate) since: Nanos,
    pub(crate) key: KeyId,
    pub(crate) owner: OwnerId,
}

/// Roles whose servers have what the service has.
const HAVE_ALL: [&str; 2] = ["primary", "leader"];

/// Every token of a known owner that such a server was seen to have, in order of time.
pub(crate) fn sights<'a>(case: &Case<'a>) -> Vec<Sight<'a>> {
    let digest = case.digest;
    let mut sights = Vec::new();
    for view in &digest.asides.views {
        let (Some(since), Some(key)) = (view.note.since, digest.keys.find(&view.key)) else {
            continue;
        };
        let nodes = view.note.nodes.iter();
        for node in nodes.filter(|node| counts(case, node, view.time)) {
            let owners = node
                .held_by
                .iter()
                .filter_map(|name| digest.owners.find(name));
            sights.extend(owners.map(|owner| Sight {
                view,
                node,
                since,
                key: KeyId(key),
                owner: OwnerId(owner),
            }));
        }
    }
    sights
}

/// Tells whether what a server has counts as what the service has: it is a primary or a leader, and
/// no other became one last.
fn counts(case: &Case, node: &NodeView, time: Nanos) -> bool {
    let roles = case.digest.asides.roles.iter();
    let promoted = roles.filter(|role| role.time <= time && HAVE_ALL.contains(&&*role.note.role));
    let last = promoted.max_by_key(|role| role.time);
    let is_current = last.is_none_or(|role| role.note.node == node.node);
    is_current
        && node
            .role
            .as_deref()
            .is_some_and(|role| HAVE_ALL.contains(&role))
}

/// The first server that has a token of the owner in the time of a finding, and what was seen.
pub(crate) fn sight<'a>(
    case: &Case<'a>,
    finding: &Finding,
) -> Option<(&'a ViewAside, &'a NodeView)> {
    let owner = case.digest.operation(finding.operation()?).owner;
    let sights = sights(case);
    let mut seen = sights.iter().filter(|sight| {
        let inside =
            finding.interval.start < sight.since && sight.view.time <= finding.interval.end;
        (sight.key, sight.owner) == (finding.key, owner) && inside
    });
    seen.next().map(|sight| (sight.view, sight.node))
}

/// The first view of a server that had something at the key of a lock that names nobody, when
/// nobody can have held the lock, and none of the last tries was over for less than a lease. Of
/// several permits what stands there is no leftover.
pub(crate) fn unnamed<'a>(case: &Case<'a>) -> Option<(&'a ViewAside, &'a NodeView)> {
    if case.permits() > 1 {
        return None;
    }
    let digest = case.digest;
    let mut taken: BTreeMap<KeyId, Taken> = BTreeMap::new();
    let mut views = digest.asides.views.iter();
    views.find_map(|view| {
        let key = KeyId(digest.keys.find(&view.key)?);
        let since = view.note.since?;
        let is_unnamed = |node: &&NodeView| {
            node.held_by.is_empty() && node.content.is_some() && counts(case, node, view.time)
        };
        let node = view.note.nodes.iter().find(is_unnamed)?;
        let taken = taken.entry(key).or_insert_with(|| Taken::of(case, key));
        (!taken.is_meanwhile(since, view.time)).then_some((view, node))
    })
}

/// When somebody may have had a lock, or have asked for it less than a lease ago: by begin, each
/// with the last end of it and of those before.
struct Taken(Vec<(Nanos, Nanos)>);

impl Taken {
    fn of(case: &Case, key: KeyId) -> Self {
        let drift = case.options.drift(&case.digest.header);
        let tries = case.digest.operations_on(key).map(|(_, one)| {
            let ended = one.completion.map_or(Nanos::MAX, |end| end.time);
            let lease = one.lease.unwrap_or(Nanos(0));
            (one.invoked, ended + (lease + drift.of(lease)))
        });
        let holds = case.holds.iter().filter(|hold| hold.key == key);
        let holds = holds.map(|hold| (hold.possible().start, hold.possible().end));
        let mut all: Vec<(Nanos, Nanos)> = tries.chain(holds).collect();
        all.sort_unstable();
        let mut last = Nanos(0);
        for (_, end) in &mut all {
            last = last.max(*end);
            *end = last;
        }
        Self(all)
    }

    fn is_meanwhile(&self, since: Nanos, until: Nanos) -> bool {
        let before = self.0.partition_point(|(begin, _)| *begin <= until);
        let last = before.checked_sub(1).map(|at| self.0[at].1);
        last.is_some_and(|end| end >= since)
    }
}
