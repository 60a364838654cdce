//! The board: what every client is doing, and which messages are awaited.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use lockstorm_scenarios::{Fate, LockOperation, Message, MessagePoint};
use tokio::time::sleep;

use super::awaited::{Act, Awaited, Passing, Stage};
use crate::mutex::lock;

/// The messages of a run: what becomes of each is decided here.
#[derive(Default)]
pub struct Messages {
    state: Mutex<State>,
}

/// Messages that are remembered: many times what a script of a few steps sends.
const PASSED_MAX: usize = 10_000;

/// A message that has passed, or was to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passed {
    /// Client that asks.
    pub client: String,
    /// Server that is asked.
    pub node: String,
    /// The request or the reply.
    pub message: Message,
    /// Command of the request.
    pub command: String,
    /// Operation that the client had under way.
    pub operation: LockOperation,
    /// Number of that operation: those of a client are counted.
    pub serial: u64,
}

#[derive(Default)]
struct State {
    clients: HashMap<String, Doing>,
    awaited: Vec<Arc<Awaited>>,
    passed: Vec<Passed>,
}

impl From<&Passing> for Passed {
    fn from(passing: &Passing) -> Self {
        Self {
            client: passing.client.clone(),
            node: passing.node.clone(),
            message: passing.message,
            command: passing.command.clone(),
            operation: passing.operation,
            serial: passing.serial,
        }
    }
}

/// Activity of a client.
#[derive(Clone, Default)]
struct Doing {
    /// Operations under way, the innermost last: who waits for one lock may renew another.
    operations: Vec<LockOperation>,
    /// Number of operations so far.
    begun: u64,
}

impl Messages {
    /// Says that a client has an operation under way until the guard is dropped.
    pub fn begin(self: &Arc<Self>, client: &str, operation: LockOperation) -> UnderWay {
        let mut state = lock(&self.state);
        let doing = state.clients.entry(client.to_owned()).or_default();
        doing.operations.push(operation);
        doing.begun += 1;
        UnderWay {
            messages: Arc::clone(self),
            client: client.to_owned(),
        }
    }

    /// Returns what a client is doing, and the number of that operation. Who does nothing that was
    /// asked of it renews.
    pub(super) fn doing(&self, client: &str) -> (LockOperation, u64) {
        let state = lock(&self.state);
        let doing = state.clients.get(client);
        let operation = doing.and_then(|doing| doing.operations.last().copied());
        (
            operation.unwrap_or(LockOperation::Renew),
            doing.map_or(0, |doing| doing.begun),
        )
    }

    /// Awaits a message from now on. `majority` is the number of servers that make one.
    pub fn await_one(
        self: &Arc<Self>,
        point: MessagePoint,
        majority: usize,
        act: Act,
    ) -> AwaitedMessage {
        let awaited = Arc::new(Awaited::new(point, majority, act));
        lock(&self.state).awaited.push(Arc::clone(&awaited));
        AwaitedMessage {
            messages: Arc::clone(self),
            awaited,
        }
    }

    /// Tells whether a message of this client is held.
    pub fn holds_one_of(&self, client: &str) -> bool {
        let state = lock(&self.state);
        state.awaited.iter().any(|awaited| {
            let is_held = matches!(*awaited.stage.borrow(), Stage::Held(_));
            is_held && awaited.act == Act::Hold && awaited.point.client == client
        })
    }

    /// Returns what becomes of a message, once that is certain. Each that is awaited counts it; the
    /// first that has waited for it decides.
    pub(super) async fn pass(&self, passing: &Passing) -> Fate {
        let met: Vec<Arc<Awaited>> = {
            let mut state = lock(&self.state);
            if state.passed.len() < PASSED_MAX {
                state.passed.push(passing.into());
            }
            let met = state.awaited.iter().filter(|one| one.is_met_by(passing));
            met.cloned().collect()
        };
        let mut fate = Fate::Deliver;
        for awaited in met {
            let own = match awaited.act {
                Act::Lose => Fate::Lose,
                Act::Delay(by) => {
                    sleep(by).await;
                    Fate::Deliver
                }
                Act::Hold => released(&awaited).await,
            };
            awaited.end(own);
            if own == Fate::Lose {
                fate = own;
            }
        }
        fate
    }

    /// The first messages of the run, in order; those that only set up a connection are none.
    pub fn passed(&self) -> Vec<Passed> {
        lock(&self.state).passed.clone()
    }

    fn forget(&self, awaited: &Arc<Awaited>) {
        let mut state = lock(&self.state);
        state.awaited.retain(|one| !Arc::ptr_eq(one, awaited));
    }
}

/// Waits until somebody says what becomes of a held message.
async fn released(awaited: &Awaited) -> Fate {
    let mut stages = awaited.stage.subscribe();
    let is_over = |stage: &Stage| matches!(stage, Stage::Over(..));
    match stages.wait_for(is_over).await.as_deref() {
        Ok(Stage::Over(_, fate)) => *fate,
        Ok(Stage::Awaited(_) | Stage::Held(_)) | Err(_) => Fate::Deliver,
    }
}

/// An operation under way.
#[must_use = "dropping the guard ends the operation"]
pub struct UnderWay {
    messages: Arc<Messages>,
    client: String,
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let mut state = lock(&self.messages.state);
        if let Some(doing) = state.clients.get_mut(&self.client) {
            doing.operations.pop();
        }
    }
}

/// A message that is awaited; dropping it lets it go on, and awaits it no more.
#[must_use = "dropping it awaits the message no more"]
pub struct AwaitedMessage {
    messages: Arc<Messages>,
    awaited: Arc<Awaited>,
}

impl AwaitedMessage {
    /// How far it has got.
    pub fn stage(&self) -> Stage {
        self.awaited.stage.borrow().clone()
    }

    /// Says what becomes of it, if it is held, and awaits it no more.
    pub fn end(&self, fate: Fate) {
        self.messages.forget(&self.awaited);
        self.awaited.end(fate);
    }
}

impl Drop for AwaitedMessage {
    fn drop(&mut self) {
        self.end(Fate::Deliver);
    }
}
