//! Writes results to standard output when runs have ended, for machines of several kinds.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, Error};
use clap::ValueEnum;
use lockstorm_reports::{
    Known, Record, github_run, github_suite, junit_run, junit_suite, read_results_text,
    step_summary_run, step_summary_suite,
};

use crate::output;

/// Environment variable with the path of the file from which GitHub's runners take the summary of a
/// step.
const STEP_SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// Content of standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// Nothing; the readable text goes to standard error.
    #[default]
    Human,
    /// `results.json`.
    Json,
    /// JUnit XML.
    Junit,
    /// Annotations for GitHub's runners, and the summary of the step.
    Github,
    /// Events while they happen: one JSON object a line.
    JsonLines,
}

/// Prints the result that is stored in `folder`. Failures that are `known` do not count, which is
/// told to GitHub's runners: a check that passes shows no error.
///
/// # Errors
/// When it cannot be printed, or the step summary cannot be written.
pub fn publish(
    record: &Record,
    known: Option<&Known>,
    folder: &Path,
    format: OutputFormat,
) -> Result<(), Error> {
    match format {
        // The stream has told everything by now.
        OutputFormat::Human | OutputFormat::JsonLines => Ok(()),
        OutputFormat::Json => Ok(output::json(&read_results_text(folder)?)?),
        OutputFormat::Junit => Ok(output::xml(&match record {
            Record::Run(run) => junit_run(run)?,
            Record::Suite(suite) => junit_suite(suite)?,
        })?),
        OutputFormat::Github => github(record, known),
    }
}

/// Annotations to standard output, and the summary to where the runner wants it, if there is one.
fn github(record: &Record, known: Option<&Known>) -> Result<(), Error> {
    let (annotations, summary) = match record {
        Record::Run(run) => (github_run(run, known), step_summary_run(run)),
        Record::Suite(suite) => (github_suite(suite, known), step_summary_suite(suite)),
    };
    output::machine(&annotations)?;
    let Some(path) = std::env::var_os(STEP_SUMMARY).filter(|path| !path.is_empty()) else {
        return Ok(());
    };
    // Other parts of the step may have written there already.
    let appended = OpenOptions::new()
        .append(true)
        .create(true)
        .open(&path)
        .and_then(|mut file| file.write_all(summary.as_bytes()));
    appended.with_context(|| format!("cannot write the step summary to {}", path.display()))
}
