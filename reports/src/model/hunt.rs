//! The stored form of a hunt: `hunt.json` of its folder, and what an assessment keeps of it.

use std::collections::BTreeMap;

use lockstorm_scenarios::Promise;
use serde::{Deserialize, Serialize};

/// Version of the file that this crate writes.
pub const HUNT_VERSION: u32 = 1;

/// A search for the fewest faults that break locks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HuntRecord {
    /// [`HUNT_VERSION`].
    pub version: u32,
    /// The seed from which the order of the trials follows.
    pub seed: u64,
    /// Wall clock at its start, RFC 3339, UTC.
    pub started: String,
    /// The exact command that repeats it.
    pub rerun: String,
    /// Its folder, as the command that made it names it.
    #[serde(default)]
    pub folder: String,
    /// Version of the servers.
    pub server: String,
    /// Each lock on each kind of servers.
    pub hunts: Vec<Hunted>,
}

/// Trials on one lock, and their outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hunted {
    /// The lock.
    pub lock: String,
    /// The servers.
    pub topology: String,
    /// Lease of the lock in milliseconds, by which all times are measured.
    pub lease_ms: u64,
    /// Length of the trials in milliseconds, without shrinking and confirming.
    pub trials_ms: u64,
    /// Number of different ways in which the trials went: what the clients did, and how it ended.
    #[serde(default)]
    pub courses: usize,
    /// Points that a run without a fault came through, all behaviours of the clients together.
    pub points: usize,
    /// Behaviours of clients that were not tried, each with the reason.
    pub left_out: Vec<(String, String)>,
    /// Plans by their number of faults, from one.
    pub sizes: Vec<Size>,
    /// Endurance of each promise.
    pub promises: Vec<Endurance>,
    /// The points of single faults, without their servers, in the order of a run.
    #[serde(default)]
    pub columns: Vec<String>,
    /// Each fault at each point, alone.
    pub cells: Vec<Cell>,
    /// Findings, the fewest faults first.
    pub found: Vec<Found>,
    /// Reasons why trials told nothing, and how often each was given.
    pub untold: BTreeMap<String, usize>,
    /// The error that ended it early, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_by: Option<String>,
}

/// Plans of one size.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    /// Number of faults.
    pub faults: usize,
    /// How many plans there are.
    pub all: u64,
    /// How many were tried.
    pub tried: u64,
    /// How many of those that were tried told something.
    pub told: u64,
    /// How many do not come about: a message of theirs does not pass, or a fault prevents another.
    pub impossible: u64,
}

/// Smallest number of faults that break a promise, as far as it was searched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endurance {
    /// The promise.
    pub promise: Promise,
    /// True if the lock makes it.
    pub is_promised: bool,
    /// Smallest confirmed number of faults that break it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken_with: Option<usize>,
    /// Smallest number of faults with which it fails in a way that no lock of its kind prevents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inherent_with: Option<usize>,
    /// Plan with which it failed, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inherent_by: Option<String>,
    /// For each number of faults, how many trials put it to the test, and how many could tell.
    pub tried: Vec<TriedOf>,
}

/// Trials of one size that put a promise to the test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TriedOf {
    /// Number of faults.
    pub faults: usize,
    /// Trials that tested it.
    pub trials: u64,
    /// Trials that could tell.
    pub told: u64,
    /// Trials that broke it, whether or not that was confirmed.
    #[serde(default)]
    pub broken: u64,
}

/// One fault at one point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// The fault, in words.
    pub fault: String,
    /// The point, without its server.
    pub point: String,
    /// The worst answer.
    pub answer: CellAnswer,
    /// Promises that were broken, kept or not told, in words.
    pub about: String,
    /// The finding that tells its story, as an index into `found`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<usize>,
}

/// Answer of the trials of one cell, the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CellAnswer {
    /// All promises that could be told were kept.
    Kept,
    /// No trial could tell.
    CouldNotTell,
    /// Something happened that no lock of its kind prevents.
    Inherent,
    /// A promise that the lock does not make would be broken.
    NotPromised,
    /// A promise was broken.
    Broken,
}

/// A plan that breaks a promise, shrunk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// The promise.
    pub promise: Promise,
    /// True if the lock makes it.
    pub is_promised: bool,
    /// Number of faults.
    pub faults: usize,
    /// Faults and their points, in words.
    pub plan: String,
    /// Claim of the checker.
    pub claim: String,
    /// Steps of the script.
    pub steps: usize,
    /// How often it did so again.
    pub times: usize,
    /// Out of so many runs on fresh servers.
    pub runs: usize,
    /// The script, from the folder of the hunt.
    pub file: String,
    /// The last run of it, from the folder of the hunt.
    pub run: String,
    /// Story of that run, as the terminal tells it; empty if the run did not break the promise.
    pub story: String,
}

impl Found {
    /// Tells whether it did so each time.
    pub const fn is_confirmed(&self) -> bool {
        self.times == self.runs
    }
}

/// Outcome of a hunt for one lock on its servers, beside the assessment of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HuntSummary {
    /// The lock.
    pub lock: String,
    /// The servers.
    pub topology: String,
    /// Folder of the hunt, from that of the assessment.
    pub folder: String,
    /// Plans by their number of faults, from none.
    pub sizes: Vec<Size>,
    /// Endurance of each promise, those first that the lock makes.
    pub promises: Vec<Endured>,
}

/// Number of faults that a promise endures, as far as it was searched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endured {
    /// The promise.
    pub promise: Promise,
    /// True if the lock makes it.
    pub is_promised: bool,
    /// Smallest confirmed number of faults that break it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken_with: Option<usize>,
    /// Faults that break it, and their points, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken_by: Option<String>,
    /// Number of faults up to which every plan was tried, and every trial that tests the promise
    /// told that it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withstood: Option<usize>,
    /// Smallest number of faults with which it fails in a way that no lock of its kind prevents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inherent_with: Option<usize>,
    /// Faults with which it fails so, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inherent_by: Option<String>,
}

impl Endured {
    /// Tells whether a promise that the lock makes was broken.
    pub const fn is_broken(&self) -> bool {
        self.is_promised && self.broken_with.is_some()
    }
}
