//! Memory of a hunt on disk: every trial, a line each, so that it can go on where it was
//! ended.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};

use super::plan::Plan;
use super::trial::Trial;

/// Name of the file of trials.
const TRIALS: &str = "trials.jsonl";

/// The trials of one lock on one kind of servers.
pub struct Store {
    folder: PathBuf,
    file: File,
    /// Those of an earlier call.
    known: BTreeMap<Plan, Trial>,
}

impl Store {
    /// Opens the folder, and reads what is there already. A last line that was cut short is left
    /// out: its trial is run again.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn open(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let path = folder.join(TRIALS);
        let mut known = BTreeMap::new();
        let mut whole = String::new();
        if let Ok(file) = File::open(&path) {
            for line in BufReader::new(file).lines() {
                let line = line?;
                if let Ok(trial) = serde_json::from_str::<Trial>(&line) {
                    whole.push_str(&line);
                    whole.push('\n');
                    known.insert(trial.plan.clone(), trial);
                }
            }
            fs::write(&path, whole)?;
        }
        let file = OpenOptions::new().create(true).append(true).open(&path)?;
        Ok(Self {
            folder: folder.to_owned(),
            file,
            known,
        })
    }

    /// Folder of the trials that are going on.
    pub fn trials(&self) -> PathBuf {
        self.folder.join("trials")
    }

    /// Finds the trial of an earlier call.
    pub fn known(&self, plan: &Plan) -> Option<Trial> {
        self.known.get(plan).cloned()
    }

    /// Keeps a trial. A disk that is full costs the next call some time and nothing else.
    pub fn keep(&mut self, trial: &Trial) {
        let mut line = serde_json::to_string(trial).expect("a trial can be written as JSON");
        line.push('\n');
        let _ = self.file.write_all(line.as_bytes());
    }
}
