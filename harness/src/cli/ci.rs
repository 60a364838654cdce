//! Arguments for runs that nobody watches: how long one may take, how often it is tried, which part
//! of all is run here, and what fails the whole.

use std::collections::BTreeMap;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use lockstorm_scenarios::{Case, DurationSpec, Expected};

use crate::plan::Job;

/// Tries of one run at most, beside the first.
const RETRIES_MAX: i64 = 100;

/// How runs are carried out where nobody watches.
#[derive(Clone, Copy, Debug, Args)]
pub struct CiArgs {
    /// End each run that takes longer, such as 2m; it counts as one that could not tell.
    #[arg(long, value_name = "TIME")]
    pub timeout: Option<DurationSpec>,
    /// Try a run this many times more that could not tell or did not show what was expected, until
    /// one is as expected; reports call it flaky. An unexpected violation is a proof and is never
    /// tried again.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        value_parser = clap::value_parser!(u32).range(..=RETRIES_MAX)
    )]
    pub retries: u32,
    /// Run only every N-th run, beginning with the K-th: one of N machines runs each part.
    #[arg(long, value_name = "K/N")]
    pub shard: Option<Shard>,
    /// Failures that make the exit code: all of them, or only those that --baseline does not have.
    #[arg(long, value_enum, value_name = "WHICH", default_value_t)]
    pub fail_on: FailOn,
}

/// Failures that make the exit code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// Everything that is not as expected.
    #[default]
    Unexpected,
    /// Failures of what was as expected in the baseline, or is not in it.
    New,
}

impl FailOn {
    /// The message where it is not known what is new.
    pub const NO_BASELINE: &str = "--fail-on new needs a --baseline";
}

/// One of several equal parts of all runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which, from 1.
    part: usize,
    /// Of how many.
    parts: usize,
}

impl Shard {
    /// Keeps the jobs of this part. Runs that an expectation counts stay together, for a part of
    /// them would be judged as if it were all.
    pub fn keep(self, jobs: &mut Vec<Job>) {
        let mut units = 0;
        let mut counted = BTreeMap::new();
        jobs.retain(|job| {
            let mut next = || {
                units += 1;
                units - 1
            };
            let unit = if counts_runs(&job.case) {
                let labels = &job.case.labels;
                let cell = [
                    &job.case.name,
                    &labels.lock,
                    &labels.topology,
                    &labels.hazard,
                ];
                *counted.entry(cell.map(Clone::clone)).or_insert_with(next)
            } else {
                next()
            };
            unit % self.parts == self.part - 1
        });
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/');
        let numbers =
            numbers.and_then(|(part, parts)| Some((part.parse().ok()?, parts.parse().ok()?)));
        match numbers {
            Some((part, parts)) if 1 <= part && part <= parts => Ok(Self { part, parts }),
            Some(_) | None => Err(
                "the part must be two numbers such as 1/3, the first from 1 to the second"
                    .to_owned(),
            ),
        }
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.part, self.parts)
    }
}

/// Tells whether something is expected of the number of runs that are violated.
pub fn counts_runs(case: &Case) -> bool {
    let mut expected = case.expect.values();
    expected.any(|expected| matches!(expected, Expected::ViolatedIn(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_is_one_of_so_many_parts() {
        assert_eq!("2/3".parse(), Ok(Shard { part: 2, parts: 3 }));
        for wrong in ["0/3", "4/3", "1/0", "3", "a/b", "1/2/3", ""] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }
}
