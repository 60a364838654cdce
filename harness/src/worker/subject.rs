//! The client that a worker is: its lock, and what it holds.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use lockstorm_checker::history::{FailureNote, Name, Nanos, RouteNote, Until};
use lockstorm_scenarios::{LockFeature, Mutant, TopologyKind};
use tokio::time::Instant;

use super::serve::say;
use crate::adapter::{Answer, Can, Mark, Note, Open, Server, Target, Word};
use crate::client::{AnyLock, Holds};
use crate::connection::{Dialer, Gate, LateReply, Route, Sentinels, Trail};
use crate::locks::{
    BatchRenewal as _, Grant, Lock as _, LockContext, LockRequest, Outcome, Provenance as _,
    SharedState, WaitEnd, Waiting as _,
};
use crate::seed::Seed;

/// Name of the stream of choices that client `name`'s lock makes: the same in every kind of client.
pub fn lock_stream(name: &str) -> String {
    format!("lock/{name}")
}

/// One client of one lock.
pub(super) struct Subject {
    lock: AnyLock,
    route: Arc<Route>,
    holds: Holds,
    /// `true` if its grants come with tokens.
    tokens: bool,
    /// Number of the request that is carried out, and when that began.
    request: (u64, Instant),
}

impl Subject {
    /// The client that `open` describes.
    ///
    /// # Errors
    /// In words, what it lacks.
    pub(super) fn new(open: Open) -> Result<Self, String> {
        let route = Arc::new(find_way(&open)?);
        let source = open.source.parse();
        let source = source.map_err(|error| format!("'{}': {error}", open.source))?;
        let context = LockContext {
            dialer: Dialer {
                source,
                // Who stops this process stops all of it.
                gate: Arc::new(Gate::default()),
                reply_timeout: Duration::from_millis(open.reply_timeout_ms),
                batch_timeout: Duration::ZERO,
                late: LateReply::Closes,
                trail: Arc::new(Told),
                commands: &[],
            },
            route: route.clone(),
            shared: SharedState::default(),
            rng: Seed(open.seed).stream(&lock_stream(&open.client)),
            client: open.client,
        };
        let kind = open.lock.kind().name();
        let lock = AnyLock::new(&open.lock, context)
            .ok_or_else(|| format!("'{kind}' is none of Lockstorm's own locks"))?;
        let every = open.renew_every_ms.map(Duration::from_millis);
        let renews_on = open.lock.mutant() == Some(Mutant::WatchdogNotStopped);
        Ok(Self {
            lock,
            route,
            holds: Holds::new(every, renews_on),
            tokens: open.lock.kind().has(LockFeature::Tokens),
            request: (0, Instant::now()),
        })
    }

    /// Opens the connections that its lock opens when it starts.
    pub(super) async fn connect(&mut self) {
        self.lock.connect().await;
    }

    /// A request of this number is carried out from now on.
    pub(super) fn begin(&mut self, request: u64) {
        self.request = (request, Instant::now());
    }

    /// Abilities that it has beside what all have.
    pub(super) fn can(&self) -> impl Iterator<Item = Can> {
        let queue = self.lock.has_queue().then_some(Can::Queue);
        let tokens = self.tokens.then_some(Can::Tokens);
        [Can::Watchdog, Can::Await, Can::Source, Can::Cancel]
            .into_iter()
            .chain(queue)
            .chain(tokens)
    }

    /// One try; and whether it took a place in the queue.
    pub(super) async fn acquire(&mut self, target: &Target) -> (Answer, bool) {
        let (key, ask) = read_target(target);
        let outcome = self.lock.acquire(&key, ask).await;
        self.tell_losses();
        let queued = self.lock.queued(&key);
        let marks = self.lock.marks(&key).into_iter().map(Mark::from).collect();
        let by = self.lock.granted_by();
        let by = by.iter().map(ToString::to_string).collect();
        let granted = |grant: Grant| Answer::Granted {
            lease_ms: grant.lease.map(|lease| lease.as_millis() as u64),
            until: grant.is_of_session.then_some(Until::SessionEnd),
            token: grant.token,
            waited_ms: None,
            marks,
            by,
        };
        if let Outcome::Done(_) = &outcome {
            self.holds.granted(&key, ask);
        }
        (answer(outcome, granted, Answer::REFUSED), queued)
    }

    /// Waits until it may be worth to ask again, or a round of the watchdog is due.
    pub(super) async fn await_turn(&mut self, key: &str, pause: Duration, within: Duration) {
        let deadline = Instant::now() + within;
        let until = self.next_round().map_or(deadline, |due| due.min(deadline));
        self.lock.await_turn(key, pause, until).await;
    }

    /// See [`Waiting::end_wait`](crate::locks::Waiting::end_wait).
    pub(super) async fn end_wait(&mut self, key: &str, end: WaitEnd) {
        self.lock.end_wait(key, end).await;
    }

    /// Extends one lease because it is told to.
    pub(super) async fn renew(&mut self, target: &Target) -> Answer {
        let (key, ask) = read_target(target);
        let outcome = self.lock.renew(&key, ask).await;
        self.renewed(&key, ask, outcome)
    }

    /// Gives one lock back.
    pub(super) async fn release(&mut self, target: &Target) -> Answer {
        let (key, ask) = read_target(target);
        self.tell_losses();
        self.holds.releasing(&key, ask.mode);
        let outcome = self.lock.release(&key, ask).await;
        if matches!(outcome, Outcome::Denied) {
            self.holds.gone(&key, ask.mode);
        }
        let count = |released: crate::locks::Released| Answer::Released {
            count: released.count,
            ownership: None,
        };
        answer(outcome, count, Answer::NotOwner)
    }

    /// Tells whether it goes on as the holder.
    pub(super) fn alive(&mut self, target: &Target) -> Answer {
        self.tell_losses();
        let believed = self.holds.believed();
        let place =
            |(key, ask): &(Name, LockRequest)| **key == *target.key && ask.mode == target.mode;
        if believed.iter().any(place) {
            Answer::Held
        } else {
            Answer::NotOwner
        }
    }

    /// Says which locks went with a session that has ended.
    fn tell_losses(&mut self) {
        let (after, since) = self.request;
        let after_us = since.elapsed().as_micros() as u64;
        for loss in self.lock.lost(Nanos(0)) {
            self.holds.gone(&loss.key, loss.mode);
            let target = Target {
                key: loss.key.to_string(),
                mode: loss.mode,
                permits: 1,
                wait_ms: None,
            };
            // Fails only where nobody listens any more.
            let _ = say(&Note::Lost(Word {
                target,
                after: Some(after),
                after_us: Some(after_us),
            }));
        }
    }

    /// Goes to other servers from now on.
    ///
    /// # Errors
    /// In words, what is wrong with them.
    pub(super) fn follow(&self, servers: &[Server]) -> Result<(), String> {
        self.route.replace(read_servers(servers)?);
        Ok(())
    }

    /// Time at which the watchdog comes next, if there is anything for it to do.
    pub(super) fn next_round(&self) -> Option<Instant> {
        self.holds.next_round()
    }

    /// A round of the watchdog begins: the leases to extend, in batches.
    pub(super) fn begin_round(&mut self) -> Vec<Vec<(Name, LockRequest)>> {
        let leases = self.holds.begin_round();
        let batches = leases.chunks(self.lock.renewal_batch());
        batches.map(<[_]>::to_vec).collect()
    }

    /// Extends the leases of one batch; gives an answer for each, in order.
    pub(super) async fn renew_batch(&mut self, leases: &[(Name, LockRequest)]) -> Vec<Answer> {
        let outcomes = self.lock.renew_batch(leases).await;
        let answered = leases.iter().zip(outcomes);
        answered
            .map(|((key, ask), outcome)| self.renewed(key, *ask, outcome))
            .collect()
    }

    fn renewed(&mut self, key: &Name, ask: LockRequest, outcome: Outcome<Grant>) -> Answer {
        if matches!(outcome, Outcome::Denied) {
            self.holds.gone(key, ask.mode);
        }
        let extended = |grant: Grant| Answer::Renewed {
            lease_ms: grant.lease.map(|lease| lease.as_millis() as u64),
        };
        answer(outcome, extended, Answer::NotOwner)
    }
}

/// Route to the servers that take writes: as the harness says, or found by the client itself.
fn find_way(open: &Open) -> Result<Route, String> {
    if let Some(watch) = &open.sentinels {
        return Ok(Route::by_sentinels(Sentinels {
            master: watch.master.clone(),
            sentinels: read_servers(&watch.sentinels)?,
            servers: read_servers(&watch.servers)?,
        }));
    }
    let leaders = read_servers(&open.servers)?;
    if open.topology != TopologyKind::Cluster.name() {
        return Ok(Route::new(leaders));
    }
    let nodes = read_servers(&open.nodes)?;
    let shards = leaders.len().min(nodes.len());
    Ok(Route::by_shards(nodes, shards))
}

/// Tells the harness which servers the client turns to.
struct Told;

#[async_trait]
impl Trail for Told {
    async fn routed(&self, note: RouteNote) {
        // Where nobody listens any more, the next answer shows it.
        let _ = say(&Note::Routed(note));
    }

    async fn failed(&self, _: FailureNote) {
        // Whoever drives this process notes how it ends.
    }
}

/// Outcome of a call, as the protocol says it.
fn answer<T>(outcome: Outcome<T>, done: impl FnOnce(T) -> Answer, denied: Answer) -> Answer {
    match outcome {
        Outcome::Done(value) => done(value),
        Outcome::Denied => denied,
        Outcome::Failed(text) => Answer::Failed { text },
        Outcome::Unknown(text) => Answer::Error { text },
        // Only a task can be told of its death.
        Outcome::Killed => Answer::Error {
            text: crate::connection::CLIENT_KILLED.to_owned(),
        },
    }
}

fn read_target(target: &Target) -> (Name, LockRequest) {
    let ask = LockRequest {
        mode: target.mode,
        permits: target.permits,
        wait: target.wait_ms.map(Duration::from_millis),
    };
    (target.key.as_str().into(), ask)
}

fn read_servers(servers: &[Server]) -> Result<Vec<(String, std::net::SocketAddr)>, String> {
    if servers.is_empty() {
        return Err("there are no servers".to_owned());
    }
    let read = |server: &Server| {
        let address = server.address.parse();
        let address = address.map_err(|error| format!("'{}': {error}", server.address))?;
        Ok((server.name.clone(), address))
    };
    servers.iter().map(read).collect()
}
