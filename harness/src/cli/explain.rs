//! `lockstorm explain`.

use anyhow::Error;
use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use lockstorm_checker::Property;

use super::completion;
use super::exit::ExitCode;
use crate::output;

/// Arguments of `lockstorm explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// A property, as in `lockstorm list properties`.
    #[arg(add = ArgValueCompleter::new(completion::properties))]
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
