//! Hunts for known-bad locks: they know nothing of the mistake.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use lockstorm_reports::{Found, HuntRecord};
use lockstorm_scenarios::{Mutant, Promise};
use serde::{Deserialize, Serialize};

use super::known;
use crate::support::root;

/// Servers on which mutants are hunted: those that take no seconds to notice anything.
const SERVERS: &str = "single,replicated,independent";
/// Time for the trials on each kind of them, the longer one where the shorter finds nothing.
const WITHIN: [&str; 2] = ["40s", "150s"];

/// A promise that the mutant breaks, and no hunt of the correct lock broke with as few faults.
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
    let correct = known::read(lock.name());
    let caught = WITHIN.into_iter().find_map(|within| {
        let out = root().join("target/hunts").join(mutant.name()).join(within);
        let folder = known::finished(&out)
            .unwrap_or_else(|| known::run(&[&typed, "--topology", SERVERS, "--for", within], &out));
        caught(&known::record(&folder), correct.as_ref(), within)
    });
    let mut all = read();
    all.insert(mutant.name().to_owned(), caught);
    let mut text = serde_json::to_string_pretty(&all).expect("it can be written as JSON");
    text.push('\n');
    fs::write(file(), text).expect("scenarios/ can be written");
}

/// The finding with the fewest faults that the correct lock does not share on any servers. What its
/// hunt found on one kind of them may be there on another, and not be found yet.
fn caught(record: &HuntRecord, correct: Option<&HuntRecord>, within: &str) -> Option<Caught> {
    let by_the_correct = |promise: Promise| {
        let hunts = correct.iter().flat_map(|record| &record.hunts);
        hunts
            .filter_map(|hunted| known::endured(hunted, promise)?.broken_with)
            .min()
    };
    let hunts = record.hunts.iter();
    let found = hunts.flat_map(|hunted| hunted.found.iter().map(move |found| (hunted, found)));
    let is_its_own = |found: &Found| {
        let also = by_the_correct(found.promise);
        found.is_confirmed() && found.is_promised && also.is_none_or(|also| also > found.faults)
    };
    let own = found.filter(|(_, found)| is_its_own(found));
    let (hunted, found) = own.min_by_key(|(_, found)| (found.faults, found.steps))?;
    Some(Caught {
        promise: found.promise,
        topology: hunted.topology.clone(),
        faults: found.faults,
        plan: found.plan.clone(),
        within: within.to_owned(),
    })
}
