//! `lockstorm guard`.

use std::io;

use anyhow::Error;

use super::exit::ExitCode;
use crate::process::guardian;

/// Keeps the processes of clients until its standard input ends.
///
/// # Errors
/// When it is told something that makes no sense.
pub fn execute() -> Result<ExitCode, Error> {
    guardian::serve(io::stdin().lock(), io::stdout().lock())?;
    Ok(ExitCode::AsExpected)
}
