//! `lockstorm schema`.

use anyhow::Error;
use clap::{Args, ValueEnum};
use lockstorm_reports::{HISTORY_SCHEMA, RESULTS_SCHEMA};

use super::exit::ExitCode;
use crate::output;

/// Arguments of `lockstorm schema`.
#[derive(Debug, Args)]
pub struct SchemaArgs {
    /// Of what.
    #[arg(value_enum, default_value_t)]
    pub of: Schema,
}

/// Formats that have a schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Schema {
    /// A scenario file.
    #[default]
    Scenario,
    /// `results.json` of a run or a suite.
    Results,
    /// A line of `history.jsonl`.
    History,
}

/// Prints a JSON schema.
///
/// # Errors
/// When it cannot be written.
pub fn execute(args: &SchemaArgs) -> Result<ExitCode, Error> {
    let text = match args.of {
        Schema::Scenario => serde_json::to_string_pretty(&lockstorm_scenarios::schema())?,
        Schema::Results => RESULTS_SCHEMA.to_owned(),
        Schema::History => HISTORY_SCHEMA.to_owned(),
    };
    output::json(&text)?;
    Ok(ExitCode::AsExpected)
}
