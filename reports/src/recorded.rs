//! A recorded history, read once for everything that a report shows of it.

use std::io::BufReader;
use std::path::Path;

use lockstorm_checker::history::{Format, read};
use lockstorm_checker::{Digest, DigestBuilder, Drift, Hold, holds};

use crate::closeup::CloseUp;
use crate::model::RunRecord;
use crate::stored::open_stored;
use crate::trace::Trace;

/// Bytes that are read in one go from a history, for fewer calls of the system.
const BUFFER_BYTES: usize = 1 << 20;

/// Knowledge of the history of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    /// All of it, as far as pictures show it.
    pub(crate) trace: Trace,
    /// The little that findings rest on, in full.
    pub(crate) close: CloseUp,
}

/// A history with its holds, as the checker derives them.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    pub(crate) digest: Digest,
    pub(crate) holds: Vec<Hold>,
}

impl Recorded {
    pub(crate) fn of(digest: Digest) -> Self {
        let holds = holds(&digest, Drift::of_header(&digest.header));
        Self { digest, holds }
    }

    /// Returns what pictures and cards need of it.
    pub(crate) fn history(&self, run: &RunRecord) -> History {
        History {
            trace: Trace::of_holds(&self.digest, &self.holds),
            close: CloseUp::of(&self.digest, run),
        }
    }

    /// Reads the history at `path`, in whatever format it is.
    ///
    /// # Errors
    /// Why there is none, in a sentence.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let file = open_stored(path)
            .map_err(|error| format!("the history {} cannot be opened: {error}", path.display()))?;
        let reader = BufReader::with_capacity(BUFFER_BYTES, file);
        let mut builder = DigestBuilder::default();
        read(
            reader,
            &path.display().to_string(),
            Some(Format::Jsonl),
            &mut builder,
        )
        .map_err(|error| format!("the history cannot be read: {error}"))?;
        Ok(Self::of(builder.finish()))
    }
}
