//! The situations that the program carries: those of `lockstorm assess`.

/// A situation file, as it lies in `scenarios/library/situations`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShippedSituation {
    /// Path of the file in the library, for diagnostics.
    pub path: &'static str,
    /// Text of the file.
    pub text: &'static str,
}

macro_rules! situations {
    ($($name:literal,)*) => {
        /// Every shipped situation: the plain ones first, then what goes wrong, storms last.
        pub const SITUATIONS: &[ShippedSituation] = &[$(
            ShippedSituation {
                path: concat!("scenarios/library/situations/", $name, ".toml"),
                text: include_str!(concat!("../library/situations/", $name, ".toml")),
            },
        )*];
    };
}

situations! {
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
    "renewal-fails-while-others-ask",
    "reply-to-release-lost",
    "request-to-release-late",
    "renewal-meets-release",
    "renewal-behind-the-release",
    "dies-before-the-answer",
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
    "one-server-empty",
    "renewal-keeps-the-lock",
    "blip-while-renewing",
    "connection-lost-while-renewing",
    "release-stops-renewals",
    "dead-client-stops-renewing",
    "key-deleted",
    "re-entry",
    "tokens-grow",
    "readers-share",
    "waiter-gives-up",
    "waiter-dies",
    "two-keys",
    "renewal-on-demand",
    "late-renewal-of-a-free-lock",
    "loser-goes-on-renewing",
    "lease-used-up-by-asking",
    "failed-tries",
    "only-a-minority-is-up",
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
}
