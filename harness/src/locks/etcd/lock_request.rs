//! etcd's lock request: a member queues for the client, and answers when it is the first.
//!
//! Source: the service `Lock` of etcd's API (`v3lock`), version 3. A request without a lease has
//! the member make a session of its own and leave it alone: it ends 60 s after the request, the
//! time in the queue included. An unlock deletes the client's key, and is answered as done whether
//! that was there or not. A client that goes away while it waits is taken out of the queue, unless
//! the answer is under way.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use lockstorm_checker::history::Name;
use lockstorm_scenarios::{self as scenarios, Lock as Spec};
use rand_chacha::ChaCha8Rng;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};

use super::api::{Api, Lease, place_name};
use crate::connection::{CallError, Dialer, HttpClient, Route};
use crate::locks::batch_renewal::BatchRenewal;
use crate::locks::context::LockContext;
use crate::locks::lock::{Grant, Lock, LockRequest, Outcome, Released};
use crate::locks::provenance::Provenance;
use crate::locks::waiting::{WaitEnd, Waiting};

const NOT_OURS: &str = "a session of the member's own cannot be kept alive";
const LEFT: &str = "the client went away while a member waited for it";

/// One client's side of the lock.
pub struct EtcdLock {
    caller: Caller,
    api: Api,
    /// Connection for the next request, kept from the last one.
    spare: Option<Api>,
    /// The lease of each request, and whether it is the client's own, which it may keep alive.
    lease: Duration,
    is_own: bool,
    keep_alive: bool,
    /// The latest place for each key by which this client holds it, or may hold it.
    held: HashMap<String, Held>,
    /// Requests that a member waits with.
    waiting: HashMap<String, Request>,
    /// The member that gave the last grant.
    granted_by: Option<Name>,
    /// Reason why nobody knows of the last request that was given up.
    doubt: Option<String>,
}

/// Makes connections.
struct Caller {
    dialer: Dialer,
    route: Arc<Route>,
    rng: ChaCha8Rng,
}

/// A key in the queue, and the lease of the client's own that it is bound to, if it is.
#[derive(Clone)]
struct Held {
    key: String,
    lease: Option<Lease>,
}

/// A request under way, in a task of its own: who waits here renews what it holds elsewhere.
struct Request {
    lease: Option<Lease>,
    /// From when on the lease lives.
    since: Instant,
    task: JoinHandle<Answer>,
    /// The answer, once it was waited for.
    answer: Option<Answer>,
}

/// The connection of a request, and the key that it was granted.
type Answer = (Api, Result<String, CallError>);

impl Request {
    /// Waits for the answer, which [`answer`](Self::answer) then has.
    async fn wait(&mut self) {
        if self.answer.is_none() {
            self.answer = (&mut self.task).await.ok();
        }
    }

    fn is_answered(&self) -> bool {
        self.answer.is_some() || self.task.is_finished()
    }
}

impl Drop for Request {
    /// Closes its connection.
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Caller {
    fn call(&mut self) -> Api {
        let client = HttpClient::new(self.dialer.clone(), &self.route);
        Api::new(client.starting_anywhere(&mut self.rng))
    }
}

impl EtcdLock {
    /// Holds nothing yet.
    pub fn new(spec: &scenarios::EtcdLock, context: LockContext) -> Self {
        let mut caller = Caller {
            dialer: context.dialer,
            route: context.route,
            rng: context.rng,
        };
        let lease = Spec::EtcdLock(spec.clone()).lease();
        Self {
            api: caller.call(),
            spare: None,
            caller,
            lease: lease.map(|lease| lease.0).unwrap_or_default(),
            is_own: spec.lease.is_some(),
            keep_alive: spec.keep_alive,
            held: HashMap::new(),
            waiting: HashMap::new(),
            granted_by: None,
            doubt: None,
        }
    }

    /// Has a member wait for `key`.
    async fn request(&mut self, key: &str, ask: LockRequest) -> Result<Request, Outcome<Grant>> {
        let since = Instant::now();
        let lease = if self.is_own {
            match self.api.grant_lease(self.lease).await {
                Ok(lease) => Some(lease),
                Err(CallError::Killed) => return Err(Outcome::Killed),
                // A lease that nothing is bound to does nothing.
                Err(CallError::Failed(why) | CallError::Unknown(why)) => {
                    return Err(Outcome::Failed(why));
                }
            }
        } else {
            None
        };
        let mut api = self.spare.take().unwrap_or_else(|| self.caller.call());
        let (key, own) = (key.to_owned(), lease.clone());
        let task = tokio::spawn(async move {
            let answer = api.lock(&key, own.as_ref(), ask.wait).await;
            (api, answer)
        });
        Ok(Request {
            lease,
            since,
            task,
            answer: None,
        })
    }

    /// Takes the answer to a request, once it is there. The lease of a grant counts from this call
    /// on.
    async fn take(&mut self, key: &str) -> Outcome<Grant> {
        let now = Instant::now();
        let Some(request) = self.waiting.get_mut(key) else {
            return Outcome::Denied;
        };
        request.wait().await;
        let Some((api, answer)) = request.answer.take() else {
            return Outcome::Unknown(LEFT.to_owned());
        };
        let (lease, since) = (request.lease.take(), request.since);
        self.waiting.remove(key);
        let by = api.asked();
        self.spare = Some(api);
        match answer {
            Ok(place) => {
                let lives = lease.as_ref().map_or(self.lease, |lease| lease.lives);
                let left = lives.saturating_sub(now.saturating_duration_since(since));
                self.granted_by = by;
                let held = Held { key: place, lease };
                self.held.insert(key.to_owned(), held);
                Outcome::Done(Grant::of(left))
            }
            Err(CallError::Killed) => Outcome::Killed,
            Err(CallError::Failed(why) | CallError::Unknown(why)) => {
                match self.withdraw(key, lease, &why).await {
                    None => self.not_granted(key, why).await,
                    Some(why) => Outcome::Unknown(why),
                }
            }
        }
    }

    /// Outcome of a request that got no answer and left nothing: a refusal, if somebody is in the
    /// queue.
    async fn not_granted(&mut self, key: &str, why: String) -> Outcome<Grant> {
        match self.api.has_queue(key).await {
            Ok(true) => Outcome::Denied,
            Ok(false) | Err(_) => Outcome::Failed(why),
        }
    }

    /// Ends what a request without a grant may have left: a lease of the client's own takes its
    /// place along. Gives the reason why nobody knows what is left, if that is so.
    async fn withdraw(&mut self, key: &str, lease: Option<Lease>, why: &str) -> Option<String> {
        let Some(lease) = lease else {
            return Some(why.to_owned());
        };
        match self.api.revoke(&lease).await {
            Ok(()) | Err(CallError::Failed(_)) => None,
            Err(error @ (CallError::Killed | CallError::Unknown(_))) => {
                let held = Held {
                    key: place_name(key, &lease),
                    lease: Some(lease),
                };
                self.held.insert(key.to_owned(), held);
                Some(error.to_string())
            }
        }
    }
}

impl Lock for EtcdLock {
    async fn acquire(&mut self, key: &str, ask: LockRequest) -> Outcome<Grant> {
        if !self.waiting.contains_key(key) {
            let request = match self.request(key, ask).await {
                Ok(request) => request,
                Err(outcome) => return outcome,
            };
            self.waiting.insert(key.to_owned(), request);
            if ask.wait.is_some() {
                return Outcome::Denied;
            }
        }
        let now = Instant::now();
        if let Some(request) = self.waiting.get_mut(key)
            && ask.wait.is_some()
            && !request.is_answered()
        {
            if let (Some(lease), true) = (&request.lease, self.keep_alive)
                && let Ok(Some(_)) = self.api.keep_alive(lease).await
            {
                request.since = now;
            }
            return Outcome::Denied;
        }
        self.take(key).await
    }

    async fn renew(&mut self, key: &str, _: LockRequest) -> Outcome<Grant> {
        let Some(held) = self.held.get_mut(key) else {
            return Outcome::Denied;
        };
        let Some(lease) = &mut held.lease else {
            return Outcome::Failed(NOT_OURS.to_owned());
        };
        match self.api.keep_alive(lease).await {
            Ok(Some(alive)) => {
                *lease = alive;
                Outcome::Done(Grant::of(lease.lives))
            }
            Ok(None) => Outcome::Denied,
            Err(error) => error.into(),
        }
    }

    async fn release(&mut self, key: &str, _: LockRequest) -> Outcome<Released> {
        let Some(held) = self.held.get(key).cloned() else {
            return Outcome::Denied;
        };
        if let Err(error) = self.api.unlock(&held.key).await {
            return error.into();
        }
        self.held.remove(key);
        if let Some(lease) = &held.lease
            && matches!(self.api.revoke(lease).await, Err(CallError::Killed))
        {
            return Outcome::Killed;
        }
        Outcome::Done(Released {
            count: None,
            is_ownership_open: true,
        })
    }
}

impl BatchRenewal for EtcdLock {}

impl Waiting for EtcdLock {
    /// Waits for the answer, but not so long that a lease of the client's own ends.
    async fn await_turn(&mut self, key: &str, _: Duration, deadline: Instant) {
        let Some(request) = self.waiting.get_mut(key) else {
            return;
        };
        let lives = request.lease.as_ref().map(|lease| lease.lives / 3);
        let until = lives.map_or(deadline, |lives| deadline.min(Instant::now() + lives));
        // The next look tells which it was.
        let _ = timeout_at(until, request.wait()).await;
    }

    fn has_queue(&self) -> bool {
        true
    }

    async fn end_wait(&mut self, key: &str, end: WaitEnd) {
        if let Some(mut request) = self.waiting.remove(key)
            && end != WaitEnd::Granted
        {
            request.task.abort();
            let lease = request.lease.take();
            self.doubt = self.withdraw(key, lease, LEFT).await;
        }
    }

    fn doubt(&mut self, _: &str) -> Option<String> {
        self.doubt.take()
    }
}

impl Provenance for EtcdLock {
    fn granted_by(&self) -> Vec<Name> {
        self.granted_by.clone().into_iter().collect()
    }

    fn marks(&self, key: &str) -> Vec<String> {
        let held = self.held.get(key);
        held.map(|held| held.key.clone()).into_iter().collect()
    }
}
