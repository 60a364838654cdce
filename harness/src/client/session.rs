//! One client of one lock: does what it is told and records every operation.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use lockstorm_checker::Nanos;
use lockstorm_checker::history::{
    Event, Function, Giver, Givers, Kind, Mode, Name, Process, Value,
};
use lockstorm_nemesis::messages::{Messages, UnderWay};
use lockstorm_scenarios::{DurationRange, LockOperation};
use rand_chacha::ChaCha8Rng;
use tokio::time::{Instant, sleep_until};

use super::holds::Holds;
use super::job::{Job, STALE};
use crate::client::AnyLock;
use crate::connection::{CLIENT_KILLED, Gate};
use crate::locks::{
    BatchRenewal as _, Grant, Lock as _, LockRequest, Outcome, Provenance as _, Released,
    Waiting as _,
};
use crate::recorder::{EventSink, MAIN, Processes};
use crate::seed::draw;
use crate::trace::{Roles, Watch};

/// Reply that a client heard, without the details.
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

/// A client as the harness sees it: its orders are given here, and what comes of them is recorded.
/// Its side of the lock is in this very task, or in a process of its own.
pub struct Session {
    pub(super) owner: Name,
    processes: Processes,
    pub(super) lock: AnyLock,
    pub(super) gate: Arc<Gate>,
    lease_ms: Option<u64>,
    pub(super) sink: EventSink,
    rng: ChaCha8Rng,
    /// Locks that this client believes it holds.
    holds: Holds,
    /// The fencing token of its last grant of each key that came with one.
    pub(super) tokens: BTreeMap<Name, u64>,
    /// Work that it does with the guarded resource, if there is one.
    pub(super) job: Option<Job>,
    /// Role of each server.
    roles: Option<Arc<Roles>>,
    /// `true` if its library has no watchdog, so that the rounds of one are the harness's own.
    lacks_watchdog: bool,
    /// Watch that asks the servers what they know, if there is one.
    watch: Option<Arc<Watch>>,
    /// The messages of the run, where they are read: told what this client is doing.
    messages: Option<Arc<Messages>>,
}

/// Parts that a session is made of.
pub struct SessionParts {
    /// Name of the client: the owner of its locks.
    pub name: Name,
    /// Its first process id, below the number of clients.
    pub process: u64,
    /// The number of clients.
    pub clients: u64,
    /// Its side of the lock.
    pub lock: AnyLock,
    /// Gate that it passes before it does anything: a client that stands still begins nothing.
    pub gate: Arc<Gate>,
    /// The lease that it asks for, if there is one.
    pub lease: Option<Duration>,
    /// Interval at which it renews, if it is for the session to do so.
    pub renew_every: Option<Duration>,
    /// `true` if its library has no watchdog, so that the rounds of one are the harness's own.
    pub lacks_watchdog: bool,
    /// `true` if it goes on renewing after a release.
    pub renews_on: bool,
    /// Sink that it records its events in.
    pub sink: EventSink,
    /// Its choices.
    pub rng: ChaCha8Rng,
    /// Work that it does with the guarded resource, if there is one.
    pub job: Option<Job>,
}

impl Session {
    /// A client that holds nothing.
    pub fn new(parts: SessionParts) -> Self {
        Self {
            owner: parts.name,
            processes: Processes::new(parts.process, parts.clients),
            lock: parts.lock,
            gate: parts.gate,
            lease_ms: parts.lease.map(|lease| lease.as_millis() as u64),
            sink: parts.sink,
            rng: parts.rng,
            lacks_watchdog: parts.lacks_watchdog,
            holds: Holds::new(parts.renew_every, parts.renews_on),
            tokens: BTreeMap::new(),
            job: parts.job,
            roles: None,
            watch: None,
            messages: None,
        }
    }

    /// Tells those who read the messages of the run what the client is doing when it sends one.
    #[must_use]
    pub fn overheard(mut self, messages: Option<Arc<Messages>>) -> Self {
        self.messages = messages;
        self
    }

    /// The operation is under way until what this returns is dropped.
    fn begin(&self, operation: LockOperation) -> Option<UnderWay> {
        let messages = self.messages.as_ref();
        messages.map(|messages| messages.begin(&self.owner, operation))
    }

    /// Makes the client known to the watch that asks the servers about it, if there is one.
    #[must_use]
    pub fn watched(mut self, watch: Option<Arc<Watch>>) -> Self {
        if let Some(watch) = &watch {
            watch.marks().note(self.owner.to_string(), &self.owner);
        }
        self.watch = watch;
        self
    }

    /// Makes the client's grants say what role each server had that gave them.
    #[must_use]
    pub fn knowing(mut self, roles: Arc<Roles>) -> Self {
        self.roles = Some(roles);
        self
    }

    /// One try to get `key`.
    pub async fn acquire(&mut self, key: &Name, ask: LockRequest) -> Reply {
        if self.gate.pass().await.is_err() {
            return Reply::Killed;
        }
        let _under_way = self.begin(LockOperation::Acquire);
        let asked = self.asked(ask);
        self.record(MAIN, Kind::Invoke, Function::Acquire, key, asked, None)
            .await;
        let outcome = self.lock.acquire(key, ask).await;
        self.acquired(key, ask, outcome).await
    }

    /// Keeps what was granted, and records how an acquire ended.
    async fn acquired(&mut self, key: &Name, ask: LockRequest, outcome: Outcome<Grant>) -> Reply {
        if let Some(watch) = &self.watch {
            for mark in self.lock.marks(key) {
                watch.marks().note(mark, &self.owner);
            }
        }
        if let Outcome::Done(grant) = &outcome {
            if let Some(token) = grant.token {
                self.tokens.insert(key.clone(), token);
            }
            self.hear_of_losses().await;
            self.holds.granted(key, ask);
        }
        let outcome = match outcome {
            Outcome::Done(grant) => Outcome::Done((grant, self.givers().await)),
            Outcome::Denied => Outcome::Denied,
            Outcome::Failed(text) => Outcome::Failed(text),
            Outcome::Unknown(text) => Outcome::Unknown(text),
            Outcome::Killed => Outcome::Killed,
        };
        self.complete(MAIN, Function::Acquire, key, ask, outcome)
            .await
    }

    /// Returns the servers that gave the last grant, and what each of them is.
    async fn givers(&mut self) -> Option<Box<Givers>> {
        let nodes = self.lock.granted_by();
        if nodes.is_empty() {
            return None;
        }
        Some(Box::new(match &self.roles {
            Some(roles) => roles.of_givers(nodes).await,
            None => nodes.into_iter().map(Giver::unknown).collect(),
        }))
    }

    /// Tries again and again until granted, or until the wait is over or the client is dead. When
    /// it may be worth a try is for the lock to say, which by default pauses as long as `retry`
    /// says.
    pub async fn acquire_within(
        &mut self,
        key: &Name,
        ask: LockRequest,
        retry: DurationRange,
    ) -> Reply {
        let _under_way = self.begin(LockOperation::Acquire);
        let deadline = Instant::now() + ask.wait.unwrap_or_default();
        if self.lock.waits() {
            return self.acquire(key, ask).await;
        }
        if self.lock.has_queue() {
            return self.acquire_in_turn(key, ask, retry, deadline).await;
        }
        loop {
            // Each try is an operation of its own.
            let reply = self.acquire(key, ask).await;
            let over = Instant::now() >= deadline;
            if over || matches!(reply, Reply::Done | Reply::Killed) {
                self.lock.end_wait(key, reply == Reply::Done).await;
                return reply;
            }
            self.await_turn(key, retry, deadline).await;
        }
    }

    /// Waits until it may be worth to ask for `key` again; what is held meanwhile is renewed.
    async fn await_turn(&mut self, key: &Name, retry: DurationRange, deadline: Instant) {
        let pause = draw(&mut self.rng, retry);
        let due = self.holds.next_round();
        let until = due.map_or(deadline, |due| due.min(deadline));
        self.lock.await_turn(key, pause, until).await;
        if due.is_some_and(|due| due <= Instant::now()) {
            // Should the client die of it, its next try says so.
            self.renew_all().await;
        }
    }

    /// Takes a place in the queue and waits for its turn. All its tries are one operation: who is
    /// refused has given up, and who stands in the queue has not.
    async fn acquire_in_turn(
        &mut self,
        key: &Name,
        ask: LockRequest,
        retry: DurationRange,
        deadline: Instant,
    ) -> Reply {
        if self.gate.pass().await.is_err() {
            return Reply::Killed;
        }
        let asked = self.asked(ask);
        self.record(MAIN, Kind::Invoke, Function::Acquire, key, asked, None)
            .await;
        let invoked = Instant::now();
        let outcome = loop {
            let waited = invoked.elapsed();
            let outcome = self.lock.acquire(key, ask).await;
            if self.lock.queued(key) {
                self.note(Function::Queued, key, ask, None).await;
            }
            match outcome {
                Outcome::Denied if Instant::now() < deadline => {
                    self.await_turn(key, retry, deadline).await;
                }
                Outcome::Done(grant) => break Outcome::Done(Grant { waited, ..grant }),
                outcome => break outcome,
            }
        };
        let granted = matches!(outcome, Outcome::Done(_));
        if !granted {
            self.lock.end_wait(key, false).await;
        }
        let reply = self.acquired(key, ask, outcome).await;
        if granted {
            self.lock.end_wait(key, true).await;
        }
        reply
    }

    /// Extends the lease of `key`.
    pub async fn renew(&mut self, key: &Name, mode: Mode) -> Reply {
        if self.gate.pass().await.is_err() {
            return Reply::Killed;
        }
        let ask = LockRequest {
            mode,
            ..LockRequest::default()
        };
        let _under_way = self.begin(LockOperation::Renew);
        self.ask_renewal(MAIN, key, ask, false).await;
        let outcome = self.lock.renew(key, ask).await;
        self.renewed(MAIN, key, ask, outcome).await
    }

    /// A round of the watchdog: extends the leases of all that the client holds, as many at once as
    /// the lock can. What turns out to be lost is held no more. A watchdog that is stalled lets the
    /// round go by.
    pub async fn renew_all(&mut self) -> Reply {
        if self.gate.pass().await.is_err() {
            return Reply::Killed;
        }
        let leases = self.holds.begin_round();
        if !self.gate.renewals_may_pass(leases.len() as u64) {
            return Reply::Done;
        }
        let _under_way = self.begin(LockOperation::Renew);
        for batch in leases.chunks(self.lock.renewal_batch()) {
            for (lane, (key, ask)) in (MAIN + 1..).zip(batch) {
                let by_harness = self.lacks_watchdog;
                self.ask_renewal(lane, key, *ask, by_harness).await;
            }
            let outcomes = self.lock.renew_batch(batch).await;
            let mut killed = false;
            for ((lane, (key, ask)), outcome) in (MAIN + 1..).zip(batch).zip(outcomes) {
                killed |= self.renewed(lane, key, *ask, outcome).await == Reply::Killed;
            }
            if killed {
                return Reply::Killed;
            }
        }
        Reply::Done
    }

    async fn ask_renewal(&mut self, lane: usize, key: &Name, ask: LockRequest, by_harness: bool) {
        let asked = Value {
            lease_ms: self.lease_ms,
            by_harness,
            ..self.value(ask)
        };
        self.record(lane, Kind::Invoke, Function::Renew, key, asked, None)
            .await;
    }

    async fn renewed(
        &mut self,
        lane: usize,
        key: &Name,
        ask: LockRequest,
        outcome: Outcome<Grant>,
    ) -> Reply {
        if matches!(outcome, Outcome::Denied) {
            self.holds.gone(key, ask.mode);
        }
        self.complete(lane, Function::Renew, key, ask, outcome)
            .await
    }

    /// Gives `key` back once.
    pub async fn release(&mut self, key: &Name, ask: LockRequest) -> Reply {
        if self.gate.pass().await.is_err() {
            return Reply::Killed;
        }
        let _under_way = self.begin(LockOperation::Release);
        self.holds.releasing(key, ask.mode);
        self.record(
            MAIN,
            Kind::Invoke,
            Function::Release,
            key,
            self.value(ask),
            None,
        )
        .await;
        let outcome = self.lock.release(key, ask).await;
        if matches!(outcome, Outcome::Denied) {
            self.holds.gone(key, ask.mode);
        }
        self.complete(MAIN, Function::Release, key, ask, outcome)
            .await
    }

    /// Works in the critical section for `length`, renewing whatever it holds meanwhile.
    pub async fn work(&mut self, length: Duration) -> Reply {
        let end = Instant::now() + length;
        while let Some(due) = self.holds.next_round().filter(|due| *due < end) {
            sleep_until(due).await;
            if self.renew_all().await == Reply::Killed {
                return Reply::Killed;
            }
        }
        sleep_until(end).await;
        Reply::Done
    }

    /// Waits until a round of the watchdog is due; waits for ever if none is. Nothing is lost when
    /// the future is dropped while it waits.
    pub async fn renewal_due(&self) {
        match self.holds.next_round() {
            Some(due) => sleep_until(due).await,
            None => std::future::pending().await,
        }
    }

    /// Tells whether only its watchdog lives.
    pub fn thread_is_dead(&self) -> bool {
        self.gate.thread_is_dead()
    }

    /// Tells whether the lock guards anything.
    pub const fn has_job(&self) -> bool {
        self.job.is_some()
    }

    /// Records that the client is alive and goes on believing in its holds, as far as it says so
    /// itself.
    pub async fn alive(&mut self) {
        self.hear_of_losses().await;
        for (key, ask) in self.holds.believed() {
            let asked = self.sink.clock().now();
            match self.lock.alive(&key, ask).await {
                Outcome::Done(()) => self.note(Function::Alive, &key, ask, None).await,
                Outcome::Denied => self.lose(&key, ask.mode, Some(asked)).await,
                // It says nothing of its belief, or nothing at all.
                Outcome::Failed(_) | Outcome::Unknown(_) | Outcome::Killed => {}
            }
        }
    }

    /// Returns the locks that the client believes it holds, each once for each time that it holds
    /// it.
    pub async fn held(&mut self) -> Vec<(Name, LockRequest)> {
        self.hear_of_losses().await;
        self.holds.every_time()
    }

    /// Takes note of what the client was told that it has lost.
    async fn hear_of_losses(&mut self) {
        for loss in self.lock.lost() {
            self.lose(&loss.key, loss.mode, loss.noticed).await;
        }
    }

    /// The client believes to hold `key` no more, and noticed it at this time; where there is none,
    /// the history says so already.
    async fn lose(&mut self, key: &Name, mode: Mode, noticed: Option<Nanos>) {
        self.holds.gone(key, mode);
        if noticed.is_some() {
            let ask = LockRequest {
                mode,
                ..LockRequest::default()
            };
            self.note(Function::Lost, key, ask, noticed).await;
        }
    }

    /// Records a note on `key`, of now unless another time is named.
    async fn note(
        &mut self,
        function: Function,
        key: &Name,
        ask: LockRequest,
        time: Option<Nanos>,
    ) {
        let value = self.value(ask);
        let mut event = self.event(MAIN, Kind::Note, function, key, value);
        event.time = time.unwrap_or(event.time);
        self.sink.record(event).await;
    }

    /// Says who asks, and how; leaves out what is usual.
    pub(super) fn value(&self, ask: LockRequest) -> Value {
        Value {
            owner: Some(self.owner.clone()),
            mode: (ask.mode == Mode::Read).then_some(Mode::Read),
            permits: (ask.permits != 1).then_some(ask.permits),
            ..Value::default()
        }
    }

    /// Says what an acquire asks for.
    fn asked(&self, ask: LockRequest) -> Value {
        Value {
            lease_ms: self.lease_ms,
            wait_ms: ask.wait.map(|wait| wait.as_millis() as u64),
            ..self.value(ask)
        }
    }

    /// Records the completion of an operation and says what it was.
    pub(super) async fn complete<T: Answer>(
        &mut self,
        lane: usize,
        function: Function,
        key: &Name,
        ask: LockRequest,
        outcome: Outcome<T>,
    ) -> Reply {
        let denial = if function == Function::Acquire {
            Event::REFUSED
        } else if matches!(function, Function::Read | Function::Append) {
            STALE
        } else {
            Event::NOT_OWNER
        };
        let mut value = self.value(ask);
        let (kind, error, reply) = match outcome {
            Outcome::Done(answer) => {
                answer.fill(&mut value);
                (Kind::Ok, None, Reply::Done)
            }
            Outcome::Denied => (Kind::Fail, Some(denial.into()), Reply::Denied),
            Outcome::Failed(text) => (Kind::Fail, Some(text.into()), Reply::Failed),
            Outcome::Unknown(text) => (Kind::Info, Some(text.into()), Reply::Unknown),
            Outcome::Killed => (Kind::Info, Some(CLIENT_KILLED.into()), Reply::Killed),
        };
        let mut event = self.event(lane, kind, function, key, value);
        event.time = self.lock.answered().unwrap_or(event.time);
        event.error = error;
        self.sink.record(event).await;
        if kind == Kind::Info {
            self.processes.retire(lane);
        }
        reply
    }

    pub(super) async fn record(
        &mut self,
        lane: usize,
        kind: Kind,
        function: Function,
        key: &Name,
        value: Value,
        error: Option<Name>,
    ) {
        let event = Event {
            error,
            ..self.event(lane, kind, function, key, value)
        };
        self.sink.record(event).await;
    }

    /// An event of now.
    fn event(
        &mut self,
        lane: usize,
        kind: Kind,
        function: Function,
        key: &Name,
        value: Value,
    ) -> Event {
        Event {
            index: 0,
            time: self.sink.clock().now(),
            kind,
            process: Process::Client(self.processes.of(lane)),
            function,
            key: key.clone(),
            value,
            error: None,
            extra: None,
        }
    }
}

/// Details that a reply tells besides its outcome.
pub(super) trait Answer {
    fn fill(&self, value: &mut Value);
}

impl Answer for Grant {
    fn fill(&self, value: &mut Value) {
        value.lease_ms = self.lease.map(|lease| lease.as_millis() as u64);
        value.token = self.token;
        value.waited_ns = Some(self.waited.as_nanos() as u64).filter(|&waited| waited > 0);
    }
}

impl Answer for (Grant, Option<Box<Givers>>) {
    fn fill(&self, value: &mut Value) {
        self.0.fill(value);
        value.by.clone_from(&self.1);
    }
}

impl Answer for Released {
    fn fill(&self, value: &mut Value) {
        value.count = self.count;
    }
}
