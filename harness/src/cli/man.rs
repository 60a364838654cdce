//! `lockstorm man`.

use std::path::PathBuf;

use anyhow::Error;
use clap::{Args, CommandFactory as _};

use super::Arguments;
use super::exit::ExitCode;
use crate::environment_error::EnvironmentError;

/// Arguments of `lockstorm man`.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// Folder for the pages.
    pub folder: PathBuf,
}

/// Writes the manual pages, one for each command.
///
/// # Errors
/// When one cannot be written.
pub fn execute(args: &ManArgs) -> Result<ExitCode, Error> {
    let place = args.folder.display().to_string();
    std::fs::create_dir_all(&args.folder)
        .and_then(|()| clap_mangen::generate_to(Arguments::command(), &args.folder))
        .map_err(EnvironmentError::io("write the pages in", place))?;
    Ok(ExitCode::AsExpected)
}
