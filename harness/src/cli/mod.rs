//! The command line: what is typed, and what is printed. One file for each command.
//!
//! Text for people goes to standard error, output for machines to standard output.

mod adapter;
mod args;
mod bare;
mod baseline;
mod bytes;
mod check;
mod clean;
mod clean_up;
mod doctor;
mod exit;
mod explain;
mod export;
mod guard;
mod input;
mod interrupt;
mod killed;
mod list;
mod open;
pub mod output;
mod publish;
mod recheck;
mod report;
mod run;
mod schema;
mod validate;
mod worker;

pub use args::{Arguments, Command};
pub use exit::{ExitCode, UsageError};

use std::borrow::Cow;

use anyhow::Error;
use lockstorm_checker::inert::visible;

/// Does what was typed.
///
/// # Errors
/// Whatever ends a command early; [`ExitCode::of`] tells what it is worth.
pub fn execute(arguments: Arguments) -> Result<ExitCode, Error> {
    output::choose_color(arguments.color);
    match arguments.command {
        Command::Run(args) => run::execute(&args),
        Command::Check(args) => check::execute(&args),
        Command::Export(args) => export::execute(&args),
        Command::Report(args) => report::execute(&args),
        Command::Validate(args) => validate::execute(&args),
        Command::Schema(args) => schema::execute(&args),
        Command::List(args) => list::execute(&args),
        Command::Explain(args) => explain::execute(&args),
        Command::Doctor(args) => doctor::execute(&args),
        Command::Adapter(args) => adapter::execute(&args),
        Command::Clean(args) => clean_up::execute(&args),
        Command::Worker => worker::execute(),
        Command::Guard => guard::execute(),
    }
}

/// The error for people: a scenario's mistakes with their places, anything else in one line.
pub fn describe(error: &Error) -> String {
    match error.downcast_ref::<lockstorm_scenarios::Diagnostics>() {
        Some(diagnostics) => diagnostics.render(output::colored()),
        None => format!("error: {}", in_one_line(error)),
    }
}

/// An error with its causes, each said once: our own errors name their cause already.
fn in_one_line(error: &Error) -> String {
    let mut text = String::new();
    for (n, cause) in error.chain().enumerate() {
        // Libraries quote what they were given.
        let cause = cause.to_string();
        let cause = brief(cause.trim_end());
        let cause = visible(&cause);
        if n > 0 && text.contains(&*cause) {
            continue;
        }
        if n > 0 {
            text.push_str(": ");
        }
        text.push_str(&cause);
    }
    text
}

/// The longest cause that is printed whole; where more is quoted, its middle tells nobody anything.
const CAUSE_LETTERS_MAX: usize = 4000;

/// A cause without the middle of what it quotes at great length.
fn brief(cause: &str) -> Cow<'_, str> {
    if cause.chars().count() <= CAUSE_LETTERS_MAX {
        return Cow::Borrowed(cause);
    }
    let half = CAUSE_LETTERS_MAX / 2;
    let begin: String = cause.chars().take(half).collect();
    let mut end: Vec<char> = cause.chars().rev().take(half).collect();
    end.reverse();
    Cow::Owned(begin + " […] " + &String::from_iter(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cause_is_told_twice_and_none_is_lost() {
        let cause = || std::io::Error::other("disk on fire");
        let named = exit::MissingInput {
            path: "x".into(),
            source: cause(),
        };
        assert_eq!(in_one_line(&named.into()), "cannot open 'x': disk on fire");
        let unnamed = Error::new(cause()).context("cannot start");
        assert_eq!(in_one_line(&unnamed), "cannot start: disk on fire");
    }
}
