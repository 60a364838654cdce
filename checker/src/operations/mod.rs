//! Operations: what each client asked for and what came of it, put together from events.

mod digest;
mod groups;
mod interval;
mod lease;
mod operation;

pub(crate) use digest::Item;
pub use digest::{
    Asides, CommandAside, Digest, DigestBuilder, ExpiredAside, FailureAside, FaultEvent,
    FinalPhase, Loss, LostNote, QueuedNote, RoleAside, RouteAside, StallAside, ViewAside,
};
pub(crate) use groups::Groups;
pub use interval::Interval;
pub use lease::{Drift, Lease};
pub(crate) use operation::Edge;
pub use operation::{
    Access, Action, Completion, Detail, DetailId, GiversId, KeyId, OpId, Operation, Outcome,
    OwnerId, ValueId,
};
