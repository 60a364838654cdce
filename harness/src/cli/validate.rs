//! `lockstorm validate`.

use std::path::PathBuf;

use anyhow::Error;
use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use lockstorm_scenarios::{Diagnostics, Loaded, Override};

use super::completion;
use super::examples;
use super::exit::ExitCode;
use super::mishap;
use super::publish::OutputFormat;
use crate::output::{self, Stream};
use crate::usage_error::UsageError;

/// Arguments of `lockstorm validate`.
#[derive(Debug, Args)]
#[command(after_help = examples::VALIDATE)]
pub struct ValidateArgs {
    /// Scenario files, or scenarios that the program carries, by name.
    #[arg(
        required = true,
        value_name = "SCENARIO",
        add = ArgValueCompleter::new(completion::scenarios)
    )]
    pub scenarios: Vec<PathBuf>,
    /// Replace a value of the scenario first.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub overrides: Vec<String>,
    /// Content of standard output: annotations for GitHub's runners, JUnit XML, or nothing.
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
}

/// Reads every file and shows every mistake in all of them.
///
/// # Errors
/// When an override cannot be read.
pub fn execute(args: &ValidateArgs) -> Result<ExitCode, Error> {
    let overrides = args
        .overrides
        .iter()
        .map(|text| text.parse::<Override>())
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| UsageError(error.to_string()))?;
    let mut wrong = Vec::new();
    for path in &args.scenarios {
        match lockstorm_scenarios::open(path, &overrides).and_then(|loaded| extent(&loaded)) {
            Ok(extent) => output::human(&format!("{}: ok, {extent}", path.display())),
            Err(diagnostics) => {
                output::painted(&diagnostics.render(Stream::Error.is_colored()));
                wrong.push(diagnostics);
            }
        }
    }
    mishap::publish_mistakes(&wrong, args.format)?;
    Ok(if wrong.is_empty() {
        ExitCode::AsExpected
    } else {
        ExitCode::InvalidInput
    })
}

/// Says how much a file stands for.
fn extent(loaded: &Loaded) -> Result<String, Diagnostics> {
    let scenario = &loaded.scenario;
    if let (Some(situation), None) = (&scenario.situation, &scenario.lock) {
        let [tests, on] = [situation.tests.len(), situation.topologies.len()];
        return Ok(format!(
            "a situation, promises tested: {tests}, topologies: {on}"
        ));
    }
    let runs = lockstorm_scenarios::expand(loaded)?.cases.len();
    let word = if runs == 1 { "run" } else { "runs" };
    Ok(format!("{runs} {word}"))
}
