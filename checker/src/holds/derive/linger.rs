//! Locks that stay after their owner gave them back in vain, because a session keeps them.
//!
//! A member of ZooKeeper keeps a node for as long as the session of its client, whatever lease the
//! client goes by. A release that did not arrive leaves the node there, and the client's other
//! requests keep the session alive.

use crate::history::{Mode, Nanos};
use crate::holds::Hold;
use crate::operations::Digest;

/// Sets up to when sessions may have kept the holds of one key: until somebody else was certainly
/// granted the lock, which shows that it was gone.
pub(super) fn settle(digest: &Digest, holds: &mut [Hold]) {
    for at in 0..holds.len() {
        if lingers(digest, &holds[at]) {
            holds[at].lingers = next_grant(digest, holds, &holds[at]);
        }
    }
}

/// Tells whether its owner left it, and nothing shows that the service heard of it. An owner whose
/// lease had run out by then may have kept its session alive by other requests.
fn lingers(digest: &Digest, hold: &Hold) -> bool {
    let is_kept = digest.operation(hold.acquire).is_kept_by_session;
    is_kept && hold.hull.end == Nanos::MAX && hold.core.end < Nanos::MAX
}

fn next_grant(digest: &Digest, holds: &[Hold], kept: &Hold) -> Nanos {
    if digest.header.permits > Some(1) {
        return Nanos::MAX;
    }
    let excludes = |other: &&Hold| {
        let alone = other.mode == Mode::Write || kept.mode == Mode::Write;
        alone && other.owner != kept.owner && other.is_granted()
    };
    let later = holds.iter().filter(excludes).map(|other| other.core.start);
    later
        .filter(|&granted| granted >= kept.core.end)
        .min()
        .unwrap_or(Nanos::MAX)
}
