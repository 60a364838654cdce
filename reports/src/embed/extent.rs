//! How much of a history goes into its page.

use std::num::ParseFloatError;

use lockstorm_checker::history::FaultPhase;
use lockstorm_checker::{Digest, Interval, Nanos};

use crate::model::RunRecord;

/// Bytes that the embedded history may take, unless somebody says otherwise: some two million
/// operations, which a browser still opens at once.
pub const HTML_BUDGET_DEFAULT: u64 = 12_000_000;
/// How far around a violation or the edge of a fault the history is whole, in leases; the next
/// where that is too much for the budget. At the last it is barely more than the violation.
const LEASES_AROUND: [f64; 4] = [2.0, 0.5, 0.1, 0.01];
/// The lease assumed where no acquire names one.
const LEASE_DEFAULT: Nanos = Nanos::from_millis(1_000);
/// Windows at most: each more costs a look at every operation.
const WINDOWS_MAX: usize = 64;

/// How much of a history a page embeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Bytes that the embedded history may take. Where it takes more, the page has it whole only
    /// around violations and faults.
    pub budget: u64,
    /// If given, the only stretch that is embedded whole, whatever it takes.
    pub window: Option<(Nanos, Nanos)>,
}

impl Default for Extent {
    fn default() -> Self {
        Self {
            budget: HTML_BUDGET_DEFAULT,
            window: None,
        }
    }
}

/// Reason why a text is no window.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseWindowError {
    /// Not two instants.
    #[error("'{0}' is no window; write it as 12.3s..14s")]
    Form(String),
    /// One of them is no number.
    #[error("'{text}' is no instant: {source}; write it in seconds, such as 12.3s")]
    Instant {
        /// Which.
        text: String,
        /// Error of the parser.
        source: ParseFloatError,
    },
    /// Before the run, or not in order.
    #[error("the window '{0}' has no length; the later instant comes last, none is below zero")]
    Empty(String),
}

/// Reads a window such as `12.3s..14s`, in seconds since the start of the run.
///
/// # Errors
/// [`ParseWindowError`] says what is wrong and how it is written.
pub fn parse_window(text: &str) -> Result<(Nanos, Nanos), ParseWindowError> {
    let parts = text.split_once("..");
    let (from, to) = parts.ok_or_else(|| ParseWindowError::Form(text.to_owned()))?;
    let (from, to) = (seconds(from)?, seconds(to)?);
    let is_finite = from.is_finite() && to.is_finite();
    if !is_finite || from < 0.0 || to <= from {
        return Err(ParseWindowError::Empty(text.to_owned()));
    }
    let at = |seconds: f64| Nanos((seconds * 1e9).round() as u64);
    Ok((at(from), at(to)))
}

fn seconds(text: &str) -> Result<f64, ParseWindowError> {
    let number = text.trim().trim_end_matches('s').trim_end();
    number.parse().map_err(|source| ParseWindowError::Instant {
        text: text.trim().to_owned(),
        source,
    })
}

/// The stretches that are embedded whole, and how many violations and edges of faults are not in
/// one for want of room.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Windows {
    pub(super) whole: Vec<Interval>,
    pub(super) left_out: usize,
}

impl Windows {
    /// Windows around violations first, then around the edges of faults, of at most so many
    /// operations.
    pub(super) fn around(run: &RunRecord, digest: &Digest, operations_max: usize) -> Self {
        let lease = usual_lease(digest).0 as f64;
        let mut starts: Vec<Nanos> = digest.operations.iter().map(|one| one.invoked).collect();
        starts.sort_unstable();
        let mut windows = Self::default();
        for moment in moments(run, digest) {
            let tries = LEASES_AROUND.iter().map(|leases| {
                let around = Nanos((leases * lease) as u64);
                Interval::new(moment.start - around, (moment.end + around).min(digest.end))
            });
            let mut tries = tries.map(|window| united(&windows.whole, window));
            let fits = |whole: &Vec<Interval>| {
                whole.len() <= WINDOWS_MAX && count(&starts, whole) <= operations_max
            };
            match tries.find(fits) {
                Some(whole) => windows.whole = whole,
                None => windows.left_out += 1,
            }
        }
        windows
    }
}

/// Returns the moments that a reader will look for: each violation, then each edge of a fault.
fn moments(run: &RunRecord, digest: &Digest) -> Vec<Interval> {
    let judged = run.analysis.properties.values();
    let witnesses = judged.flat_map(|judgement| &judgement.witnesses);
    let violations = witnesses.map(|witness| {
        let (from, to) = witness.interval;
        // One that never ends is looked at where it begins.
        Interval::new(from, if to >= digest.end { from } else { to })
    });
    let faults = run.analysis.faults.iter();
    let edges =
        faults.flat_map(|fault| [FaultPhase::Injected, FaultPhase::Healed].map(|p| fault.at(p)));
    let edges = edges.flatten().map(|at| Interval::new(at, at));
    violations.chain(edges).collect()
}

/// The lease in the middle of all that were granted.
fn usual_lease(digest: &Digest) -> Nanos {
    let grants = digest.operations.iter().filter(|one| one.is_grant());
    let mut leases: Vec<Nanos> = grants.filter_map(|grant| grant.lease).collect();
    let middle = leases.len() / 2;
    if leases.is_empty() {
        LEASE_DEFAULT
    } else {
        *leases.select_nth_unstable(middle).1
    }
}

/// `windows` with one more, those that touch being one.
fn united(windows: &[Interval], window: Interval) -> Vec<Interval> {
    let mut all: Vec<Interval> = windows.iter().copied().chain([window]).collect();
    all.sort_unstable_by_key(|window| window.start);
    let mut whole: Vec<Interval> = Vec::new();
    for window in all {
        match whole.last_mut() {
            Some(last) if window.start <= last.end => last.end = last.end.max(window.end),
            Some(_) | None => whole.push(window),
        }
    }
    whole
}

/// How many operations begin in `windows`, which are apart.
fn count(starts: &[Nanos], windows: &[Interval]) -> usize {
    let of = |window: &Interval| {
        let before = starts.partition_point(|&start| start < window.start);
        starts.partition_point(|&start| start <= window.end) - before
    };
    windows.iter().map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_window_is_two_instants_in_seconds() {
        let window = Ok((Nanos(12_300_000_000), Nanos(14_000_000_000)));
        assert_eq!(parse_window("12.3s..14s"), window);
        assert_eq!(parse_window(" 12.3 .. 14 s "), window);
        for wrong in [
            "12.3s", "a..b", "2s..1s", "1s..1s", "-1s..1s", "NaN..1s", "1..inf",
        ] {
            let said = parse_window(wrong).map_err(|error| error.to_string());
            assert!(said.is_err(), "{wrong}: {said:?}");
        }
    }

    #[test]
    fn windows_reach_two_leases_around_and_shrink_where_that_is_too_much() {
        let (run, digest) = (sample::failover_run(), sample::failover_digest());
        let wide = Windows::around(&run, &digest, 100);
        assert_eq!(wide.whole, [Interval::new(Nanos(0), digest.end)]);
        assert_eq!(wide.left_out, 0);

        let narrow = Windows::around(&run, &digest, 4);
        assert!(narrow.whole[0].start > Nanos(0), "{narrow:?}");
        assert_eq!(narrow.left_out, 0);

        let none = Windows::around(&run, &digest, 0);
        assert!(none.left_out > 0, "and it says how much it left out");
    }
}
