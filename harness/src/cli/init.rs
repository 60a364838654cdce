//! `lockstorm init`.

use std::fs;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Error;
use clap::{Args, Subcommand};
use clap_complete::engine::ArgValueCompleter;

use super::completion;
use super::examples;
use super::exit::ExitCode;
use crate::carried::{Carried, carried_adapter, files_of, similar_adapter};
use crate::environment_error::EnvironmentError;
use crate::output;
use crate::rerun::quoted;
use crate::usage_error::UsageError;

/// The scenario of docs/first-scenario.md.
const SCENARIO: &str = include_str!("init/scenario.toml");

/// Arguments of `lockstorm init`.
#[derive(Debug, Args)]
#[command(after_help = examples::INIT)]
pub struct InitArgs {
    /// Thing to write.
    #[command(subcommand)]
    pub what: InitCommand,
}

/// Things that can be written to start from.
#[derive(Debug, Subcommand)]
pub enum InitCommand {
    /// Write a short scenario that passes, with a word on each line.
    Scenario {
        /// File to write; there may be none of that name.
        #[arg(default_value = "scenario.toml", value_name = "FILE")]
        file: PathBuf,
    },
    /// Write the adapter of a library, with the kit of its language: to test the library, or to
    /// start an adapter of your own from.
    Adapter {
        /// Adapter, as in `list adapters`, or a language: go, java, node, python or rust.
        #[arg(value_name = "NAME", add = ArgValueCompleter::new(completion::adapters))]
        name: String,
        /// Folder of adapters, which then holds NAME and sdk.
        #[arg(long, default_value = "adapters", value_name = "DIR")]
        into: PathBuf,
    },
}

/// Writes files, and says what to do with them.
///
/// # Errors
/// When there is something else in their place, or they cannot be written.
pub fn execute(args: &InitArgs) -> Result<ExitCode, Error> {
    match &args.what {
        InitCommand::Scenario { file } => scenario(file)?,
        InitCommand::Adapter { name, into } => adapter(name, into)?,
    }
    Ok(ExitCode::AsExpected)
}

fn scenario(file: &Path) -> Result<(), Error> {
    write(file, SCENARIO, false)?;
    let name = quoted(&file.display().to_string());
    output::answer(&format!(
        "wrote {name}; next:\n  lockstorm validate {name}\n  lockstorm run {name}"
    ))?;
    Ok(())
}

fn adapter(name: &str, into: &Path) -> Result<(), Error> {
    let Some(adapter) = carried_adapter(name) else {
        let near = similar_adapter(name).map(|near| format!("did you mean {near:?}? "));
        let near = near.unwrap_or_default();
        let text =
            format!("there is no adapter {name:?}; {near}`lockstorm list adapters` shows them");
        return Err(UsageError(text).into());
    };
    let files: Vec<&Carried> = files_of(adapter).collect();
    // All are looked at before the first is written.
    for file in &files {
        refuse_another(&into.join(file.path), file.text)?;
    }
    for file in &files {
        write(&into.join(file.path), file.text, file.is_program)?;
    }
    let folder = into.join(adapter).display().to_string();
    let [setup, run, readme] =
        ["setup", "run", "README.md"].map(|file| quoted(&format!("{folder}/{file}")));
    output::answer(&format!(
        "wrote {} and the kit that it needs, {} files; {readme} says what the adapter had to \
         choose; next:\n  {setup}\n  lockstorm adapter test {run}\n  lockstorm assess --adapter {}",
        quoted(&folder),
        files.len(),
        quoted(&run),
    ))?;
    Ok(())
}

/// Refuses to write where something else is; the same text again is no loss.
fn refuse_another(path: &Path, text: &str) -> Result<(), Error> {
    match fs::read(path) {
        Ok(there) if there == text.as_bytes() => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Ok(_) => {
            let text = format!("{} is there already: name another place", path.display());
            Err(UsageError(text).into())
        }
        Err(error) => Err(EnvironmentError::io("read", path.display().to_string())(error).into()),
    }
}

fn write(path: &Path, text: &str, is_program: bool) -> Result<(), Error> {
    refuse_another(path, text)?;
    let failed = || EnvironmentError::io("write", path.display().to_string());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed())?;
    }
    let mode = if is_program { 0o755 } else { 0o644 };
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(mode);
    let mut file = options.open(path).map_err(failed())?;
    io::Write::write_all(&mut file, text.as_bytes()).map_err(failed())?;
    Ok(())
}
