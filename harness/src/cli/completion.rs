//! `lockstorm completions`, and the words that a shell offers when Tab is pressed.
//!
//! The shell asks the program itself each time, so that it offers the scenarios, locks and
//! properties that this version has.

use std::ffi::OsStr;
use std::io;

use anyhow::Error;
use clap::Args;
use clap_complete::Shell;
use clap_complete::engine::{CompletionCandidate, PathCompleter, ValueCompleter as _};
use clap_complete::env::Shells;
use lockstorm_checker::Property;
use lockstorm_scenarios::{LockKind, Promise, SHIPPED, SITUATIONS, Shipped};

use super::exit::ExitCode;
use crate::carried::carried_adapters;
use crate::output;

/// Variable by which a shell asks the program for words.
const ASKED_BY: &str = "COMPLETE";
/// The program, as packages install it.
const PROGRAM: &str = "lockstorm";

/// Arguments of `lockstorm completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// Shell that is to complete.
    pub shell: Shell,
}

/// Prints the script by which a shell learns to complete.
///
/// # Errors
/// When it cannot be written.
pub fn execute(args: &CompletionsArgs) -> Result<ExitCode, Error> {
    let shells = Shells::builtins();
    let shell = shells.completer(&args.shell.to_string());
    let shell = shell.ok_or_else(|| io::Error::other("this shell is not known"))?;
    let mut script = Vec::new();
    shell.write_registration(ASKED_BY, PROGRAM, PROGRAM, PROGRAM, &mut script)?;
    output::answer(String::from_utf8_lossy(&script).trim_end())?;
    Ok(ExitCode::AsExpected)
}

/// Scenarios that the program carries, and files.
pub fn scenarios(begun: &OsStr) -> Vec<CompletionCandidate> {
    let runnable = SHIPPED.iter().filter(|file| file.folder() != SITUATIONS);
    let mut words = among(begun, runnable.map(Shipped::name));
    words.extend(PathCompleter::file().complete(begun));
    words
}

/// Adapters by name.
pub fn adapters(begun: &OsStr) -> Vec<CompletionCandidate> {
    among(begun, carried_adapters().into_iter())
}

/// Locks by name.
pub fn locks(begun: &OsStr) -> Vec<CompletionCandidate> {
    among(begun, LockKind::ALL.into_iter().map(LockKind::name))
}

/// Properties and promises by name.
pub fn explained(begun: &OsStr) -> Vec<CompletionCandidate> {
    let properties = Property::ALL.into_iter().map(Property::name);
    among(begun, properties.chain(Promise::ALL.map(Promise::name)))
}

/// Those of `words` that begin as typed.
fn among(begun: &OsStr, words: impl Iterator<Item = &'static str>) -> Vec<CompletionCandidate> {
    let begun = begun.to_string_lossy();
    let fitting = words.filter(|word| word.starts_with(&*begun));
    fitting.map(CompletionCandidate::new).collect()
}
