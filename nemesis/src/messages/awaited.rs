//! A message that is awaited: which one it is, and how far that has got.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Mutex;
use std::time::Duration;

use lockstorm_scenarios::{Fate, LAST_OF_MAJORITY, LockOperation, Message, MessagePoint};
use tokio::sync::watch;

use crate::mutex::lock;

/// Treatment of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// It is held until somebody says what becomes of it.
    Hold,
    /// Its connection is reset.
    Lose,
    /// It arrives later by so much.
    Delay(Duration),
}

/// A message on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Passing {
    /// Client that asks.
    pub(super) client: String,
    /// Server that is asked.
    pub(super) node: String,
    /// The request or the reply.
    pub(super) message: Message,
    /// Command of the request.
    pub(super) command: String,
    /// Operation that the client has under way.
    pub(super) operation: LockOperation,
    /// Which operation of the client it belongs to: operations are counted.
    pub(super) serial: u64,
}

impl fmt::Display for Passing {
    /// `the reply to SET from n1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { command, node, .. } = self;
        match self.message {
            Message::Request => write!(f, "the request {command} to {node}"),
            Message::Reply => write!(f, "the reply to {command} from {node}"),
        }
    }
}

/// How far an awaited message has got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It has not come yet; so many like it have.
    Awaited(u32),
    /// It is held or delayed: this one, in words.
    Held(String),
    /// It is over for this one, in words.
    Over(String, Fate),
}

/// A message that is awaited.
pub(super) struct Awaited {
    pub(super) point: MessagePoint,
    /// Number of servers that make a majority of those that decide.
    majority: usize,
    pub(super) act: Act,
    /// The servers of the operation under way that such a message went to or came from.
    asked: Mutex<(u64, BTreeSet<String>)>,
    pub(super) stage: watch::Sender<Stage>,
}

impl Awaited {
    pub(super) fn new(point: MessagePoint, majority: usize, act: Act) -> Self {
        Self {
            point,
            majority,
            act,
            asked: Mutex::default(),
            stage: watch::Sender::new(Stage::Awaited(0)),
        }
    }

    /// Tells whether this is the message; counts it if it is one like it.
    pub(super) fn is_met_by(&self, passing: &Passing) -> bool {
        if !self.is_like(passing) {
            return false;
        }
        self.stage.send_if_modified(|stage| {
            let Stage::Awaited(seen) = stage else {
                return false;
            };
            *seen += 1;
            let is_it = *seen == self.point.nth.get();
            if is_it {
                *stage = Stage::Held(passing.to_string());
            }
            is_it
        })
    }

    fn is_like(&self, passing: &Passing) -> bool {
        let point = &self.point;
        let is_like = point.client == passing.client
            && point.message == passing.message
            && point.operation.is_none_or(|one| one == passing.operation);
        is_like
            && match point.node.as_deref() {
                None => true,
                Some(LAST_OF_MAJORITY) => self.completes_majority(passing),
                Some(node) => node == passing.node,
            }
    }

    fn completes_majority(&self, passing: &Passing) -> bool {
        let mut asked = lock(&self.asked);
        if asked.0 != passing.serial {
            *asked = (passing.serial, BTreeSet::new());
        }
        asked.1.insert(passing.node.clone()) && asked.1.len() == self.majority
    }

    /// Says what becomes of it, once.
    pub(super) fn end(&self, fate: Fate) {
        self.stage.send_if_modified(|stage| match stage {
            Stage::Held(what) => {
                *stage = Stage::Over(std::mem::take(what), fate);
                true
            }
            Stage::Awaited(_) | Stage::Over(..) => false,
        });
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;

    fn passing(node: &str, serial: u64) -> Passing {
        Passing {
            client: "a".to_owned(),
            node: node.to_owned(),
            message: Message::Reply,
            command: "SET".to_owned(),
            operation: LockOperation::Acquire,
            serial,
        }
    }

    fn point(nth: u32, node: Option<&str>) -> MessagePoint {
        MessagePoint {
            client: "a".to_owned(),
            operation: Some(LockOperation::Acquire),
            message: Message::Reply,
            nth: NonZeroU32::new(nth).unwrap(),
            node: node.map(str::to_owned),
        }
    }

    #[test]
    fn the_nth_message_that_fits_is_the_one_and_no_later_one() {
        let awaited = Awaited::new(point(2, None), 1, Act::Hold);
        let other = |change: fn(&mut Passing)| {
            let mut other = passing("n1", 1);
            change(&mut other);
            awaited.is_met_by(&other)
        };
        assert!(!awaited.is_met_by(&passing("n1", 1)));
        assert!(!other(|passing| passing.client = "b".to_owned()));
        assert!(!other(|passing| passing.message = Message::Request));
        assert!(!other(|passing| passing.operation = LockOperation::Renew));
        assert_eq!(*awaited.stage.borrow(), Stage::Awaited(1));
        assert!(awaited.is_met_by(&passing("n2", 1)));
        assert!(!awaited.is_met_by(&passing("n3", 1)));
        let held = Stage::Held("the reply to SET from n2".to_owned());
        assert_eq!(*awaited.stage.borrow(), held);
    }

    #[test]
    fn the_last_of_a_majority_is_counted_in_one_operation() {
        let awaited = Awaited::new(point(1, Some(LAST_OF_MAJORITY)), 3, Act::Lose);
        for (node, serial) in [("n1", 1), ("n2", 1), ("n2", 1), ("n3", 2), ("n1", 2)] {
            assert!(!awaited.is_met_by(&passing(node, serial)), "{node}");
        }
        assert!(awaited.is_met_by(&passing("n5", 2)));
    }

    #[test]
    fn what_was_never_held_is_not_ended() {
        let awaited = Awaited::new(point(1, Some("n4")), 1, Act::Hold);
        awaited.end(Fate::Lose);
        assert_eq!(*awaited.stage.borrow(), Stage::Awaited(0));
    }
}
