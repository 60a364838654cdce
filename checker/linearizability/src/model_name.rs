//! The names of the models, as they are typed and printed.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

/// A sequential specification to judge a history by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ModelName {
    /// Held or free, whoever asks.
    Mutex,
    /// Only the owner may release.
    OwnerAware,
    /// The owner may enter again.
    Reentrant {
        /// Greatest number of times that the owner may enter; absent means without limit.
        limit: Option<NonZeroU32>,
    },
    /// Owner-aware, and the token of each grant exceeds every earlier one.
    Fenced,
    /// Reentrant, and a reentrant grant repeats the token.
    ReentrantFenced,
    /// So many permits.
    Semaphore {
        /// Number of permits; absent means the number in the header of the history.
        permits: Option<NonZeroU32>,
    },
    /// Readers share, a writer excludes all others.
    ReadWrite,
    /// A value that is read and written.
    Register,
    /// A register with compare-and-set.
    CasRegister {
        /// `true` if a failed compare-and-set says nothing, as Knossos reads it. Otherwise it says
        /// that the value was not the expected one.
        drop_failed: bool,
    },
    /// A text or list that only grows.
    Append,
}

impl ModelName {
    /// All of them without parameters, in the order of lists.
    pub const ALL: [Self; 11] = [
        Self::Mutex,
        Self::OwnerAware,
        Self::Reentrant { limit: None },
        Self::Fenced,
        Self::ReentrantFenced,
        Self::Semaphore { permits: None },
        Self::ReadWrite,
        Self::Register,
        Self::CasRegister { drop_failed: false },
        Self::CasRegister { drop_failed: true },
        Self::Append,
    ];

    /// Returns the form in which the model is typed, with the number that it may take in brackets.
    pub const fn usage(self) -> &'static str {
        match self {
            Self::Reentrant { .. } => "reentrant[:LIMIT]",
            Self::Semaphore { .. } => "semaphore[:PERMITS]",
            Self::CasRegister { drop_failed: true } => "cas-register:drop-failed",
            Self::Mutex
            | Self::OwnerAware
            | Self::Fenced
            | Self::ReentrantFenced
            | Self::ReadWrite
            | Self::Register
            | Self::CasRegister { drop_failed: false }
            | Self::Append => self.word(),
        }
    }

    /// Says in one line what the model allows.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::Mutex => "acquire iff free, release iff held, no matter who asks",
            Self::OwnerAware => "acquire iff free, release iff the caller is the owner",
            Self::Reentrant { .. } => "owner-aware; the owner may acquire again, up to LIMIT times",
            Self::Fenced => "owner-aware; each grant's token exceeds every earlier one",
            Self::ReentrantFenced => "reentrant and fenced; a reentrant grant repeats the token",
            Self::Semaphore { .. } => {
                "no more than PERMITS out; PERMITS as in the header if absent"
            }
            Self::ReadWrite => "readers share, a writer excludes all others, no upgrade",
            Self::Register => "a value: a read returns what was written last",
            Self::CasRegister { drop_failed: false } => {
                "a register with compare-and-set; one that failed met another value"
            }
            Self::CasRegister { drop_failed: true } => {
                "the same; one that failed says nothing (the reading of Knossos)"
            }
            Self::Append => "a text or list: a read returns all that was appended, in order",
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Mutex => "mutex",
            Self::OwnerAware => "owner-aware",
            Self::Reentrant { .. } => "reentrant",
            Self::Fenced => "fenced",
            Self::ReentrantFenced => "reentrant-fenced",
            Self::Semaphore { .. } => "semaphore",
            Self::ReadWrite => "read-write",
            Self::Register => "register",
            Self::CasRegister { .. } => "cas-register",
            Self::Append => "append",
        }
    }

    /// Tells whether the model is about the lock, and not about the resource that the lock guards.
    pub const fn is_lock(self) -> bool {
        match self {
            Self::Mutex
            | Self::OwnerAware
            | Self::Reentrant { .. }
            | Self::Fenced
            | Self::ReentrantFenced
            | Self::Semaphore { .. }
            | Self::ReadWrite => true,
            Self::Register | Self::CasRegister { .. } | Self::Append => false,
        }
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = self.word();
        match self {
            Self::Reentrant { limit: Some(count) }
            | Self::Semaphore {
                permits: Some(count),
            } => f.pad(&format!("{word}:{count}")),
            Self::CasRegister { drop_failed: true } => f.pad("cas-register:drop-failed"),
            Self::Mutex
            | Self::OwnerAware
            | Self::Reentrant { limit: None }
            | Self::Fenced
            | Self::ReentrantFenced
            | Self::Semaphore { permits: None }
            | Self::ReadWrite
            | Self::Register
            | Self::CasRegister { drop_failed: false }
            | Self::Append => f.pad(word),
        }
    }
}

/// A model that nobody knows.
#[derive(Debug, thiserror::Error)]
pub enum UnknownModel {
    /// No such name.
    #[error("unknown model '{0}'; `lockstorm list models` names them all")]
    Name(String),
    /// A parameter that this model cannot have.
    #[error("model '{name}' does not take the parameter '{parameter}'; write {usage}")]
    Parameter {
        /// The model.
        name: String,
        /// Parameter that was given.
        parameter: String,
        /// Form to write instead.
        usage: &'static str,
    },
}

impl FromStr for ModelName {
    type Err = UnknownModel;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (word, parameter) = match text.split_once(':') {
            Some((word, parameter)) => (word, Some(parameter)),
            None => (text, None),
        };
        let plain = Self::ALL
            .into_iter()
            .find(|model| model.word() == word)
            .ok_or_else(|| UnknownModel::Name(text.to_owned()))?;
        let Some(parameter) = parameter else {
            return Ok(plain);
        };
        let count = parameter.parse::<NonZeroU32>().ok();
        match (plain, count, parameter) {
            (Self::Reentrant { .. }, limit @ Some(_), _) => Ok(Self::Reentrant { limit }),
            (Self::Semaphore { .. }, permits @ Some(_), _) => Ok(Self::Semaphore { permits }),
            (Self::CasRegister { .. }, None, "drop-failed") => {
                Ok(Self::CasRegister { drop_failed: true })
            }
            (plain, _, _) => Err(UnknownModel::Parameter {
                name: word.to_owned(),
                parameter: parameter.to_owned(),
                usage: plain.usage(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_is_read_back_from_its_own_name() {
        let named = ["semaphore:2", "reentrant:3"].map(str::parse::<ModelName>);
        let named = named.into_iter().map(|model| model.expect("it is a model"));
        for model in ModelName::ALL.into_iter().chain(named) {
            let back: ModelName = model.to_string().parse().expect("its own name");
            assert_eq!(back, model);
        }
    }

    #[test]
    fn what_is_no_model_is_refused_with_the_remedy() {
        let error = |text: &str| text.parse::<ModelName>().expect_err(text).to_string();
        assert!(error("mutx").contains("lockstorm list models"));
        assert!(error("semaphore:0").contains("write semaphore[:PERMITS]"));
        assert!(error("mutex:3").contains("does not take the parameter '3'; write mutex"));
        assert!(error("cas-register:drop").contains("write cas-register"));
    }
}
