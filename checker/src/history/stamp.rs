//! Times as they stand in a file → nanoseconds of one clock that begins with the history.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};

use super::date::nanos_since_1970;
use super::event::Nanos;

/// Times from here on count from 1970 and not from the start of a run: it is more than three
/// years in nanoseconds.
const EPOCH_MIN: u64 = 100_000_000_000_000_000;

/// Unit of the numbers in `time`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TimeUnit {
    /// Nanoseconds.
    #[default]
    Nanos,
    /// Microseconds.
    Micros,
    /// Milliseconds.
    Millis,
    /// Seconds, of which logs give fractions.
    Seconds,
}

impl TimeUnit {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Nanos, Self::Micros, Self::Millis, Self::Seconds];

    /// The word for it on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nanos => "ns",
            Self::Micros => "us",
            Self::Millis => "ms",
            Self::Seconds => "s",
        }
    }

    /// So many nanoseconds it has.
    pub(super) const fn nanos(self) -> u64 {
        match self {
            Self::Nanos => 1,
            Self::Micros => 1_000,
            Self::Millis => 1_000_000,
            Self::Seconds => 1_000_000_000,
        }
    }

    /// The unit in which `count` is a time between 2001 and 2286, if it counts from 1970.
    pub(super) fn of_epoch(count: u64) -> Option<Self> {
        let is_seconds = |seconds: u64| (1_000_000_000..10_000_000_000).contains(&seconds);
        let per_second = |unit: Self| Self::Seconds.nanos() / unit.nanos();
        let mut units = Self::ALL.into_iter();
        units.find(|&unit| is_seconds(count / per_second(unit)))
    }
}

impl fmt::Display for TimeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A word that names no unit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no unit {0:?} of time; use ns, us, ms or s")]
pub struct UnknownTimeUnit(pub String);

impl FromStr for TimeUnit {
    type Err = UnknownTimeUnit;

    fn from_str(word: &str) -> Result<Self, UnknownTimeUnit> {
        let mut units = Self::ALL.into_iter();
        let unit = units.find(|unit| unit.name() == word);
        unit.ok_or_else(|| UnknownTimeUnit(word.to_owned()))
    }
}

/// A time as it stands in a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Stamp {
    /// A whole number of units.
    Count(u64),
    /// A number of units with a fraction.
    Fraction(f64),
    /// Nanoseconds since 1970, from a date.
    Date(u64),
}

impl<'de> Deserialize<'de> for Stamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct StampVisitor;
        impl Visitor<'_> for StampVisitor {
            type Value = Stamp;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a time: a number from 0, or as in 2026-01-31T23:59:59.123Z")
            }
            fn visit_u64<E: de::Error>(self, count: u64) -> Result<Stamp, E> {
                Ok(Stamp::Count(count))
            }
            fn visit_i64<E: de::Error>(self, count: i64) -> Result<Stamp, E> {
                Err(E::invalid_value(de::Unexpected::Signed(count), &self))
            }
            fn visit_f64<E: de::Error>(self, count: f64) -> Result<Stamp, E> {
                if count.is_finite() && count >= 0.0 {
                    return Ok(Stamp::Fraction(count));
                }
                Err(E::invalid_value(de::Unexpected::Float(count), &self))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Stamp, E> {
                let date = nanos_since_1970(text).map(Stamp::Date);
                date.ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_any(StampVisitor)
    }
}

/// The clock of one history.
#[derive(Debug, Default)]
pub(super) struct Clock {
    pub(super) unit: TimeUnit,
    /// True if times since 1970 are counted from the first of them.
    is_relative: bool,
    /// The first time, in nanoseconds since 1970, where the times count from there.
    base: Option<u64>,
}

/// Reason why a time cannot be used, and what puts it right.
pub(super) type Untimely = (Cow<'static, str>, &'static str);

impl Clock {
    pub(super) fn new(unit: Option<TimeUnit>, is_relative: bool) -> Self {
        Self {
            unit: unit.unwrap_or_default(),
            is_relative,
            base: None,
        }
    }

    /// When the first event was, in nanoseconds since 1970, where the times say so.
    pub(super) fn began(&self) -> Option<u64> {
        self.base.filter(|&base| base > 0)
    }

    /// The time of an event, which stands in the file as `stamp`.
    ///
    /// # Errors
    /// When it is out of range, or earlier than the first.
    pub(super) fn read(&mut self, stamp: Stamp) -> Result<Nanos, Untimely> {
        let nanos = self.nanos(stamp)?;
        if !self.is_relative {
            return Ok(Nanos(nanos));
        }
        let is_epoch = nanos >= EPOCH_MIN;
        let base = *self.base.get_or_insert(if is_epoch { nanos } else { 0 });
        match nanos.checked_sub(base) {
            Some(since) => Ok(Nanos(since)),
            None => Err((
                format!(
                    "the event is {} s earlier than the first",
                    Nanos(base - nanos).as_secs_f64()
                )
                .into(),
                "sort the events by time, all of them with times of one kind",
            )),
        }
    }

    fn nanos(&self, stamp: Stamp) -> Result<u64, Untimely> {
        let of_unit = self.unit.nanos();
        let nanos = match stamp {
            Stamp::Date(nanos) => Some(nanos),
            Stamp::Count(count) => count.checked_mul(of_unit),
            Stamp::Fraction(_) if self.unit == TimeUnit::Nanos => {
                return Err((
                    "`time` has a fraction, and counts nanoseconds".into(),
                    "write whole nanoseconds, or say what it counts with --time-unit s, ms or us",
                ));
            }
            Stamp::Fraction(count) => {
                let nanos = (count * of_unit as f64).round();
                (nanos < u64::MAX as f64).then_some(nanos as u64)
            }
        };
        nanos.ok_or((
            "`time` is too large".into(),
            "count it from the start of the run",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_counts_units_and_a_date_does_not() {
        let mut clock = Clock::new(Some(TimeUnit::Millis), false);
        assert_eq!(clock.read(Stamp::Count(3)), Ok(Nanos(3_000_000)));
        assert_eq!(clock.read(Stamp::Fraction(1.5)), Ok(Nanos(1_500_000)));
        assert_eq!(clock.read(Stamp::Date(7)), Ok(Nanos(7)));
        assert!(clock.read(Stamp::Count(u64::MAX)).is_err());
        assert!(clock.read(Stamp::Fraction(1e300)).is_err());
        let mut clock = Clock::new(None, false);
        assert!(clock.read(Stamp::Fraction(1.5)).is_err());
    }

    #[test]
    fn times_since_1970_are_counted_from_the_first_and_others_from_zero() {
        let first = 1_767_225_600_000_000_000;
        let mut clock = Clock::new(None, true);
        assert_eq!(clock.read(Stamp::Count(first)), Ok(Nanos(0)));
        assert_eq!(clock.read(Stamp::Date(first + 5)), Ok(Nanos(5)));
        let (early, _) = clock.read(Stamp::Count(first - 1_500_000_000)).unwrap_err();
        assert_eq!(early, "the event is 1.5 s earlier than the first");
        assert_eq!(clock.began(), Some(first));
        let mut clock = Clock::new(None, true);
        assert_eq!(clock.read(Stamp::Count(7)), Ok(Nanos(7)));
        assert_eq!(clock.read(Stamp::Count(2)), Ok(Nanos(2)));
        assert_eq!(clock.began(), None);
    }

    #[test]
    fn the_unit_of_a_time_since_1970_is_told_by_its_size() {
        for (count, unit) in [
            (1_763_800_000, Some(TimeUnit::Seconds)),
            (1_763_800_000_000, Some(TimeUnit::Millis)),
            (1_763_800_000_000_000, Some(TimeUnit::Micros)),
            (1_763_800_000_000_000_000, Some(TimeUnit::Nanos)),
            (0, None),
            (123_456_789, None),
            (100_000_000_000, None),
        ] {
            assert_eq!(TimeUnit::of_epoch(count), unit, "{count}");
        }
    }

    #[test]
    fn every_unit_goes_by_its_name() {
        for unit in TimeUnit::ALL {
            assert_eq!(unit.to_string().parse(), Ok(unit));
        }
        assert!("sec".parse::<TimeUnit>().is_err());
    }
}
