//! `lockstorm guard`.

use std::io;

use anyhow::Error;

use super::exit::ExitCode;
use crate::process::guardian::{self, Charge};

/// Keeps the processes of clients until its standard input ends; what servers have started ends
/// then too.
///
/// # Errors
/// When it is told something that makes no sense.
pub fn execute(charge: &Charge) -> Result<ExitCode, Error> {
    guardian::serve(charge, io::stdin().lock(), io::stdout().lock())?;
    Ok(ExitCode::AsExpected)
}
