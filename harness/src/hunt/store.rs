//! Memory of a hunt on disk: every trial, a line each, so that it can go on where it was
//! ended.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::plan::Plan;
use super::search::{Quarry, Surveyed};
use super::trial::Trial;
use crate::environment_error::EnvironmentError;
use crate::usage_error::UsageError;

/// Name of the file of trials.
const TRIALS: &str = "trials.jsonl";
/// Name of the file of the runs without a fault.
const SURVEY: &str = "survey.json";
/// Name of the file that says what they are trials of.
const QUARRY: &str = "quarry.json";

/// The trials of one lock on one kind of servers.
pub struct Store {
    folder: PathBuf,
    /// Where they are kept, if they are.
    file: Option<File>,
    /// Those of an earlier call.
    known: BTreeMap<Plan, Trial>,
}

/// Reason why trials cannot be kept.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The folder cannot be written.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// The folder holds the trials of something else.
    #[error(transparent)]
    Other(#[from] UsageError),
}

impl Store {
    /// Opens the folder, and reads what is there already. A last line that was cut short is left
    /// out: its trial is run again.
    ///
    /// # Errors
    /// When the folder cannot be written, or holds the trials of another lock, other servers or
    /// another lease.
    pub fn open(folder: &Path, quarry: &Quarry) -> Result<Self, StoreError> {
        let told = |path: &Path| EnvironmentError::io("write", path.display().to_string());
        fs::create_dir_all(folder).map_err(told(folder))?;
        let of = folder.join(QUARRY);
        let terms = json!({ "lock": quarry.lock, "terms": quarry.terms });
        match fs::read_to_string(&of) {
            Ok(text) if serde_json::from_str::<Value>(&text).ok() != Some(terms.clone()) => {
                let text = format!(
                    "'{}' holds trials of another lock, other servers or another lease: give \
                     --resume the arguments with which the hunt began",
                    folder.display()
                );
                return Err(UsageError(text).into());
            }
            Ok(_) => {}
            Err(_) => fs::write(&of, terms.to_string()).map_err(told(&of))?,
        }
        let path = folder.join(TRIALS);
        let known = read(&path).map_err(told(&path))?;
        let file = OpenOptions::new().create(true).append(true).open(&path);
        Ok(Self {
            folder: folder.to_owned(),
            file: Some(file.map_err(told(&path))?),
            known,
        })
    }

    /// One that keeps nothing; its trials run in this folder.
    pub fn forgetful(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            file: None,
            known: BTreeMap::new(),
        }
    }

    /// Folder of the trials that are going on.
    pub fn trials(&self) -> PathBuf {
        self.folder.join("trials")
    }

    /// Reads what the earlier call found without a fault.
    pub fn surveyed(&self) -> Option<Surveyed> {
        let text = fs::read_to_string(self.folder.join(SURVEY)).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Keeps what was found without a fault. A disk that is full costs the next call some time.
    pub fn keep_surveyed(&self, surveyed: &Surveyed) {
        let text = serde_json::to_string(surveyed).expect("a survey can be written as JSON");
        let _ = fs::write(self.folder.join(SURVEY), text);
    }

    /// Finds the trial of an earlier call.
    pub fn known(&self, plan: &Plan) -> Option<Trial> {
        self.known.get(plan).cloned()
    }

    /// Keeps a trial. A disk that is full costs the next call some time and nothing else.
    pub fn keep(&mut self, trial: &Trial) {
        let Some(file) = &mut self.file else { return };
        let mut line = serde_json::to_string(trial).expect("a trial can be written as JSON");
        line.push('\n');
        let _ = file.write_all(line.as_bytes());
    }
}

/// Reads the trials of an earlier call, and leaves nothing else in the file.
fn read(path: &Path) -> io::Result<BTreeMap<Plan, Trial>> {
    let mut known = BTreeMap::new();
    let mut whole = String::new();
    let Ok(file) = File::open(path) else {
        return Ok(known);
    };
    for line in BufReader::new(file).lines() {
        let line = line?;
        if let Ok(trial) = serde_json::from_str::<Trial>(&line) {
            whole.push_str(&line);
            whole.push('\n');
            known.insert(trial.plan.clone(), trial);
        }
    }
    fs::write(path, whole)?;
    Ok(known)
}
