//! A simulated lock that keeps its promises is never accused; with one defect it is found out.
//!
//! - `world`, `service`, `client`, `plan`: the simulation, with clients that crash, answers that
//!   get lost, leases, queues, reentry, readers, permits, and a resource that the lock guards;
//! - `record`: what the clients saw, as events for the checker;
//! - `skew`: clocks that are off;
//! - `witness`: what each accusation rests on;
//! - `truth`: whether a defect could be seen at all, from what the clients saw.
//!
//! Every failure names its seed; equal seeds give equal runs.

mod change;
mod client;
mod plan;
mod record;
mod sameness;
mod service;
mod skew;
mod truth;
mod witness;
mod world;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use lockstorm_checker::{Analysis, Options, Property, Verdict, check};

use crate::mutation::plan::Defect;
use crate::mutation::world::{Run, run};

/// Runs of each kind: 300, or as many as `LOCKSTORM_ROUNDS` says.
fn rounds() -> u64 {
    let named = std::env::var("LOCKSTORM_ROUNDS").ok();
    named.map_or(300, |rounds| {
        rounds.parse().expect("LOCKSTORM_ROUNDS is a number")
    })
}

/// The first seed: 0, or what `LOCKSTORM_SEED` says.
fn first_seed() -> u64 {
    let named = std::env::var("LOCKSTORM_SEED").ok();
    named.map_or(0, |seed| seed.parse().expect("LOCKSTORM_SEED is a number"))
}

/// So many seeds that fail are told.
const FAILURES_MAX: usize = 20;

/// Tries `count` seeds, each to its end, and fails with a list of those that failed: what fails
/// once in a thousand runs, one long run tells all at once.
fn for_each_seed(count: u64, one: impl FnMut(u64)) {
    let failed = failing_seeds(count, one);
    assert!(failed.is_empty(), "seeds that fail: {failed:?}");
}

fn failing_seeds(count: u64, mut one: impl FnMut(u64)) -> Vec<u64> {
    let seeds = first_seed()..first_seed() + count;
    let fails = |&seed: &u64| catch_unwind(AssertUnwindSafe(|| one(seed))).is_err();
    seeds.filter(fails).take(FAILURES_MAX).collect()
}

/// Of the runs with a defect the models judge one in so many: to make a witness smaller takes time.
const MODELLED: u64 = 4;

/// Judges a run, each property by name, and by one of the models that its lock should keep to.
fn judge(seed: u64, run: &Run) -> Analysis {
    let models = run.plan.lock.models();
    let is_modelled = run.plan.defect.is_none() || seed.is_multiple_of(MODELLED);
    let options = Options {
        only: Some(Property::ALL.into()),
        model: is_modelled.then(|| models[(seed / MODELLED) as usize % models.len()]),
        ..Options::default()
    };
    check(&run.record.history(run.plan.lock), &options)
}

fn violated(analysis: &Analysis) -> Vec<Property> {
    let properties = analysis.properties.iter();
    properties
        .filter(|(_, judgement)| judgement.verdict == Verdict::Violated)
        .map(|(&property, _)| property)
        .collect()
}

/// The first claim of a property, for the message of a failure.
fn claim(analysis: &Analysis, property: Property) -> String {
    let witness = analysis.properties[&property].witnesses.first();
    witness.map_or(String::new(), |witness| witness.claim.clone())
}

/// Everything that a run is accused of. Who goes on after its lease is at fault itself.
fn accused(run: &Run, analysis: &Analysis) -> Vec<Property> {
    let mut properties = violated(analysis);
    properties.retain(|&property| !(run.plan.sloppy && property == Property::LeaseOverrun));
    properties
}

#[test]
fn a_service_that_keeps_its_promises_is_never_accused() {
    let mut valid: BTreeMap<Property, u64> = BTreeMap::new();
    for_each_seed(rounds(), |seed| {
        let run = run(seed, None);
        let analysis = judge(seed, &run);
        if let [property, ..] = accused(&run, &analysis)[..] {
            let claim = claim(&analysis, property);
            panic!(
                "seed {seed}: {property}: {claim} {:?}\n{}",
                run.plan,
                run.lines()
            );
        }
        for (&property, judgement) in &analysis.properties {
            *valid.entry(property).or_default() += u64::from(judgement.verdict == Verdict::Valid);
        }
    });
    println!("{} runs; valid: {valid:?}", rounds());
    let often = |property: Property| valid.get(&property).copied().unwrap_or(0) > rounds() / 5;
    assert!(
        often(Property::MutualExclusion)
            && often(Property::LostLock)
            && often(Property::Liveness)
            && often(Property::Model)
    );
}

#[test]
fn every_defect_that_can_be_seen_is_found_and_nothing_before_it_strikes() {
    let mut failed = Vec::new();
    for defect in Defect::ALL {
        // Seldom does a stale write follow that of a later holder, or is somebody let in before the
        // owner does the next thing.
        let is_seldom = matches!(defect, Defect::StaleWrite | Defect::PartialReleaseFrees);
        let share = if is_seldom { 3 } else { 1 };
        let runs = (share * rounds() / 3).max(10);
        let (mut struck, mut seen, mut found, mut by_model) = (0, 0, 0, 0);
        let seeds = failing_seeds(runs, |seed| {
            let run = run(seed, Some(defect));
            let analysis = judge(seed, &run);
            let accused = accused(&run, &analysis);
            let expected = truth::observable(&run);
            struck += u64::from(run.struck.is_some());
            seen += u64::from(!expected.is_empty());
            found += u64::from(!accused.is_empty());
            let label = format!("{defect:?}, seed {seed}: {accused:?}");
            assert!(
                run.struck.is_some() || accused.is_empty(),
                "{label}\n{}",
                run.lines()
            );
            // Who certainly held at once, did so in every order.
            if expected.contains(&Property::MutualExclusion) {
                let judged = analysis.properties[&Property::Model].verdict;
                by_model += u64::from(judged == Verdict::Violated);
                assert_ne!(
                    judged,
                    Verdict::Valid,
                    "{label}, by its model\n{}",
                    run.lines()
                );
            }
            for property in expected {
                let hit = accused.contains(&property);
                assert!(hit, "{label} without {property}\n{}", run.lines());
            }
        });
        failed.extend(seeds.into_iter().map(|seed| (defect, seed)));
        assert!(seen > 0 || runs < 100, "{defect:?} was never to be seen");
        println!(
            "{defect:?}: {struck} injected, {seen} certainly to be seen, {found} accused, \
             {by_model} by models"
        );
        assert!(by_model > 0 || runs < 100 || defect != Defect::DoubleGrant);
        assert!(
            struck > runs / (20 * share),
            "{defect:?} struck {struck} times"
        );
    }
    assert!(failed.is_empty(), "seeds that fail: {failed:?}");
}
