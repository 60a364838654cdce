//! Errors that keep a command from its result, for machines that read standard output.
//!
//! For: a missing server or a mistake in a scenario, which would otherwise leave a job of CI
//! without an annotation and with an empty file of tests.

use std::io;

use anyhow::Error;
use lockstorm_reports::{Mishap, github_mishaps, junit_mishaps};
use lockstorm_scenarios::{Diagnostic, Diagnostics};

use super::publish::OutputFormat;
use crate::output;

/// Tells of an error on standard output, where its format has a place for errors.
///
/// # Errors
/// When it cannot be written.
pub fn publish(error: &Error, format: OutputFormat) -> io::Result<()> {
    tell(&mishaps(error), format)
}

/// Tells of a bug of this program.
///
/// # Errors
/// When it cannot be written.
pub fn publish_bug(format: OutputFormat) -> io::Result<()> {
    let message = "this is a bug in lockstorm; its standard error says where".to_owned();
    let place = None;
    tell(&[Mishap { message, place }], format)
}

/// Tells of the mistakes of scenarios, of which there may be none.
///
/// # Errors
/// When it cannot be written.
pub fn publish_mistakes(all: &[Diagnostics], format: OutputFormat) -> io::Result<()> {
    let mistakes = all.iter().flat_map(Diagnostics::items);
    tell(&mistakes.map(mistake).collect::<Vec<_>>(), format)
}

fn tell(mishaps: &[Mishap], format: OutputFormat) -> io::Result<()> {
    match format {
        OutputFormat::Github => output::machine(&github_mishaps(mishaps)),
        OutputFormat::Junit => output::xml(&junit_mishaps(mishaps).map_err(io::Error::other)?),
        OutputFormat::Human | OutputFormat::Json | OutputFormat::JsonLines => Ok(()),
    }
}

fn mishaps(error: &Error) -> Vec<Mishap> {
    match error.downcast_ref::<Diagnostics>() {
        Some(diagnostics) => diagnostics.items().iter().map(mistake).collect(),
        None => vec![Mishap {
            message: output::in_one_line(error),
            place: None,
        }],
    }
}

fn mistake(mistake: &Diagnostic) -> Mishap {
    let message = match &mistake.help {
        Some(help) => format!("{}: {help}", mistake.message),
        None => mistake.message.clone(),
    };
    // A mistake in what was typed lies in no file, and one that cannot be read has no lines.
    let is_typed = mistake.file().starts_with("--");
    let place = (mistake.file().to_owned(), mistake.line().unwrap_or(1));
    Mishap {
        message,
        place: (!is_typed).then_some(place),
    }
}
