//! `lockstorm explain`.

use anyhow::Error;
use clap::Args;
use lockstorm_checker::Property;

use super::exit::ExitCode;
use crate::output;

/// Arguments of `lockstorm explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// A property, as in `lockstorm list properties`.
    pub property: Property,
}

/// Prints the long text.
///
/// # Errors
/// When it cannot be written.
pub fn execute(args: &ExplainArgs) -> Result<ExitCode, Error> {
    output::answer(args.property.explain())?;
    Ok(ExitCode::AsExpected)
}
