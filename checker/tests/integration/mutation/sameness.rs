//! Changes that must not matter do not: of names, the time of day, other keys, the order of events
//! that nobody can order.

use std::collections::BTreeMap;

use lockstorm_checker::history::History;
use lockstorm_checker::{Analysis, Options, Property, Verdict, check};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::mutation::change::{
    doubled, doubted, of_key, renamed, shifted, shuffled, with_readers_only, without_modes,
    without_phases,
};
use crate::mutation::plan::Defect;
use crate::mutation::world::{lines, run};
use crate::mutation::{for_each_seed, rounds};

/// A run with a defect or without one, and how it is named.
fn history(seed: u64) -> (String, History) {
    let defects = Defect::ALL.len() as u64;
    let defect = Defect::ALL.get((seed % (defects + 2)) as usize).copied();
    let run = run(seed, defect);
    let label = format!("seed {seed}, {defect:?}\n{}", run.lines());
    (label, run.record.history(run.plan.lock))
}

fn judge(history: &History) -> Analysis {
    let options = Options {
        only: Some(Property::ALL.into()),
        ..Options::default()
    };
    check(history, &options)
}

fn answers(analysis: &Analysis) -> BTreeMap<Property, (Verdict, u64)> {
    let properties = analysis.properties.iter();
    properties
        .map(|(&property, judgement)| (property, (judgement.verdict, judgement.count)))
        .collect()
}

fn counts(history: &History) -> BTreeMap<Property, u64> {
    let answers = answers(&judge(history));
    answers
        .into_iter()
        .map(|(property, (_, count))| (property, count))
        .collect()
}

#[test]
fn names_and_the_time_of_day_do_not_matter() {
    for_each_seed(rounds() / 3, |seed| {
        let (label, history) = history(seed);
        let expected = answers(&judge(&history));
        assert_eq!(
            answers(&judge(&renamed(&history))),
            expected,
            "renamed, {label}"
        );
        assert_eq!(
            answers(&judge(&shifted(&history))),
            expected,
            "shifted, {label}"
        );
    });
}

#[test]
fn the_order_of_simultaneous_events_does_not_matter() {
    for_each_seed(rounds() / 3, |seed| {
        let (label, history) = history(seed);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let expected = answers(&judge(&history));
        let shuffled = shuffled(&history, &mut rng);
        assert_eq!(answers(&judge(&shuffled)), expected, "{label}");
    });
}

#[test]
fn each_key_is_judged_as_if_it_were_alone() {
    for_each_seed(rounds() / 3, |seed| {
        let (label, history) = history(seed);
        let plain = without_phases(&history);
        let whole = counts(&plain);
        let parts = ["key-0", "key-1"].map(|key| counts(&of_key(&plain, key)));
        let twice = counts(&doubled(&plain));
        for (property, &count) in &whole {
            // Whoever works with one key is alive for the others.
            if *property == Property::LeaseOverrun {
                continue;
            }
            let sum = parts[0][property] + parts[1][property];
            assert_eq!(sum, count, "{property} by key, {label}");
            assert_eq!(
                twice[property],
                2 * count,
                "{property} beside a copy, {label}"
            );
        }
    });
}

#[test]
fn an_answer_that_is_lost_accuses_nobody() {
    for_each_seed(rounds(), |seed| {
        let (label, history) = history(seed);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let before = counts(&history);
        let doubted = doubted(&history, &mut rng);
        for (property, count) in counts(&doubted) {
            // A client that is not answered may look as if it worked on after its lease.
            let counts_anew = matches!(property, Property::LeaseOverrun | Property::Liveness);
            // Where two held, and one of the grants is in doubt now, its release took the other's.
            let shifts = property == Property::Ownership && before[&Property::MutualExclusion] > 0;
            let accused = count > 0 && before[&property] == 0 && !shifts;
            let told = || format!("{property}, {label}\nin doubt:\n{}", lines(&doubted));
            assert!(counts_anew || !accused, "{}", told());
        }
    });
}

#[test]
fn modes_that_are_not_named_accuse_nobody() {
    let (mut found, mut whole) = (0, 0);
    for_each_seed(rounds(), |seed| {
        let defect = [None, Some(Defect::ReadReleaseFreesWriter)][seed as usize % 2];
        let run = run(seed, defect);
        let history = run.record.history(run.plan.lock);
        let before = counts(&history);
        let usual = with_readers_only(&history);
        let mut judged = Vec::new();
        for changed in [&usual, &without_modes(&history)] {
            let after = counts(changed);
            for (property, &count) in &after {
                let told = || {
                    format!(
                        "{property}, seed {seed}, {}\n{}",
                        judge(changed).properties[property].witnesses[0].claim,
                        lines(changed)
                    )
                };
                assert!(count == 0 || before[property] > 0, "{}", told());
            }
            judged.push(after);
        }
        found += u64::from(judged[0][&Property::MutualExclusion] > 0);
        whole += u64::from(before[&Property::MutualExclusion] > 0);
    });
    println!("{found} of {whole} violations are seen where a writer is not called one");
    // Before a reader first said that it is one, nobody can tell.
    assert!(
        found <= whole && 10 * found >= 9 * whole,
        "{found} of {whole}"
    );
}
