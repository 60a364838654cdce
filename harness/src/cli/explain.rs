//! `lockstorm explain`.

use anyhow::Error;
use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use lockstorm_checker::Property;
use serde_json::json;

use super::answer_format::AnswerFormat;
use super::completion;
use super::examples;
use super::exit::ExitCode;
use crate::output;

/// Arguments of `lockstorm explain`.
#[derive(Debug, Args)]
#[command(after_help = examples::EXPLAIN)]
pub struct ExplainArgs {
    /// A property, as in `lockstorm list properties`.
    #[arg(add = ArgValueCompleter::new(completion::properties))]
    pub property: Property,
    /// Content of standard output.
    #[arg(long, value_enum, default_value_t)]
    pub format: AnswerFormat,
}

/// Prints the long text.
///
/// # Errors
/// When it cannot be written.
pub fn execute(args: &ExplainArgs) -> Result<ExitCode, Error> {
    let property = args.property;
    match args.format {
        AnswerFormat::Human => output::answer(property.explain())?,
        AnswerFormat::Json => output::json(&serde_json::to_string_pretty(&json!({
            "property": property.name(),
            "summary": property.summary(),
            "text": property.explain(),
        }))?)?,
    }
    Ok(ExitCode::AsExpected)
}
