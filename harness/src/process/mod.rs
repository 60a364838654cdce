//! Child processes: started so that they die with the harness, with the clocks and disks that
//! faults may change, and without the passwords of servers that someone else runs.

mod child;
mod client_process;
pub mod guardian;
mod leash;
mod own_user;
mod secrets;
mod shim;
mod source_address;

pub use child::{spawn, spawn_here};
pub use client_process::{ClientProcess, Pipes};
pub use own_user::not_as_root;
pub use secrets::{note_secrets, scrub};
pub use shim::{Page, Shim};
pub use source_address::{Facade, bind_source};
