//! The command line: what is typed, and what is printed. One file for each command.
//!
//! Text for people goes to standard error, output for machines to standard output.

mod args;
mod check;
mod doctor;
mod exit;
mod explain;
mod interrupt;
mod list;
pub mod output;
mod report;
mod run;
mod schema;
mod validate;

pub use args::{Arguments, Command};
pub use exit::ExitCode;

use anyhow::Error;

/// Does what was typed.
///
/// # Errors
/// Whatever ends a command early; [`ExitCode::of`] tells what it is worth.
pub fn execute(arguments: Arguments) -> Result<ExitCode, Error> {
    output::choose_color(arguments.color);
    match arguments.command {
        Command::Run(args) => run::execute(&args),
        Command::Check(args) => check::execute(&args),
        Command::Report(args) => report::execute(&args),
        Command::Validate(args) => validate::execute(&args),
        Command::Schema(args) => schema::execute(&args),
        Command::List(args) => list::execute(&args),
        Command::Explain(args) => explain::execute(&args),
        Command::Doctor(args) => doctor::execute(&args),
    }
}

/// The error for people: a scenario's mistakes with their places, anything else in one line.
pub fn describe(error: &Error) -> String {
    match error.downcast_ref::<lockstorm_scenarios::Diagnostics>() {
        Some(diagnostics) => diagnostics.render(output::colored()),
        None => format!("error: {error:#}"),
    }
}
