//! A simulated lock service under load: a history as large as one wishes, and without a fault.
//!
//! Clients ask for a key, wait in line or are refused, hold it for a while, and release it. All
//! times are drawn from one seed, so equal settings give equal histories. Events come out one by
//! one: ten million operations must not be held in memory as events.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use lockstorm_checker::Nanos;
use lockstorm_checker::history::{Event, Function, Kind, Name, Process, Value};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Longer than anybody holds or waits.
const LEASE_MS: u64 = 10_000;
/// Of so many tries that meet a holder, one is refused; the others wait in line.
const REFUSED_ONE_IN: u32 = 4;

/// Size of the simulated storm.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Storm {
    pub(crate) operations: u64,
    pub(crate) clients: usize,
    pub(crate) keys: usize,
}

#[derive(Clone, Copy)]
enum Stage {
    Idle,
    Asking,
    Granted,
    Refused,
    Holding,
    Releasing,
    Released,
}

struct Client {
    stage: Stage,
    key: usize,
    owner: Name,
}

struct Key {
    name: Name,
    is_held: bool,
    line: VecDeque<usize>,
    token: u64,
}

struct Simulation<F> {
    rng: ChaCha8Rng,
    clients: Vec<Client>,
    keys: Vec<Key>,
    /// Time at which each client does its next step.
    due: BinaryHeap<Reverse<(u64, usize)>>,
    refused: Name,
    index: u64,
    take: F,
}

impl Storm {
    /// Hands the events of the storm to `take`, in order. Every operation that was begun is
    /// completed.
    pub(crate) fn events(self, take: impl FnMut(Event)) {
        let mut simulation = Simulation {
            rng: ChaCha8Rng::seed_from_u64(42),
            clients: (0..self.clients)
                .map(|client| Client {
                    stage: Stage::Idle,
                    key: 0,
                    owner: format!("c{client}").into(),
                })
                .collect(),
            keys: (0..self.keys)
                .map(|key| Key {
                    name: format!("key-{key}").into(),
                    is_held: false,
                    line: VecDeque::new(),
                    token: 0,
                })
                .collect(),
            due: (0..self.clients)
                .map(|client| Reverse((client as u64, client)))
                .collect(),
            refused: Event::REFUSED.into(),
            index: 0,
            take,
        };
        let mut begun = 0;
        while let Some(Reverse((now, client))) = simulation.due.pop() {
            let begins = matches!(
                simulation.clients[client].stage,
                Stage::Idle | Stage::Holding
            );
            if begins && begun == self.operations {
                continue;
            }
            begun += u64::from(begins);
            simulation.step(now, client);
        }
    }
}

impl<F: FnMut(Event)> Simulation<F> {
    fn step(&mut self, now: u64, client: usize) {
        let (key, wait) = (
            self.clients[client].key,
            self.rng.random_range(20_000..200_000),
        );
        let next = match self.clients[client].stage {
            Stage::Idle => {
                self.clients[client].key = self.rng.random_range(0..self.keys.len());
                self.emit(now, client, Kind::Invoke, Function::Acquire);
                Stage::Asking
            }
            Stage::Asking if !self.keys[key].is_held => {
                self.keys[key].is_held = true;
                Stage::Granted
            }
            Stage::Asking if self.rng.random_ratio(1, REFUSED_ONE_IN) => Stage::Refused,
            Stage::Asking => {
                self.keys[key].line.push_back(client);
                return;
            }
            Stage::Refused => {
                self.emit(now, client, Kind::Fail, Function::Acquire);
                Stage::Idle
            }
            Stage::Granted => {
                self.emit(now, client, Kind::Ok, Function::Acquire);
                Stage::Holding
            }
            Stage::Holding => {
                self.emit(now, client, Kind::Invoke, Function::Release);
                Stage::Releasing
            }
            Stage::Releasing => {
                let heir = self.keys[key].line.pop_front();
                self.keys[key].is_held = heir.is_some();
                if let Some(heir) = heir {
                    self.clients[heir].stage = Stage::Granted;
                    self.due.push(Reverse((now + wait, heir)));
                }
                Stage::Released
            }
            Stage::Released => {
                self.emit(now, client, Kind::Ok, Function::Release);
                Stage::Idle
            }
        };
        self.clients[client].stage = next;
        self.due.push(Reverse((now + wait, client)));
    }

    fn emit(&mut self, now: u64, client: usize, kind: Kind, function: Function) {
        let Client { key, owner, .. } = &self.clients[client];
        let key = &mut self.keys[*key];
        let mut value = Value::default();
        match (&function, kind) {
            (Function::Acquire, Kind::Invoke) => {
                value.owner = Some(Name::clone(owner));
                value.lease_ms = Some(LEASE_MS);
            }
            (Function::Acquire, Kind::Ok) => {
                key.token += 1;
                value.token = Some(key.token);
            }
            (_, Kind::Invoke) => value.owner = Some(Name::clone(owner)),
            (_, _) => {}
        }
        (self.take)(Event {
            index: self.index,
            time: Nanos(now),
            kind,
            process: Process::Client(client as u64),
            function,
            key: Name::clone(&key.name),
            value,
            error: (kind == Kind::Fail).then(|| Name::clone(&self.refused)),
            extra: None,
        });
        self.index += 1;
    }
}
