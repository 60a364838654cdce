//! Renders a run or a suite as text for a terminal.
//!
//! For: what `lockstorm run`, `check` and `report` print. Not for: machines (JUnit, JSON), nor
//! for deciding whether colour is wanted, which the caller knows.

mod analysis;
mod assessment;
mod hunt;
mod paint;
mod report;
mod table;
mod text;

pub use analysis::terminal_analysis;
pub use assessment::terminal_assessment;
pub use hunt::terminal_hunt;
pub use report::{terminal_run, terminal_story, terminal_suite};
pub use text::TerminalOptions;
