//! The command line: what is typed, and what is printed. One file for each command.
//!
//! Answers go to standard output; remarks, progress, errors and the text of runs to standard error.

mod adapter;
mod answer_format;
mod args;
mod assess;
mod bare;
mod baseline;
mod bytes;
mod check;
mod ci;
mod clean_up;
mod common;
pub mod completion;
mod descriptors;
mod doctor;
mod examples;
mod exit;
mod explain;
mod export;
mod guard;
mod hunt;
mod init;
mod input;
mod interrupt;
mod killed;
mod list;
mod man;
pub mod mishap;
mod open;
mod perform;
pub mod publish;
mod recheck;
mod report;
mod run;
mod run_index;
mod schema;
mod shrink;
mod stream;
mod subject;
mod topologies;
mod validate;
mod worker;

pub use args::{Arguments, Command};
pub use exit::ExitCode;

use anyhow::Error;

use crate::output;
use crate::process::guardian::Charge;
/// Does what was typed.
///
/// # Errors
/// Whatever ends a command early; [`ExitCode::of`] tells what it is worth.
pub fn execute(arguments: Arguments) -> Result<ExitCode, Error> {
    output::choose_color(arguments.color);
    match arguments.command {
        Command::Run(args) => run::execute(&args),
        Command::Assess(args) => assess::execute(&args),
        Command::Hunt(args) => hunt::execute(&args),
        Command::Shrink(args) => shrink::execute(&args),
        Command::Check(args) => check::execute(&args),
        Command::Export(args) => export::execute(&args),
        Command::Report(args) => report::execute(&args),
        Command::Init(args) => init::execute(&args),
        Command::Validate(args) => validate::execute(&args),
        Command::Schema(args) => schema::execute(&args),
        Command::List(args) => list::execute(&args),
        Command::Explain(args) => explain::execute(&args),
        Command::Doctor(args) => doctor::execute(&args),
        Command::Adapter(args) => adapter::execute(&args),
        Command::Clean(args) => clean_up::execute(&args),
        Command::Completions(args) => completion::execute(&args),
        Command::Man(args) => man::execute(&args),
        Command::Worker => worker::execute(),
        Command::Guard { leash, harness } => guard::execute(&Charge { leash, harness }),
    }
}
