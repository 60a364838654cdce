//! The network between the parts of a run, as faults see it.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lockstorm_scenarios::CutMode;

use crate::messages::Messages;

/// Links between named places (nodes and clients), each direction apart.
pub trait Network: Send + Sync {
    /// Lets nothing pass from `from` to `to` until the guard is dropped.
    fn cut(&self, from: &str, to: &str, mode: CutMode) -> LinkGuard;

    /// Makes everything from `from` to `to` slow until the guard is dropped. What is under way by
    /// then arrives when it would have. Several add up.
    fn slow(&self, from: &str, to: &str, slowness: Slowness) -> LinkGuard;

    /// Number of bytes that were made to arrive late on `from`→`to`: what proves that a link is
    /// slow.
    fn slowed(&self, from: &str, to: &str) -> u64;

    /// How many bytes, and how many connections, were held back or reset on `from`→`to` by cuts:
    /// what proves that a cut has had an effect.
    fn held_back(&self, from: &str, to: &str) -> u64;

    /// Returns the server that was the last to reply to `client`, and when its reply was read as
    /// the server sent it: before anything delays or cuts it. `None` while some request of the
    /// client may have no reply yet, and where this network cannot tell.
    fn last_reply(&self, _client: &str) -> Option<(String, Instant)> {
        None
    }

    /// Returns the messages that this network reads; `None` if it reads none.
    fn messages(&self) -> Option<&Arc<Messages>> {
        None
    }

    /// Returns this network as one of packets; `None` if it carries streams, which lose and reorder
    /// nothing.
    fn packets(&self) -> Option<&dyn Packets> {
        None
    }
}

/// Links that carry packets, each direction apart.
pub trait Packets: Send + Sync {
    /// Loses packets from `from` to `to` at random until the guard is dropped.
    fn lose(&self, from: &str, to: &str, loss: Loss) -> LinkGuard;

    /// Number of packets that were lost on `from`→`to`: what proves that a link is lossy.
    fn lost(&self, from: &str, to: &str) -> u64;

    /// Has packets from `from` to `to` stay behind at random until the guard is dropped.
    fn reorder(&self, from: &str, to: &str, reordering: Reordering) -> LinkGuard;

    /// How many packets arrived on `from`→`to` after others of their connection that had been sent
    /// later: what proves that a link reorders.
    fn overtaken(&self, from: &str, to: &str) -> u64;
}

/// How lossy a link is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// How many of a hundred packets are lost.
    pub percent: u32,
}

/// How a link reorders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reordering {
    /// How many of a hundred packets stay behind.
    pub percent: u32,
    /// By how much, so that those sent meanwhile overtake them.
    pub by: Duration,
}

/// How slow a link is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slowness {
    /// By how much everything arrives later.
    pub delay: Duration,
    /// By how much later still at most, drawn again each time. Nothing is overtaken.
    pub jitter: Duration,
    /// How much passes at most; absent means any rate.
    pub bytes_per_second: Option<NonZeroU64>,
}

impl Slowness {
    /// Both at once: delays add up, and the lower rate counts.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let rates = [self.bytes_per_second, other.bytes_per_second];
        Self {
            delay: self.delay + other.delay,
            jitter: self.jitter + other.jitter,
            bytes_per_second: rates.into_iter().flatten().min(),
        }
    }

    /// Time that so many bytes take at its rate.
    pub(crate) fn time_for(self, bytes: u64) -> Duration {
        self.bytes_per_second.map_or(Duration::ZERO, |rate| {
            Duration::from_secs_f64(bytes as f64 / rate.get() as f64)
        })
    }

    /// Tells whether it changes nothing.
    pub fn is_none(self) -> bool {
        self == Self::default()
    }
}

/// A cut or a slowness in force; dropping it heals the link.
#[must_use = "dropping the guard heals the link"]
pub struct LinkGuard {
    heal: Option<Box<dyn FnOnce() + Send + Sync>>,
}

impl LinkGuard {
    /// A guard that runs `heal` once, when dropped.
    pub fn new(heal: impl FnOnce() + Send + Sync + 'static) -> Self {
        Self {
            heal: Some(Box::new(heal)),
        }
    }
}

impl Drop for LinkGuard {
    fn drop(&mut self) {
        if let Some(heal) = self.heal.take() {
            heal();
        }
    }
}
