//! Expectation of a property: a verdict of each run, or how many of the repeated runs violate
//! it.

use std::fmt::{self, Display};
use std::str::FromStr;

use lockstorm_checker::Verdict;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// Value of `format` in the schema of a [`RunRange`].
pub(crate) const RUNS_FORMAT: &str = "runs";

/// Expectation of a property. A property it does not name is expected to be `valid`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub enum Expected {
    /// No violation found, in a run that could have shown one.
    Valid,
    /// A violation, without which the run has failed.
    Violated,
    /// The run cannot tell.
    Unknown,
    /// Nothing is claimed.
    Any,
    /// So many of the repeated runs are violated; one run by itself claims nothing.
    ViolatedIn(RunRange),
}

/// The form in a scenario file: `"violated"`, or `{ violated = "1.." }`.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Word(Word),
    Rate { violated: RunRange },
}

/// The words for what each run shows.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Word {
    Valid,
    Violated,
    Unknown,
    Any,
}

impl From<Written> for Expected {
    fn from(written: Written) -> Self {
        match written {
            Written::Word(Word::Valid) => Self::Valid,
            Written::Word(Word::Violated) => Self::Violated,
            Written::Word(Word::Unknown) => Self::Unknown,
            Written::Word(Word::Any) => Self::Any,
            Written::Rate { violated } => Self::ViolatedIn(violated),
        }
    }
}

impl From<Expected> for Written {
    fn from(expected: Expected) -> Self {
        match expected {
            Expected::Valid => Self::Word(Word::Valid),
            Expected::Violated => Self::Word(Word::Violated),
            Expected::Unknown => Self::Word(Word::Unknown),
            Expected::Any => Self::Word(Word::Any),
            Expected::ViolatedIn(violated) => Self::Rate { violated },
        }
    }
}

impl JsonSchema for Expected {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Expected".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let word = |word: &str, about: &str| json_schema!({ "const": word, "description": about });
        json_schema!({
            "description": "Expectation of a property: the verdict of each run, or how many of the \
                            repeated runs violate it. A property it does not name is expected to \
                            be `valid`.",
            "oneOf": [
                word("valid", "No violation found, in a run that could have shown one."),
                word("violated", "A violation, without which the run has failed."),
                word("unknown", "The run cannot tell."),
                word("any", "Nothing is claimed."),
                {
                    "type": "object",
                    "properties": {
                        "violated": {
                            "description": "How many of the repeated runs are violated: \"1..\", \
                                            \"..2\", \"3..5\", \"0\", or as a share, \"90%..\".",
                            "type": "string",
                            "format": RUNS_FORMAT,
                            "pattern": r"^\d+%?(\.\.(\d+%?)?)?$|^\.\.\d+%?$",
                        },
                    },
                    "required": ["violated"],
                    "additionalProperties": false,
                },
            ],
        })
    }
}

impl Expected {
    /// Tells whether `verdict` is what was expected of one run.
    pub fn is_met_by(self, verdict: Verdict) -> bool {
        match self {
            Self::Valid => verdict == Verdict::Valid,
            Self::Violated => verdict == Verdict::Violated,
            Self::Unknown => verdict == Verdict::Unknown,
            Self::Any | Self::ViolatedIn(_) => true,
        }
    }

    /// The part of it that one run can meet or miss: of a number of runs, nothing.
    #[must_use]
    pub const fn of_one_run(self) -> Self {
        match self {
            Self::ViolatedIn(_) => Self::Any,
            one => one,
        }
    }
}

/// So many of some runs: a number, or a share of them in per cent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// A number of runs.
    Runs(u32),
    /// A share of the runs, in per cent.
    Percent(u32),
}

impl Amount {
    /// Compares `count` of `of` runs with it.
    fn compare(self, count: u64, of: u64) -> std::cmp::Ordering {
        match self {
            Self::Runs(runs) => count.cmp(&runs.into()),
            Self::Percent(share) => (count * 100).cmp(&(u64::from(share) * of)),
        }
    }
}

impl Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Runs(runs) => write!(f, "{runs}"),
            Self::Percent(share) => write!(f, "{share}%"),
        }
    }
}

impl FromStr for Amount {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let digits = text.strip_suffix('%').unwrap_or(text);
        // `u32` would take a sign as well.
        if !digits.chars().all(|c| c.is_ascii_digit()) {
            return Err(());
        }
        let number: u32 = digits.parse().map_err(|_| ())?;
        match digits.len() == text.len() {
            true => Ok(Self::Runs(number)),
            false if number <= 100 => Ok(Self::Percent(number)),
            false => Err(()),
        }
    }
}

/// A range of runs, its ends included: `"1.."`, `"..2"`, `"3..5"`, `"0"`, `"90%.."`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunRange {
    /// The fewest; absent means none at all.
    pub min: Option<Amount>,
    /// The most; absent means all of them.
    pub max: Option<Amount>,
}

impl RunRange {
    /// Tells whether `count` of `of` runs lies in it.
    pub fn contains(self, count: u64, of: u64) -> bool {
        self.min.is_none_or(|min| min.compare(count, of).is_ge())
            && self.max.is_none_or(|max| max.compare(count, of).is_le())
    }
}

/// A text that is no range of runs.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is no number of runs: write \"1..\" for at least one, \"..2\" for at most two, \
     \"3..5\", \"0\", or a share such as \"90%..\""
)]
pub struct ParseRunRangeError(String);

impl FromStr for RunRange {
    type Err = ParseRunRangeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refuse = || ParseRunRangeError(text.to_owned());
        let end = |text: &str| match text {
            "" => Ok(None),
            text => text.parse().map(Some).map_err(|()| refuse()),
        };
        let (min, max) = match text.split_once("..") {
            Some((min, max)) => (end(min)?, end(max)?),
            None => (end(text)?, end(text)?),
        };
        let is_backwards = match (min, max) {
            (Some(Amount::Runs(min)), Some(Amount::Runs(max)))
            | (Some(Amount::Percent(min)), Some(Amount::Percent(max))) => min > max,
            (None, None) => true,
            (Some(_) | None, Some(_)) | (Some(_), None) => false,
        };
        if is_backwards {
            return Err(refuse());
        }
        Ok(Self { min, max })
    }
}

impl Display for RunRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(min) = self.min {
            write!(f, "{min}")?;
        }
        if self.min == self.max {
            return Ok(());
        }
        f.write_str("..")?;
        self.max.map_or(Ok(()), |max| write!(f, "{max}"))
    }
}

impl TryFrom<String> for RunRange {
    type Error = ParseRunRangeError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<RunRange> for String {
    fn from(range: RunRange) -> Self {
        range.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(text: &str) -> RunRange {
        text.parse().expect(text)
    }

    #[test]
    fn a_range_is_read_as_it_is_written() {
        for text in ["1..", "..2", "3..5", "0", "90%..", "10%..50%", "1..50%"] {
            assert_eq!(range(text).to_string(), text);
        }
        for text in [
            "", "..", "5..3", "101%", "-1", "+1", "1...3", "a", "1 ..", "60%..50%",
        ] {
            assert!(text.parse::<RunRange>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_ends_belong_to_the_range() {
        for (text, inside, outside) in [
            ("1..", vec![1, 20], vec![0]),
            ("..2", vec![0, 2], vec![3]),
            ("3..5", vec![3, 5], vec![2, 6]),
            ("0", vec![0], vec![1]),
            ("90%..", vec![18, 20], vec![17]),
        ] {
            let contains = |count: &u64| range(text).contains(*count, 20);
            assert!(inside.iter().all(contains), "{text}");
            assert!(!outside.iter().any(contains), "{text}");
        }
    }

    #[test]
    fn an_expectation_is_a_word_or_a_range() {
        for text in [r#""valid""#, r#""violated""#, r#"{"violated":"1.."}"#] {
            let expected: Expected = serde_json::from_str(text).expect(text);
            assert_eq!(serde_json::to_string(&expected).expect(text), text);
        }
        assert!(serde_json::from_str::<Expected>(r#"{"valid":"1.."}"#).is_err());
    }
}
