//! The alphabet: everything that is tried at a point.

use lockstorm_scenarios::{
    Clock, FailoverMode, FaultSpec, LockOperation, Memory, Message, Restart, Topology, TopologyKind,
};
use serde::{Deserialize, Serialize};

use super::point::Point;

/// One thing that goes wrong, or comes in between, at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// The message is lost, and its connection reset.
    Lose,
    /// The message arrives later than the lease lasts.
    Delay,
    /// Another client asks for the lock while the message is on its way.
    Interleave,
    /// The client stands still for longer than the lease, while another asks.
    PauseClient,
    /// The client dies, and another asks.
    KillClient,
    /// The client gives the call up, and another asks.
    Cancel,
    /// The client's watchdog stalls for longer than the lease.
    StallWatchdog,
    /// The client gives the lock back while a renewal is on its way.
    ReleaseFirst,
    /// The server crashes and comes back without its memory, and another client asks.
    Forget,
    /// The server stands still for longer than the lease.
    PauseNode,
    /// The server's clock jumps ahead by two leases, and another client asks.
    ClockJump,
    /// Writes of the primary from here on do not reach its replicas.
    CutReplicas,
    /// The primary dies, a replica takes over, and another client asks.
    Failover,
}

/// Victim of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victim {
    /// The message alone: it is armed, and nobody waits for it.
    Message,
    /// A client, while the message is held.
    Client,
    /// A server, while the message is held, which loses nothing by it.
    Server,
    /// A server, while the message is held, which forgets what it had granted.
    Memory,
}

impl Fault {
    /// All of them, in the order of reports.
    pub const ALL: [Self; 13] = [
        Self::Lose,
        Self::Delay,
        Self::Interleave,
        Self::PauseClient,
        Self::KillClient,
        Self::Cancel,
        Self::StallWatchdog,
        Self::ReleaseFirst,
        Self::PauseNode,
        Self::Forget,
        Self::ClockJump,
        Self::CutReplicas,
        Self::Failover,
    ];

    /// The words of reports.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Lose => "lost",
            Self::Delay => "late",
            Self::Interleave => "another client in between",
            Self::PauseClient => "client pauses",
            Self::KillClient => "client dies",
            Self::Cancel => "call given up",
            Self::StallWatchdog => "watchdog stalls",
            Self::ReleaseFirst => "release overtakes it",
            Self::PauseNode => "server stalls",
            Self::Forget => "server forgets",
            Self::ClockJump => "server's clock jumps",
            Self::CutReplicas => "replicas cut off",
            Self::Failover => "failover",
        }
    }

    /// Says whom it is done to.
    pub const fn victim(self) -> Victim {
        match self {
            Self::Lose | Self::Delay => Victim::Message,
            Self::Interleave
            | Self::PauseClient
            | Self::KillClient
            | Self::Cancel
            | Self::StallWatchdog
            | Self::ReleaseFirst => Victim::Client,
            Self::PauseNode | Self::CutReplicas => Victim::Server,
            Self::Forget | Self::ClockJump | Self::Failover => Victim::Memory,
        }
    }

    /// Tells whether the message waits for it, and the script for the message.
    pub fn is_held(self) -> bool {
        self.victim() != Victim::Message
    }

    /// Tells whether another client asks for the lock, before the message goes on or right after.
    pub const fn lets_another_ask(self) -> bool {
        !matches!(self, Self::Lose | Self::Delay | Self::CutReplicas)
    }

    /// Tells whether it hurts nobody by itself, and makes the other one worse.
    pub const fn prepares(self, other: Self) -> bool {
        matches!((self, other), (Self::CutReplicas, Self::Failover))
    }

    /// Tells whether it means something at a point on servers of this kind.
    pub fn fits(self, point: &Point, on: &Topology, clients: Abilities) -> bool {
        match self {
            Self::Cancel => clients.cancel,
            // A point is needed to do it, and which does not matter.
            Self::StallWatchdog => clients.watchdog && point.is_first_reply(),
            Self::ReleaseFirst => point.operation == LockOperation::Renew,
            Self::CutReplicas | Self::Failover => replica_of(point.server(), on).is_some(),
            Self::Forget => can_hit(
                on,
                &FaultSpec::Restart(Restart {
                    node: point.server().to_owned(),
                    memory: Memory::Lost,
                }),
            ),
            Self::ClockJump => can_hit(
                on,
                &FaultSpec::Clock(Clock {
                    node: Some(point.server().to_owned()),
                    ..Clock::default()
                }),
            ),
            Self::Lose
            | Self::Delay
            | Self::Interleave
            | Self::PauseClient
            | Self::KillClient
            | Self::PauseNode => true,
        }
    }
}

/// Tells whether a fault means something on servers of this system.
fn can_hit(on: &Topology, fault: &FaultSpec) -> bool {
    fault.cannot_hit(on.kind().system()).is_none()
}

/// Abilities of the clients of a lock.
#[derive(Clone, Copy, Debug)]
pub struct Abilities {
    /// They can give a call up.
    pub cancel: bool,
    /// They have a watchdog that can be held up.
    pub watchdog: bool,
}

impl Point {
    fn is_first_reply(&self) -> bool {
        self.message == Message::Reply && self.is_of_first_acquire()
    }

    /// Tells whether nothing goes before it that any client has sent to its server for the lock.
    pub fn is_first_of_all(&self) -> bool {
        self.message == Message::Request && self.is_of_first_acquire()
    }

    fn is_of_first_acquire(&self) -> bool {
        self.client == "a"
            && self.operation == LockOperation::Acquire
            && self.ordinal == 1
            && self.nth == 1
    }
}

/// The replica that takes the place of this server, where there is one.
pub fn replica_of(node: &str, on: &Topology) -> Option<String> {
    let name = match on.kind() {
        TopologyKind::Replicated
        | TopologyKind::Sentinel
        | TopologyKind::Mariadb
        | TopologyKind::Postgres => "replica-1".to_owned(),
        TopologyKind::Independent | TopologyKind::Cluster => format!("{node}-replica-1"),
        TopologyKind::Single
        | TopologyKind::Etcd
        | TopologyKind::Zookeeper
        | TopologyKind::Custom
        | TopologyKind::External => return None,
    };
    on.nodes().contains(&name).then_some(name)
}

/// How servers of this kind fail over by themselves; `None` where a script promotes a replica.
pub const fn failover_mode(on: TopologyKind) -> Option<FailoverMode> {
    match on {
        TopologyKind::Sentinel => Some(FailoverMode::Agreed),
        TopologyKind::Cluster => Some(FailoverMode::Takeover),
        TopologyKind::Single
        | TopologyKind::Replicated
        | TopologyKind::Independent
        | TopologyKind::Etcd
        | TopologyKind::Zookeeper
        | TopologyKind::Mariadb
        | TopologyKind::Postgres
        | TopologyKind::Custom
        | TopologyKind::External => None,
    }
}
