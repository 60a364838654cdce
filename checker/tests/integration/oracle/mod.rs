//! The checker against four judges that share nothing with it.
//!
//! - `cells`, `past`: the definitions, read one millisecond at a time and one pair at a time;
//! - `stuck`: the same of the final phase;
//! - `linear`: a search over all orders in which operations may have taken effect;
//! - `server`: a simulated lock that keeps its promises, and must never be accused.
//!
//! Method: all histories of a small scope, and random ones of a larger scope. A failure prints the
//! history and its seed; equal seeds give equal histories.

mod cells;
mod linear;
mod ops;
mod past;
mod random;
mod server;
mod stuck;

use lockstorm_checker::{Analysis, Drift, Nanos, Options, Property, Verdict, check};

use crate::oracle::ops::{Act, End, Op, history, show};

/// Random histories of each kind: 10,000, or as many as `LOCKSTORM_ROUNDS` says. With the
/// exhaustive ones they are more than a hundred thousand.
fn rounds() -> u64 {
    let named = std::env::var("LOCKSTORM_ROUNDS").ok();
    named.map_or(10_000, |rounds| {
        rounds.parse().expect("LOCKSTORM_ROUNDS is a number")
    })
}

/// One millisecond of drift: floor and ceiling never coincide.
fn options() -> Options {
    Options {
        only: Some(Property::ALL.into()),
        drift: Some(Drift {
            ppm: 0,
            fixed: Nanos::from_millis(cells::DRIFT),
        }),
        ..Options::default()
    }
}

/// Prints what was judged when a judge panics, so that no failure is without its history.
struct Shown<'a>(String, &'a [Op]);

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("{}:\n{}", self.0, show(self.1));
        }
    }
}

fn judge(ops: &[Op]) -> Analysis {
    check(&history(ops), &options())
}

fn count(analysis: &Analysis, property: Property) -> u64 {
    let judgement = &analysis.properties[&property];
    assert_eq!(judgement.count > 0, judgement.verdict == Verdict::Violated);
    assert_eq!(judgement.count.min(5), judgement.witnesses.len() as u64);
    judgement.count
}

/// The three counts must be those of the definitions.
fn agrees_with_the_definitions(ops: &[Op], label: String) {
    let _shown = Shown(label, ops);
    let analysis = judge(ops);
    let expected = cells::judge(ops);
    for (property, expected) in [
        (Property::MutualExclusion, expected.exclusion),
        (Property::LeaseOverrun, expected.overrun),
        (Property::LostLock, expected.lost),
        (Property::DeadOnArrival, expected.dead),
    ] {
        assert_eq!(count(&analysis, property), expected, "{property}");
    }
    let certain = analysis.properties[&Property::LeaseOverrun]
        .witnesses
        .iter()
        .filter(|witness| witness.certain)
        .count() as u64;
    assert!(certain <= expected.certain);
    if expected.overrun <= 5 {
        assert_eq!(certain, expected.certain);
    }
}

/// Times of one session on a clock of four ticks: sent ≤ answered ≤ sent ≤ answered.
fn sessions() -> Vec<[u64; 4]> {
    let mut all = Vec::new();
    for a in 0..4 {
        for b in a..4 {
            for c in b..4 {
                for d in c..4 {
                    all.push([a, b, c, d]);
                }
            }
        }
    }
    all
}

#[test]
fn every_pair_of_short_sessions_is_judged_as_the_definitions_say() {
    let acquires = [End::Ok, End::Unknown];
    let releases = [Some(End::Ok), Some(End::NotOwner), Some(End::Unknown), None];
    let mut shapes = Vec::new();
    for acquire in acquires {
        for release in releases {
            for lease in [None, Some(2)] {
                shapes.push((acquire, release, lease));
            }
        }
    }
    let times = sessions();
    let mut judged = 0;
    // Both orders of a pair are the same pair.
    for (first, a) in shapes.iter().enumerate() {
        for b in &shapes[first..] {
            for (at, s) in times.iter().enumerate() {
                // A third of the partners, another third for each session, keeps this to seconds.
                for t in times.iter().skip(at % 3).step_by(3) {
                    let mut ops = session(0, *a, *s);
                    ops.extend(session(1, *b, *t));
                    agrees_with_the_definitions(&ops, "a pair".to_owned());
                    judged += 1;
                }
            }
        }
    }
    assert!(judged > 50_000, "only {judged} pairs");
}

fn session(owner: u8, shape: (End, Option<End>, Option<u64>), times: [u64; 4]) -> Vec<Op> {
    let (acquire, release, lease) = shape;
    let mut ops = vec![Op {
        lease,
        ..Op::new(owner, Act::Acquire, times[0], times[1], acquire)
    }];
    ops.extend(release.map(|end| Op::new(owner, Act::Release, times[2], times[3], end)));
    ops
}

#[test]
fn random_histories_are_judged_as_the_definitions_say() {
    let mut violated = [0; 4];
    for seed in 0..2 * rounds() {
        let ops = random::ops(seed);
        agrees_with_the_definitions(&ops, format!("seed {seed}"));
        let expected = cells::judge(&ops);
        for (total, count) in violated.iter_mut().zip([
            expected.exclusion,
            expected.overrun,
            expected.lost,
            expected.dead,
        ]) {
            *total += u64::from(count > 0);
        }
    }
    // The comparison says little where nothing is ever violated, or everything.
    for total in violated {
        assert!(
            (rounds() / 20..2 * rounds()).contains(&total),
            "{violated:?}"
        );
    }
}

#[test]
fn without_leases_a_violation_is_a_history_that_no_order_explains() {
    let mut violated = 0;
    for seed in 0..rounds() {
        let ops = random::sessions(seed);
        let _shown = Shown(format!("seed {seed}"), &ops);
        let found = count(&judge(&ops), Property::MutualExclusion) > 0;
        assert_eq!(found, !linear::explained(&ops));
        violated += u64::from(found);
    }
    assert!((rounds() / 20..rounds()).contains(&violated), "{violated}");
}

#[test]
fn a_lock_that_keeps_its_promises_is_never_accused() {
    let mut granted = 0;
    for seed in 0..rounds() {
        let ops = server::run(seed, server::Defect::None);
        let _shown = Shown(format!("seed {seed}"), &ops);
        let analysis = judge(&ops);
        granted += analysis.coverage.granted;
        for property in [
            Property::MutualExclusion,
            Property::LostLock,
            Property::Ownership,
        ] {
            assert_eq!(count(&analysis, property), 0, "{property}");
        }
    }
    assert!(granted > 2 * rounds(), "{granted} grants");
}

#[test]
fn a_lock_that_forgets_is_found_out() {
    let mut found = 0;
    for seed in 0..rounds() {
        let ops = server::run(seed, server::Defect::Forgets);
        let _shown = Shown(format!("seed {seed}"), &ops);
        let analysis = judge(&ops);
        found += u64::from(analysis.properties[&Property::MutualExclusion].count > 0);
        found += u64::from(analysis.properties[&Property::LostLock].count > 0);
    }
    assert!(found > rounds() / 10, "{found} of {}", rounds());
}

#[test]
fn a_witness_cites_what_it_rests_on_and_no_more() {
    let mut tried = crate::carried::Tried::new();
    for seed in 0..rounds() / 10 {
        let ops = random::ops(seed);
        let label = format!("seed {seed}");
        let _shown = Shown(label.clone(), &ops);
        crate::carried::carries(&history(&ops), &options(), &label, &mut tried);
    }
    println!("{tried:?}");
    let often = |property| tried.get(&property).copied().unwrap_or(0) >= rounds() / 200;
    let judged = [
        Property::MutualExclusion,
        Property::LeaseOverrun,
        Property::LostLock,
        Property::SpuriousRefusal,
    ];
    for property in judged {
        assert!(often(property), "{property}: {tried:?}");
    }
}

#[test]
fn random_endings_are_judged_as_the_definition_of_liveness_says() {
    let mut seen = [0; 3];
    for seed in 0..2 * rounds() {
        let ending = stuck::ending(seed);
        let _shown = Shown(format!("ending {seed}"), &ending.ops);
        let options = Options {
            liveness_bound: Some(Nanos::from_millis(ending.bound)),
            only: Some([Property::Liveness].into()),
            ..options()
        };
        let analysis = check(&ending.history(), &options);
        let verdict = analysis.properties[&Property::Liveness].verdict;
        assert_eq!(verdict, ending.judge());
        seen[verdict as usize] += 1;
    }
    assert!(seen.iter().all(|&count| count > 500), "{seen:?}");
}
