//! The locks by name: what each is, and where it makes sense.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::era::Era;
use crate::model::promise::Promise;
use crate::model::system::System;
use crate::model::topology::TopologyKind;
use crate::with_every_lock;

/// Where a lock on one key can be: on one master, or the one that has its key.
const ONE_MASTER: &[TopologyKind] = &[
    TopologyKind::Single,
    TopologyKind::Replicated,
    TopologyKind::Sentinel,
    TopologyKind::Cluster,
];
/// Where there are replicas to wait for.
const WITH_REPLICAS: &[TopologyKind] = &[
    TopologyKind::Replicated,
    TopologyKind::Sentinel,
    TopologyKind::Cluster,
];
/// Where there are several masters to ask.
const MASTERS: &[TopologyKind] = &[TopologyKind::Independent];
/// Members of etcd.
const ETCD: &[TopologyKind] = &[TopologyKind::Etcd];
/// Members of ZooKeeper.
const ZOOKEEPER: &[TopologyKind] = &[TopologyKind::Zookeeper];
/// Servers of MariaDB.
const MARIADB: &[TopologyKind] = &[TopologyKind::Mariadb];
/// PostgreSQL's.
const POSTGRES: &[TopologyKind] = &[TopologyKind::Postgres];
/// A program says by itself where it is asked for what it cannot do.
const ANYWHERE: &[TopologyKind] = &TopologyKind::ALL;

/// Summary of an adapter, in one line.
const ADAPTER: &str =
    "the lock of a library, driven by a program of yours: docs/adapter-protocol.md";
/// Nobody knows what a library sends; nearly all send scripts by their digests.
const OF_LIBRARIES: &[&str] = &["SET", "GET", "DEL", "EVAL", "EVALSHA"];

/// Topologies that servers which someone else runs can be like.
const ALIKE: [TopologyKind; 3] = [
    TopologyKind::Single,
    TopologyKind::Replicated,
    TopologyKind::Independent,
];

/// Feature that some locks have and others have not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockFeature {
    /// A release frees the lock without a look at whose it is.
    BlindRelease,
    /// It is granted by a majority of masters.
    Majority,
    /// Its grant waits until replicas have it, or may be told to.
    ReplicaWait,
    /// It goes with a session of its holder's and has no lease.
    Session,
    /// A call gets its lease by one request to each server, sent when the call begins. Others send
    /// a second one that counts, or the same again.
    SingleRequest,
    /// Its grants come with fencing tokens, or may: what an adapter gives shows in a run.
    Tokens,
}

macro_rules! lock_kind {
    ($(
        $(#[doc = $summary:literal])+
        $word:literal => $Lock:ident($Options:ident) on $topologies:ident,
            sends [$($command:literal),*], has [$($feature:ident),*],
            promises [$($promise:ident),*], eras [$($era:ident),*];
    )*) => {
        /// A lock without its options.
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
        )]
        pub enum LockKind {
            $(
                $(#[doc = $summary])+
                #[serde(rename = $word)]
                $Lock,
            )*
            /// The lock of a library, driven by a program that speaks the adapter protocol.
            #[serde(rename = "adapter")]
            Adapter,
        }

        impl LockKind {
            /// Every lock, in the order of `lockstorm list locks`.
            pub const ALL: [Self; [$($word),*].len() + 1] = [$(Self::$Lock,)* Self::Adapter];

            /// The word used in scenario files.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$Lock => $word,)*
                    Self::Adapter => "adapter",
                }
            }

            /// Summary of what it does and promises, in one line.
            pub const fn summary(self) -> &'static str {
                match self {
                    $(Self::$Lock => concat!($($summary),+).trim_ascii(),)*
                    Self::Adapter => ADAPTER,
                }
            }

            /// The commands that it sends, those that its scripts call included.
            pub const fn commands(self) -> &'static [&'static str] {
                match self {
                    $(Self::$Lock => &[$($command),*],)*
                    Self::Adapter => OF_LIBRARIES,
                }
            }

            /// The Redissons that it can behave like, the oldest first; none where all do alike.
            pub const fn eras(self) -> &'static [Era] {
                match self {
                    $(Self::$Lock => &[$(Era::$era),*],)*
                    Self::Adapter => &[],
                }
            }

            const fn topologies(self) -> &'static [TopologyKind] {
                match self {
                    $(Self::$Lock => $topologies,)*
                    Self::Adapter => ANYWHERE,
                }
            }

            /// Promises that it makes beyond those of every lock.
            pub const fn promises(self) -> &'static [Promise] {
                match self {
                    $(Self::$Lock => &[$(Promise::$promise),*],)*
                    Self::Adapter => &[],
                }
            }

            const fn features(self) -> &'static [LockFeature] {
                match self {
                    $(Self::$Lock => &[$(LockFeature::$feature),*],)*
                    Self::Adapter => &[LockFeature::Tokens],
                }
            }
        }
    };
}

with_every_lock!(lock_kind);

impl LockKind {
    /// Tells whether it has this feature.
    pub fn has(self, feature: LockFeature) -> bool {
        self.features().contains(&feature)
    }

    /// Tells whether the lock makes sense on servers of this shape.
    pub fn supports(self, topology: TopologyKind) -> bool {
        let on = self.topologies();
        if topology == TopologyKind::External {
            // Whether it does on these is a matter of what they are like.
            return ALIKE.iter().any(|alike| on.contains(alike));
        }
        on.contains(&topology)
    }

    /// Tells whether the lock is one of this system's servers.
    pub fn is_of(self, system: System) -> bool {
        let mut on = self.topologies().iter();
        on.any(|topology| topology.system() == system)
    }

    /// The lock that a label names, as in [`Lock::label`](super::Lock::label): its first word.
    pub fn of_label(label: &str) -> Option<Self> {
        let word = label.split(' ').next()?;
        Self::ALL.into_iter().find(|kind| kind.name() == word)
    }
}
