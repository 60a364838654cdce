//! Exit codes: what a program that calls this one needs to know.

use anyhow::Error;
use lockstorm_checker::history::ReadError;
use lockstorm_reports::{Outcome, RenderError};
use lockstorm_scenarios::Diagnostics;

use super::recheck::Contradiction;
use crate::conformance::IntroductionError;
use crate::environment_error::EnvironmentError;
use crate::run::RunError;
use crate::usage_error::UsageError;

/// Outcome of a command, best first: the worst of several is that of the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExitCode {
    /// Every scenario met its expectation.
    AsExpected,
    /// Only a liveness threshold failed.
    LivenessFailed,
    /// A property is unknown: vacuous, or cut short.
    Unknown,
    /// A violation that was not expected, or an expected one that did not appear.
    Unexpected,
    /// Nothing was selected.
    NothingSelected,
    /// Wrong arguments.
    Usage,
    /// A scenario or a history that cannot be read.
    InvalidInput,
    /// No servers to be had, or no file to be written.
    Environment,
    /// A bug of this program.
    Bug,
    /// Ctrl-C; the report is written all the same.
    Interrupted,
    /// SIGTERM; the report is written all the same.
    Terminated,
}

impl ExitCode {
    /// The number that the shell sees.
    pub const fn number(self) -> u8 {
        match self {
            Self::AsExpected => 0,
            Self::Unexpected => 1,
            Self::Unknown => 2,
            Self::LivenessFailed => 3,
            Self::NothingSelected => 4,
            Self::Usage => 64,
            Self::InvalidInput => 65,
            Self::Environment => 69,
            Self::Bug => 70,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }

    /// All, in the order of their numbers.
    pub const ALL: [Self; 11] = [
        Self::AsExpected,
        Self::Unexpected,
        Self::Unknown,
        Self::LivenessFailed,
        Self::NothingSelected,
        Self::Usage,
        Self::InvalidInput,
        Self::Environment,
        Self::Bug,
        Self::Interrupted,
        Self::Terminated,
    ];

    /// Returns the meaning of the code, for people.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::AsExpected => "all as expected, expected violations included",
            Self::Unexpected => {
                "an unexpected violation, an expected one that did not appear, or an answer that a \
                 step does not expect"
            }
            Self::Unknown => "unknown: the run could not tell",
            Self::LivenessFailed => {
                "only waiting was worse than allowed: spurious refusal, leftover, fairness, \
                 liveness, availability"
            }
            Self::NothingSelected => "nothing was selected",
            Self::Usage => "wrong arguments",
            Self::InvalidInput => "a scenario, history or record that cannot be read",
            Self::Environment => {
                "something is missing on this machine: a server, a port, room on the disk, an \
                 adapter that can be opened"
            }
            Self::Bug => "a bug in Lockstorm",
            Self::Interrupted => "ended by Ctrl-C, in good order: healed, checked, reported",
            Self::Terminated => "ended by SIGTERM, in the same good order",
        }
    }

    /// All of them as a text for `--help`.
    pub fn help() -> String {
        let lines = Self::ALL.map(|code| format!("  {:>3}  {}", code.number(), code.meaning()));
        format!("Exit codes:\n{}", lines.join("\n"))
    }

    /// Returns the code for a [`RenderError`]: something is wrong with the stored run, with the
    /// place where a report should go, or with this program.
    fn of_render(error: &RenderError) -> Self {
        match error {
            RenderError::Malformed { .. }
            | RenderError::Version { .. }
            | RenderError::Kind { .. }
            | RenderError::Read { .. } => Self::InvalidInput,
            RenderError::Write { .. } | RenderError::Foreign { .. } => Self::Environment,
            RenderError::Picture { .. } | RenderError::Junit(_) => Self::Bug,
        }
    }

    /// Returns the code for an error.
    pub fn of(error: &Error) -> Self {
        if error.is::<Diagnostics>()
            || error.is::<ReadError>()
            || error.is::<MissingInput>()
            || error.is::<Contradiction>()
        {
            return Self::InvalidInput;
        }
        if let Some(error) = error.downcast_ref::<RenderError>() {
            return Self::of_render(error);
        }
        match error.downcast_ref::<RunError>() {
            Some(RunError::Environment(_) | RunError::Record(_) | RunError::Store(_)) => {
                Self::Environment
            }
            None if error.is::<EnvironmentError>()
                || error.is::<IntroductionError>()
                || error.is::<std::io::Error>() =>
            {
                Self::Environment
            }
            None if error.is::<UsageError>() => Self::Usage,
            None if error.is::<NothingSelected>() => Self::NothingSelected,
            Some(RunError::ReadBack(_)) | None => Self::Bug,
        }
    }
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::AsExpected => Self::AsExpected,
            Outcome::LivenessFailed => Self::LivenessFailed,
            Outcome::Unknown => Self::Unknown,
            Outcome::Unexpected => Self::Unexpected,
        }
    }
}

/// An input that cannot even be opened.
#[derive(Debug, thiserror::Error)]
#[error("cannot open '{path}': {source}")]
pub struct MissingInput {
    /// Name of the file.
    pub path: String,
    /// Error that the system gave.
    pub source: std::io::Error,
}

/// Nothing to do.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NothingSelected(pub String);

#[cfg(test)]
mod tests {
    use lockstorm_checker::Property;

    use super::*;

    #[test]
    fn what_only_makes_wait_is_named_in_full() {
        let harmless = Property::ALL
            .iter()
            .filter(|property| !property.is_safety());
        let names: Vec<String> = harmless
            .map(|property| property.name().replace('-', " "))
            .collect();
        let meaning = ExitCode::LivenessFailed.meaning();
        let (_, listed) = meaning.split_once(": ").expect("it has a list");
        assert_eq!(listed, names.join(", "));
    }
}
