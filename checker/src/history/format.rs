//! The formats in which a history may come.

use std::fmt;
use std::str::FromStr;

/// How a history is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// The project's own: one JSON object a line.
    Jsonl,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 1] = [Self::Jsonl];

    /// The word for it on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
        }
    }

    /// What it is, in a line.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::Jsonl => "Lockstorm's own: one JSON object a line",
        }
    }

    /// The names of all, joined by commas.
    pub(crate) fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }

    /// Tells the format by how a history begins. Nothing at all is an empty history of our own.
    pub fn detect(head: &[u8]) -> Option<Self> {
        let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
        match head.trim_ascii_start().first() {
            None | Some(b'{') => Some(Self::Jsonl),
            Some(_) => None,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A word that names no format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no format {0:?}; use one of {names}", names = Format::names())]
pub struct UnknownFormat(pub String);

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(word: &str) -> Result<Self, UnknownFormat> {
        Self::ALL
            .into_iter()
            .find(|format| format.name() == word)
            .ok_or_else(|| UnknownFormat(word.to_owned()))
    }
}
