//! Consequences of the parameters of a fault.

use super::kind::Absence;
use super::message::MessagePoint;
use crate::model::external::Disturbance;
use crate::model::system::System;

/// Parameters of a fault, and what others must know of the fault beside them.
///
/// Each fault answers here, beside its parameters: there are no lists of faults elsewhere in which
/// one could be missing.
pub trait FaultParameters {
    /// How a server that it hits is away, if it is.
    const ABSENCE: Option<Absence> = None;

    /// Commands that it sends to servers which others may use too, beside those of locks.
    const COMMANDS: &'static [&'static str] = &[];

    /// Effect that it may have on servers that others use as well.
    fn on_external(&self) -> ExternalUse;

    /// Reason why it cannot hit servers of this system, if it cannot; Redis is not asked about.
    fn not_on(&self, _: System) -> Option<&'static str> {
        None
    }

    /// True if it needs a network of packets, which the kernel has and the fabric has not.
    fn needs_packets(&self) -> bool {
        false
    }

    /// True if it needs hands on the clock or the disk of servers, which only those allow that were
    /// started with the shim.
    fn needs_shim(&self) -> bool {
        false
    }

    /// The message that it is about, if it is about one: the network must then read messages, which
    /// the fabric does and the kernel does not.
    fn message(&self) -> Option<MessagePoint> {
        None
    }

    /// True if it needs hands on the clocks of clients.
    fn needs_shim_in_clients(&self) -> bool {
        false
    }
}

/// Effect that a fault may have on servers that others use as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExternalUse {
    /// It hits nobody else.
    Ours,
    /// Others feel it as well.
    Felt(Disturbance),
    /// It cannot be done, for this reason; and what to do instead.
    Impossible(&'static str, &'static str),
}

/// The reason where only the servers themselves could tell what a fault needs to know.
pub const NOT_KNOWN: &str =
    "Lockstorm does not know what they keep, or which of them leads: kill, pause or cut them off";

/// The remedy where servers have to be our own.
const OWN_SERVERS: &str = "take a topology that Lockstorm starts itself, such as topology.single";

impl ExternalUse {
    /// Impossible where the server's process is not a child of the run.
    pub const NO_PROCESS: Self =
        Self::Impossible("it takes a hold on the server's process", OWN_SERVERS);

    /// Impossible where the links do not belong to the run.
    pub const NO_LINKS: Self =
        Self::Impossible("the network is not Lockstorm's to break", OWN_SERVERS);
}
