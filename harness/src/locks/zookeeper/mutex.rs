//! ZooKeeper's lock: whose node is the first in line holds it, and each watches the node before its
//! own.
//!
//! Source: see [`Line`](super::line::Line). Exclusive as long as holders stop when they cannot rely
//! on their session any more. A client has one session for all that it holds; a second acquire by a
//! holder waits like any other's.

use std::collections::HashMap;
use std::time::Duration;

use lockstorm_checker::history::Name;
use lockstorm_scenarios as scenarios;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::line::{Line, Place, Refused, Turn};
use crate::connection::{CallError, ZookeeperClient};
use crate::locks::batch_renewal::BatchRenewal;
use crate::locks::context::LockContext;
use crate::locks::lock::{Grant, Lock, LockRequest, Outcome, Released};
use crate::locks::provenance::Provenance;
use crate::locks::waiting::{WaitEnd, Waiting};

const SESSION_ENDED: &str = "the session has ended, and its place in the queue is gone";

/// One client's side of the lock.
pub struct ZookeeperMutex {
    line: Line,
    /// The latest place for each key by which this client holds it.
    held: HashMap<String, Place>,
    /// Places of which nobody knows whether they are there, or are the first by now. Each is in
    /// everybody's way, for it goes with the session, which goes on.
    astray: HashMap<String, Place>,
    /// Places in queues, and the node before each.
    waiting: HashMap<String, (Place, String)>,
    /// The last try took a place.
    queued: bool,
    /// Reason why nobody knows of the last place that was given up.
    doubt: Option<String>,
}

impl ZookeeperMutex {
    /// Holds nothing yet.
    pub fn new(spec: &scenarios::ZookeeperMutex, mut context: LockContext) -> Self {
        let lives = spec.session.0;
        let client = ZookeeperClient::new(context.dialer, &context.route, lives, &mut context.rng);
        Self {
            line: Line::new(client, context.rng),
            held: HashMap::new(),
            astray: HashMap::new(),
            waiting: HashMap::new(),
            queued: false,
            doubt: None,
        }
    }

    /// Takes a place in the queue for `key`.
    async fn queue_up(&mut self, key: &str, ask: LockRequest) -> Outcome<Grant> {
        if let Err(error) = self.clear_the_way().await {
            return match error {
                // Nothing has been asked for yet.
                CallError::Unknown(why) => Outcome::Failed(why),
                error => error.into(),
            };
        }
        let place = match self.line.queue_up(key).await {
            Ok(place) => place,
            Err(Refused { error, perhaps }) => {
                let astray = perhaps.map(|place| (key.to_owned(), place));
                self.astray.extend(astray);
                return error.into();
            }
        };
        match self.line.look(key, &place).await {
            Ok(Turn::After(_)) if ask.wait.is_none() => self.withdraw(key, place).await,
            Ok(Turn::After(before)) => {
                self.queued = true;
                self.waiting.insert(key.to_owned(), (place, before));
                Outcome::Denied
            }
            Ok(Turn::Mine) => self.hold(key, place),
            Ok(Turn::Gone) => Outcome::Failed(SESSION_ENDED.to_owned()),
            Err(error) => self.lose_sight(key, place, error),
        }
    }

    /// Gives up the places of earlier tries that may still be there, as Curator does in the
    /// background until they are gone.
    async fn clear_the_way(&mut self) -> Result<(), CallError> {
        while let Some((key, place)) = self.astray.iter().next() {
            let key = key.clone();
            self.line.leave(&key, place).await?;
            self.astray.remove(&key);
        }
        Ok(())
    }

    /// Remembers a place that may be the first by now or become that, or may still be there.
    fn lose_sight<T>(&mut self, key: &str, place: Place, error: CallError) -> Outcome<T> {
        self.astray.insert(key.to_owned(), place);
        match error {
            CallError::Failed(why) => Outcome::Unknown(why),
            error => error.into(),
        }
    }

    /// Looks whether the turn of a place has come.
    async fn look_again(&mut self, key: &str) -> Outcome<Grant> {
        let Some((place, before)) = self.waiting.get_mut(key) else {
            return Outcome::Denied;
        };
        match self.line.look(key, place).await {
            Ok(Turn::After(another)) => {
                *before = another;
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
            token: Some(place.change),
            ..Grant::in_session(self.line.relies_on())
        };
        self.held.insert(key.to_owned(), place);
        Outcome::Done(grant)
    }

    /// Gives up a place that is not the first.
    async fn withdraw(&mut self, key: &str, place: Place) -> Outcome<Grant> {
        match self.line.leave(key, &place).await {
            Ok(_) => Outcome::Denied,
            Err(error) => self.lose_sight(key, place, error),
        }
    }
}

impl Lock for ZookeeperMutex {
    async fn acquire(&mut self, key: &str, ask: LockRequest) -> Outcome<Grant> {
        self.queued = false;
        if self.waiting.contains_key(key) {
            self.look_again(key).await
        } else {
            self.queue_up(key, ask).await
        }
    }

    async fn renew(&mut self, key: &str, _: LockRequest) -> Outcome<Grant> {
        let Some(place) = self.held.get(key) else {
            return Outcome::Denied;
        };
        let outcome = match self.line.keep_alive(place).await {
            Ok(true) => Outcome::Done(Grant::of(self.line.relies_on())),
            Ok(false) => Outcome::Denied,
            Err(error) => error.into(),
        };
        if matches!(outcome, Outcome::Done(_)) {
            // What fails is tried again at the next renewal.
            let _ = self.clear_the_way().await;
        }
        outcome
    }

    /// A place that could not be given up goes astray: it is given up as soon as can be, whatever
    /// the caller hears now.
    async fn release(&mut self, key: &str, _: LockRequest) -> Outcome<Released> {
        let held = self.held.remove(key);
        let Some(place) = held.or_else(|| self.astray.remove(key)) else {
            return Outcome::Denied;
        };
        match self.line.leave(key, &place).await {
            Ok(true) => Outcome::Done(Released::default()),
            Ok(false) => Outcome::Denied,
            Err(error) => self.lose_sight(key, place, error),
        }
    }
}

impl BatchRenewal for ZookeeperMutex {}

impl Waiting for ZookeeperMutex {
    /// Waits until the node before its own is gone, but not so long that its session ends.
    async fn await_turn(&mut self, key: &str, pause: Duration, deadline: Instant) {
        let pause = Instant::now() + pause;
        let Some((_, before)) = self.waiting.get(key) else {
            return sleep_until(pause.min(deadline)).await;
        };
        let until = deadline.min(Instant::now() + self.line.client.lives() / 3);
        if let Ok(Err(_)) = timeout_at(until, self.line.gone(before)).await {
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
            // A place that could not be given up goes with its session, and may be the first
            // before.
            if let Err(error) = self.line.leave(key, &place).await {
                self.doubt = Some(error.to_string());
                self.astray.insert(key.to_owned(), place);
            }
        }
    }

    fn doubt(&mut self, _: &str) -> Option<String> {
        self.doubt.take()
    }
}

impl Provenance for ZookeeperMutex {
    fn granted_by(&self) -> Vec<Name> {
        self.line.client.asked().into_iter().collect()
    }

    fn marks(&self, key: &str) -> Vec<String> {
        let held = self.held.get(key).into_iter().chain(self.astray.get(key));
        let waits = self.waiting.get(key).map(|(place, _)| place);
        held.chain(waits).map(Place::mark).collect()
    }
}
