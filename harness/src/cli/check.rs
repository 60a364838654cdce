//! `lockstorm check`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Error;
use clap::{Args, ValueEnum};
use lockstorm_checker::history::{Format, ReadOptions, Reading, TimeUnit};
use lockstorm_checker::{
    Analysis, ClockError, Digest, DigestBuilder, ModelName, Nanos, Options, Property, Verdict,
    check_digest, cut_short,
};
use lockstorm_reports::{Record, read_record, terminal_analysis};
use lockstorm_scenarios::DurationSpec;
use serde_json::json;

use super::exit::ExitCode;
use super::input::Care;
use super::{examples, input, killed};
use crate::folder::HISTORY;
use crate::output::{self, Stream, in_one_line};

/// Arguments of `lockstorm check`.
#[derive(Debug, Args)]
#[command(after_help = examples::CHECK)]
pub struct CheckArgs {
    /// Histories: files, also packed with gzip, folders of runs or suites, or - for the standard
    /// input.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Judge these properties only, joined by commas.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub only: Vec<Property>,
    /// Format of the files, where their content does not tell it.
    #[arg(long, value_name = "FORMAT")]
    pub from: Option<Format>,
    /// Unit of a number in `time`: ns, us, ms or s. Without it nanoseconds, unless the times are
    /// dates, or plainly count something else since 1970.
    #[arg(long, value_name = "UNIT")]
    pub time_unit: Option<TimeUnit>,
    /// Time by which the clock of each process may be off: only violations count that this cannot
    /// explain. Without it, the header decides, and where it says nothing, all times are taken to
    /// be read from one clock.
    #[arg(long, value_name = "TIME")]
    pub clock_error: Option<DurationSpec>,
    /// Judge by this model as well, such as `owner-aware` or `semaphore:2`; see `list models`.
    #[arg(long, value_name = "NAME[:PARAM]")]
    pub model: Option<ModelName>,
    /// Steps that the search for an order that the model allows may take for each lock; the default
    /// takes about a minute.
    #[arg(long, value_name = "STEPS", default_value_t = Options::default().budget)]
    pub budget: u64,
    /// Longest time for which nobody may be granted a lock that is wanted and free; without it, the
    /// history decides, and where it says nothing, any time is allowed.
    #[arg(long, value_name = "TIME")]
    pub availability_gap: Option<DurationSpec>,
    /// Content of standard output.
    #[arg(long, value_enum, default_value_t)]
    pub format: CheckFormat,
}

/// Content of standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum CheckFormat {
    /// Readable text.
    #[default]
    Human,
    /// One array with the whole analysis of each file.
    Json,
    /// One object for each file, in order: file, verdict, properties.
    JsonLines,
}

impl CheckArgs {
    fn reading(&self) -> ReadOptions {
        ReadOptions {
            format: self.from,
            time_unit: self.time_unit,
        }
    }
}

/// Checks each file; the exit code is the worst of them.
///
/// A file that cannot be read does not keep the others from being checked: its error is printed
/// in its place, and the exit code says so.
///
/// # Errors
/// When the output cannot be written.
pub fn execute(args: &CheckArgs) -> Result<ExitCode, Error> {
    let only = (!args.only.is_empty()).then(|| args.only.iter().copied().collect::<BTreeSet<_>>());
    let options = Options {
        only,
        model: args.model,
        budget: args.budget,
        availability_gap_max: args.availability_gap.map(nanos),
        clock_error: args.clock_error.map(nanos).map(ClockError::of_all),
        ..Options::default()
    };
    let mut worst = ExitCode::AsExpected;
    let mut all = Vec::new();
    for file in args.files.iter().flat_map(|file| histories(file)) {
        let name = input::name(&file);
        let checked = judge(&file, args.reading(), &options);
        worst = worst.max(match &checked {
            Ok(checked) => exit_code(&checked.analysis),
            Err(error) => ExitCode::of(error),
        });
        match args.format {
            CheckFormat::Human => show(&name, &checked)?,
            CheckFormat::JsonLines => output::json(&line(&name, &checked).to_string())?,
            CheckFormat::Json => all.push(whole(&name, &checked)),
        }
        if let (Err(error), CheckFormat::Json | CheckFormat::JsonLines) = (&checked, args.format) {
            output::failure(error);
        }
    }
    if args.format == CheckFormat::Json {
        output::json(&serde_json::to_string_pretty(&all)?)?;
    }
    Ok(worst)
}

fn nanos(span: DurationSpec) -> Nanos {
    Nanos(u64::try_from(span.0.as_nanos()).unwrap_or(u64::MAX))
}

/// Lists the histories that a path means: the folder of a suite stands for its runs.
fn histories(path: &Path) -> Vec<PathBuf> {
    if path.is_dir()
        && !path.join(HISTORY).exists()
        && let Ok(Record::Suite(suite)) = read_record(path)
    {
        let runs = suite.runs.iter();
        let runs = runs.map(|run| path.join(&run.folder));
        // Whatever is no folder is not taken for a history that somebody has named.
        let history = |run: PathBuf| if run.is_dir() { run } else { run.join(HISTORY) };
        return runs.map(history).collect();
    }
    let cells = killed::cells(path);
    if !cells.is_empty() {
        output::human(&format!(
            "{}: {}",
            path.display(),
            killed::told(cells.len())
        ));
        return cells;
    }
    vec![path.to_owned()]
}

/// Result of checking one file.
struct Checked {
    reading: Reading,
    /// Assumption about the clocks, where the truth is not known.
    clocks: Option<String>,
    /// Reason why the history is not that of a whole run, if it is not.
    cut_short: Option<String>,
    analysis: Analysis,
}

/// Judges a history, of which only the digest is kept while it is read.
fn judge(path: &Path, reading: ReadOptions, options: &Options) -> Result<Checked, Error> {
    let mut builder = DigestBuilder::default();
    let reading = input::read(path, reading, Care::Strict, &mut builder)?;
    let digest = builder.finish();
    let analysis = check_digest(&digest, options);
    let cut_short = cut_short(&digest);
    Ok(Checked {
        reading,
        clocks: clocks(&digest, options),
        analysis: match &cut_short {
            Some(reason) => analysis.of_part(reason),
            None => analysis,
        },
        cut_short,
    })
}

/// Tells what is assumed of the clocks of several processes; `None` for a history that was recorded
/// here, by one clock.
fn clocks(digest: &Digest, options: &Options) -> Option<String> {
    let mut processes = digest.operations.iter().map(|operation| operation.process);
    let first = processes.next()?;
    if digest.header.is_recorded() || processes.all(|process| process == first) {
        return None;
    }
    let error = options.clock_error(&digest.header).max();
    Some(if error == Nanos(0) {
        "all times are read from one clock; if not, say by --clock-error how far clocks may be off"
            .to_owned()
    } else {
        format!(
            "no clock is off by more than {}; each request may have been sent so much earlier, and \
             each answer received so much later, as is shown in what follows",
            DurationSpec(Duration::from_nanos(error.0))
        )
    })
}

/// Without a scenario there is no expectation: a violation is a violation.
fn exit_code(analysis: &Analysis) -> ExitCode {
    let only_waiting = analysis.properties.iter().all(|(property, judgement)| {
        judgement.verdict != Verdict::Violated || !property.is_safety()
    });
    match analysis.verdict {
        Verdict::Valid => ExitCode::AsExpected,
        Verdict::Unknown => ExitCode::Unknown,
        Verdict::Violated if only_waiting => ExitCode::LivenessFailed,
        Verdict::Violated => ExitCode::Unexpected,
    }
}

fn show(name: &str, checked: &Result<Checked, Error>) -> io::Result<()> {
    let checked = match checked {
        Ok(checked) => checked,
        Err(error) => {
            output::failure(error);
            return Ok(());
        }
    };
    output::answer(&format!("{name}: {}", read_as(&checked.reading)))?;
    if let Some(clocks) = &checked.clocks {
        output::answer(&format!("assumed: {clocks}"))?;
    }
    if let Some(reason) = &checked.cut_short {
        output::answer(&format!("cut short: {reason}"))?;
    }
    let layout = Stream::Out.layout();
    output::painted_answer(&terminal_analysis(&checked.analysis, layout))
}

/// Tells what the file was taken for, so that a user who meant another format sees it.
fn read_as(reading: &Reading) -> String {
    let events = match reading.events {
        1 => "1 event".to_owned(),
        many => format!("{many} events"),
    };
    let mut told = match reading.format {
        Some(format) => format!("read as {format}, {events}"),
        None => events,
    };
    if let Some(unit) = reading.time_unit {
        let _ = write!(told, ", times in {unit}");
    }
    if let Some(began) = reading.began {
        let _ = write!(told, ", from {}", date(began));
    }
    told
}

/// So many nanoseconds since 1970, as a date.
fn date(nanos: u64) -> String {
    match jiff::Timestamp::from_nanosecond(nanos.into()) {
        Ok(date) => date.to_string(),
        Err(_) => format!("{nanos} ns after 1970"),
    }
}

/// Tells machines what the file was read as.
fn heading(name: &str, checked: &Checked) -> serde_json::Map<String, serde_json::Value> {
    let (reading, unread) = (&checked.reading, &checked.reading.unread);
    let mut entries = serde_json::Map::new();
    entries.insert("file".to_owned(), json!(name));
    entries.insert("format".to_owned(), json!(reading.format.map(Format::name)));
    if let Some(unit) = reading.time_unit {
        entries.insert("time_unit".to_owned(), json!(unit.name()));
    }
    if let Some(began) = reading.began {
        entries.insert("began".to_owned(), json!(date(began)));
    }
    if unread.events > 0 {
        let told = json!({ "events": unread.events, "fields": unread.fields });
        entries.insert("unread".to_owned(), told);
    }
    if let Some(clocks) = &checked.clocks {
        entries.insert("assumed".to_owned(), json!(clocks));
    }
    if let Some(reason) = &checked.cut_short {
        entries.insert("cut_short".to_owned(), json!(reason));
    }
    entries
}

fn line(name: &str, checked: &Result<Checked, Error>) -> serde_json::Value {
    match checked {
        Ok(checked) => {
            let analysis = &checked.analysis;
            let properties: serde_json::Map<_, _> = analysis
                .properties
                .iter()
                .map(|(property, judgement)| {
                    let mut entry = json!({ "verdict": judgement.verdict });
                    if judgement.count > 0 {
                        entry["count"] = json!(judgement.count);
                    }
                    if let Some(reason) = &judgement.reason {
                        entry["reason"] = json!(reason);
                    }
                    (property.name().to_owned(), entry)
                })
                .collect();
            let mut entries = heading(name, checked);
            entries.insert("verdict".to_owned(), json!(analysis.verdict));
            entries.insert("properties".to_owned(), properties.into());
            entries.into()
        }
        Err(error) => json!({
            "file": name,
            "verdict": Verdict::Unknown,
            "properties": {},
            "error": in_one_line(error),
        }),
    }
}

fn whole(name: &str, checked: &Result<Checked, Error>) -> serde_json::Value {
    match checked {
        Ok(checked) => {
            let mut entries = heading(name, checked);
            entries.insert("analysis".to_owned(), json!(checked.analysis));
            entries.into()
        }
        Err(error) => json!({ "file": name, "error": in_one_line(error) }),
    }
}
