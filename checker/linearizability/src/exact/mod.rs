//! The exact sweep: decides locks by the cores of their sessions, in O(n log n).
//!
//! For: the histories of locks as they mostly are. Not for: what it cannot decide exactly; there it
//! says nothing, and the frontier decides.
//!
//! A session is what one owner did from a grant on. It holds at least from the answer of the grant
//! to the first instant at which it can have ended (its core), and at most from the sending of the
//! acquire to the last such instant. To shrink each session to its core leaves the others all the
//! room there is: so what was granted is legal exactly where the cores leave each other alone. To
//! stretch the sessions as far as their neighbours allow explains the most refusals: so a refused
//! try is illegal exactly where it lies inside a stretch that is free even then. There a phantom
//! may explain it: an acquire without an answer, of which nobody knows whether it took effect.
//!
//! Left to the frontier are: refused tries of a semaphore of several permits (which holds to
//! stretch is a choice there, for two may not go past a third), and of a lock that may be entered
//! again; refused tries that nothing but a phantom explains where readers share; calls of one owner
//! that overlap; ties of refused tries in one process; leases that may end before their grant was
//! answered; entering again; tokens that do not grow.

mod clash;
mod free;
mod sessions;
mod shared;
mod sweep;

pub use sweep::{Proof, Rules, decide};
