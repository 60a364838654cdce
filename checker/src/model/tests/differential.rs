//! The comparisons themselves.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use lockstorm_linearizability::exact::{Proof, Rules, decide};
use lockstorm_linearizability::{
    Budget, Call, Decision, ModelName, Specification, Values, minimal, search,
};

use crate::history::{Event, Header, Mode, Nanos};
use crate::model::{partitions, told_apart};
use crate::operations::{DigestBuilder, Drift, OpId};

use super::events::{self, Deed};
use super::naive::searched;
use super::random::{Shape, random};
use super::served::{Service, served};
use super::small::{every, scripts};

const EXACT: Drift = Drift {
    ppm: 0,
    fixed: Nanos(0),
};

/// A search as long and as wide as it needs.
const UNBOUNDED: Budget = Budget {
    steps: u64::MAX,
    configurations: usize::MAX,
    bytes: usize::MAX,
};

/// The calls of these operations, or of all.
fn calls(
    events: &[Event],
    chosen: Option<Vec<OpId>>,
    model: ModelName,
    values: &mut Values,
) -> Option<Vec<Call>> {
    let mut builder = DigestBuilder::new(Header::new());
    for event in events {
        builder.push(event);
    }
    let digest = builder.finish();
    let all = || digest.ids().collect();
    let chosen: Vec<OpId> = chosen.unwrap_or_else(all);
    let chosen = chosen.into_iter();
    told_apart(&digest, chosen.clone(), model, EXACT).ok()?;
    let parts = partitions(&digest, chosen, model, EXACT, values).ok()?;
    let first = parts.into_iter().next();
    Some(first.map_or_else(Vec::new, |part| part.calls))
}

/// Searches that confirm what the sweep proves.
#[derive(Clone, Copy)]
struct Against {
    /// The search, where the histories are small.
    naive: bool,
    frontier: bool,
}

/// Numbers of histories that the sweep proved legal, proved illegal, and proved nothing of.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    legal: u32,
    illegal: u32,
    /// Of these, how often it showed what is enough to see it.
    shown: u32,
    open: u32,
}

impl Counts {
    /// Lets the sweep decide a history, and the others confirm it.
    fn take(&mut self, model: &str, events: &[Event], against: Against) {
        let name: ModelName = model.parse().expect("a model");
        let mut values = Values::default();
        // Where leases cannot be told apart, no model judges.
        let Some(all) = calls(events, None, name, &mut values) else {
            return;
        };
        let specification = Specification::new(name, 1, &mut values);
        let rules = Rules::of(&specification).expect("a lock");
        let proof = decide(rules, &all);
        let is_legal = match &proof {
            None => {
                self.open += 1;
                return;
            }
            Some(Proof::Legal) => true,
            Some(Proof::Illegal { .. }) => false,
        };
        if is_legal {
            self.legal += 1;
        } else {
            self.illegal += 1;
        }
        if let Some(Proof::Illegal { due, shown }) = &proof {
            let operations = minimal(&specification, &all, *due, shown);
            self.shown += u32::from(operations.is_some());
            let alone = operations.and_then(|ids| {
                calls(
                    events,
                    Some(ids.into_iter().map(OpId::from).collect()),
                    name,
                    &mut values,
                )
            });
            let is_shown = alone.is_none_or(|alone| !searched(&specification, &alone));
            assert!(is_shown, "{model}: {proof:?} of {all:#?}");
        }
        let told = || format!("{model}: {proof:?} of {all:#?}");
        if against.naive {
            assert_eq!(searched(&specification, &all), is_legal, "{}", told());
        }
        if against.frontier {
            let decision = search(&specification, all.iter(), &UNBOUNDED);
            assert_eq!(decision == Decision::Legal, is_legal, "{}", told());
        }
    }
}

const BOTH: Against = Against {
    naive: true,
    frontier: true,
};
const FRONTIER: Against = Against {
    naive: false,
    frontier: true,
};

/// Histories of each kind: 1,500, or as many as `LOCKSTORM_ROUNDS` says.
fn rounds() -> u64 {
    let named = std::env::var("LOCKSTORM_ROUNDS").ok();
    named.map_or(1500, |rounds| {
        rounds.parse().expect("LOCKSTORM_ROUNDS is a number")
    })
}

/// Instants of the histories that are all tried: one more where there is time.
fn instants() -> u64 {
    if rounds() < 30_000 { 3 } else { 4 }
}

fn compare_random(model: &str, shape: Shape) -> Counts {
    let mut rng = ChaCha8Rng::seed_from_u64(17);
    let mut counts = Counts::default();
    for _ in 0..rounds() {
        counts.take(model, &random(&mut rng, shape), BOTH);
    }
    counts
}

fn compare_served(model: &str, service: Service) -> Counts {
    let mut counts = Counts::default();
    for seed in 0..rounds() / 4 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let service = Service {
            lies: if seed % 2 == 0 { 0.0 } else { service.lies },
            ..service
        };
        counts.take(model, &served(&mut rng, service), FRONTIER);
    }
    counts
}

fn compare_every(model: &str, deeds: &[&[Deed]], owners: usize, instants: u64) -> Counts {
    let mut counts = Counts::default();
    every(&scripts(deeds, instants), owners, &mut |events| {
        counts.take(model, events, BOTH);
    });
    counts
}

const CALM: Shape = Shape {
    has_leases: false,
    has_readers: false,
    has_tokens: false,
    has_crashes: false,
    instants: 16,
};

const LEASED: Shape = Shape {
    has_leases: true,
    has_crashes: true,
    ..CALM
};

#[test]
fn refused_tries_without_crashes_are_decided_as_the_search_decides() {
    let counts = compare_random("owner-aware", CALM);
    assert!(counts.legal > 50 && counts.illegal > 50, "{counts:?}");
    // Of what is decided by calls that return in the same instant, the frontier tells more.
    assert!(counts.shown > counts.illegal / 2, "{counts:?}");
}

#[test]
fn calls_without_an_answer_are_decided_as_the_search_decides() {
    let shape = Shape {
        has_crashes: true,
        ..CALM
    };
    let counts = compare_random("owner-aware", shape);
    assert!(counts.legal > 50 && counts.illegal > 50, "{counts:?}");
}

#[test]
fn leases_are_decided_as_the_search_decides() {
    let counts = compare_random("owner-aware", LEASED);
    assert!(counts.legal > 50 && counts.illegal > 50, "{counts:?}");
}

#[test]
fn the_other_models_are_decided_as_the_search_decides() {
    let shared = Shape {
        has_readers: true,
        ..LEASED
    };
    let tokens = Shape {
        has_tokens: true,
        ..LEASED
    };
    let cases = [
        ("mutex", LEASED),
        ("fenced", tokens),
        ("reentrant:3", LEASED),
        ("read-write", shared),
        ("semaphore:1", LEASED),
        ("semaphore:2", LEASED),
    ];
    for (model, shape) in cases {
        let counts = compare_random(model, shape);
        assert!(counts.legal > 50, "{model}: {counts:?}");
    }
}

use Deed::{AskedFor, Granted, MayBeReleased, NotOwner, Refused, Released};
const W: Mode = Mode::Write;
const R: Mode = Mode::Read;

#[test]
fn every_small_history_of_three_owners_is_decided_as_the_search_decides() {
    let deeds: [&[Deed]; 8] = [
        &[Granted(W, None)],
        &[Granted(W, None), Released],
        &[Granted(W, Some(1))],
        &[Granted(W, Some(1)), NotOwner],
        &[Granted(W, None), MayBeReleased],
        &[Refused(W)],
        &[AskedFor(W, None)],
        &[AskedFor(W, Some(1))],
    ];
    let counts = compare_every("owner-aware", &deeds, 3, instants());
    assert!(counts.legal > 1000 && counts.illegal > 1000, "{counts:?}");
}

#[test]
fn every_way_in_which_phantoms_explain_refusals_is_found() {
    let deeds: [&[Deed]; 3] = [
        &[Granted(W, None), Released],
        &[Refused(W)],
        &[AskedFor(W, Some(2))],
    ];
    // Of short calls only, for there are many.
    let mut short = scripts(&deeds, instants() + 1);
    short.retain(|script| script.iter().all(|(_, sent, answered)| sent == answered));
    let mut counts = Counts::default();
    every(&short, 5, &mut |events| {
        counts.take("owner-aware", events, BOTH);
    });
    assert!(counts.legal > 1000 && counts.illegal > 1000, "{counts:?}");
}

#[test]
fn every_small_history_of_readers_and_writers_is_decided_as_the_search_decides() {
    let deeds: [&[Deed]; 6] = [
        &[Granted(W, None), Released],
        &[Granted(R, None), Released],
        &[Granted(W, Some(1))],
        &[Granted(R, Some(1))],
        &[Refused(W)],
        &[Refused(R)],
    ];
    let counts = compare_every("read-write", &deeds, 3, instants());
    assert!(counts.legal > 1000 && counts.illegal > 1000, "{counts:?}");
    // Of short calls only, for there are many.
    let mut short = scripts(&deeds, instants());
    short.retain(|script| script.iter().all(|(_, sent, answered)| sent == answered));
    let mut counts = Counts::default();
    every(&short, 4, &mut |events| {
        counts.take("read-write", events, BOTH);
    });
    assert!(counts.legal > 1000 && counts.illegal > 1000, "{counts:?}");
}

#[test]
fn who_may_have_entered_again_without_an_answer_may_lose_the_lock_sooner() {
    let deeds: [&[Deed]; 4] = [
        &[Granted(W, Some(3)), AskedFor(W, Some(1))],
        &[Granted(W, None), AskedFor(W, None)],
        &[AskedFor(W, None)],
        &[Granted(W, None), Released],
    ];
    let counts = compare_every("reentrant:3", &deeds, 2, 5);
    assert!(counts.legal > 100 && counts.illegal > 100, "{counts:?}");
}

#[test]
fn a_release_that_ends_as_another_process_of_its_owner_acquires_may_be_of_that_hold() {
    let mut events: Vec<Event> = [
        events::call(0, 0, Granted(W, Some(2)), 0, 0),
        events::call(0, 0, Released, 1, 5),
        events::call(0, 9, AskedFor(W, Some(100)), 5, 5),
        events::call(1, 1, Refused(W), 4, 5),
        events::call(2, 2, Granted(W, None), 8, 9),
    ]
    .into_iter()
    .flatten()
    .collect();
    events = events::in_order(events);
    let mut counts = Counts::default();
    counts.take("owner-aware", &events, BOTH);
    assert_eq!((counts.illegal, counts.legal + counts.open), (0, 1));
}

const SERVICE: Service = Service {
    permits: 1,
    has_readers: false,
    has_leases: false,
    crashes: 0.0,
    lies: 0.04,
    owners: 6,
    deeds: 8,
    pause: 2,
};

#[test]
fn what_a_lock_serves_is_decided_as_the_frontier_decides() {
    let leased = Service {
        has_leases: true,
        crashes: 0.04,
        ..SERVICE
    };
    let shared = Service {
        has_readers: true,
        ..leased
    };
    let permits = Service {
        permits: 2,
        ..leased
    };
    let cases = [
        ("owner-aware", SERVICE),
        ("owner-aware", leased),
        ("mutex", leased),
        ("fenced", leased),
        ("reentrant:3", leased),
        ("read-write", shared),
        ("semaphore:2", permits),
    ];
    for (model, service) in cases {
        let counts = compare_served(model, service);
        let enough = rounds() as u32 / 200;
        let is_plain = matches!(model, "owner-aware" | "fenced" | "read-write");
        assert!(counts.legal > enough || !is_plain, "{model}: {counts:?}");
        assert!(counts.illegal > enough || !is_plain, "{model}: {counts:?}");
    }
}
