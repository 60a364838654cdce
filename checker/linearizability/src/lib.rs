//! Decides whether what clients saw of one lock or register is linearizable.
//!
//! For: calls with their times, owners and replies, judged by a sequential model: a mutex, a
//! reentrant or fenced lock, a semaphore, a read-write lock, a register, a list that grows. Not
//! for: files and formats, several locks at once (linearizability is local: decide one after the
//! other), and words for people.
//!
//! Two engines decide. The [exact sweep](exact) takes `O(n log n)` where the calls of a lock are as
//! they mostly are; the [`frontier`] decides any of them, within a [`Budget`] of steps and
//! memory. Equal input gives an equal answer on any machine.
//!
//! ```
//! use lockstorm_linearizability::{
//!     Budget, Call, Decision, LeaseId, Mode, ModelName, OpId, OwnerId, Reply, Request,
//!     Specification, Time, Values, decide,
//! };
//!
//! let grant = |op, owner, invoked, returned| Call {
//!     op: OpId(op),
//!     owner: OwnerId(owner),
//!     invoked: Time(invoked),
//!     returned: Time(returned),
//!     after: None,
//!     request: Request::Acquire {
//!         mode: Mode::Write,
//!         permits: 1,
//!         token: None,
//!         lease: LeaseId::NEVER,
//!     },
//!     reply: Reply::Done,
//! };
//! let mutex = Specification::new(ModelName::Mutex, 1, &mut Values::default());
//! let one = [grant(0, 0, 0, 10)];
//! let two = [grant(0, 0, 0, 10), grant(1, 1, 20, 30)];
//! let budget = Budget::of_steps(1000);
//! assert_eq!(decide(&mutex, &one, &budget).decision, Decision::Legal);
//! assert!(matches!(
//!     decide(&mutex, &two, &budget).decision,
//!     Decision::Illegal { .. }
//! ));
//! ```

mod budget;
mod call;
mod decision;
pub mod exact;
pub mod frontier;
mod model;
mod model_name;
mod models;
mod reason;
mod search;
mod shrink;
mod specification;
mod time;
mod values;

pub use budget::{Budget, Exhausted};
pub use call::{Call, CallId, Datum, LeaseId, Mode, OpId, OwnerId, Reply, Request};
pub use decision::{Decided, decide};
pub use model::{Model, Precondition};
pub use model_name::{ModelName, UnknownModel};
pub use reason::Reason;
pub use search::{Decision, search};
pub use shrink::{distinct, minimal, shrink, unknown};
pub use specification::Specification;
pub use time::Time;
pub use values::Values;
