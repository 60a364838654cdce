//! Faults of a single message: it is held, lost or late.

use std::sync::Arc;

use async_trait::async_trait;
use lockstorm_scenarios::{self as scenarios, Fate, MessagePoint};

use super::table::Kind;
use crate::deployment::Deployment;
use crate::error::FaultError;
use crate::fault::{Ends, Evidence, Fault, Sighting};
use crate::messages::{Act, AwaitedMessage, Messages, Stage};
use crate::network::Network;

impl Kind for scenarios::HoldMessage {
    const ENDS: Ends = Ends::Healed;

    fn fault(self) -> Box<dyn Fault> {
        MessageFault::boxed(self.point(), Act::Hold, self.then)
    }
}

impl Kind for scenarios::LoseMessage {
    // What was lost stays lost: whoever waited for it goes on without it.
    const ENDS: Ends = Ends::Never;

    fn fault(self) -> Box<dyn Fault> {
        MessageFault::boxed(self.point(), Act::Lose, Fate::Lose)
    }
}

impl Kind for scenarios::DelayMessage {
    const ENDS: Ends = Ends::Healed;

    fn fault(self) -> Box<dyn Fault> {
        MessageFault::boxed(self.point(), Act::Delay(self.by.0), Fate::Deliver)
    }
}

struct MessageFault {
    point: MessagePoint,
    act: Act,
    /// Fate of it when it is healed.
    then: Fate,
    awaited: Option<AwaitedMessage>,
}

impl MessageFault {
    fn boxed(point: MessagePoint, act: Act, then: Fate) -> Box<dyn Fault> {
        Box::new(Self {
            point,
            act,
            then,
            awaited: None,
        })
    }

    fn stage(&self) -> Stage {
        let awaited = self.awaited.as_ref();
        awaited.map_or(Stage::Awaited(0), AwaitedMessage::stage)
    }

    /// Account of what was done to the message, in words.
    fn done(&self, what: &str) -> String {
        match self.act {
            Act::Hold => format!("{what} is held"),
            Act::Lose => format!("{what} is lost, and its connection reset"),
            Act::Delay(by) => format!("{what} is delayed by {by:?}"),
        }
    }
}

#[async_trait]
impl Fault for MessageFault {
    async fn inject(&mut self, on: &dyn Deployment) -> Result<(), FaultError> {
        let messages: Option<&Arc<Messages>> = on.network().and_then(Network::messages);
        let messages = messages.ok_or(FaultError::NoMessages)?;
        // Of a Cluster one master keeps a key, whichever it is.
        let keepers = on.keepers(ANY_KEY).await.len();
        let awaited = messages.await_one(self.point.clone(), keepers / 2 + 1, self.act);
        self.awaited = Some(awaited);
        Ok(())
    }

    async fn observe(&mut self, _on: &dyn Deployment) -> Sighting {
        match self.stage() {
            Stage::Awaited(seen) => Sighting::Later(not_yet(seen)),
            Stage::Held(what) | Stage::Over(what, _) => Sighting::seen(self.done(&what)),
        }
    }

    async fn heal(&mut self, _on: &dyn Deployment) -> Result<Evidence, FaultError> {
        let before = self.stage();
        if let Some(awaited) = &self.awaited {
            awaited.end(self.then);
        }
        Ok(match before {
            Stage::Awaited(seen) => not_yet(seen).into(),
            Stage::Held(what) => ended(&what, self.then).into(),
            Stage::Over(what, fate) => ended(&what, fate).into(),
        })
    }

    fn overtaken(&self, _on: &dyn Deployment) -> Option<Evidence> {
        match self.stage() {
            Stage::Over(what, fate) => Some(ended(&what, fate).into()),
            Stage::Awaited(_) | Stage::Held(_) => None,
        }
    }
}

/// Stands for the key of any lock.
const ANY_KEY: &str = "lock";

fn ended(what: &str, fate: Fate) -> String {
    match fate {
        Fate::Deliver => format!("{what} went on"),
        Fate::Lose => format!("{what} was lost, and its connection reset"),
    }
}

fn not_yet(seen: u32) -> String {
    match seen {
        0 => "no such message has come".to_owned(),
        1 => "one such message has come, and not the one that is meant".to_owned(),
        _ => format!("{seen} such messages have come, and not the one that is meant"),
    }
}
