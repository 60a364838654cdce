//! Reason why a stored run could not be read or rendered.

use std::io;
use std::path::PathBuf;

use lockstorm_checker::inert::visible;

/// Errors that say what was attempted, on which file, and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// A file of the run folder could not be read.
    #[error(
        "cannot read {}: {source}; give the folder that `lockstorm run` named, \
         with its results.json",
        path.display()
    )]
    Read {
        /// Which file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// An artefact could not be written.
    #[error("cannot write {}: {source}; check the space and the rights there", path.display())]
    Write {
        /// Which file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// `results.json` is not what this version writes.
    #[error(
        "{} is no results.json: {}; `lockstorm check` judges the history beside it again",
        path.display(),
        visible(&source.to_string())
    )]
    Malformed {
        /// Which file.
        path: PathBuf,
        /// Where, and what is wrong.
        source: serde_json::Error,
    },
    /// `results.json` is of another version.
    #[error(
        "{} has version {found} and this lockstorm reads version {known}; use the lockstorm that \
         wrote it, or `lockstorm check` to judge its history again",
        path.display()
    )]
    Version {
        /// Which file.
        path: PathBuf,
        /// Version in the file.
        found: u32,
        /// Version that this crate reads.
        known: u32,
    },
    /// A run was expected and the file holds a suite, or the other way round.
    #[error("{} holds {found}, not {wanted}; give the folder of {wanted}", path.display())]
    Kind {
        /// Which file.
        path: PathBuf,
        /// Kind of record that it holds.
        found: &'static str,
        /// Kind of record that was asked for.
        wanted: &'static str,
    },
    /// Where the list of runs should go, there is a page that is none.
    #[error(
        "{} is not the list of runs, and is left alone; give another folder for runs: --out DIR",
        path.display()
    )]
    Foreign {
        /// Which file.
        path: PathBuf,
    },
    /// A picture could not be drawn.
    #[error("cannot draw {name}: {reason}")]
    Picture {
        /// Which picture.
        name: String,
        /// Reason why not.
        reason: String,
    },
    /// The JUnit document could not be written as XML.
    #[error("cannot write the results as JUnit XML: {0}")]
    Junit(#[from] quick_junit::SerializeError),
}
