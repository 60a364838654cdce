//! One directed link between two places.

use std::sync::Arc;

use lockstorm_scenarios::CutMode;
use tokio::sync::watch;

use super::count::Count;
use super::rule::{Cuts, Rule};
use super::stack::Stack;
use super::talk::Talks;
use crate::network::{LinkGuard, Loss, Reordering, Slowness};

/// Everything that a network knows of the direction from one place to another.
#[derive(Default)]
pub(crate) struct Link {
    cuts: watch::Sender<Cuts>,
    slowdowns: Stack<Slowness>,
    losses: Stack<Loss>,
    reorderings: Stack<Reordering>,
    /// Bytes and connections that cuts have held back or reset.
    pub(crate) held_back: Count,
    /// Bytes that were made to arrive late.
    pub(crate) slowed: Count,
    /// Packets that were lost on purpose.
    pub(crate) lost: Count,
    /// Packets that arrived after others that had been sent later.
    pub(crate) overtaken: Count,
    /// Streams, for each draws its own lots.
    pub(crate) streams: Count,
    /// Where it leads from a server to a client: what they say to each other.
    pub(crate) talks: Talks,
}

impl Link {
    /// Puts a cut in force until the guard is dropped.
    pub(crate) fn cut(self: &Arc<Self>, mode: CutMode) -> LinkGuard {
        self.cuts.send_modify(|cuts| cuts.add(mode));
        let link = Arc::clone(self);
        LinkGuard::new(move || link.cuts.send_modify(|cuts| cuts.remove(mode)))
    }

    /// Returns the rule that the cuts in force come to at this moment.
    pub(crate) fn rule(&self) -> Rule {
        self.cuts.borrow().rule()
    }

    /// The cuts in force, for somebody who waits for a change.
    pub(crate) fn cuts(&self) -> watch::Receiver<Cuts> {
        self.cuts.subscribe()
    }

    /// Makes the link slow until the guard is dropped.
    pub(crate) fn slow(&self, slowness: Slowness) -> LinkGuard {
        self.slowdowns.lay(slowness)
    }

    /// How slow the link is at this moment.
    pub(crate) fn slowness(&self) -> Slowness {
        self.slowdowns.fold(Slowness::default(), Slowness::and)
    }

    /// Has the link lose packets until the guard is dropped.
    pub(crate) fn lose(&self, loss: Loss) -> LinkGuard {
        self.losses.lay(loss)
    }

    /// Tells whether a packet is lost at random; `draw` says of a percentage whether it hits.
    pub(crate) fn loses(&self, mut draw: impl FnMut(u32) -> bool) -> bool {
        self.losses
            .fold(false, |lost, loss| lost || draw(loss.percent))
    }

    /// Has packets overtaken until the guard is dropped.
    pub(crate) fn reorder(&self, reordering: Reordering) -> LinkGuard {
        self.reorderings.lay(reordering)
    }

    /// Tells whether packets may be overtaken at this moment.
    pub(crate) fn reorders(&self) -> bool {
        self.reorderings.fold(false, |_, _| true)
    }

    /// By how much a packet stays behind at random, if it does; `draw` as in [`Link::loses`].
    pub(crate) fn stays_behind(
        &self,
        mut draw: impl FnMut(u32) -> bool,
    ) -> Option<std::time::Duration> {
        self.reorderings.fold(None, |by, reordering| {
            let more = draw(reordering.percent).then_some(reordering.by);
            by.max(more)
        })
    }
}
