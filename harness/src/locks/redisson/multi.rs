//! `MultiLock` and Redisson's `RedLock`: one lock made of one `RLock` on each of several masters.
//!
//! Source: `tryLock` and `unlock` of both in Redisson 4.7.0, 3.17.0 and 3.10.6. The sub-locks are
//! taken one after the other. `MultiLock` bears no failure, `RedLock` a minority of them; whoever
//! may wait begins again after one failure too many, until its time is over, at which it looks
//! after each sub-lock but the one whose failure leaves `RedLock` with just enough. A caller hears
//! yes or no: a server that is away is tried again for seconds, and then counts as a refusal. Last,
//! the lease is set by a plain PEXPIRE, whoever owns the key by then. `RedLock.unlock` keeps every
//! error to itself. They are here as they are, not as they should be; the algorithm of the
//! documentation is `redlock`.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{join, join_all};
use lockstorm_checker::history::Name;
use lockstorm_scenarios::{self as scenarios, Era, Mutant};
use rand::SeedableRng as _;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use super::reentrant::Redisson;
use crate::connection::{CallError, Killed, Route};
use crate::locks::batch_renewal::BatchRenewal;
use crate::locks::context::LockContext;
use crate::locks::lock::{Grant, Lock, LockRequest, Outcome, Released};
use crate::locks::mutation::Mutation;
use crate::locks::provenance::Provenance;
use crate::locks::shared_state::SharedState;
use crate::locks::waiting::{WaitEnd, Waiting};

/// The shortest time for which `RedLock` waits for a sub-lock.
const SHORTEST_TURN: Duration = Duration::from_millis(1);

/// `MultiLock`: every sub-lock makes the lock.
pub type RedissonMulti = MultiLock<false>;
/// `RedLock`: more than half of them do.
pub type RedissonRed = MultiLock<true>;

/// One client's side of the lock.
pub struct MultiLock<const MAJORITY: bool> {
    parts: Vec<Part>,
    route: Arc<Route>,
    /// The version of it that the places of the parts are of.
    known: u64,
    era: Era,
    /// The lease that callers ask for; `None`: a watchdog for each sub-lock.
    lease: Option<Duration>,
    time_to_live: Duration,
    /// The sub-locks that were granted in the last pass, in their order.
    taken: Vec<usize>,
    mutation: Mutation,
}

/// One sub-lock.
struct Part {
    lock: Redisson,
    /// Where it lives.
    place: Arc<Route>,
    /// Time at which the request was sent by which its server keeps it.
    asked: Instant,
}

/// How the sub-locks answered a renewal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tally {
    yes: usize,
    no: usize,
    unknown: usize,
}

impl<const MAJORITY: bool> MultiLock<MAJORITY> {
    /// Holds nothing yet. Each sub-lock lives on a master of its own.
    pub fn new(spec: &scenarios::Redisson, mut context: LockContext) -> Self {
        let part = |node| {
            let place: Arc<Route> = Route::new(vec![node]).into();
            let context = LockContext {
                client: context.client.clone(),
                dialer: context.dialer.clone(),
                route: Arc::clone(&place),
                // Each master has an instance of its own, as it has in Redisson.
                shared: SharedState::default(),
                rng: rand_chacha::ChaCha8Rng::from_rng(&mut context.rng),
            };
            Part {
                lock: Redisson::new(spec, context),
                place,
                asked: Instant::now(),
            }
        };
        Self {
            parts: context.route.nodes().into_iter().map(part).collect(),
            known: context.route.version(),
            route: context.route,
            era: spec.era,
            lease: spec.lease.map(|lease| lease.0),
            time_to_live: spec.time_to_live().0,
            taken: Vec::new(),
            mutation: Mutation::of(spec.mutant),
        }
    }

    /// Has each sub-lock use whoever has been promoted in the place of its master.
    fn follow(&mut self) {
        let version = self.route.version();
        if version == self.known {
            return;
        }
        self.known = version;
        for (part, node) in self.parts.iter().zip(self.route.nodes()) {
            if part.place.nodes() != [node.clone()] {
                part.place.replace(vec![node]);
            }
        }
    }

    fn needed(&self) -> usize {
        let all = self.parts.len();
        match MAJORITY {
            false if self.mutation.is(Mutant::MajorityIsEnough) => all / 2 + 1,
            true if self.mutation.is(Mutant::HalfIsEnough) => all / 2,
            false => all,
            true => all / 2 + 1,
        }
    }

    /// How many sub-locks may fail.
    fn spare(&self) -> usize {
        self.parts.len() - self.needed()
    }

    /// For how long the sub-locks are taken while it is not known yet when the lease will begin:
    /// twice the wait is enough.
    fn first_lease(&self, wait: Option<Duration>) -> Duration {
        match (self.lease, wait) {
            (Some(_), Some(wait)) => 2 * wait.max(SHORTEST_TURN),
            (Some(_), None) if self.era.takes_without_a_wait_for_nothing() => Duration::ZERO,
            (Some(_), None) | (None, _) => self.time_to_live,
        }
    }

    /// Until when a sub-lock is waited for that is asked for now.
    fn turn_ends(&self, wait: Option<Duration>, deadline: Option<Instant>) -> Option<Instant> {
        let deadline = deadline?;
        if !MAJORITY {
            return Some(deadline);
        }
        let turn = wait.unwrap_or_default() / self.parts.len() as u32;
        Some(deadline.min(Instant::now() + turn.max(SHORTEST_TURN)))
    }

    /// Takes sub-locks in order until enough are held; whether they are.
    async fn take_enough(
        &mut self,
        key: &str,
        ask: LockRequest,
        wait: Option<Duration>,
    ) -> Result<bool, Killed> {
        let deadline = wait.map(|wait| Instant::now() + wait);
        let mut spare = self.spare();
        let mut next = 0;
        self.taken.clear();
        while next < self.parts.len() {
            let until = self.turn_ends(wait, deadline);
            let at = next;
            next += 1;
            if self.take(at, key, ask, until).await? {
                self.taken.push(at);
            } else if self.parts.len() - self.taken.len() == self.spare() {
                // Just enough are held, and nobody looks at the time.
                return Ok(true);
            } else if spare == 0 {
                self.give_back_taken(key, ask).await?;
                if deadline.is_none() {
                    return Ok(false);
                }
                spare = self.spare();
                next = 0;
            } else {
                spare -= 1;
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                self.give_back_taken(key, ask).await?;
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// One sub-lock; those that are held already are kept by their watchdogs meanwhile. Whatever is
    /// no grant is none.
    async fn take(
        &mut self,
        at: usize,
        key: &str,
        ask: LockRequest,
        until: Option<Instant>,
    ) -> Result<bool, Killed> {
        let (before, rest) = self.parts.split_at_mut(at);
        let [part, ..] = rest else {
            return Ok(false);
        };
        if self.lease.is_some() {
            return part.take(key, ask, until).await;
        }
        let over = Notify::new();
        let taking = async {
            let taken = part.take(key, ask, until).await;
            over.notify_one();
            taken
        };
        let held = before.iter_mut().enumerate();
        let held = held.filter(|(at, _)| self.taken.contains(at));
        let held = held.map(|(_, part)| part).collect();
        join(taking, keep(held, key, ask, self.time_to_live, &over))
            .await
            .0
    }

    /// Gives back what was taken; what the servers answer changes nothing.
    async fn give_back_taken(&mut self, key: &str, ask: LockRequest) -> Result<(), Killed> {
        let taken = std::mem::take(&mut self.taken);
        if self.mutation.is(Mutant::NothingGivenBack) {
            return Ok(());
        }
        self.give_back(&taken, key, ask).await
    }

    /// Gives back these sub-locks and keeps every error to itself.
    async fn give_back(
        &mut self,
        those: &[usize],
        key: &str,
        ask: LockRequest,
    ) -> Result<(), Killed> {
        let parts = self.parts.iter_mut().enumerate();
        let parts = parts.filter(|(at, _)| those.contains(at));
        let releases = parts.map(|(_, part)| part.lock.release(key, ask));
        let outcomes = if self.era.gives_back_at_once() {
            join_all(releases).await
        } else {
            let mut outcomes = Vec::new();
            for release in releases {
                outcomes.push(release.await);
            }
            outcomes
        };
        if outcomes.contains(&Outcome::Killed) {
            return Err(Killed);
        }
        Ok(())
    }

    /// Sets the lease of what is held, whoever owns it by now.
    async fn settle(&mut self, key: &str, lease: Duration) -> Result<(), CallError> {
        for &at in &self.taken {
            self.parts[at].lock.expire(key, lease).await?;
        }
        Ok(())
    }

    /// `MultiLock.unlock`: the first error is the caller's, and in a newer Redisson the end of it.
    async fn unlock_all(&mut self, key: &str, ask: LockRequest) -> Outcome<Released> {
        if !self.era.unlock_stops_half_way() {
            let releases = self.parts.iter_mut();
            let releases = releases.map(|part| part.lock.release(key, ask));
            return first_error(join_all(releases).await);
        }
        let mut outcomes = Vec::new();
        for part in &mut self.parts {
            let outcome = part.lock.release(key, ask).await;
            let is_error = !matches!(outcome, Outcome::Done(_));
            outcomes.push(outcome);
            if is_error {
                break;
            }
        }
        first_error(outcomes)
    }

    /// The outcome of asking every sub-lock to be kept.
    fn judge(&self, tally: Tally) -> Outcome<Grant> {
        if tally.yes >= self.needed() {
            Outcome::Done(Grant::of(self.time_to_live))
        } else if tally.yes + tally.unknown < self.needed() {
            Outcome::Denied
        } else {
            tally.unclear()
        }
    }
}

impl Part {
    /// Waits until then at most; whether the sub-lock was granted. A server that took the request
    /// and said nothing is asked to give back what it may have granted.
    async fn take(
        &mut self,
        key: &str,
        ask: LockRequest,
        until: Option<Instant>,
    ) -> Result<bool, Killed> {
        let begun = Instant::now();
        loop {
            self.asked = Instant::now();
            let outcome = self.lock.acquire(key, ask).await;
            let ends = until.filter(|until| Instant::now() < *until);
            if let (Outcome::Denied, Some(until)) = (&outcome, ends) {
                let pause = until.saturating_duration_since(begun);
                self.lock.await_turn(key, pause, until).await;
                continue;
            }
            let released = match &outcome {
                Outcome::Unknown(_) if self.lock.is_unanswered() => self.lock.take_back(key).await,
                Outcome::Killed => Outcome::Killed,
                _ => Outcome::Denied,
            };
            if released == Outcome::Killed {
                return Err(Killed);
            }
            let granted = matches!(outcome, Outcome::Done(_));
            let end = if granted {
                WaitEnd::Granted
            } else {
                WaitEnd::Refused
            };
            self.lock.end_wait(key, end).await;
            return Ok(granted);
        }
    }
}

/// Plays the watchdog of each of these until it is `over`. Should the client die of it, its next
/// command says so.
async fn keep(
    mut held: Vec<&mut Part>,
    key: &str,
    ask: LockRequest,
    lease: Duration,
    over: &Notify,
) {
    let mut round = Instant::now() + lease / 3;
    loop {
        tokio::select! {
            biased;
            () = over.notified() => return,
            () = sleep_until(round) => {}
        }
        round = Instant::now() + lease / 3;
        join_all(held.iter_mut().map(|part| part.keep(key, ask))).await;
    }
}

impl Part {
    async fn keep(&mut self, key: &str, ask: LockRequest) {
        let asked = Instant::now();
        if let Outcome::Done(_) = self.lock.renew(key, ask).await {
            self.asked = asked;
        }
    }
}

/// Returns the outcome that `MultiLock.unlock` tells its caller. What failed as a whole may have
/// been done in part.
fn first_error(outcomes: Vec<Outcome<Released>>) -> Outcome<Released> {
    let mut done = false;
    for outcome in outcomes {
        match outcome {
            Outcome::Done(_) => done = true,
            Outcome::Failed(text) if done => return Outcome::Unknown(text),
            error => return error,
        }
    }
    Outcome::Done(Released::default())
}

impl Tally {
    fn unclear<T>(self) -> Outcome<T> {
        Outcome::Unknown(format!(
            "{} nodes agreed, {} refused, {} silent",
            self.yes, self.no, self.unknown
        ))
    }

    /// Counts one answer; `false` when the client is dead.
    fn count<T>(&mut self, outcome: &Outcome<T>) -> bool {
        match outcome {
            Outcome::Done(_) => self.yes += 1,
            Outcome::Denied | Outcome::Failed(_) => self.no += 1,
            Outcome::Unknown(_) => self.unknown += 1,
            Outcome::Killed => return false,
        }
        true
    }
}

impl<const MAJORITY: bool> Lock for MultiLock<MAJORITY> {
    async fn connect(&mut self) {
        join_all(self.parts.iter_mut().map(|part| part.lock.connect())).await;
    }

    async fn acquire(&mut self, key: &str, ask: LockRequest) -> Outcome<Grant> {
        self.follow();
        let begun = Instant::now();
        let wait = ask.wait.filter(|wait| !wait.is_zero());
        let first = self.first_lease(wait);
        for part in &mut self.parts {
            part.lock.set_lease(first);
        }
        // Large, and every client's task would have room for it.
        match Box::pin(self.take_enough(key, ask, wait)).await {
            Err(Killed) => return Outcome::Killed,
            Ok(false) => return Outcome::Denied,
            Ok(true) => {}
        }
        let mut kept_from = Instant::now();
        if let Some(lease) = self.lease {
            match self.settle(key, lease).await {
                Ok(()) => {}
                Err(CallError::Killed) => return Outcome::Killed,
                Err(CallError::Failed(text) | CallError::Unknown(text)) => {
                    return Outcome::Unknown(format!("the lease was not set: {text}"));
                }
            }
        } else {
            let asked = self.taken.iter().map(|&at| self.parts[at].asked);
            kept_from = asked.min().unwrap_or(kept_from);
        }
        Outcome::Done(Grant {
            waited: kept_from.saturating_duration_since(begun),
            ..Grant::of(self.time_to_live)
        })
    }

    async fn renew(&mut self, key: &str, ask: LockRequest) -> Outcome<Grant> {
        let mut outcomes = self.renew_batch(&[(key.into(), ask)]).await;
        outcomes.pop().expect("one lease, one outcome")
    }

    async fn release(&mut self, key: &str, ask: LockRequest) -> Outcome<Released> {
        self.follow();
        if !MAJORITY {
            return Box::pin(self.unlock_all(key, ask)).await;
        }
        let all: Vec<usize> = (0..self.parts.len()).collect();
        match Box::pin(self.give_back(&all, key, ask)).await {
            Err(Killed) => Outcome::Killed,
            Ok(()) => Outcome::Done(Released::default()),
        }
    }
}

impl<const MAJORITY: bool> BatchRenewal for MultiLock<MAJORITY> {
    fn renewal_batch(&self) -> usize {
        self.parts
            .first()
            .map_or(1, |part| part.lock.renewal_batch())
    }

    async fn renew_batch(&mut self, leases: &[(Name, LockRequest)]) -> Vec<Outcome<Grant>> {
        self.follow();
        for part in &mut self.parts {
            part.lock.set_lease(self.time_to_live);
        }
        // Each sub-lock has a watchdog of its own.
        let rounds = self.parts.iter_mut();
        let rounds = rounds.map(|part| part.lock.renew_batch(leases));
        let mut tallies = vec![Tally::default(); leases.len()];
        for outcomes in join_all(rounds).await {
            for (tally, outcome) in tallies.iter_mut().zip(&outcomes) {
                if !tally.count(outcome) {
                    return vec![Outcome::Killed; leases.len()];
                }
            }
        }
        tallies.into_iter().map(|tally| self.judge(tally)).collect()
    }
}

impl<const MAJORITY: bool> Waiting for MultiLock<MAJORITY> {
    fn waits(&self) -> bool {
        true
    }
}

impl<const MAJORITY: bool> Provenance for MultiLock<MAJORITY> {
    fn granted_by(&self) -> Vec<Name> {
        let taken = self.taken.iter().map(|&at| &self.parts[at].lock);
        taken.flat_map(Provenance::granted_by).collect()
    }

    fn marks(&self, key: &str) -> Vec<String> {
        let parts = self.parts.iter();
        parts.flat_map(|part| part.lock.marks(key)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_error_of_an_unlock_is_its_callers() {
        let done = || Outcome::Done(Released::leaving(Some(0)));
        let failed = || Outcome::<Released>::Failed("READONLY".to_owned());
        assert_eq!(
            first_error(vec![done(), done()]),
            Outcome::Done(Released::default())
        );
        assert_eq!(
            first_error(vec![done(), Outcome::Denied, failed()]),
            Outcome::Denied
        );
        assert_eq!(first_error(vec![failed(), done()]), failed());
        assert!(
            matches!(first_error(vec![done(), failed()]), Outcome::Unknown(_)),
            "a part of it was given back"
        );
    }
}
