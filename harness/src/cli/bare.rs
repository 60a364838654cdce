//! A history by itself, made into the folder of a run: checked, and stored with what is known.

use std::fs;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use anyhow::{Context as _, Error};
use lockstorm_checker::history::{
    Event, History, ReadOptions, TimeUnit, write_event, write_header,
};
use lockstorm_checker::inert::short;
use lockstorm_checker::{Digest, Options, check_digest, cut_short};
use lockstorm_reports::{
    Cost, Environment, ExpectationResult, Outcome, RESULTS_VERSION, RunRecord, open_stored,
    write_run,
};
use lockstorm_scenarios::{Case, CaseLabels, Expected};

use super::input::{self, Care};
use crate::folder::{HISTORY, SCENARIO};
use crate::rerun;
use crate::usage_error::UsageError;
use crate::workload::Stopped;

/// Text that stands for what nobody knows.
const UNKNOWN: &str = "unknown";

/// Checks the history in `file` and stores it in `out` as a run without a scenario.
///
/// # Errors
/// When it cannot be read, or nothing can be written.
pub fn adopt(file: &Path, time_unit: Option<TimeUnit>, out: &Path) -> Result<(), Error> {
    let mut history = History::default();
    let options = ReadOptions {
        time_unit,
        ..ReadOptions::default()
    };
    let reading = input::read(file, options, Care::Strict, &mut history)?;
    let failed = || format!("cannot write to '{}'", out.display());
    fs::create_dir_all(out).with_context(failed)?;
    let copy = out.join(HISTORY);
    let is_there = copy.canonicalize().ok() == file.canonicalize().ok();
    let is_counted_anew = reading.time_unit.is_some() || reading.began.is_some();
    if is_there && is_counted_anew {
        let text = "the history there has times that are no nanoseconds since its start; give its \
                    report a folder of its own: --out DIR";
        return Err(UsageError(text.to_owned()).into());
    }
    if !is_there {
        write(&history, &copy).with_context(failed)?;
    }
    write_run(out, &record(&history, file, out))?;
    Ok(())
}

/// Writes the history in our own lines, whatever it was written in.
fn write(history: &History, path: &Path) -> std::io::Result<()> {
    let mut file = BufWriter::new(fs::File::create(path)?);
    let mut line = Vec::new();
    write_header(&mut line, &history.header);
    for event in &history.events {
        write_event(&mut line, event);
        file.write_all(&line)?;
        line.clear();
    }
    file.write_all(&line)?;
    file.flush()
}

/// Returns the case that was run, if its scenario lies beside the history, as in the folder of a
/// run that was killed.
fn case(folder: &Path) -> Option<Case> {
    let path = folder.join(SCENARIO);
    // A link may lead to a file that is none of a report's business.
    open_stored(&path).ok()?;
    let loaded = lockstorm_scenarios::load(&path, &[]).ok()?;
    lockstorm_scenarios::expand(&loaded).ok()?.cases.pop()
}

/// Makes the record of the run behind a history from what is known of it.
fn record(history: &History, file: &Path, out: &Path) -> RunRecord {
    let digest = Digest::of(history);
    let analysis = check_digest(&digest, &Options::default());
    let cut_short = cut_short(&digest);
    let analysis = match &cut_short {
        Some(reason) => analysis.of_part(reason),
        None => analysis,
    };
    let stopped = cut_short.map(Stopped::new);
    let case = case(out);
    // Nobody who shows a history hopes for a violation.
    let named = case.as_ref();
    let expected = |property| named.map_or(Expected::Valid, |case| case.expected(property));
    let judged = analysis.properties.iter();
    let expectations: Vec<ExpectationResult> = judged
        .map(|(property, judgement)| ExpectationResult {
            property: *property,
            expected: expected(*property),
            actual: judgement.verdict,
            met: expected(*property).is_met_by(judgement.verdict),
        })
        .collect();
    let header = &history.header;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let end = history.events.iter().map(|event: &Event| event.time).max();
    let labels = case.as_ref().map(|case| case.labels.clone());
    let words = [file, out].map(|path| rerun::quoted(&path.display().to_string()));
    let [file, out] = words;
    let description = if case.is_some() {
        "A run that was killed: its history is judged as it is."
    } else {
        "A history by itself: no scenario says what to expect."
    };
    RunRecord {
        version: RESULTS_VERSION,
        scenario: short(header.scenario.as_deref().unwrap_or(&name)).into_owned(),
        description: description.to_owned(),
        without_scenario: case.is_none(),
        labels: labels.unwrap_or_else(|| CaseLabels {
            lock: UNKNOWN.to_owned(),
            topology: UNKNOWN.to_owned(),
            hazard: UNKNOWN.to_owned(),
        }),
        seed: header.seed.unwrap_or_default(),
        repetition: 0,
        started: header.started.clone().unwrap_or_else(|| UNKNOWN.to_owned()),
        duration_s: end.unwrap_or_default().as_secs_f64(),
        situation: None,
        outcome: Outcome::of(&expectations, stopped.is_some()),
        expectations,
        stopped: stopped.map(|stopped| stopped.why),
        unmet_step: None,
        lines: None,
        earlier: Vec::new(),
        analysis,
        cost: Some(Cost::of(history, None)),
        environment: Environment {
            lockstorm: env!("CARGO_PKG_VERSION").to_owned(),
            server: UNKNOWN.to_owned(),
            server_path: UNKNOWN.to_owned(),
            system: UNKNOWN.to_owned(),
            network: UNKNOWN.to_owned(),
            ..Environment::default()
        },
        rerun: format!("{} report {file} --out {out}", rerun::program()),
        changed: None,
    }
}
