//! Every situation that both know, with the real Redisson beside ours, on every topology and in
//! every era. A difference in what clients are told has its reason in `differences.toml`, or the
//! test fails; so does a reason for a difference that is not there any more, and a run that says
//! nothing. The real one is driven by the adapter in `adapters/java/redisson`, which `.ci/setup
//! adapters` builds; without it the tests are skipped. `make interop` runs all of it, or the pairs
//! whose titles contain one of the texts in `LOCKSTORM_ONLY`, with commas between them;
//! `LOCKSTORM_KEEP=1` keeps the folders of the runs. CI runs a cheap part.

mod differences;
mod pair;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::support::{crew, have_server, root, skipped};
use differences::Differences;
use pair::{Pair, Told};

/// Situations that CI runs in the newest era, on servers that start at once: no fault, and what an
/// unlock tells.
const CHEAP: [&str; 2] = ["plain-use", "release-twice"];

fn can_run() -> bool {
    let built = root().join("adapters/java/redisson/target/4.7.0/lib");
    if !built.exists() {
        skipped("Redisson's adapter is not built: run 'bash .ci/setup adapters'");
    }
    built.exists() && have_server()
}

/// Runs these pairs, some at once, and says what is wrong with what they tell.
fn compare(pairs: &[Pair]) -> String {
    say(&format!("{} pairs", pairs.len()));
    let known = Differences::read();
    let told = crew::all(pairs, |pair| {
        let told = pair.run();
        say(&format!("{}: {told}", pair.title()));
        told
    });
    let mut wrong = String::new();
    let mut count = BTreeMap::new();
    let mut used = Vec::new();
    for (pair, told) in pairs.iter().zip(told) {
        let reason = known.of(pair);
        let (what, unnamed) = match (&told, reason) {
            (Told::Refused(_), _) => ("not for adapters", false),
            (Told::Alike, _) => ("alike", false),
            (Told::Otherwise(_), Some(at)) => {
                used.push(at);
                ("different, for a reason", false)
            }
            (Told::Otherwise(_), None) => ("different", true),
            (Told::Nothing(_), _) => ("nothing", true),
        };
        *count.entry(what).or_insert(0) += 1;
        if unnamed {
            writeln!(wrong, "{}: {told}", pair.title()).expect("a string takes all");
        }
    }
    for unused in known.unused(pairs, &used) {
        writeln!(wrong, "no difference any more: {unused}").expect("a string takes all");
    }
    say(&format!("{} pairs: {count:?}", pairs.len()));
    wrong
}

#[expect(clippy::print_stderr, reason = "figures of a long run")]
fn say(text: &str) {
    eprintln!("{text}");
}

#[test]
fn what_costs_little_is_told_alike_by_the_real_redisson_and_ours() {
    if can_run() {
        let pairs = CHEAP.into_iter().flat_map(pair::of_situation);
        let pairs = pairs.filter(|pair| pair.starts_at_once() && pair.era_name() == "4.7");
        let pairs: Vec<_> = pairs.collect();
        let wrong = compare(&pairs);
        assert!(wrong.is_empty(), "{wrong}");
    }
}

#[test]
#[ignore = "takes two hours; make interop"]
fn every_situation_is_told_alike_by_the_real_redisson_and_ours() {
    if can_run() {
        let only = std::env::var("LOCKSTORM_ONLY").unwrap_or_default();
        let mut pairs = pair::of_every_situation();
        pairs.retain(|pair| only.split(',').any(|part| pair.title().contains(part)));
        let wrong = compare(&pairs);
        assert!(wrong.is_empty(), "{wrong}");
    }
}
