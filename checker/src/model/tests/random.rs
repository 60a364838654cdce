//! Random small histories: replies are mostly those of a lock that works.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::history::{Event, Function, Kind, Mode, Nanos, Process, Value};

/// Parameters of the histories of a test.
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) has_leases: bool,
    pub(super) has_readers: bool,
    pub(super) has_tokens: bool,
    pub(super) has_crashes: bool,
    pub(super) instants: u64,
}

/// A random history of one lock.
pub(super) fn random(rng: &mut ChaCha8Rng, shape: Shape) -> Vec<Event> {
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
                // Another process goes on for the same owner: ties are in no order then.
                _ if rng.random_bool(0.1) => process += 10,
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
