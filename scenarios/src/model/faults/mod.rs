//! The faults that a scenario can name, as values.
//!
//! For: their words and parameters, one struct each, in the file of what they break, and the one
//! table of them. Not for: what they do, which the nemesis knows.

mod client;
mod clock;
mod data;
mod disk;
mod failover;
mod kind;
mod link;
mod node_word;
mod server;
mod shard;
mod spec;

pub use client::{KillClient, KillThread, PauseClient, StallWatchdog};
pub use clock::Clock;
pub use data::{DeleteKey, Evict, EvictionPolicy, FlushAll, FlushScripts};
pub use disk::{PowerCut, SlowFsync};
pub use failover::{Failover, FailoverMode};
pub use kind::{Absence, FaultKind};
pub use link::{
    ConnectionUse, Cut, CutMode, Delay, KillConnections, Link, Lose, Partition, PartitionForm,
    Reorder, Throttle,
};
pub use node_word::{NodeTarget, NodeWord};
pub use server::{
    BusyScript, Kill, Memory, Pause, PauseCommands, PausedCommands, Promote, Restart, Sleep, Stop,
};
pub use shard::{MigrateSlot, Way};
pub use spec::{FaultSpec, Named, Role};
