//! One holder of a lock, ours or theirs, in the same words.

use std::sync::Arc;
use std::time::Duration;

use lockstorm_checker::history::Mode;
use lockstorm_harness::client::AnyLock;
use lockstorm_harness::locks::{Lock as _, LockRequest, Outcome, WaitEnd, Waiting as _};
use serde_json::{Value as Json, json};
use tokio::time::Instant;

use super::kind::Kind;
use super::peer::Peer;
use super::test_bed::{LONG, TestBed};
use crate::support::WITHIN;

/// Which implementation a client uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Ours,
    Theirs,
}

impl Side {
    /// Each side with the other.
    pub const PAIRS: [[Self; 2]; 2] = [[Self::Ours, Self::Theirs], [Self::Theirs, Self::Ours]];
}

/// Grant of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Granted {
    pub token: Option<u64>,
}

/// A client of one lock.
pub struct Client {
    kind: Kind,
    name: String,
    permits: u32,
    lease: Duration,
    hands: Hands,
}

enum Hands {
    Ours(Box<AnyLock>),
    Theirs {
        peer: Arc<Peer>,
        thread: String,
        /// The permits that it has.
        held: Vec<String>,
    },
}

impl TestBed {
    /// A client that asks for the lock `name`, or for one of its so many `permits`, and keeps it
    /// for `lease`.
    pub async fn client(
        &self,
        side: Side,
        kind: Kind,
        name: &str,
        permits: u32,
        lease: Duration,
    ) -> Client {
        let n = self.next_client();
        let hands = match side {
            Side::Ours => {
                let client = format!("client-{n}");
                Hands::Ours(Box::new(self.lock(kind, lease, permits, &client, n)))
            }
            Side::Theirs => Hands::Theirs {
                peer: self.peer.clone(),
                thread: format!("thread-{n}"),
                held: Vec::new(),
            },
        };
        let client = Client {
            kind,
            name: name.to_owned(),
            permits,
            lease,
            hands,
        };
        if kind.has_permits() {
            client.stock().await;
        }
        client
    }
}

impl Client {
    /// One try.
    pub async fn acquire(&mut self, mode: Mode) -> Option<Granted> {
        self.ask(mode, None).await
    }

    /// Tries until it is granted or the wait is over; nobody looks again without a reason.
    pub async fn acquire_within(&mut self, mode: Mode, wait: Duration) -> Option<Granted> {
        if let Hands::Theirs { .. } = self.hands {
            return self.ask(mode, Some(wait)).await;
        }
        let deadline = Instant::now() + wait;
        loop {
            let granted = self.ask(mode, Some(wait)).await;
            let Hands::Ours(lock) = &mut self.hands else {
                unreachable!("the sides are fixed");
            };
            if granted.is_some() || Instant::now() >= deadline {
                let end = if granted.is_some() {
                    WaitEnd::Granted
                } else {
                    WaitEnd::Refused
                };
                lock.end_wait(&self.name, end).await;
                return granted;
            }
            lock.await_turn(&self.name, LONG, deadline).await;
        }
    }

    /// Tells whether it was this client's to give back.
    pub async fn release(&mut self, mode: Mode) -> bool {
        let request = self.request("release", mode);
        match &mut self.hands {
            Hands::Ours(lock) => {
                let ask = LockRequest {
                    mode,
                    ..LockRequest::default()
                };
                match lock.release(&self.name, ask).await {
                    Outcome::Done(_) => true,
                    Outcome::Denied => false,
                    odd => panic!("nothing disturbs the server: {odd:?}"),
                }
            }
            Hands::Theirs { peer, held, .. } => {
                let mut request = request;
                if let Some(permit) = held.pop() {
                    request["permit"] = json!(permit);
                }
                let reply = peer.ask(request).await;
                reply["released"].as_bool().expect("it is told")
            }
        }
    }

    /// Asks the other side's client what it can see of the lock.
    pub async fn look(&self) -> Json {
        let Hands::Theirs { peer, .. } = &self.hands else {
            panic!("only Redisson has a word for it");
        };
        let reply = peer.ask(self.request("look", Mode::Write)).await;
        reply["sight"].clone()
    }

    async fn ask(&mut self, mode: Mode, wait: Option<Duration>) -> Option<Granted> {
        let mut request = self.request("acquire", mode);
        match &mut self.hands {
            Hands::Ours(lock) => {
                let ask = LockRequest {
                    mode,
                    wait,
                    ..LockRequest::default()
                };
                match lock.acquire(&self.name, ask).await {
                    Outcome::Done(grant) => Some(Granted { token: grant.token }),
                    Outcome::Denied => None,
                    odd => panic!("nothing disturbs the server: {odd:?}"),
                }
            }
            Hands::Theirs { peer, held, .. } => {
                if let Some(wait) = wait {
                    request["wait_ms"] = json!(wait.as_millis() as u64);
                } else if self.lease != LONG {
                    // Without a wait it is the watchdog's lease, which is the long one.
                    request["wait_ms"] = json!(0);
                }
                let within = wait.unwrap_or_default() + WITHIN;
                let reply = peer.begin(request).await.next(within).await;
                let grant = reply["grant"].as_object()?;
                held.extend(
                    grant
                        .get("permit")
                        .and_then(Json::as_str)
                        .map(str::to_owned),
                );
                Some(Granted {
                    token: grant.get("token").and_then(Json::as_u64),
                })
            }
        }
    }

    /// Sets the number of permits: ours do so with their first acquire.
    async fn stock(&self) {
        if let Hands::Theirs { peer, .. } = &self.hands {
            peer.ask(self.request("stock", Mode::Write)).await;
        }
    }

    fn request(&self, act: &str, mode: Mode) -> Json {
        let thread = match &self.hands {
            Hands::Ours(_) => "",
            Hands::Theirs { thread, .. } => thread,
        };
        json!({
            "act": act, "thread": thread, "kind": self.kind.word(), "name": self.name,
            "mode": mode, "stock": self.permits, "lease_ms": self.lease.as_millis() as u64,
        })
    }
}
