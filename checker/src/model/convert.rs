//! The checker's times, modes, owners and operations as the engines of linearizability know them,
//! and back.

use lockstorm_linearizability as linearizability;

use crate::history::{Mode, Nanos};
use crate::operations::{OpId, OwnerId};

impl From<Nanos> for linearizability::Time {
    fn from(time: Nanos) -> Self {
        Self(time.0)
    }
}

impl From<linearizability::Time> for Nanos {
    fn from(time: linearizability::Time) -> Self {
        Self(time.0)
    }
}

impl From<Mode> for linearizability::Mode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Write => Self::Write,
            Mode::Read => Self::Read,
        }
    }
}

impl From<OwnerId> for linearizability::OwnerId {
    fn from(owner: OwnerId) -> Self {
        Self(owner.0)
    }
}

impl From<linearizability::OwnerId> for OwnerId {
    fn from(owner: linearizability::OwnerId) -> Self {
        Self(owner.0)
    }
}

impl From<OpId> for linearizability::OpId {
    fn from(id: OpId) -> Self {
        Self(id.position() as u32)
    }
}

impl From<linearizability::OpId> for OpId {
    fn from(id: linearizability::OpId) -> Self {
        Self::at(id.0 as usize)
    }
}
