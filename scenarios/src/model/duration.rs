//! Durations as people write them: a number and a unit, such as `"250ms"`.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// A length of time, written as a string with a unit (`us`, `ms`, `s`, `m`, `h`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DurationSpec(pub Duration);

/// Reason why a text is no duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is not a duration up to 1000h; write a number and a unit (us, ms, s, m, h), \
     such as \"250ms\""
)]
pub struct ParseDurationError(pub String);

/// Longest duration: long enough for any run, short enough to add to any instant.
const SPAN_MAX: Duration = Duration::from_secs(1000 * 3600);

/// Value of `format` in the schema of a [`DurationSpec`].
pub(crate) const SPAN_FORMAT: &str = "span";

/// Value of `format` in the schema of a [`DurationRange`].
pub(crate) const RANGE_FORMAT: &str = "span-range";

/// Units, largest first, so that printing picks the largest that divides.
const UNITS: [(&str, u64); 5] = [
    ("h", 3_600_000_000),
    ("m", 60_000_000),
    ("s", 1_000_000),
    ("ms", 1_000),
    ("us", 1),
];

impl DurationSpec {
    /// `ms` milliseconds.
    pub const fn from_millis(ms: u64) -> Self {
        Self(Duration::from_millis(ms))
    }

    /// `s` seconds.
    pub const fn from_secs(s: u64) -> Self {
        Self(Duration::from_secs(s))
    }

    /// Whole milliseconds, rounded down.
    pub const fn as_millis(self) -> u64 {
        self.0.as_millis() as u64
    }
}

impl FromStr for DurationSpec {
    type Err = ParseDurationError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refuse = || ParseDurationError(text.to_owned());
        let trimmed = text.trim();
        let digits = trimmed
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .ok_or_else(refuse)?;
        let (number, unit) = trimmed.split_at(digits);
        let micros = UNITS
            .iter()
            .find(|(name, _)| *name == unit.trim())
            .ok_or_else(refuse)?
            .1;
        let number: f64 = number.parse().map_err(|_| refuse())?;
        let micros = (number * micros as f64).round();
        if micros > SPAN_MAX.as_micros() as f64 {
            return Err(refuse());
        }
        Ok(Self(Duration::from_micros(micros as u64)))
    }
}

impl TryFrom<String> for DurationSpec {
    type Error = ParseDurationError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl fmt::Display for DurationSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = self.0.as_micros() as u64;
        if micros == 0 {
            return f.write_str("0s");
        }
        let (unit, size) = UNITS
            .into_iter()
            .find(|(_, size)| micros.is_multiple_of(*size))
            .expect("every number of microseconds is a multiple of one microsecond");
        write!(f, "{}{unit}", micros / size)
    }
}

impl JsonSchema for DurationSpec {
    fn schema_name() -> Cow<'static, str> {
        "DurationSpec".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A length of time: a number and a unit (us, ms, s, m, h), \
                            such as \"250ms\".",
            "type": "string",
            "format": SPAN_FORMAT,
            "pattern": r"^\s*\d+(\.\d+)?\s*(us|ms|s|m|h)\s*$",
        })
    }
}

impl From<DurationSpec> for String {
    fn from(span: DurationSpec) -> Self {
        span.to_string()
    }
}

/// A duration drawn again each time from a range, written `"5ms..20ms"` or, fixed, `"5ms"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DurationRange {
    /// Shortest.
    pub min: DurationSpec,
    /// Longest; not below the shortest.
    pub max: DurationSpec,
}

impl DurationRange {
    /// From `min_ms` to `max_ms` milliseconds.
    pub const fn from_millis(min_ms: u64, max_ms: u64) -> Self {
        Self {
            min: DurationSpec::from_millis(min_ms),
            max: DurationSpec::from_millis(max_ms),
        }
    }
}

impl FromStr for DurationRange {
    type Err = ParseDurationError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (min, max) = text.split_once("..").unwrap_or((text, text));
        let (min, max) = (min.parse()?, max.parse()?);
        if min > max {
            Err(ParseDurationError(text.to_owned()))
        } else {
            Ok(Self { min, max })
        }
    }
}

impl JsonSchema for DurationRange {
    fn schema_name() -> Cow<'static, str> {
        "DurationRange".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let span = r"\s*\d+(\.\d+)?\s*(us|ms|s|m|h)\s*";
        json_schema!({
            "description": "A length of time drawn again each time from a range, such as \
                            \"5ms..20ms\", or a fixed one, such as \"5ms\".",
            "type": "string",
            "format": RANGE_FORMAT,
            "pattern": format!(r"^{span}(\.\.{span})?$"),
        })
    }
}

impl TryFrom<String> for DurationRange {
    type Error = ParseDurationError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<DurationRange> for String {
    fn from(range: DurationRange) -> Self {
        if range.min == range.max {
            range.min.to_string()
        } else {
            format!("{}..{}", range.min, range.max)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_unit_is_read_and_the_largest_that_divides_is_written() {
        for (text, written) in [
            ("1500us", "1500us"),
            ("250ms", "250ms"),
            ("1.5s", "1500ms"),
            (" 90 m ", "90m"),
            ("60m", "1h"),
            ("0ms", "0s"),
            ("1000h", "1000h"),
        ] {
            let span: DurationSpec = text.parse().expect(text);
            assert_eq!(span.to_string(), written);
        }
    }

    #[test]
    fn what_is_no_duration_is_refused() {
        for text in [
            "",
            "5",
            "ms",
            "-1s",
            "1 sec",
            "1001h",
            "1e3s",
            "NaNs",
            "1..2s",
            "9999999999999h",
        ] {
            assert!(text.parse::<DurationSpec>().is_err(), "{text}");
        }
        for text in ["", "..", "1s..", "..1s", "2s..1s", "1s..2s..3s"] {
            assert!(text.parse::<DurationRange>().is_err(), "{text}");
        }
    }

    proptest! {
        /// Durations that a run writes into its `scenario.toml` must mean the same when they are
        /// read.
        #[test]
        fn a_span_written_and_read_is_the_same(micros in 0..SPAN_MAX.as_micros() as u64) {
            let span = DurationSpec(Duration::from_micros(micros));
            prop_assert_eq!(span.to_string().parse(), Ok(span));
        }
    }
}
