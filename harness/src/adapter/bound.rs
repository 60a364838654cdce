//! Bound on the time that an answer may take: who says it, and what is told of a program that
//! outlives it.

use std::time::Duration;

use lockstorm_checker::Nanos;
use lockstorm_checker::history::{FailureKind, FailureNote, Name};

/// Time that an answer may take beyond its bound. A program that gets too little of the processor,
/// or whose servers do, is late by no fault of its library; one that hangs does not answer later
/// either.
const GRACE: Duration = Duration::from_secs(5);

/// The longest that one call may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    within: Duration,
    by: BoundBy,
}

/// Origin of the bound on the time that an answer may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum BoundBy {
    /// It is the one of every adapter.
    #[default]
    Nobody,
    /// The scenario says so of the lock.
    Scenario,
    /// The library says so of itself.
    Library,
}

impl Bound {
    pub(super) fn new(within: Duration, by: BoundBy) -> Self {
        Self { within, by }
    }

    /// How long the answer is waited for.
    pub(super) fn patience(self) -> Duration {
        self.within + GRACE
    }

    /// Says that a program did not answer `word`, as what a complaint goes on with.
    pub(super) fn complaint(self, word: &str) -> String {
        let millis = self.within.as_millis();
        let source = match self.by {
            BoundBy::Library => "",
            BoundBy::Scenario => "; 'answers-within' of the scenario's lock sets that",
            BoundBy::Nobody => {
                "; if its library may take longer, 'answers_within_ms' of 'opened' must say so"
            }
        };
        format!("it did not answer '{word}' within {millis} ms{source}")
    }

    /// The note of that.
    pub(super) fn note(self, word: &str, last_lines: Vec<Name>) -> FailureNote {
        FailureNote {
            kind: FailureKind::Hang,
            during: Some(word.into()),
            bound: Some(nanos(self.within)),
            waited: Some(nanos(self.patience())),
            is_own_bound: self.by == BoundBy::Library,
            status: None,
            last_lines,
        }
    }
}

fn nanos(time: Duration) -> Nanos {
    Nanos(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}
