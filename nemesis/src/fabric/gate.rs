//! The gate through which the bytes of one stream go.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tokio::sync::watch;

use crate::link::{Cuts, Link, Rule};
use crate::network::Slowness;

/// One stream's view of the rule of its link.
pub(super) struct Gate<'a> {
    link: &'a Link,
    cuts: watch::Receiver<Cuts>,
}

impl<'a> Gate<'a> {
    /// A gate for one stream of `link`.
    pub(super) fn of(link: &'a Link) -> Self {
        Self {
            link,
            cuts: link.cuts(),
        }
    }

    /// Returns once a load of `size` (bytes, or 1 for a connection) may pass. What has to wait
    /// counts as held back, again whenever the cuts change, so that a cut laid over another one
    /// is seen to hold back too. Under [`Rule::Reset`] nothing ever passes: whoever carries the
    /// stream waits for [`Gate::reset`] at the same time.
    pub(super) async fn pass(&mut self, size: usize) {
        loop {
            let rule = self.cuts.borrow_and_update().rule();
            match rule {
                Rule::Pass => return,
                Rule::Stall => {
                    self.link.held_back.add(size as u64);
                }
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
        ChaCha8Rng::seed_from_u64(self.link.streams.add(1))
    }

    /// Counts bytes that will arrive late.
    pub(super) fn count_slowed(&self, size: usize) {
        self.link.slowed.add(size as u64);
    }

    /// Tells whether everything may pass at this moment.
    pub(super) fn is_open(&self) -> bool {
        self.cuts.borrow().rule() == Rule::Pass
    }

    /// Returns once nothing may pass any more.
    pub(super) async fn shut(&mut self) {
        while self.cuts.borrow_and_update().rule() == Rule::Pass {
            self.changed().await;
        }
    }

    /// Returns once connections of this link are to be reset.
    pub(super) async fn reset(&mut self) {
        while self.cuts.borrow_and_update().rule() != Rule::Reset {
            self.changed().await;
        }
    }

    /// Counts a connection that is reset.
    pub(super) fn count_reset(&self) {
        self.link.held_back.add(1);
    }

    async fn changed(&mut self) {
        self.cuts
            .changed()
            .await
            .expect("the link that this gate borrows owns the sender");
    }
}
