//! One client of one lock: does what it is told and records every operation.

use std::collections::BTreeMap;
use std::time::Duration;

use lockstorm_checker::history::{Event, Function, Kind, Name, Process, Value};
use lockstorm_scenarios::DurationRange;
use rand_chacha::ChaCha8Rng;
use tokio::time::{Instant, sleep, sleep_until};

use crate::locks::{AnyLock, Grant, Lock as _, Outcome};
use crate::recorder::EventSink;
use crate::seed::draw;

/// What a client heard, without the details.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Granted, renewed, released.
    Done,
    /// Refused, or not the owner.
    Denied,
    /// An error of the server's: no effect.
    Failed,
    /// Indeterminate.
    Unknown,
    /// The client is dead.
    Killed,
}

/// A client that is a task of the harness.
pub struct Session {
    owner: Name,
    /// The logical process; after an indeterminate operation a new one goes on.
    process: u64,
    /// How far apart the processes of one client are: the number of clients.
    stride: u64,
    lock: AnyLock,
    lease_ms: u64,
    renew_every: Option<Duration>,
    sink: EventSink,
    rng: ChaCha8Rng,
    /// Keys that this client believes to hold, each with the time of its next renewal.
    held: BTreeMap<Name, Option<Instant>>,
}

/// What a session is made of.
pub struct SessionParts {
    /// Name of the client: the owner of its locks.
    pub name: Name,
    /// Its first process id, below the number of clients.
    pub process: u64,
    /// The number of clients.
    pub clients: u64,
    /// Its side of the lock.
    pub lock: AnyLock,
    /// The lease that it asks for.
    pub lease: Duration,
    /// How often it renews, if it does.
    pub renew_every: Option<Duration>,
    /// Where it records.
    pub sink: EventSink,
    /// Its choices.
    pub rng: ChaCha8Rng,
}

impl Session {
    /// A client that holds nothing.
    pub fn new(parts: SessionParts) -> Self {
        Self {
            owner: parts.name,
            process: parts.process,
            stride: parts.clients,
            lock: parts.lock,
            lease_ms: parts.lease.as_millis() as u64,
            renew_every: parts.renew_every,
            sink: parts.sink,
            rng: parts.rng,
            held: BTreeMap::new(),
        }
    }

    /// One try to get `key`.
    pub async fn acquire(&mut self, key: &Name) -> Reply {
        let lease_ms = Some(self.lease_ms);
        self.record(Kind::Invoke, Function::Acquire, key, lease_ms, None)
            .await;
        let outcome = self.lock.acquire(key).await;
        if matches!(outcome, Outcome::Done(_)) {
            self.held.insert(key.clone(), self.next_renewal());
        }
        self.complete(Function::Acquire, key, Event::REFUSED, outcome)
            .await
    }

    /// Tries again and again until granted, or until `wait` is over or the client is dead. Each
    /// try is an operation of its own; the pauses in between are drawn from `retry`.
    pub async fn acquire_within(
        &mut self,
        key: &Name,
        wait: Duration,
        retry: DurationRange,
    ) -> Reply {
        let deadline = Instant::now() + wait;
        loop {
            let reply = self.acquire(key).await;
            let pause = draw(&mut self.rng, retry);
            let over = Instant::now() + pause > deadline;
            if over || matches!(reply, Reply::Done | Reply::Killed) {
                return reply;
            }
            sleep(pause).await;
        }
    }

    /// Extends the lease of `key`.
    pub async fn renew(&mut self, key: &Name) -> Reply {
        let lease_ms = Some(self.lease_ms);
        self.record(Kind::Invoke, Function::Renew, key, lease_ms, None)
            .await;
        let outcome = self.lock.renew(key).await;
        if matches!(outcome, Outcome::Denied) {
            self.held.remove(key);
        } else if let Some(due) = self.held.get_mut(key) {
            *due = self.renew_every.map(|every| Instant::now() + every);
        }
        self.complete(Function::Renew, key, Event::NOT_OWNER, outcome)
            .await
    }

    /// Gives `key` back.
    pub async fn release(&mut self, key: &Name) -> Reply {
        self.held.remove(key);
        self.record(Kind::Invoke, Function::Release, key, None, None)
            .await;
        let outcome = self.lock.release(key).await;
        self.complete(Function::Release, key, Event::NOT_OWNER, outcome)
            .await
    }

    /// Works in the critical section for `length`, renewing whatever is due meanwhile.
    pub async fn work(&mut self, length: Duration) -> Reply {
        let end = Instant::now() + length;
        while let Some((due, key)) = self.next_due().filter(|(due, _)| *due < end) {
            sleep_until(due).await;
            if self.renew(&key).await == Reply::Killed {
                return Reply::Killed;
            }
        }
        sleep_until(end).await;
        Reply::Done
    }

    /// Waits until a renewal is due; waits for ever if none is. Nothing is lost when the future
    /// is dropped while it waits.
    pub async fn renewal_due(&self) -> Name {
        match self.next_due() {
            Some((due, key)) => {
                sleep_until(due).await;
                key
            }
            None => std::future::pending().await,
        }
    }

    /// Records that the client is alive and goes on believing in its holds.
    pub async fn alive(&self) {
        for key in self.held.keys() {
            self.record(Kind::Note, Function::Alive, key, None, None)
                .await;
        }
    }

    /// The keys that the client believes to hold.
    pub fn held(&self) -> Vec<Name> {
        self.held.keys().cloned().collect()
    }

    fn next_renewal(&self) -> Option<Instant> {
        self.renew_every.map(|every| Instant::now() + every)
    }

    fn next_due(&self) -> Option<(Instant, Name)> {
        self.held
            .iter()
            .filter_map(|(key, due)| Some(((*due)?, key.clone())))
            .min()
    }

    /// Records the completion of an operation and says what it was.
    async fn complete<T: Answer>(
        &mut self,
        function: Function,
        key: &Name,
        denial: &str,
        outcome: Outcome<T>,
    ) -> Reply {
        let (kind, lease_ms, error, reply) = match outcome {
            Outcome::Done(answer) => (Kind::Ok, answer.lease_ms(), None, Reply::Done),
            Outcome::Denied => (Kind::Fail, None, Some(denial.into()), Reply::Denied),
            Outcome::Failed(text) => (Kind::Fail, None, Some(text.into()), Reply::Failed),
            Outcome::Unknown(text) => (Kind::Info, None, Some(text.into()), Reply::Unknown),
            Outcome::Killed => (
                Kind::Info,
                None,
                Some("client killed".into()),
                Reply::Killed,
            ),
        };
        self.record(kind, function, key, lease_ms, error).await;
        if kind == Kind::Info {
            self.process += self.stride;
        }
        reply
    }

    async fn record(
        &self,
        kind: Kind,
        function: Function,
        key: &Name,
        lease_ms: Option<u64>,
        error: Option<Name>,
    ) {
        let owner = Some(self.owner.clone());
        self.sink
            .record(Event {
                index: 0,
                time: self.sink.clock().now(),
                kind,
                process: Process::Client(self.process),
                function,
                key: key.clone(),
                value: Value {
                    owner,
                    lease_ms,
                    ..Value::default()
                },
                error,
                extra: None,
            })
            .await;
    }
}

/// What a reply tells besides its outcome.
trait Answer {
    fn lease_ms(&self) -> Option<u64>;
}

impl Answer for Grant {
    fn lease_ms(&self) -> Option<u64> {
        Some(self.lease.as_millis() as u64)
    }
}

impl Answer for () {
    fn lease_ms(&self) -> Option<u64> {
        None
    }
}
