//! `MultiLock` and Redisson's `RedLock`: one lock made of one `RLock` on each of several masters.
//!
//! The sub-locks are taken one after the other. `MultiLock` wants them all: when one is refused, it
//! gives back the others and begins again while there is time. `RedLock` wants a majority, and
//! gives each a share of the time. Both then set the lease by a plain PEXPIRE, whoever owns the key
//! by then, and neither looks at the time that all this took: they are here as they are, not as
//! they should be; the algorithm of the documentation is `redlock`.

use std::sync::Arc;
use std::time::Duration;

use lockstorm_checker::history::Name;
use lockstorm_scenarios::{self as scenarios, Mutant};
use rand::SeedableRng as _;
use tokio::time::Instant;

use super::reentrant::{Redisson, Waking};
use super::shared::SharedInstance;
use crate::locks::lock::{Ask, Grant, Lock, LockContext, Outcome, Released};
use crate::locks::mutation::Mutation;
use crate::server::Route;

/// How many of the sub-locks make the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// Every one.
    All,
    /// More than half.
    Majority,
}

/// One client's side of the lock.
pub struct RedissonMulti {
    locks: Vec<Redisson>,
    route: Arc<Route>,
    /// The version of it that `parts` are of.
    known: u64,
    /// The place of each sub-lock in it.
    parts: Vec<Arc<Route>>,
    share: Share,
    /// The lease that callers ask for; `None`: a watchdog for each sub-lock.
    lease: Option<Duration>,
    time_to_live: Duration,
    /// The sub-locks that were granted in the last pass.
    granted: Vec<usize>,
    mutation: Mutation,
}

/// What became of the sub-locks in one pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tally {
    yes: usize,
    no: usize,
    unknown: usize,
}

/// The end of a pass over the sub-locks.
enum Pass {
    /// These are held.
    Taken(Vec<usize>),
    /// Not enough could be had.
    Refused(Tally),
    /// The client died.
    Killed,
}

impl RedissonMulti {
    /// Holds nothing yet. Each sub-lock lives on a master of its own.
    pub fn new(spec: &scenarios::Redisson, share: Share, mut context: LockContext) -> Self {
        let nodes = context.route.nodes().into_iter();
        let parts: Vec<Arc<Route>> = nodes.map(|node| Route::new(vec![node]).into()).collect();
        let sub_lock = |part| {
            let context = LockContext {
                client: context.client.clone(),
                dialer: context.dialer.clone(),
                route: part,
                // Each master has an instance of its own, as it has in Redisson.
                instance: SharedInstance::default(),
                rng: rand_chacha::ChaCha8Rng::from_rng(&mut context.rng),
            };
            Redisson::new(spec, Waking::Told, context)
        };
        Self {
            locks: parts.iter().cloned().map(sub_lock).collect(),
            known: context.route.version(),
            route: context.route,
            parts,
            share,
            lease: spec.lease.map(|lease| lease.0),
            time_to_live: spec.time_to_live().0,
            granted: Vec::new(),
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
            if part.nodes() != [node.clone()] {
                part.replace(vec![node]);
            }
        }
    }

    fn needed(&self) -> usize {
        match self.share {
            Share::All if self.mutation.is(Mutant::MajorityIsEnough) => self.locks.len() / 2 + 1,
            Share::Majority if self.mutation.is(Mutant::HalfIsEnough) => self.locks.len() / 2,
            Share::All => self.locks.len(),
            Share::Majority => self.locks.len() / 2 + 1,
        }
    }

    /// Tries all sub-locks in order, until enough are held or can no longer be.
    async fn pass(&mut self, key: &str, ask: Ask, deadline: Instant) -> Pass {
        let mut taken = Vec::new();
        self.granted.clear();
        let mut tally = Tally::default();
        for at in 0..self.locks.len() {
            match self.take(at, key, ask, deadline).await {
                Outcome::Done(_) => {
                    tally.yes += 1;
                    taken.push(at);
                    self.granted.push(at);
                }
                Outcome::Denied | Outcome::Failed(_) => tally.no += 1,
                Outcome::Unknown(_) => {
                    tally.unknown += 1;
                    taken.push(at);
                }
                Outcome::Killed => return Pass::Killed,
            }
            let lost = tally.no + tally.unknown;
            let late =
                ask.wait.is_some() && Instant::now() >= deadline && at + 1 < self.locks.len();
            if lost > self.locks.len() - self.needed() || late {
                if self.mutation.is(Mutant::NothingGivenBack) {
                    return Pass::Refused(tally);
                }
                // Whatever may be held is given back; what the servers answer changes nothing.
                for at in taken {
                    if matches!(self.locks[at].release(key, ask).await, Outcome::Killed) {
                        return Pass::Killed;
                    }
                }
                return Pass::Refused(tally);
            }
        }
        Pass::Taken(taken)
    }

    /// One sub-lock, waiting for its share of the time.
    async fn take(&mut self, at: usize, key: &str, ask: Ask, deadline: Instant) -> Outcome<Grant> {
        let nodes = self.locks.len() as u32;
        let left = deadline.saturating_duration_since(Instant::now());
        let until = match self.share {
            Share::All => deadline,
            Share::Majority => {
                Instant::now() + (left / nodes).max(Duration::from_millis(1)).min(left)
            }
        };
        let lock = &mut self.locks[at];
        loop {
            let outcome = lock.acquire(key, ask).await;
            let over = ask.wait.is_none() || Instant::now() >= until;
            if over || !matches!(outcome, Outcome::Denied) {
                lock.end_wait(key, matches!(outcome, Outcome::Done(_)))
                    .await;
                return outcome;
            }
            lock.await_turn(key, left, until).await;
        }
    }

    /// Sets the lease of what is held, whoever owns it by now.
    async fn settle(&mut self, key: &str, taken: &[usize], lease: Duration) -> bool {
        for &at in taken {
            if self.locks[at].expire(key, lease).await.is_err() {
                return false;
            }
        }
        true
    }

    /// The outcome of asking every sub-lock the same.
    fn judge<T>(&self, tally: Tally, done: T) -> Outcome<T> {
        if tally.yes >= self.needed() {
            Outcome::Done(done)
        } else if tally.yes + tally.unknown < self.needed() {
            Outcome::Denied
        } else {
            tally.unclear()
        }
    }
}

impl Tally {
    /// What was taken is given back; only a silent node may still keep its part. Whose time was
    /// over before any node refused was not refused by anybody.
    fn refused<T>(self) -> Outcome<T> {
        if self.no > 0 && self.unknown == 0 {
            Outcome::Denied
        } else {
            self.unclear()
        }
    }

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

impl Lock for RedissonMulti {
    async fn acquire(&mut self, key: &str, ask: Ask) -> Outcome<Grant> {
        self.follow();
        let deadline = Instant::now() + ask.wait.unwrap_or_default();
        // While it waits it does not know yet when the lease will begin: twice the wait is enough.
        let first = match (self.lease, ask.wait) {
            (Some(_), Some(wait)) => 2 * wait.max(Duration::from_millis(1)),
            (Some(_), None) | (None, _) => self.time_to_live,
        };
        for lock in &mut self.locks {
            lock.set_lease(first);
        }
        loop {
            match self.pass(key, ask, deadline).await {
                Pass::Killed => return Outcome::Killed,
                Pass::Taken(taken) => {
                    if let Some(lease) = self.lease
                        && !self.settle(key, &taken, lease).await
                    {
                        return Outcome::Killed;
                    }
                    return Outcome::Done(Grant::of(self.time_to_live));
                }
                Pass::Refused(tally) => {
                    let again = self.share == Share::All && Instant::now() < deadline;
                    if !again {
                        return tally.refused();
                    }
                }
            }
        }
    }

    async fn renew(&mut self, key: &str, ask: Ask) -> Outcome<Grant> {
        let mut outcomes = self.renew_batch(&[(key.into(), ask)]).await;
        outcomes.pop().expect("one lease, one outcome")
    }

    fn renewal_batch(&self) -> usize {
        self.locks.first().map_or(1, Lock::renewal_batch)
    }

    async fn renew_batch(&mut self, leases: &[(Name, Ask)]) -> Vec<Outcome<Grant>> {
        self.follow();
        let mut tallies = vec![Tally::default(); leases.len()];
        let mut alive = true;
        for lock in &mut self.locks {
            lock.set_lease(self.time_to_live);
            let outcomes = lock.renew_batch(leases).await;
            for (tally, outcome) in tallies.iter_mut().zip(&outcomes) {
                alive &= tally.count(outcome);
            }
            if !alive {
                return vec![Outcome::Killed; leases.len()];
            }
        }
        let judged = |tally| self.judge(tally, Grant::of(self.time_to_live));
        tallies.into_iter().map(judged).collect()
    }

    async fn release(&mut self, key: &str, ask: Ask) -> Outcome<Released> {
        self.follow();
        let mut tally = Tally::default();
        for lock in &mut self.locks {
            if !tally.count(&lock.release(key, ask).await) {
                return Outcome::Killed;
            }
        }
        self.judge(tally, Released::default())
    }

    fn granted_by(&self) -> Vec<Name> {
        let taken = self.granted.iter().map(|&at| &self.locks[at]);
        taken.flat_map(Lock::granted_by).collect()
    }

    fn marks(&self, key: &str) -> Vec<String> {
        self.locks.iter().flat_map(|lock| lock.marks(key)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_node_that_says_no_refuses() {
        let outcome = |yes, no, unknown| Tally { yes, no, unknown }.refused::<()>();
        assert_eq!(outcome(1, 1, 0), Outcome::Denied);
        assert!(
            matches!(outcome(1, 1, 1), Outcome::Unknown(_)),
            "a silent node"
        );
        assert!(
            matches!(outcome(1, 0, 0), Outcome::Unknown(_)),
            "the time was over"
        );
    }
}
