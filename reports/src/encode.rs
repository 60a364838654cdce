//! Reads and writes `results.json`, of a run and of a suite.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::error::RenderError;
use crate::files::write_whole;
use crate::model::{Outcome, RESULTS_VERSION, RunRecord, SuiteRecord};
use crate::stored::{open_stored, text_of};

/// Name of the file in a run folder and in a suite folder.
pub const RESULTS_FILE: &str = "results.json";

/// Bytes of a `results.json` that are read: many times what the largest comparison takes.
const RESULTS_BYTES_MAX: u64 = 256 << 20;

/// Content of a `results.json`.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// One run.
    Run(Box<RunRecord>),
    /// A comparison or a repetition.
    Suite(Box<SuiteRecord>),
}

impl Record {
    /// The outcome of the run, or the worst one of the suite.
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Run(run) => run.outcome,
            Self::Suite(suite) => suite.outcome(),
        }
    }
}

/// The little that is read first, to know what the rest is.
#[derive(Deserialize)]
struct Outline {
    version: u32,
    #[serde(default)]
    runs: Option<IgnoredAny>,
}

/// Reads the `results.json` of `folder`.
///
/// # Errors
/// [`RenderError`] names the file: unreadable, malformed, or of another version.
pub fn read_record(folder: &Path) -> Result<Record, RenderError> {
    let path = folder.join(RESULTS_FILE);
    read_file(open_stored(&path), path)
}

/// The text of the `results.json` in `folder`, as it stands there.
///
/// # Errors
/// [`RenderError::Read`].
pub fn read_results_text(folder: &Path) -> Result<String, RenderError> {
    let path = folder.join(RESULTS_FILE);
    text_in(open_stored(&path), &path)
}

/// Reads what a report is to be compared with: the folder of a run or a suite, or its
/// `results.json`.
///
/// # Errors
/// As [`read_record`].
pub fn read_baseline(path: &Path) -> Result<Record, RenderError> {
    if path.is_file() {
        read_file(File::open(path), path.to_owned())
    } else {
        read_record(path)
    }
}

fn text_in(file: io::Result<File>, path: &Path) -> Result<String, RenderError> {
    file.and_then(|file| text_of(file, RESULTS_BYTES_MAX))
        .map_err(|source| RenderError::Read {
            path: path.to_owned(),
            source,
        })
}

fn read_file(file: io::Result<File>, path: PathBuf) -> Result<Record, RenderError> {
    let malformed = |source| RenderError::Malformed {
        path: path.clone(),
        source,
    };
    let text = text_in(file, &path)?;
    let outline: Outline = serde_json::from_str(&text).map_err(malformed)?;
    if !(1..=RESULTS_VERSION).contains(&outline.version) {
        return Err(RenderError::Version {
            path,
            found: outline.version,
            known: RESULTS_VERSION,
        });
    }
    if outline.runs.is_some() {
        let mut suite: SuiteRecord = serde_json::from_str(&text).map_err(malformed)?;
        suite.version = RESULTS_VERSION;
        Ok(Record::Suite(Box::new(suite)))
    } else {
        let mut run: RunRecord = serde_json::from_str(&text).map_err(malformed)?;
        run.version = RESULTS_VERSION;
        Ok(Record::Run(Box::new(run)))
    }
}

/// Reads the `results.json` of a run folder.
///
/// # Errors
/// As [`read_record`], and when the folder is a suite's.
pub fn read_run(folder: &Path) -> Result<RunRecord, RenderError> {
    match read_record(folder)? {
        Record::Run(run) => Ok(*run),
        Record::Suite(_) => Err(RenderError::Kind {
            path: folder.join(RESULTS_FILE),
            found: "a suite",
            wanted: "a run",
        }),
    }
}

/// Reads the `results.json` of a suite folder.
///
/// # Errors
/// As [`read_record`], and when the folder is a run's.
pub fn read_suite(folder: &Path) -> Result<SuiteRecord, RenderError> {
    match read_record(folder)? {
        Record::Suite(suite) => Ok(*suite),
        Record::Run(_) => Err(RenderError::Kind {
            path: folder.join(RESULTS_FILE),
            found: "a run",
            wanted: "a suite",
        }),
    }
}

/// Writes the `results.json` of a run folder.
///
/// # Errors
/// [`RenderError::Write`].
pub fn write_run(folder: &Path, record: &RunRecord) -> Result<(), RenderError> {
    write(folder, record)
}

/// Writes the `results.json` of a suite folder.
///
/// # Errors
/// [`RenderError::Write`].
pub fn write_suite(folder: &Path, record: &SuiteRecord) -> Result<(), RenderError> {
    write(folder, record)
}

fn write(folder: &Path, record: &impl Serialize) -> Result<(), RenderError> {
    let mut text = serde_json::to_string_pretty(record)
        .expect("records have string keys only, which is all that JSON asks of them");
    text.push('\n');
    write_whole(&folder.join(RESULTS_FILE), text.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::sample;

    #[test]
    fn a_record_is_read_back_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let run = sample::failover_run();
        write_run(folder.path(), &run).unwrap();
        assert_eq!(read_run(folder.path()).unwrap(), run);

        let suite = sample::suite();
        write_suite(folder.path(), &suite).unwrap();
        assert_eq!(read_suite(folder.path()).unwrap(), suite);
    }

    #[test]
    fn equal_records_make_equal_bytes() {
        let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        write_suite(a.path(), &sample::suite()).unwrap();
        write_suite(b.path(), &sample::suite()).unwrap();
        let bytes = |folder: &Path| fs::read(folder.join(RESULTS_FILE)).unwrap();
        assert_eq!(bytes(a.path()), bytes(b.path()));
    }

    #[test]
    fn a_missing_file_is_named_with_what_to_give_instead() {
        let folder = tempfile::tempdir().unwrap();
        let message = read_record(folder.path()).unwrap_err().to_string();
        assert!(message.contains("results.json"), "{message}");
        assert!(message.contains("lockstorm run"), "{message}");
    }

    #[test]
    fn a_baseline_is_a_folder_or_the_file_in_it() {
        let folder = tempfile::tempdir().unwrap();
        write_suite(folder.path(), &sample::suite()).unwrap();
        let by_folder = read_baseline(folder.path()).unwrap();
        let by_file = read_baseline(&folder.path().join(RESULTS_FILE)).unwrap();
        assert_eq!(by_folder, by_file);
        let missing = read_baseline(&folder.path().join("gone")).unwrap_err();
        let message = missing.to_string();
        assert!(
            message.contains("gone/results.json"),
            "the place: {message}"
        );
        assert!(message.contains("give the folder"), "the remedy: {message}");
    }

    #[test]
    fn a_malformed_file_is_refused_with_line_and_column() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(RESULTS_FILE), "{\"version\": 1,\n oops}").unwrap();
        let message = read_record(folder.path()).unwrap_err().to_string();
        assert!(message.contains("line 2 column"), "{message}");
        assert!(message.contains("lockstorm check"), "{message}");
    }

    #[test]
    fn another_version_is_refused_even_if_the_rest_is_unreadable() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(RESULTS_FILE), "{\"version\": 7}").unwrap();
        let message = read_record(folder.path()).unwrap_err().to_string();
        assert!(message.contains("version 7"), "{message}");
    }

    #[test]
    fn a_suite_is_not_taken_for_a_run() {
        let folder = tempfile::tempdir().unwrap();
        write_suite(folder.path(), &sample::suite()).unwrap();
        let message = read_run(folder.path()).unwrap_err().to_string();
        assert!(message.contains("holds a suite, not a run"), "{message}");
    }
}
