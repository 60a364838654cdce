//! `lockstorm list`.

use std::path::{Path, PathBuf};

use anyhow::Error;
use clap::{Args, ValueEnum};
use lockstorm_checker::history::Format;
use lockstorm_checker::{ModelName, Property};
use lockstorm_scenarios::{
    Listed, LockKind, Mutant, Promise, SHIPPED, SITUATIONS, TopologyKind, describe, list,
};

use super::exit::ExitCode;
use crate::output;

/// Arguments of `lockstorm list`.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// Kind of thing to list.
    #[arg(value_enum)]
    pub what: What,
    /// Folder of scenarios to list, instead of those that the program carries.
    #[arg(long, value_name = "DIR")]
    pub scenarios: Option<PathBuf>,
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
}

/// Prints one line for each thing.
///
/// # Errors
/// When a folder cannot be read or nothing can be written.
pub fn execute(args: &ListArgs) -> Result<ExitCode, Error> {
    let rows = match args.what {
        What::Locks => LockKind::ALL.into_iter().map(lock).collect(),
        What::Mutants => Mutant::ALL.into_iter().map(mutant).collect(),
        What::Faults => lockstorm_nemesis::fault_list()
            .iter()
            .map(|fault| (fault.kind.name().to_owned(), fault.about.to_owned()))
            .collect(),
        What::Properties => Property::ALL
            .into_iter()
            .map(|property| (property.name().to_owned(), property.summary().to_owned()))
            .collect(),
        What::Promises => Promise::ALL
            .into_iter()
            .map(|promise| (promise.name().to_owned(), promise.sentence().to_owned()))
            .collect(),
        What::Models => ModelName::ALL
            .into_iter()
            .map(|model| (model.usage().to_owned(), model.summary().to_owned()))
            .collect(),
        What::Topologies => TopologyKind::ALL
            .into_iter()
            .map(|kind| (kind.name().to_owned(), kind.summary().to_owned()))
            .collect(),
        What::Formats => Format::ALL
            .into_iter()
            .map(|format| (format.name().to_owned(), format.summary().to_owned()))
            .collect(),
        What::Scenarios => scenarios(args)?,
    };
    output::answer(&table(&rows))?;
    Ok(ExitCode::AsExpected)
}

fn lock(kind: LockKind) -> (String, String) {
    let on: Vec<_> = TopologyKind::ALL
        .into_iter()
        .filter(|topology| kind.supports(*topology))
        .map(TopologyKind::name)
        .collect();
    let eras: Vec<_> = kind.eras().iter().map(|era| era.name()).collect();
    let eras = if eras.is_empty() {
        String::new()
    } else {
        format!("; era {}", eras.join(", "))
    };
    (
        kind.name().to_owned(),
        format!("{} (on {}{eras})", kind.summary(), on.join(", ")),
    )
}

fn mutant(mutant: Mutant) -> (String, String) {
    let text = format!("{}: {}", mutant.lock().name(), mutant.summary());
    (mutant.name().to_owned(), text)
}

fn scenarios(args: &ListArgs) -> Result<Vec<(String, String)>, Error> {
    let Some(folder) = &args.scenarios else {
        return Ok(list_shipped());
    };
    let found = list(folder).map_err(|error| {
        let text = format!("{error}; name the folder of scenarios: --scenarios DIR");
        std::io::Error::new(error.kind(), text)
    })?;
    let row = |entry: Listed| (entry.path.display().to_string(), entry.description);
    Ok(found.into_iter().map(row).collect())
}

/// Those that can be run by name; situations are for `assess`, which has them all.
fn list_shipped() -> Vec<(String, String)> {
    let mut listed: Vec<_> = SHIPPED
        .iter()
        .filter(|file| file.folder() != SITUATIONS)
        .map(|file| {
            (
                file.name().to_owned(),
                describe(Path::new(file.path), file.text).description,
            )
        })
        .collect();
    listed.sort();
    listed
}

/// Two columns, the first as wide as its widest entry.
fn table(rows: &[(String, String)]) -> String {
    let width = rows
        .iter()
        .map(|(name, _)| name.chars().count())
        .max()
        .unwrap_or(0);
    let lines: Vec<_> = rows
        .iter()
        .map(|(name, text)| format!("{name:width$}  {text}"))
        .collect();
    lines.join("\n")
}
