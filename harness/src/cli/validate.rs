//! `lockstorm validate`.

use std::path::PathBuf;

use anyhow::Error;
use clap::Args;
use lockstorm_scenarios::Override;

use super::exit::ExitCode;
use crate::output;
use crate::usage_error::UsageError;

/// Arguments of `lockstorm validate`.
#[derive(Debug, Args)]
pub struct ValidateArgs {
    /// Scenario files.
    #[arg(required = true, value_name = "SCENARIO.toml")]
    pub scenarios: Vec<PathBuf>,
    /// Replace a value of the scenario first.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub overrides: Vec<String>,
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
    let mut worst = ExitCode::AsExpected;
    for path in &args.scenarios {
        let expanded = lockstorm_scenarios::load(path, &overrides)
            .and_then(|loaded| lockstorm_scenarios::expand(&loaded));
        match expanded {
            Ok(expanded) => {
                let runs = expanded.cases.len();
                let word = if runs == 1 { "run" } else { "runs" };
                output::human(&format!("{}: ok, {runs} {word}", path.display()));
            }
            Err(diagnostics) => {
                output::painted(&diagnostics.render(output::colored()));
                worst = ExitCode::InvalidInput;
            }
        }
    }
    Ok(worst)
}
