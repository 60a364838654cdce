//! Hunts for known-bad locks: they know nothing of the mistake.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use lockstorm_scenarios::{Mutant, Promise};
use serde::{Deserialize, Serialize};

use super::known;
use crate::support::root;
use crate::support::situations::broken_by_file;

/// Servers on which mutants are hunted: those that take no seconds to notice anything.
const SERVERS: &str = "single,replicated,independent";
/// Time for the trials on each kind of them, the longer one where the shorter finds nothing.
const WITHIN: [&str; 2] = ["40s", "150s"];

/// How often the correct lock has to keep a promise that a mutant broke by the same script.
const RUNS_OF_THE_CORRECT: usize = 5;

/// A promise that the mutant breaks by a script by which the correct lock keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Caught {
    pub promise: Promise,
    pub topology: String,
    pub faults: usize,
    pub plan: String,
    /// Time of the trials on each kind of servers.
    pub within: String,
}

/// Why a hunt catches none of these, as far as it is known.
pub const WHY_NONE: [(Mutant, &str); 5] = [
    (
        Mutant::LatchNotRead,
        "the answer to a repeated unlock is told only if a replica is gone, which no fault does",
    ),
    (
        Mutant::NobodyIsWoken,
        "a waiter asks again when the lease that it saw is over, which in a hunt is soon",
    ),
    (
        Mutant::DeadWaitersStay,
        "the correct lock keeps a dead waiter for five minutes, and no trial waits for longer",
    ),
    (
        Mutant::DriftIgnored,
        "it grants the last hundredth of a lease, and no fault of a hunt is that exact",
    ),
    (
        Mutant::FailedTryNotWithdrawn,
        "a try has to fail on three of five servers that keep it, which takes three faults",
    ),
];

/// Name of the file.
pub const NAME: &str = "mutants";

fn file() -> PathBuf {
    root().join(format!("scenarios/hunted/{NAME}.json"))
}

/// Every mutant that was hunted, with what it broke.
pub fn read() -> BTreeMap<String, Option<Caught>> {
    let Ok(text) = fs::read_to_string(file()) else {
        return BTreeMap::new();
    };
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file().display()))
}

/// Hunts a mutant, and keeps what it broke.
pub fn hunt(mutant: Mutant) {
    let lock = mutant.lock();
    let typed = format!("{}={{mutant=\"{}\"}}", lock.name(), mutant.name());
    let caught = WITHIN.into_iter().find_map(|within| {
        let out = root().join("target/hunts").join(mutant.name()).join(within);
        let folder = known::finished(&out)
            .unwrap_or_else(|| known::run(&[&typed, "--topology", SERVERS, "--for", within], &out));
        caught(&folder, within)
    });
    let mut all = read();
    all.insert(mutant.name().to_owned(), caught);
    let mut text = serde_json::to_string_pretty(&all).expect("it can be written as JSON");
    text.push('\n');
    fs::write(file(), text).expect("scenarios/ can be written");
}

/// The finding with the fewest faults that the correct lock does not share: the script of the
/// finding is run with it too, and it must keep the promise each time.
fn caught(folder: &Path, within: &str) -> Option<Caught> {
    let record = known::record(folder);
    let hunts = record.hunts.iter();
    let found = hunts.flat_map(|hunted| hunted.found.iter().map(move |found| (hunted, found)));
    let mut confirmed: Vec<_> = found.filter(|(_, found)| found.is_confirmed()).collect();
    confirmed.sort_by_key(|(_, found)| (!found.is_promised, found.faults, found.steps));
    let (hunted, found) = confirmed
        .into_iter()
        .find(|(_, found)| is_kept_without_the_mistake(&folder.join(&found.file), found.promise))?;
    Some(Caught {
        promise: found.promise,
        topology: hunted.topology.clone(),
        faults: found.faults,
        plan: found.plan.clone(),
        within: within.to_owned(),
    })
}

/// Tells whether the correct lock keeps a promise in the script that a mutant broke it with.
fn is_kept_without_the_mistake(script: &Path, promise: Promise) -> bool {
    let text = fs::read_to_string(script);
    let text = text.unwrap_or_else(|error| panic!("{}: {error}", script.display()));
    let lines = text.lines().filter(|line| !line.starts_with("mutant = "));
    let text: Vec<&str> = lines.collect();
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("correct.toml");
    fs::write(&path, text.join("\n")).expect("the file can be written");
    (0..RUNS_OF_THE_CORRECT).all(|_| !broken_by_file(&path).contains(&promise))
}
