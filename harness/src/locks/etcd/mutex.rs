//! etcd's mutex: a queue of keys below the lock's, each bound to a lease.
//!
//! Source: `concurrency.Mutex` and `concurrency.Session` of etcd's Go client, version 3. The key
//! that was created first holds the lock; who waits watches the key before its own. Each try has a
//! session, which is a lease, of its own, so that a second acquire by a holder waits like any
//! other's. Exclusive as long as the members keep every live lease.

use std::collections::HashMap;
use std::time::Duration;

use lockstorm_checker::history::Name;
use lockstorm_scenarios as scenarios;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::api::{Api, Lease, Place, Predecessor, Turn, place_name};
use crate::connection::{CallError, HttpClient};
use crate::locks::batch_renewal::BatchRenewal;
use crate::locks::context::LockContext;
use crate::locks::lock::{Grant, Lock, LockRequest, Outcome, Released};
use crate::locks::provenance::Provenance;
use crate::locks::waiting::{WaitEnd, Waiting};

const SESSION_ENDED: &str = "the session has ended, and its place in the queue is gone";

/// One client's side of the lock.
pub struct EtcdMutex {
    api: Api,
    lease: Duration,
    /// The latest place for each key by which this client holds it, or may hold it.
    held: HashMap<String, Place>,
    /// Places in queues, and who is before each.
    waiting: HashMap<String, (Place, Predecessor)>,
    /// The last try took a place.
    queued: bool,
    /// Reason why nobody knows of the last place that was given up.
    doubt: Option<String>,
}

impl EtcdMutex {
    /// Holds nothing yet.
    pub fn new(spec: &scenarios::EtcdMutex, mut context: LockContext) -> Self {
        let client = HttpClient::new(context.dialer, &context.route);
        Self {
            api: Api::new(client.starting_anywhere(&mut context.rng)),
            lease: spec.lease.0,
            held: HashMap::new(),
            waiting: HashMap::new(),
            queued: false,
            doubt: None,
        }
    }

    /// Takes a place in the queue for `key`.
    async fn queue_up(&mut self, key: &str, ask: LockRequest) -> Outcome<Grant> {
        let lease = match self.api.grant_lease(self.lease).await {
            Ok(lease) => lease,
            Err(CallError::Killed) => return Outcome::Killed,
            // A lease that nothing is bound to does nothing.
            Err(CallError::Failed(why) | CallError::Unknown(why)) => return Outcome::Failed(why),
        };
        match self.api.queue_up(key, lease.clone()).await {
            Ok((place, Turn::After(predecessor))) => {
                if ask.wait.is_none() {
                    return self.withdraw(&place).await;
                }
                self.queued = true;
                self.waiting.insert(key.to_owned(), (place, predecessor));
                Outcome::Denied
            }
            Ok((place, Turn::Mine | Turn::Gone)) => self.hold(key, place),
            Err(error) => {
                if matches!(error, CallError::Unknown(_)) {
                    self.held.insert(key.to_owned(), unranked(key, lease));
                }
                error.into()
            }
        }
    }

    /// Looks whether the turn of a place has come. The lease is extended first, so that a grant
    /// lasts as long as the server says now.
    async fn look_again(&mut self, key: &str) -> Outcome<Grant> {
        let Some((place, predecessor)) = self.waiting.get_mut(key) else {
            return Outcome::Denied;
        };
        let turn = match self.api.keep_alive(&place.lease).await {
            Ok(Some(lease)) => {
                place.lease = lease;
                self.api.look(key, place).await
            }
            Ok(None) => Ok(Turn::Gone),
            Err(error) => Err(error),
        };
        match turn {
            Ok(Turn::After(another)) => {
                *predecessor = another;
                Outcome::Denied
            }
            Ok(Turn::Mine) => {
                let place = place.clone();
                self.waiting.remove(key);
                self.hold(key, place)
            }
            Ok(Turn::Gone) => {
                self.waiting.remove(key);
                Outcome::Failed(SESSION_ENDED.to_owned())
            }
            Err(error) => error.into(),
        }
    }

    fn hold(&mut self, key: &str, place: Place) -> Outcome<Grant> {
        let grant = Grant {
            token: Some(place.rank),
            ..Grant::of(place.lease.lives)
        };
        self.held.insert(key.to_owned(), place);
        Outcome::Done(grant)
    }

    /// Gives up a place that is not the first.
    async fn withdraw(&mut self, place: &Place) -> Outcome<Grant> {
        match self.give_back(place).await {
            Ok(_) => Outcome::Denied,
            Err(error) => error.into(),
        }
    }

    /// Deletes the key of a place, and ends its session; whether the key was there.
    async fn give_back(&mut self, place: &Place) -> Result<bool, CallError> {
        let was_there = self.api.leave(place).await?;
        // Nothing hangs on it any more: it ends by itself where this fails.
        match self.api.revoke(&place.lease).await {
            Err(CallError::Killed) => Err(CallError::Killed),
            Ok(()) | Err(_) => Ok(was_there),
        }
    }
}

/// A place of which nobody knows whether it is there.
fn unranked(key: &str, lease: Lease) -> Place {
    Place {
        key: place_name(key, &lease),
        lease,
        rank: 0,
    }
}

impl Lock for EtcdMutex {
    async fn acquire(&mut self, key: &str, ask: LockRequest) -> Outcome<Grant> {
        self.queued = false;
        if self.waiting.contains_key(key) {
            self.look_again(key).await
        } else {
            self.queue_up(key, ask).await
        }
    }

    async fn renew(&mut self, key: &str, _: LockRequest) -> Outcome<Grant> {
        let Some(place) = self.held.get_mut(key) else {
            return Outcome::Denied;
        };
        match self.api.keep_alive(&place.lease).await {
            Ok(Some(lease)) => {
                place.lease = lease;
                Outcome::Done(Grant::of(place.lease.lives))
            }
            Ok(None) => Outcome::Denied,
            Err(error) => error.into(),
        }
    }

    async fn release(&mut self, key: &str, _: LockRequest) -> Outcome<Released> {
        let Some(place) = self.held.get(key).cloned() else {
            return Outcome::Denied;
        };
        match self.give_back(&place).await {
            Ok(true) => {
                self.held.remove(key);
                Outcome::Done(Released::default())
            }
            Ok(false) => {
                self.held.remove(key);
                Outcome::Denied
            }
            Err(error) => error.into(),
        }
    }
}

impl BatchRenewal for EtcdMutex {}

impl Waiting for EtcdMutex {
    /// Waits for the deletion of the key before its own, but not so long that its session ends.
    async fn await_turn(&mut self, key: &str, pause: Duration, deadline: Instant) {
        let pause = Instant::now() + pause;
        let Some((place, predecessor)) = self.waiting.get(key) else {
            return sleep_until(pause.min(deadline)).await;
        };
        let until = deadline.min(Instant::now() + place.lease.lives / 3);
        if let Ok(Err(_)) = timeout_at(until, self.api.gone(predecessor)).await {
            sleep_until(pause.min(until)).await;
        }
    }

    fn has_queue(&self) -> bool {
        true
    }

    fn queued(&mut self, _: &str) -> bool {
        std::mem::take(&mut self.queued)
    }

    async fn end_wait(&mut self, key: &str, end: WaitEnd) {
        if let Some((place, _)) = self.waiting.remove(key)
            && end != WaitEnd::Granted
        {
            // A place that could not be given up ends with its lease, and may be the first before.
            let left = self.give_back(&place).await;
            self.doubt = left.err().map(|error| error.to_string());
        }
    }

    fn doubt(&mut self, _: &str) -> Option<String> {
        self.doubt.take()
    }
}

impl Provenance for EtcdMutex {
    fn granted_by(&self) -> Vec<Name> {
        self.api.asked().into_iter().collect()
    }

    fn marks(&self, key: &str) -> Vec<String> {
        let held = self.held.get(key).into_iter();
        let waits = self.waiting.get(key).map(|(place, _)| place);
        held.chain(waits).map(|place| place.key.clone()).collect()
    }
}
