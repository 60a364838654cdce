//! One way in which the calls so far may have taken effect.

use std::hash::{Hash, Hasher};

use super::bits::Bits;
use super::hasher::FastHasher;

/// The pending calls that have taken effect, and the state that all calls led to.
#[derive(Clone, Debug)]
pub(super) struct Configuration<S> {
    /// By slot.
    pub(super) done: Bits,
    pub(super) state: S,
}

impl<S: Clone + Eq + Hash> Configuration<S> {
    /// The hash of what must be equal before two configurations can be compared.
    pub(super) fn hash(&self, required: &Bits) -> u64 {
        let mut hasher = FastHasher::default();
        self.state.hash(&mut hasher);
        self.done
            .hash_within(required, |word| hasher.write_u64(word));
        hasher.finish()
    }

    /// Tells whether it can do all that the other can: it is where the other is, and has used up no
    /// optional call that the other has not.
    pub(super) fn covers(&self, other: &Self, required: &Bits) -> bool {
        self.state == other.state
            && self.done.equals_within(&other.done, required)
            && self.done.is_within_beyond(&other.done, required)
    }
}
