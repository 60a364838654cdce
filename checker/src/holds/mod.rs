//! Holds: the intervals in which an owner holds a lock, certainly or possibly, by what it was told.

mod derive;
mod evidence;
mod grants;
mod hold;
mod ledger;
mod losses;
mod windows;

pub use derive::holds;
pub(crate) use derive::holds_by;
pub(crate) use evidence::excuse;
pub use hold::Hold;
pub(crate) use ledger::{Standing, standings};
pub(crate) use losses::{losses, notice};
pub(crate) use windows::Windows;
