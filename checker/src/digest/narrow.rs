//! Some operations of a digest, as a digest of their own.
//!
//! Names, values and details are numbered anew, so that nothing is left of what is dropped. Notes
//! stay with the operations that they speak of; those of the nemesis all stay.

use std::collections::HashMap;
use std::num::NonZeroU32;

use super::{Digest, LostNote, QueuedNote};
use crate::groups::Groups;
use crate::history::Nanos;
use crate::operation::{Detail, DetailId, KeyId, OpId, Operation, OwnerId, ValueId};

impl Digest {
    /// The digest of the operations in `kept`, which are in order.
    pub(crate) fn narrowed(&self, kept: &[OpId]) -> Self {
        let sent = kept.iter().map(|&id| self.operation(id).invoked);
        let since = sent.min().unwrap_or(self.end);
        let mut narrow = Narrow {
            whole: self,
            part: Self {
                header: self.header.clone(),
                events: self.events,
                end: self.end,
                is_in_time: self.is_in_time,
                names_modes: self.names_modes,
                faults: self.faults.clone(),
                final_phase: self.final_phase,
                asides: self.asides.since(since),
                ..Self::default()
            },
            since: HashMap::new(),
        };
        for &id in kept {
            narrow.operation(self.operation(id));
        }
        for note in &self.lost {
            narrow.lost(*note);
        }
        for note in &self.queued {
            narrow.queued(*note, kept);
        }
        let mut part = narrow.part;
        let edges = super::edges(&part.operations);
        part.edges = Groups::new(edges, part.keys.len(), |edge| {
            part.operations[edge.operation().position()].key.0
        });
        part
    }

    /// What is known of each key of this digest, by the keys of `part`.
    pub(crate) fn keys_in<T: Copy>(&self, part: &Self, known: &[T]) -> Vec<T> {
        let keys = part.all_keys().into_iter();
        let here = keys.filter_map(|key| self.keys.find(part.key(key)));
        here.map(|key| known[key as usize]).collect()
    }
}

struct Narrow<'a> {
    whole: &'a Digest,
    part: Digest,
    /// The first operation of each owner on each key that is kept, by its event.
    since: HashMap<(KeyId, OwnerId), u64>,
}

impl Narrow<'_> {
    fn operation(&mut self, whole: &Operation) {
        let operation = Operation {
            key: self.key(whole.key),
            owner: self.owner(whole.owner),
            detail: whole.detail.and_then(|_| self.detail(whole)),
            ..*whole
        };
        self.part.names_permits |= whole.permits != 1;
        self.part.has_readers |= whole.is_reader();
        self.since
            .entry((whole.key, whole.owner))
            .or_insert(whole.invoke);
        self.part.operations.push(operation);
    }

    /// A notice speaks of a hold whose operations are kept, or of one that is over.
    fn lost(&mut self, note: LostNote) {
        let since = self.since.get(&(note.key, note.owner));
        if since.is_some_and(|&since| since < note.event) {
            let (key, owner) = (self.key(note.key), self.owner(note.owner));
            self.part.lost.push(LostNote { key, owner, ..note });
        }
    }

    /// A doorway that no acquire is known for may keep others out for ever.
    fn queued(&mut self, note: QueuedNote, kept: &[OpId]) {
        let place = note.acquire.map(|id| kept.binary_search(&id));
        if let Some(Err(_)) = place {
            return;
        }
        let acquire = place.and_then(Result::ok).map(OpId::at);
        let (key, owner) = (self.key(note.key), self.owner(note.owner));
        self.part.queued.push(QueuedNote {
            key,
            owner,
            acquire,
            ..note
        });
    }

    fn key(&mut self, key: KeyId) -> KeyId {
        KeyId(self.part.keys.intern_name(self.whole.keys.name(key.0)))
    }

    fn owner(&mut self, owner: OwnerId) -> OwnerId {
        let id = self
            .part
            .owners
            .intern_name(self.whole.owners.name(owner.0));
        let alive = self.whole.alive[owner.0 as usize];
        if self.part.alive.len() <= id as usize {
            self.part.alive.resize(id as usize + 1, Nanos(0));
        }
        self.part.alive[id as usize] = alive;
        OwnerId(id)
    }

    fn detail(&mut self, operation: &Operation) -> Option<DetailId> {
        let whole = *self.whole.detail(operation)?;
        let detail = Detail {
            resource: whole.resource.map(|resource| {
                let name = self.whole.resources.name(resource);
                self.part.resources.intern_name(name)
            }),
            asked: whole.asked.map(|value| self.value(value)),
            replied: whole.replied.map(|value| self.value(value)),
        };
        self.part.details.push(detail);
        let id = u32::try_from(self.part.details.len()).ok()?;
        NonZeroU32::new(id).map(DetailId)
    }

    fn value(&mut self, value: ValueId) -> ValueId {
        let name = self.whole.values.name(value.0);
        ValueId(self.part.values.intern_name(name))
    }
}
