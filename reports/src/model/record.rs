//! The stored form of runs and suites: the contract of `results.json`, version 1.

use lockstorm_checker::{Analysis, Property, Verdict};
use lockstorm_scenarios::{CaseLabels, Expected, Lines};
use serde::{Deserialize, Serialize};

use super::changes::Changes;
use super::cost::Cost;
use super::hunt::HuntSummary;
use super::rate::Rate;
use super::tested::Tested;

/// Version of `results.json` that this crate writes.
pub const RESULTS_VERSION: u32 = 2;

/// One run of one case: `results.json` of a run folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// [`RESULTS_VERSION`].
    pub version: u32,
    /// Name of the scenario.
    pub scenario: String,
    /// Statement of the scenario: what it shows.
    #[serde(default)]
    pub description: String,
    /// True if it is a history by itself, of which no scenario says what to expect. For machines
    /// every violation of it counts as unexpected.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub without_scenario: bool,
    /// Its place in a comparison.
    pub labels: CaseLabels,
    /// The seed from which every choice of the run follows.
    pub seed: u64,
    /// Which repetition, from 0.
    #[serde(default)]
    pub repetition: u32,
    /// Wall clock at time zero, RFC 3339, UTC.
    pub started: String,
    /// From the first server's start to the end of the final phase, in seconds.
    pub duration_s: f64,
    /// Outcome, against what was expected.
    pub outcome: Outcome,
    /// Promises that the run puts to the test, where it is a situation for any lock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub situation: Option<Tested>,
    /// Each judged property against its expectation.
    pub expectations: Vec<ExpectationResult>,
    /// Reason why the script or the load stopped before its end, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// Number of the step, from 1, that was answered otherwise than the scenario says, if that is
    /// the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmet_step: Option<usize>,
    /// Its place in the file of its scenario, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<Lines>,
    /// Earlier tries of the run, none of which was as expected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<EarlierTry>,
    /// Analysis of the history by the checker.
    pub analysis: Analysis,
    /// Cost of the lock for its clients; absent in what older versions stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// Where it ran.
    pub environment: Environment,
    /// The exact command that repeats the run.
    pub rerun: String,
    /// Changes against an earlier run or suite, if one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<Changes>,
}

/// A try of a run that was not as expected, or that the machine had held up, and that was followed
/// by another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlierTry {
    /// Its folder, below that of the run.
    pub folder: String,
    /// Outcome, against what was expected.
    pub outcome: Outcome,
    /// Result in a sentence.
    pub found: String,
}

/// A run against its expectation, best first; the worst of a suite is the suite's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Every property answered as expected.
    #[default]
    AsExpected,
    /// Only a liveness threshold failed.
    LivenessFailed,
    /// A property that should have been judged is unknown.
    Unknown,
    /// A violation that was not expected, or an expected one that did not appear.
    Unexpected,
}

/// One property against its expectation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpectationResult {
    /// Which.
    pub property: Property,
    /// Verdict that the scenario expects.
    pub expected: Expected,
    /// Verdict of the checker.
    pub actual: Verdict,
    /// True if they agree.
    pub met: bool,
}

/// Where a run took place: whatever a reader needs to weigh or repeat it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Version of Lockstorm.
    pub lockstorm: String,
    /// Version line of the server, such as `redis 7.0.15 (jemalloc-5.2.1)`.
    pub server: String,
    /// Path of the server's program.
    pub server_path: String,
    /// Operating system and kernel.
    pub system: String,
    /// Number of cores.
    pub cores: u32,
    /// `direct`; `fabric` when the user-space switch was in the path, `kernel` when packets went
    /// through a queue of the kernel.
    pub network: String,
    /// Median of a round trip to the first node, in microseconds, measured before the load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_trip_us: Option<f64>,
    /// Round trip past what was in the path, if anything was: the difference is what the path
    /// costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_trip_direct_us: Option<f64>,
    /// Name that the adapter of the clients gave itself, such as `redis-py Lock 8.1.0`, where there
    /// is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adapter: Option<String>,
    /// Prefix of the names of the run's keys, on servers that someone else runs: `lockstorm clean`
    /// takes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// SHA-256 of `history.jsonl` as it was judged, in hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history_sha256: Option<String>,
    /// The servers.
    pub nodes: Vec<Node>,
}

/// One server of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// Name, as in the scenario.
    pub name: String,
    /// `primary`, `replica` or `master`, at the start of the run.
    pub role: String,
    /// Public address.
    pub address: String,
}

/// A comparison or a repetition: `results.json` of a suite folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SuiteRecord {
    /// [`RESULTS_VERSION`].
    pub version: u32,
    /// Name of the scenario with the matrix, or `suite`.
    pub name: String,
    /// Statement of the comparison: what it shows.
    #[serde(default)]
    pub description: String,
    /// Seed of the suite; the runs' seeds follow from it.
    pub seed: u64,
    /// Wall clock at the start, RFC 3339, UTC.
    pub started: String,
    /// In seconds.
    pub duration_s: f64,
    /// The runs, in order.
    pub runs: Vec<SuiteRun>,
    /// Combinations that make no sense or were not reached.
    pub not_run: Vec<NotRun>,
    /// Hunts for the fewest faults that break each lock, if it was hunted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hunts: Vec<HuntSummary>,
    /// The exact command that repeats the suite.
    pub rerun: String,
    /// Changes against an earlier run or suite, if one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<Changes>,
}

/// One run of a suite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SuiteRun {
    /// Run folder, relative to the suite folder.
    pub folder: String,
    /// Record in that folder's `results.json`.
    pub record: RunRecord,
}

/// A cell of the comparison without a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotRun {
    /// Which.
    pub labels: CaseLabels,
    /// Why.
    pub reason: String,
}

impl NotRun {
    /// How the reason begins when the suite ended before this cell's turn; any other reason says
    /// why the combination makes no sense.
    pub const NOT_REACHED: &'static str = "not reached";

    /// Tells whether the combination makes sense and only its turn never came.
    pub fn was_not_reached(&self) -> bool {
        self.reason.starts_with(Self::NOT_REACHED)
    }
}

impl SuiteRecord {
    /// The worst outcome of the runs, and of the expectations that count them. One that was not
    /// reached has shown nothing, and neither has a
    /// suite without runs.
    pub fn outcome(&self) -> Outcome {
        let ran = self.runs.iter().map(|run| run.record.outcome);
        let mut missing = self.not_run.iter().map(NotRun::was_not_reached);
        let missing =
            (self.runs.is_empty() || missing.any(|missing| missing)).then_some(Outcome::Unknown);
        let rates = self.rates();
        let counted = rates.iter().map(Rate::outcome);
        ran.chain(counted).chain(missing).max().unwrap_or_default()
    }

    /// The programs of the servers, each with its version, in the order of their runs.
    pub fn servers(&self) -> Vec<&str> {
        let mut servers: Vec<&str> = Vec::new();
        for run in &self.runs {
            let server = run.record.environment.server.as_str();
            if !servers.contains(&server) {
                servers.push(server);
            }
        }
        servers
    }
}
