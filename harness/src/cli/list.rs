//! `lockstorm list`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Error;
use clap::{Args, ValueEnum};
use lockstorm_checker::history::Format;
use lockstorm_checker::{ModelName, Property};
use lockstorm_scenarios::{
    Listed, LockKind, Mutant, Promise, SHIPPED, SITUATIONS, TopologyKind, describe, list,
};
use serde::Serialize;

use super::answer_format::AnswerFormat;
use super::examples;
use super::exit::ExitCode;
use crate::carried::{carried_adapters, driven_by};
use crate::output;
use crate::usage_error::UsageError;

/// Arguments of `lockstorm list`.
#[derive(Debug, Args)]
#[command(after_help = examples::LIST)]
pub struct ListArgs {
    /// Kind of thing to list; without it, the kinds that there are.
    #[arg(value_enum)]
    pub what: Option<What>,
    /// Folder of scenarios to list, instead of those that the program carries.
    #[arg(long, value_name = "DIR")]
    pub scenarios: Option<PathBuf>,
    /// Content of standard output.
    #[arg(long, value_enum, default_value_t)]
    pub format: AnswerFormat,
}

/// Kinds of things that can be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum What {
    /// The locks under test.
    Locks,
    /// Known-bad locks, each one of ours with one mistake.
    Mutants,
    /// The faults that a scenario can name.
    Faults,
    /// Properties that are judged.
    Properties,
    /// Promises that locks make, and `assess` puts to the test.
    Promises,
    /// Models by which `check --model` can judge a history.
    Models,
    /// The shapes of deployment.
    Topologies,
    /// The formats in which a history may come.
    Formats,
    /// The scenarios that the program carries, which `run` takes by name.
    Scenarios,
    /// The situations into which `assess` puts locks, which it takes by `--only`.
    Situations,
    /// The adapters of libraries that the program carries, which `init adapter` takes by name.
    Adapters,
}

/// One thing of a list.
#[derive(Debug, Default, Serialize)]
struct Entry {
    /// Name, as a scenario or the command line takes it.
    name: String,
    /// Meaning, in a sentence.
    about: String,
    /// Lock of which a mutant is made.
    #[serde(skip_serializing_if = "Option::is_none")]
    lock: Option<&'static str>,
    /// Topologies that a lock runs on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    topologies: Vec<&'static str>,
    /// Eras of its library that a lock can be set to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    eras: Vec<&'static str>,
}

impl Entry {
    fn new(name: impl Into<String>, about: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            about: about.into(),
            ..Self::default()
        }
    }

    /// All of it but its name, for people.
    fn text(&self) -> String {
        let lock = self.lock.map(|lock| format!("{lock}: "));
        let mut text = lock.unwrap_or_default() + &self.about;
        if !self.topologies.is_empty() {
            let eras = if self.eras.is_empty() {
                String::new()
            } else {
                format!("; era {}", self.eras.join(", "))
            };
            let _ = write!(text, " (on {}{eras})", self.topologies.join(", "));
        }
        text
    }
}

/// Prints one line for each thing, or one JSON array of all.
///
/// # Errors
/// When a folder cannot be read or nothing can be written.
pub fn execute(args: &ListArgs) -> Result<ExitCode, Error> {
    let all = What::value_variants().iter().copied();
    let entries = match (args.what, args.scenarios.as_deref()) {
        (None, None) => all.filter_map(kind).collect(),
        (Some(what), None) => things(what, None)?,
        (None | Some(What::Scenarios), folder) => things(What::Scenarios, folder)?,
        (Some(_), Some(_)) => {
            let text = "--scenarios names a folder of scenarios: list 'scenarios' with it";
            return Err(UsageError(text.to_owned()).into());
        }
    };
    match args.format {
        AnswerFormat::Human => output::answer(&table(&entries))?,
        AnswerFormat::Json => output::json(&serde_json::to_string_pretty(&entries)?)?,
    }
    Ok(ExitCode::AsExpected)
}

/// Entry of one of the words that `list` takes.
fn kind(what: What) -> Option<Entry> {
    let value = what.to_possible_value()?;
    let about = value.get_help()?.to_string();
    Some(Entry::new(value.get_name(), about))
}

fn things(what: What, folder: Option<&Path>) -> Result<Vec<Entry>, Error> {
    Ok(match what {
        What::Locks => LockKind::ALL.into_iter().map(lock).collect(),
        What::Mutants => Mutant::ALL.into_iter().map(mutant).collect(),
        What::Faults => lockstorm_nemesis::fault_list()
            .iter()
            .map(|fault| Entry::new(fault.kind.name(), fault.about))
            .collect(),
        What::Properties => Property::ALL
            .into_iter()
            .map(|property| Entry::new(property.name(), property.summary()))
            .collect(),
        What::Promises => Promise::ALL
            .into_iter()
            .map(|promise| Entry::new(promise.name(), promise.sentence()))
            .collect(),
        What::Models => ModelName::ALL
            .into_iter()
            .map(|model| Entry::new(model.usage(), model.summary()))
            .collect(),
        What::Topologies => TopologyKind::ALL
            .into_iter()
            .map(|kind| Entry::new(kind.name(), kind.summary()))
            .collect(),
        What::Formats => Format::ALL
            .into_iter()
            .map(|format| Entry::new(format.name(), format.summary()))
            .collect(),
        What::Scenarios => scenarios(folder)?,
        What::Situations => list_shipped(|folder| folder == SITUATIONS),
        What::Adapters => carried_adapters()
            .into_iter()
            .map(|name| Entry::new(name, driven_by(name)))
            .collect(),
    })
}

fn lock(kind: LockKind) -> Entry {
    let on = TopologyKind::ALL.into_iter();
    let on = on.filter(|topology| kind.supports(*topology));
    Entry {
        topologies: on.map(TopologyKind::name).collect(),
        eras: kind.eras().iter().map(|era| era.name()).collect(),
        ..Entry::new(kind.name(), kind.summary())
    }
}

fn mutant(mutant: Mutant) -> Entry {
    Entry {
        lock: Some(mutant.lock().name()),
        ..Entry::new(mutant.name(), mutant.summary())
    }
}

fn scenarios(folder: Option<&Path>) -> Result<Vec<Entry>, Error> {
    let Some(folder) = folder else {
        return Ok(list_shipped(|folder| folder != SITUATIONS));
    };
    let found = list(folder).map_err(|error| {
        let text = format!("{error}; name the folder of scenarios: --scenarios DIR");
        std::io::Error::new(error.kind(), text)
    })?;
    let entry = |entry: Listed| Entry::new(entry.path.display().to_string(), entry.description);
    Ok(found.into_iter().map(entry).collect())
}

/// Lists those that the program carries in some of its folders.
fn list_shipped(is_listed: impl Fn(&str) -> bool) -> Vec<Entry> {
    let files = SHIPPED.iter().filter(|file| is_listed(file.folder()));
    let about = |path, text| describe(Path::new(path), text).description;
    let mut listed: Vec<_> = files
        .map(|file| Entry::new(file.name(), about(file.path, file.text)))
        .collect();
    listed.sort_by(|one, other| one.name.cmp(&other.name));
    listed
}

/// Two columns, the first as wide as its widest entry.
fn table(entries: &[Entry]) -> String {
    let widths = entries.iter().map(|entry| entry.name.chars().count());
    let width = widths.max().unwrap_or(0);
    let lines: Vec<_> = entries
        .iter()
        .map(|entry| format!("{:width$}  {}", entry.name, entry.text()))
        .collect();
    lines.join("\n")
}
