//! Clocks that are off: a lock that keeps its promises is not accused by them, where it is said how
//! far off they are, and what it certainly broke is found all the same.

use std::collections::HashMap;

use lockstorm_checker::history::{Event, History, Process};
use lockstorm_checker::{Analysis, ClockError, Nanos, Options, Property, Verdict, check};
use rand::{RngExt as _, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::mutation::plan::Defect;
use crate::mutation::world::{Run, run};
use crate::mutation::{accused, claim, for_each_seed, rounds, violated};

/// The events as clocks show them that are off by up to `error`: some by the same all the time,
/// some by another time at each look.
fn skewed(history: &History, error: Nanos, rng: &mut ChaCha8Rng) -> History {
    let mut skewed = history.clone();
    let mut clocks: HashMap<u64, (u64, bool)> = HashMap::new();
    let mut last: HashMap<u64, Nanos> = HashMap::new();
    for event in &mut skewed.events {
        // All is later by the error, so that no time is before zero.
        let Process::Client(process) = event.process else {
            event.time = event.time + error;
            continue;
        };
        let mut off = || rng.random_range(0..=2 * error.0);
        let first = off();
        let (off, jumps) = *clocks
            .entry(process % 100)
            .or_insert_with(|| (first, first.is_multiple_of(3)));
        let off = if jumps { first } else { off };
        let shown = event.time + Nanos(off);
        let before = last.entry(process % 100).or_default();
        event.time = shown.max(*before);
        *before = event.time;
    }
    skewed
}

fn judge(history: &History, error: Nanos) -> Analysis {
    let options = Options {
        only: Some(Property::ALL.into()),
        clock_error: Some(ClockError::of_all(error)),
        ..Options::default()
    };
    check(history, &options)
}

fn told(run: &Run, history: &History, analysis: &Analysis, property: Property) -> String {
    let times: Vec<_> = history
        .events
        .iter()
        .map(|event: &Event| event.time.0)
        .collect();
    let claim = claim(analysis, property);
    format!(
        "{property}: {claim} {:?}\n{}\n{times:?}",
        run.plan,
        run.lines()
    )
}

#[test]
fn clocks_that_are_off_accuse_nobody_where_it_is_said_how_far() {
    let mut by_clocks = 0_u64;
    for_each_seed(rounds(), |seed| {
        let run = run(seed, None);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let error = Nanos(rng.random_range(1..=200) * 100_000);
        let history = skewed(&run.record.history(run.plan.lock), error, &mut rng);
        by_clocks += u64::from(!accused(&run, &judge(&history, Nanos(0))).is_empty());
        let analysis = judge(&history, error);
        if let [property, ..] = accused(&run, &analysis)[..] {
            let told = told(&run, &history, &analysis, property);
            panic!("seed {seed}, clocks off by {} ns: {told}", error.0);
        }
    });
    println!("{} runs; accused by clocks alone: {by_clocks}", rounds());
    assert!(by_clocks > rounds() / 10, "the clocks were hardly off");
}

#[test]
fn who_violates_by_more_than_the_clocks_are_off_is_found() {
    let (mut seen, mut found) = (0_u64, 0_u64);
    for_each_seed(rounds(), |seed| {
        let run = run(seed, Some(Defect::DoubleGrant));
        let history = run.record.history(run.plan.lock);
        let exact = judge(&history, Nanos(0));
        let analysis = judge(&history, Nanos(100_000));
        let property = Property::MutualExclusion;
        seen += u64::from(violated(&exact).contains(&property));
        found += u64::from(violated(&analysis).contains(&property));
        for one in violated(&analysis) {
            assert!(
                violated(&exact).contains(&one),
                "seed {seed}: {one} by an error alone"
            );
        }
        if let Some(judgement) = analysis.properties.get(&property)
            && judgement.verdict == Verdict::Unknown
            && violated(&exact).contains(&property)
        {
            let reason = judgement.reason.as_deref().unwrap_or_default();
            assert!(
                reason.contains("clocks that are off by up to 100 µs"),
                "{reason}"
            );
        }
    });
    println!("{seen} violations, {found} of them by more than the clocks may be off");
    assert!(found > seen / 2 && seen > rounds() / 10);
}
