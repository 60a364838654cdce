//! The network between the parts of a run, as faults see it.

use std::num::NonZeroU64;
use std::time::Duration;

use lockstorm_scenarios::CutMode;

/// Links between named places (nodes and clients), each direction apart.
pub trait Network: Send + Sync {
    /// Lets nothing pass from `from` to `to` until the guard is dropped.
    fn cut(&self, from: &str, to: &str, mode: CutMode) -> LinkGuard;

    /// Makes everything from `from` to `to` slow until the guard is dropped. What is under way by
    /// then arrives when it would have. Several add up.
    fn slow(&self, from: &str, to: &str, slowness: Slowness) -> LinkGuard;

    /// How many bytes were made to arrive late on `from`→`to`: what proves that a link is slow.
    fn slowed(&self, from: &str, to: &str) -> u64;

    /// How many bytes, and how many connections, were held back or reset on `from`→`to` by cuts:
    /// what proves that a cut has had an effect.
    fn held_back(&self, from: &str, to: &str) -> u64;
}

/// How slow a link is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slowness {
    /// By how much everything arrives later.
    pub delay: Duration,
    /// By how much later still at most, drawn anew each time. Nothing is overtaken.
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

    /// Whether it changes nothing.
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
