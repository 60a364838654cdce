//! One directed link between two places, and the gate through which its bytes go.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use lockstorm_scenarios::CutMode;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tokio::sync::watch;

use super::rule::{Cuts, Rule};
use super::switch::lock;
use crate::network::{LinkGuard, Slowness};

/// Everything that the fabric knows of the direction from one place to another.
#[derive(Default)]
pub(super) struct Link {
    cuts: watch::Sender<Cuts>,
    slowdowns: Mutex<Slowdowns>,
    held_back: AtomicU64,
    slowed: AtomicU64,
    /// Streams so far, for each draws its own lots.
    streams: AtomicU64,
}

/// What makes a link slow, each by its number.
#[derive(Default)]
struct Slowdowns {
    next: u64,
    in_force: BTreeMap<u64, Slowness>,
}

impl Link {
    /// Puts a cut in force until the guard is dropped.
    pub(super) fn cut(self: &Arc<Self>, mode: CutMode) -> LinkGuard {
        self.cuts.send_modify(|cuts| cuts.add(mode));
        let link = Arc::clone(self);
        LinkGuard::new(move || link.cuts.send_modify(|cuts| cuts.remove(mode)))
    }

    /// Bytes and connections that cuts have held back or reset so far.
    pub(super) fn held_back(&self) -> u64 {
        self.held_back.load(Ordering::Relaxed)
    }

    /// Makes the link slow until the guard is dropped.
    pub(super) fn slow(self: &Arc<Self>, slowness: Slowness) -> LinkGuard {
        let mut slowdowns = lock(&self.slowdowns);
        let number = slowdowns.next;
        slowdowns.next += 1;
        slowdowns.in_force.insert(number, slowness);
        drop(slowdowns);
        let link = Arc::clone(self);
        LinkGuard::new(move || {
            lock(&link.slowdowns).in_force.remove(&number);
        })
    }

    /// How slow the link is at this moment.
    pub(super) fn slowness(&self) -> Slowness {
        let slowdowns = lock(&self.slowdowns);
        let in_force = slowdowns.in_force.values().copied();
        in_force.fold(Slowness::default(), Slowness::and)
    }

    /// Bytes that were made to arrive late so far.
    pub(super) fn slowed(&self) -> u64 {
        self.slowed.load(Ordering::Relaxed)
    }

    /// A gate for one stream of this link.
    pub(super) fn gate(&self) -> Gate<'_> {
        Gate {
            link: self,
            cuts: self.cuts.subscribe(),
        }
    }
}

/// One stream's view of the rule of its link.
pub(super) struct Gate<'a> {
    link: &'a Link,
    cuts: watch::Receiver<Cuts>,
}

impl Gate<'_> {
    /// Returns once a load of `size` (bytes, or 1 for a connection) may pass. What has to wait
    /// counts as held back, anew whenever the cuts change, so that a cut laid over another one
    /// is seen to hold back too. Under [`Rule::Reset`] nothing ever passes: whoever carries the
    /// stream waits for [`Gate::reset`] at the same time.
    pub(super) async fn pass(&mut self, size: usize) {
        loop {
            let rule = self.cuts.borrow_and_update().rule();
            match rule {
                Rule::Pass => return,
                Rule::Stall => self.hold_back(size as u64),
                Rule::Reset => {}
            }
            self.changed().await;
        }
    }

    /// How slow the link is at this moment.
    pub(super) fn slowness(&self) -> Slowness {
        self.link.slowness()
    }

    /// The lots that this stream draws.
    pub(super) fn lots(&self) -> ChaCha8Rng {
        ChaCha8Rng::seed_from_u64(self.link.streams.fetch_add(1, Ordering::Relaxed))
    }

    /// Counts bytes that will arrive late.
    pub(super) fn count_slowed(&self, size: usize) {
        self.link.slowed.fetch_add(size as u64, Ordering::Relaxed);
    }

    /// Whether everything may pass at this moment.
    pub(super) fn is_open(&self) -> bool {
        self.cuts.borrow().rule() == Rule::Pass
    }

    /// Returns once nothing may pass any more.
    pub(super) async fn shut(&mut self) {
        while self.cuts.borrow_and_update().rule() == Rule::Pass {
            self.changed().await;
        }
    }

    /// Returns once connections of this link are to be reset; counts the one that asks.
    pub(super) async fn reset(&mut self) {
        while self.cuts.borrow_and_update().rule() != Rule::Reset {
            self.changed().await;
        }
        self.hold_back(1);
    }

    async fn changed(&mut self) {
        self.cuts
            .changed()
            .await
            .expect("the link that this gate borrows owns the sender");
    }

    fn hold_back(&self, size: u64) {
        self.link.held_back.fetch_add(size, Ordering::Relaxed);
    }
}
