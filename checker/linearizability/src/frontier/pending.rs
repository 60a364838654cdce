//! The calls that are under way, in numbered slots, and the index by what they wait for.

use super::bits::Bits;
use super::hasher::FastMap;
use crate::call::{Call, CallId};
use crate::model::Precondition;

/// A call in its slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) call: Call,
    pub(super) id: CallId,
    /// The slot of the call that must have taken effect before.
    pub(super) after: Option<u32>,
    preconditions: [Precondition; 2],
}

/// All calls under way.
#[derive(Debug, Default)]
pub(super) struct Pending {
    slots: Vec<Option<Slot>>,
    unused: Vec<u32>,
    /// Calls that return.
    pub(super) required: Bits,
    /// Ends of leases that need not come: optional, and without any effect once the hold is gone.
    fading: Bits,
    /// Calls that wait for another to take effect.
    waiting: Bits,
    /// Calls that others wait for.
    awaited: Bits,
    any: Bits,
    free: Bits,
    held: Bits,
    owners: FastMap<u32, Bits>,
    values: FastMap<u32, Bits>,
}

impl Pending {
    pub(super) fn slot(&self, at: usize) -> Option<&Slot> {
        self.slots.get(at)?.as_ref()
    }

    /// The slot of a call that is still under way.
    pub(super) fn find(&self, id: CallId) -> Option<u32> {
        let is_it = |slot: &Option<Slot>| slot.as_ref().is_some_and(|slot| slot.id == id);
        (0..)
            .zip(&self.slots)
            .find(|(_, slot)| is_it(slot))
            .map(|(at, _)| at)
    }

    /// The optional ends of those leases that have certainly been given.
    pub(super) fn fading(&self) -> Bits {
        let mut fading = self.fading.clone();
        fading.remove_all(&self.waiting);
        fading
    }

    /// Tells whether other calls wait for this one to take effect.
    pub(super) fn is_awaited(&self, at: usize) -> bool {
        self.awaited.contains(at)
    }

    pub(super) fn add(
        &mut self,
        call: Call,
        id: CallId,
        after: Option<u32>,
        preconditions: [Precondition; 2],
    ) -> usize {
        let slot = Slot {
            call,
            id,
            after,
            preconditions,
        };
        let at = self.unused.pop().map_or(self.slots.len(), |at| at as usize);
        if at == self.slots.len() {
            self.slots.push(None);
        }
        self.slots[at] = Some(slot);
        if call.is_required() {
            self.required.insert(at);
        } else if !call.is_operation() {
            self.fading.insert(at);
        }
        if let Some(after) = after {
            self.waiting.insert(at);
            self.awaited.insert(after as usize);
        }
        for place in preconditions {
            self.waiting_for(place).insert(at);
        }
        at
    }

    /// Frees the slot of a call that has taken effect in every configuration.
    pub(super) fn remove(&mut self, at: usize) {
        let Some(slot) = self.slots[at].take() else {
            return;
        };
        self.unused.push(at as u32);
        self.required.remove(at);
        self.fading.remove(at);
        self.waiting.remove(at);
        for place in slot.preconditions {
            self.waiting_for(place).remove(at);
        }
        self.sweep(slot.preconditions);
        if !self.awaited.contains(at) {
            return;
        }
        self.awaited.remove(at);
        let followers: Vec<usize> = self.waiting.iter().collect();
        for follower in followers {
            if let Some(slot) = &mut self.slots[follower]
                && slot.after == Some(at as u32)
            {
                slot.after = None;
                self.waiting.remove(follower);
            }
        }
    }

    /// Adds the calls with this precondition to `found`.
    pub(super) fn collect(&self, place: Precondition, found: &mut Bits) {
        let bits = match place {
            Precondition::Any => Some(&self.any),
            Precondition::Free => Some(&self.free),
            Precondition::Held => Some(&self.held),
            Precondition::Owner(owner) => self.owners.get(&owner),
            Precondition::Value(value) => self.values.get(&value),
        };
        if let Some(bits) = bits {
            found.add_all(bits);
        }
    }

    /// Takes those away that wait for a call which is not among `done`.
    pub(super) fn drop_waiting(&self, found: &mut Bits, done: &Bits) {
        if !found.meets(&self.waiting) {
            return;
        }
        if !done.meets(&self.awaited) {
            found.remove_all(&self.waiting);
            return;
        }
        for at in self.waiting.iter() {
            let after = self.slot(at).and_then(|slot| slot.after);
            if after.is_some_and(|after| !done.contains(after as usize)) {
                found.remove(at);
            }
        }
    }

    fn waiting_for(&mut self, place: Precondition) -> &mut Bits {
        match place {
            Precondition::Any => &mut self.any,
            Precondition::Free => &mut self.free,
            Precondition::Held => &mut self.held,
            Precondition::Owner(owner) => self.owners.entry(owner).or_default(),
            Precondition::Value(value) => self.values.entry(value).or_default(),
        }
    }

    /// Forgets empty preconditions, so that the index does not grow with the history.
    fn sweep(&mut self, preconditions: [Precondition; 2]) {
        for place in preconditions {
            let (map, key) = match place {
                Precondition::Any | Precondition::Free | Precondition::Held => continue,
                Precondition::Owner(owner) => (&mut self.owners, owner),
                Precondition::Value(value) => (&mut self.values, value),
            };
            if map.get(&key).is_some_and(Bits::is_empty) {
                map.remove(&key);
            }
        }
    }
}
