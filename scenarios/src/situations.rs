//! The situations that the program carries: those of `lockstorm assess`.

use crate::shipped::{SHIPPED, Shipped};

/// Folder of the library in which situations lie.
pub const SITUATIONS: &str = "situations";

/// Names of situations in the order of reports: the plain ones first, then what goes wrong, storms
/// last.
const ORDER: &[&str] = &[
    "plain-use",
    "release-by-a-stranger",
    "release-twice",
    "client-pause",
    "late-release",
    "late-renewal",
    "work-outlasts-lease",
    "holder-dies",
    "dies-between-commands",
    "connections-closed",
    "scripts-forgotten",
    "lease-as-long-as-asked",
    "reply-to-acquire-lost",
    "reply-to-acquire-late",
    "request-to-acquire-late",
    "reply-to-renewal-lost",
    "request-to-renew-late",
    "reply-to-renewal-late",
    "renewal-fails-while-others-ask",
    "reply-to-release-lost",
    "request-to-release-late",
    "renewal-meets-release",
    "renewal-behind-the-release",
    "dies-before-the-answer",
    "dies-while-releasing",
    "cancelled-after-the-grant",
    "cancelled-before-the-server",
    "cancelled-wait",
    "cancelled-release",
    "another-between-two-servers",
    "half-of-the-servers",
    "failed-try-on-three-of-five",
    "pause-before-the-answer",
    "slow-answer",
    "server-stalls",
    "server-down-at-acquire",
    "restart-with-its-disk",
    "failover-before-replication",
    "planned-failover",
    "minority-down",
    "split-brain",
    "primary-stalls-through-failover",
    "isolated-master",
    "takeover-out-of-step",
    "slot-moves",
    "release-while-a-slot-moves",
    "failover-of-a-master",
    "failover-of-two-masters",
    "failover-to-a-lagging-replica",
    "failover-with-clocks-apart",
    "replicas-out-of-reach",
    "permits-with-replicas-out-of-reach",
    "replica-lost-before-the-release",
    "client-clock-ahead",
    "client-clock-ahead-in-a-queue",
    "paused-holder-writes",
    "fence-stops-a-paused-holder",
    "released-before-the-commit",
    "works-on-after-the-notice",
    "thread-dies",
    "watchdog-stalls",
    "renewal-while-waiting",
    "downgrade-with-a-waiting-reader",
    "reader-asks-to-write",
    "reader-outlives-its-lease",
    "writer-reads-too",
    "servers-killed",
    "servers-forget",
    "servers-stall",
    "server-clocks-ahead",
    "server-clocks-jump",
    "keys-evicted",
    "keys-deleted",
    "power-cut-synced",
    "power-cut-unsynced",
    "renewal-keeps-the-lock",
    "blip-while-renewing",
    "connection-lost-while-renewing",
    "holder-cut-off",
    "release-stops-renewals",
    "next-holder-dies",
    "dead-client-stops-renewing",
    "key-deleted",
    "re-entry",
    "tokens-grow",
    "readers-share",
    "waiter-gives-up",
    "waiter-dies",
    "waiter-outlives-an-outage",
    "two-keys",
    "one-identity",
    "threads-of-one-client",
    "renewal-on-demand",
    "late-renewal-of-a-free-lock",
    "loser-goes-on-renewing",
    "lease-used-up-by-asking",
    "silent-server-uses-up-the-lease",
    "dead-servers-outlast-the-lease",
    "failed-tries",
    "only-a-minority-is-up",
    "two-sides-of-a-partition",
    "vote-split",
    "bare-majority-loses-one",
    "re-entry-with-a-lost-reply",
    "writer-keeps-readers-out",
    "readers-of-unlike-leases",
    "waiter-is-woken",
    "waiters-in-order",
    "newcomer-meets-a-queue",
    "newcomer-before-the-next",
    "permits-are-counted",
    "permits-that-end",
    "permits-of-the-dead",
    "storm-contention",
    "storm-of-pauses",
    "storm-of-overruns",
    "storm-of-deaths",
    "storm-of-lost-connections",
    "storm-of-stalls",
];

/// Every shipped situation, in the order of reports.
pub fn situations() -> Vec<&'static Shipped> {
    let mut all: Vec<_> = SHIPPED
        .iter()
        .filter(|file| file.folder() == SITUATIONS)
        .collect();
    all.sort_by_key(|file| ORDER.iter().position(|name| *name == file.name()));
    all
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_situation_has_its_place_in_the_order() {
        let listed: BTreeSet<&str> = ORDER.iter().copied().collect();
        let shipped = situations().into_iter().map(Shipped::name).collect();
        assert_eq!(listed, shipped);
        assert_eq!(ORDER.len(), listed.len(), "none is named twice");
    }
}
