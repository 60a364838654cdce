//! `lockstorm schema`.

use anyhow::Error;
use clap::Args;

use super::exit::ExitCode;
use super::output;

/// Arguments of `lockstorm schema`.
#[derive(Debug, Args)]
pub struct SchemaArgs {}

/// Prints the JSON schema of scenario files.
///
/// # Errors
/// When it cannot be written.
pub fn execute(_args: &SchemaArgs) -> Result<ExitCode, Error> {
    output::machine(&serde_json::to_string_pretty(
        &lockstorm_scenarios::schema(),
    )?)?;
    Ok(ExitCode::AsExpected)
}
