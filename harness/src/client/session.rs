//! One client of one lock: does what it is told and records every operation.

use std::collections::BTreeMap;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use lockstorm_checker::Nanos;
use lockstorm_checker::history::{Function, Giver, Givers, Kind, Mode, Name, Until};
use lockstorm_nemesis::messages::{Messages, UnderWay};
use lockstorm_scenarios::{DurationRange, LockOperation};
use rand_chacha::ChaCha8Rng;
use tokio::time::{Instant, sleep, sleep_until};

use super::giving_up::GivingUp;
use super::holds::Holds;
use super::job::Job;
use crate::adapter::Told;
use crate::client::AnyLock;
use crate::connection::{CANCELLED, Gate};
use crate::locks::{
    Grant, Lock as _, LockRequest, Outcome, Provenance as _, WaitEnd, Waiting as _,
};
use crate::recorder::{EventSink, MAIN, Processes};
use crate::seed::draw;
use crate::trace::{Replies, Roles, Watch};

/// Pause of a client between an error of a library that waits by itself and its next request.
const PAUSE_AFTER_ERROR: Duration = Duration::from_millis(50);

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
    pub(super) processes: Processes,
    pub(super) lock: AnyLock,
    pub(super) gate: Arc<Gate>,
    pub(super) lease_ms: Option<u64>,
    /// End of what it holds without a lease and never releases, as far as is known: an adapter
    /// says it when it grants a lock.
    pub(super) until: Option<Until>,
    pub(super) sink: EventSink,
    rng: ChaCha8Rng,
    /// Locks that this client believes it holds.
    pub(super) holds: Holds,
    /// The fencing token of its last grant of each key that came with one.
    pub(super) tokens: BTreeMap<Name, u64>,
    /// Work that it does with the guarded resource, if there is one.
    pub(super) job: Option<Job>,
    /// Role of each server.
    roles: Option<Arc<Roles>>,
    /// `true` if its library has no watchdog, so that the rounds of one are the harness's own.
    pub(super) lacks_watchdog: bool,
    /// `true` if its library renews what it holds and announces nothing.
    renews_unseen: bool,
    /// `true` if what it holds has no lease, or one that is renewed as long as it lives.
    is_kept_alive: bool,
    /// Time of its last grant, in nanoseconds of the run; 0 before the first.
    last_grant: Arc<AtomicU64>,
    /// Watch that asks the servers what they know, if there is one.
    watch: Option<Arc<Watch>>,
    /// Notes when the servers last replied, where that is to be known.
    replies: Option<Replies>,
    /// The messages of the run, where they are read: told what this client is doing.
    messages: Option<Arc<Messages>>,
    /// Error of the last operation, where it had one.
    pub(super) error: Option<Name>,
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
    /// End of what it holds without a lease and never releases, as the table of locks says.
    pub until: Option<Until>,
    /// Interval at which it renews, if it is for the session to do so.
    pub renew_every: Option<Duration>,
    /// `true` if its library has no watchdog, so that the rounds of one are the harness's own.
    pub lacks_watchdog: bool,
    /// `true` if its library renews what it holds and announces nothing.
    pub renews_unseen: bool,
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
            until: parts.until,
            sink: parts.sink,
            rng: parts.rng,
            lacks_watchdog: parts.lacks_watchdog,
            renews_unseen: parts.renews_unseen,
            is_kept_alive: false,
            last_grant: Arc::default(),
            holds: Holds::new(parts.renew_every, parts.renews_on),
            tokens: BTreeMap::new(),
            job: parts.job,
            roles: None,
            watch: None,
            replies: None,
            messages: None,
            error: None,
        }
    }

    /// Returns the error of the last operation, where it had one; once.
    pub(super) fn take_error(&mut self) -> Option<Name> {
        self.error.take()
    }

    /// Tells those who read the messages of the run what the client is doing when it sends one.
    #[must_use]
    pub fn overheard(mut self, messages: Option<Arc<Messages>>) -> Self {
        self.messages = messages;
        self
    }

    /// The operation is under way until what this returns is dropped.
    pub(super) fn begin(&self, operation: LockOperation) -> Option<UnderWay> {
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

    /// Notes with each grant when a server last replied to the client, if `replies` are there.
    #[must_use]
    pub fn replied(mut self, replies: Option<Replies>) -> Self {
        self.replies = replies;
        self
    }

    /// Says whether what it holds has no lease, or one that is renewed as long as it lives.
    #[must_use]
    pub const fn kept_alive(mut self, is_kept_alive: bool) -> Self {
        self.is_kept_alive = is_kept_alive;
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
        let outcome = self.try_once(key, ask).await;
        self.acquired(key, ask, outcome).await
    }

    /// One try to get `key` and no wait: a program that takes a place in a queue with each try is
    /// told that nobody waits.
    pub async fn acquire_once(&mut self, key: &Name, ask: LockRequest) -> Reply {
        let reply = self.acquire(key, ask).await;
        if !matches!(reply, Reply::Done | Reply::Killed) {
            self.lock.end_wait(key, self.not_granted()).await;
        }
        reply
    }

    /// Asks for `key`, unless that is given up.
    async fn try_once(&mut self, key: &Name, ask: LockRequest) -> Outcome<Grant> {
        let giving_up = self.giving_up();
        giving_up.or(self.lock.acquire(key, ask)).await
    }

    /// The way in which this client gives up what it has under way.
    pub(super) fn giving_up(&self) -> GivingUp {
        GivingUp {
            gate: self.gate.clone(),
            is_program: self.lock.is_program(),
        }
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
            if grant.is_of_session && grant.lease.is_none() {
                self.until = Some(Until::SessionEnd);
            }
            self.hear_of_losses().await;
            self.holds.granted(key, ask);
            let now = self.sink.clock().now();
            self.last_grant.store(now.0, Ordering::SeqCst);
            self.note_reply(key).await;
        }
        let outcome = match outcome {
            Outcome::Done(grant) => Outcome::Done((grant, self.givers().await)),
            Outcome::Denied => Outcome::Denied,
            Outcome::Failed(text) => Outcome::Failed(text),
            Outcome::Unknown(text) => Outcome::Unknown(text),
            Outcome::Killed => Outcome::Killed,
        };
        let reply = self
            .complete(MAIN, Function::Acquire, key, ask, outcome)
            .await;
        if reply == Reply::Done && self.renews_unseen {
            self.expect_unseen_renewals(key, ask).await;
        }
        reply
    }

    /// Notes when a server last replied to the client, which was just granted `key`.
    pub(super) async fn note_reply(&self, key: &Name) {
        if let Some(replies) = &self.replies {
            replies.note(&self.owner, key).await;
        }
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
        if self.lock.waits() || self.lock.has_queue() {
            return self.acquire_as_one(key, ask, retry, deadline).await;
        }
        loop {
            // Each try is an operation of its own.
            let reply = self.acquire(key, ask).await;
            let over = Instant::now() >= deadline || self.gate.is_cancelled();
            if over || matches!(reply, Reply::Done | Reply::Killed) {
                let end = if reply == Reply::Done {
                    WaitEnd::Granted
                } else {
                    self.not_granted()
                };
                self.lock.end_wait(key, end).await;
                return reply;
            }
            self.await_turn(key, retry, deadline).await;
            if self.gate.is_cancelled() {
                self.lock.end_wait(key, WaitEnd::Cancelled).await;
                return reply;
            }
        }
    }

    /// Says how a wait ends that ends without the lock.
    fn not_granted(&self) -> WaitEnd {
        if self.gate.is_cancelled() {
            WaitEnd::Cancelled
        } else {
            WaitEnd::Refused
        }
    }

    /// Waits in one operation: lets the library wait by itself, or stands in a queue. A wait that
    /// ends with an error long before its time, as where a server is away, is begun again for the
    /// time that is left.
    async fn acquire_as_one(
        &mut self,
        key: &Name,
        ask: LockRequest,
        retry: DurationRange,
        until: Instant,
    ) -> Reply {
        let wait = ask.wait;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let ask = LockRequest {
                wait: wait.map(|wait| wait.min(left)),
                ..ask
            };
            let reply = if self.lock.waits() {
                self.acquire(key, ask).await
            } else {
                self.acquire_in_turn(key, ask, retry, until).await
            };
            let is_error = matches!(reply, Reply::Failed | Reply::Unknown);
            let is_over = Instant::now() >= until || self.gate.is_cancelled();
            if !is_error || is_over {
                return reply;
            }
            sleep(PAUSE_AFTER_ERROR).await;
        }
    }

    /// Waits until it may be worth to ask for `key` again; what is held meanwhile is renewed.
    async fn await_turn(&mut self, key: &Name, retry: DurationRange, deadline: Instant) {
        let pause = draw(&mut self.rng, retry);
        let due = self.holds.next_round();
        let until = due.map_or(deadline, |due| due.min(deadline));
        let giving_up = self.giving_up();
        let turn = self.lock.await_turn(key, pause, until);
        giving_up.unless_given_up(turn).await;
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
            // A client that stands still sends nothing, and its lease has not begun.
            if self.gate.pass().await.is_err() {
                break Outcome::Killed;
            }
            let waited = invoked.elapsed();
            let outcome = self.try_once(key, ask).await;
            if self.lock.queued(key) {
                self.note(Function::Queued, key, ask, None).await;
            }
            match outcome {
                Outcome::Denied if Instant::now() < deadline => {
                    self.await_turn(key, retry, deadline).await;
                    if self.gate.is_cancelled() {
                        break Outcome::Unknown(CANCELLED.to_owned());
                    }
                }
                Outcome::Done(grant) => break Outcome::Done(Grant { waited, ..grant }),
                outcome => break outcome,
            }
        };
        let granted = matches!(outcome, Outcome::Done(_));
        if !granted {
            self.lock.end_wait(key, self.not_granted()).await;
        }
        let outcome = match (outcome, self.lock.doubt(key)) {
            (Outcome::Denied, Some(why)) => Outcome::Unknown(why),
            (outcome, _) => outcome,
        };
        let reply = self.acquired(key, ask, outcome).await;
        if granted {
            self.lock.end_wait(key, WaitEnd::Granted).await;
        }
        reply
    }

    /// Gives `key` back once.
    pub async fn release(&mut self, key: &Name, ask: LockRequest) -> Reply {
        if self.gate.pass().await.is_err() {
            return Reply::Killed;
        }
        let _under_way = self.begin(LockOperation::Release);
        self.hear_of_losses().await;
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
        let giving_up = self.giving_up();
        let outcome = giving_up.or(self.lock.release(key, ask)).await;
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

    /// The client is dead: its sessions end, and what it held by them is gone.
    pub async fn die(mut self) {
        if self.until == Some(Until::SessionEnd) {
            for (key, ask) in self.holds.believed() {
                self.note(Function::Ended, &key, ask, None).await;
            }
        }
    }

    /// Waits until the client is dead, if a session of its own ends by that.
    pub async fn death(&self) {
        if self.until == Some(Until::SessionEnd) {
            self.gate.death().await;
        } else {
            pending::<()>().await;
        }
    }

    /// Returns the locks that the client believes it holds, each once for each time that it holds
    /// it.
    pub async fn held(&mut self) -> Vec<(Name, LockRequest)> {
        self.hear_of_losses().await;
        self.holds.every_time()
    }

    /// Tells whether what the client holds has no lease, or one that is renewed as long as it
    /// lives.
    pub fn is_kept_alive(&self) -> bool {
        self.is_kept_alive
    }

    /// Time of its last grant, in nanoseconds of the run; 0 before the first.
    pub fn last_grant(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.last_grant)
    }

    /// Tells whether what the client holds now ends with the client only, not with a lease.
    pub fn outlasts_leases(&self) -> bool {
        self.is_kept_alive || self.until == Some(Until::SessionEnd)
    }

    /// Takes note of what the client was told about its locks.
    async fn hear_of_losses(&mut self) {
        let now = self.sink.clock().now();
        for loss in self.lock.lost(now) {
            let ask = LockRequest {
                mode: loss.mode,
                ..LockRequest::default()
            };
            let function = match loss.told {
                Told::Lost => {
                    self.lose(&loss.key, loss.mode, loss.noticed).await;
                    continue;
                }
                Told::Suspended => Function::Suspended,
                Told::Resumed => Function::Resumed,
            };
            self.note(function, &loss.key, ask, loss.noticed).await;
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
}
