//! The sweep against a search through every order, on random small histories.
//!
//! Method: a few owners call a lock at random, over so few instants that ties abound; replies are
//! mostly those of a lock that works, and some are changed at random. Whatever the sweep proves,
//! the search must confirm; what it proves not is counted, so that the test shows something.

use std::collections::HashSet;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Proof, Rules, decide};
use crate::digest::DigestBuilder;
use crate::history::{Event, Function, Header, Kind, Mode, Nanos, Process, Value};
use crate::lease::Drift;
use crate::model::{Call, Model, ModelName, Specification, Values, partitions};
use crate::operation::OpId;

const EXACT: Drift = Drift {
    ppm: 0,
    fixed: Nanos(0),
};

/// Whether there is an order in which all calls are allowed, by trying them all.
fn linearizable<M: Model>(model: &M, calls: &[Call]) -> bool {
    let required: u64 = (0..)
        .zip(calls)
        .filter(|(_, call)| call.is_required())
        .map(|(at, _)| 1 << at)
        .sum();
    let mut seen = HashSet::new();
    let mut open = vec![(0_u64, model.initial())];
    while let Some((done, state)) = open.pop() {
        if done & required == required {
            return true;
        }
        if !seen.insert((done, state.clone())) {
            continue;
        }
        for (at, call) in calls.iter().enumerate() {
            let has = |other: usize| done & (1 << other) != 0;
            let waits =
                |(other, before): (usize, &Call)| !has(other) && before.returned < call.invoked;
            let after = call.after.is_none_or(|before| has(before.0 as usize));
            if has(at) || !after || calls.iter().enumerate().any(waits) {
                continue;
            }
            if let Ok(next) = model.step(&state, call) {
                open.push((done | 1 << at, next));
            }
        }
    }
    false
}

fn searched(specification: &Specification, calls: &[Call]) -> bool {
    match specification {
        Specification::Mutex(model) => linearizable(model, calls),
        Specification::Exclusive(model) => linearizable(model, calls),
        Specification::Semaphore(model) => linearizable(model, calls),
        Specification::ReadWrite(model) => linearizable(model, calls),
        Specification::Register(model) => linearizable(model, calls),
        Specification::Append(model) => linearizable(model, calls),
    }
}

/// What the histories of a test are made of.
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
#[derive(Clone, Copy)]
struct Shape {
    has_leases: bool,
    has_readers: bool,
    has_tokens: bool,
    has_crashes: bool,
    instants: u64,
}

/// A random history of one lock.
fn random(rng: &mut ChaCha8Rng, shape: Shape) -> Vec<Event> {
    let mut events = Vec::new();
    let mut process = 0;
    for owner in ["a", "b", "c"] {
        let mut time = rng.random_range(0..shape.instants / 2);
        let mut holds = false;
        process += 1;
        for _ in 0..rng.random_range(0..5) {
            let odd = rng.random_bool(0.15);
            let function = match (holds != odd, rng.random_bool(0.2)) {
                (true, true) if shape.has_leases => Function::Renew,
                (true, _) => Function::Release,
                (false, _) => Function::Acquire,
            };
            let mut value = Value {
                owner: Some(owner.into()),
                ..Value::default()
            };
            if function == Function::Acquire {
                let leased = shape.has_leases && rng.random_bool(0.7);
                value.lease_ms = leased.then(|| rng.random_range(1..6));
                let reads = shape.has_readers && rng.random_bool(0.5);
                value.mode = reads.then_some(Mode::Read);
                let known = shape.has_tokens && rng.random_bool(0.8);
                value.token = known.then(|| time / 2 + 1);
            }
            let denied = rng.random_bool(0.25);
            let (kind, error) = match rng.random_range(0..10) {
                0 if shape.has_crashes => (Kind::Info, None),
                _ if denied && function == Function::Acquire => (Kind::Fail, Some(Event::REFUSED)),
                _ if denied && odd => (Kind::Fail, Some(Event::NOT_OWNER)),
                _ => (Kind::Ok, None),
            };
            let event = Event {
                index: 0,
                time: Nanos::from_millis(time),
                kind: Kind::Invoke,
                process: Process::Client(process),
                function: function.clone(),
                key: "".into(),
                value,
                error: None,
                extra: None,
            };
            time += rng.random_range(0..3);
            let mut completion = event.clone();
            completion.kind = kind;
            completion.time = Nanos::from_millis(time);
            completion.error = error.map(Into::into);
            events.extend([event, completion]);
            time += rng.random_range(0..3);
            match kind {
                Kind::Info => process += 10,
                Kind::Ok => holds = function != Function::Release,
                Kind::Fail | Kind::Invoke | Kind::Note => {}
            }
        }
    }
    events.sort_by_key(|event| event.time);
    for (index, event) in (0..).zip(&mut events) {
        event.index = index;
    }
    events
}

fn calls(events: &[Event], model: ModelName, values: &mut Values) -> Option<Vec<Call>> {
    let mut builder = DigestBuilder::new(Header::new());
    for event in events {
        builder.push(event);
    }
    let digest = builder.finish();
    let all = (0..digest.operations.len() as u32).map(OpId);
    let parts = partitions(&digest, all, model, EXACT, values).ok()?;
    Some(
        parts
            .into_iter()
            .next()
            .map_or_else(Vec::new, |part| part.calls),
    )
}

/// How often the sweep proved a history legal, proved it illegal, and proved nothing.
fn compare(model: &str, shape: Shape, rounds: u32) -> [u32; 3] {
    let model: ModelName = model.parse().expect("a model");
    let mut rng = ChaCha8Rng::seed_from_u64(17);
    let mut counts = [0; 3];
    for round in 0..rounds {
        let events = random(&mut rng, shape);
        let mut values = Values::default();
        // Where leases cannot be told apart, no model judges.
        let Some(calls) = calls(&events, model, &mut values) else {
            continue;
        };
        let specification = Specification::new(model, 1, &mut values);
        let rules = Rules::of(&specification).expect("a lock");
        let proof = decide(rules, &calls);
        let expected = match proof {
            None => {
                counts[2] += 1;
                continue;
            }
            Some(Proof::Legal) => true,
            Some(Proof::Illegal(_)) => false,
        };
        counts[usize::from(!expected)] += 1;
        assert_eq!(
            searched(&specification, &calls),
            expected,
            "round {round}: {proof:?} of {calls:#?}"
        );
    }
    counts
}

const CALM: Shape = Shape {
    has_leases: false,
    has_readers: false,
    has_tokens: false,
    has_crashes: false,
    instants: 16,
};

/// Histories of each kind: 3,000, or as many as `LOCKSTORM_ROUNDS` says.
fn rounds() -> u32 {
    let named = std::env::var("LOCKSTORM_ROUNDS").ok();
    named.map_or(3000, |rounds| {
        rounds.parse().expect("LOCKSTORM_ROUNDS is a number")
    })
}

#[test]
fn refused_tries_without_crashes_are_decided_as_the_search_decides() {
    let counts = compare("owner-aware", CALM, rounds());
    assert!(counts[0] > 100 && counts[1] > 100, "{counts:?}");
}

#[test]
fn calls_without_an_answer_are_decided_as_the_search_decides() {
    let shape = Shape {
        has_crashes: true,
        ..CALM
    };
    let counts = compare("owner-aware", shape, rounds());
    assert!(counts[0] > 100 && counts[1] > 100, "{counts:?}");
}

#[test]
fn leases_are_decided_as_the_search_decides() {
    let shape = Shape {
        has_leases: true,
        has_crashes: true,
        ..CALM
    };
    let counts = compare("owner-aware", shape, rounds());
    assert!(counts[0] > 100 && counts[1] > 100, "{counts:?}");
}

#[test]
fn the_other_models_are_decided_as_the_search_decides() {
    let shape = Shape {
        has_leases: true,
        has_crashes: true,
        ..CALM
    };
    let shared = Shape {
        has_readers: true,
        ..shape
    };
    let tokens = Shape {
        has_tokens: true,
        ..shape
    };
    let cases = [
        ("mutex", shape),
        ("fenced", tokens),
        ("reentrant:3", shape),
        ("read-write", shared),
        ("semaphore:2", shape),
    ];
    for (model, shape) in cases {
        let counts = compare(model, shape, rounds());
        assert!(counts[0] > 100, "{model}: {counts:?}");
    }
}
