//! A digest of some of the events only: what is left of a history when the others are deleted.

use std::collections::BTreeMap;

use super::{ActingNote, Detail, DetailId, Digest, DigestBuilder, LostNote, QueuedNote, sessions};
use crate::history::{FailureKind, Name, Nanos};
use crate::operations::{Action, Edge, KeyId, OpId, Operation, Outcome, OwnerId, ValueId};

/// Something that is kept or deleted as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Item {
    /// Both events of an operation.
    Operation(OpId),
    /// A note, by the index of its event.
    Note(u64),
}

/// An event that is kept.
#[derive(Clone, Copy)]
enum Kept {
    Sent(OpId),
    Completed(OpId),
    Note,
}

impl Digest {
    /// Index of the last event by which an owner is known to be alive.
    pub(crate) fn sign_of_life(&self, owner: OwnerId) -> u64 {
        self.alive_by[owner.0 as usize]
    }

    /// Returns the item that the last event in time belongs to.
    pub(crate) fn last_item(&self) -> Item {
        let of_last = |operation: &Operation| {
            [operation.invoke, operation.last_event()].contains(&self.end_by)
        };
        let at = self.operations.iter().rposition(of_last);
        at.map_or(Item::Note(self.end_by), |at| Item::Operation(OpId::at(at)))
    }

    /// Returns the digest that there would be if the history had these events only.
    pub(crate) fn excerpt(&self, items: &[Item]) -> Self {
        let mut kept: BTreeMap<u64, Kept> = BTreeMap::new();
        for &item in items {
            match item {
                Item::Operation(id) => {
                    let operation = self.operation(id);
                    kept.insert(operation.invoke, Kept::Sent(id));
                    let completion = operation.completion.map(|completion| completion.index);
                    kept.extend(completion.map(|index| (index, Kept::Completed(id))));
                }
                Item::Note(event) => {
                    kept.insert(event, Kept::Note);
                }
            }
        }
        let mut excerpt = Excerpt {
            whole: self,
            builder: DigestBuilder::new(self.header.clone()),
            places: BTreeMap::new(),
        };
        for (event, kept) in kept {
            match kept {
                Kept::Sent(id) => excerpt.sent(id),
                Kept::Completed(id) => excerpt.completed(id),
                Kept::Note => excerpt.note(event),
            }
        }
        excerpt.builder.finish()
    }
}

struct Excerpt<'a> {
    whole: &'a Digest,
    builder: DigestBuilder,
    /// Number that each operation has in the excerpt, by its number in the whole digest.
    places: BTreeMap<OpId, OpId>,
}

impl Excerpt<'_> {
    fn pass(&mut self, time: Nanos, event: u64) {
        self.builder.digest.events += 1;
        self.builder.pass(time, event);
    }

    fn sent(&mut self, id: OpId) {
        let operation = *self.whole.operation(id);
        self.pass(operation.invoked, operation.invoke);
        let (key, owner) = (self.key(operation.key), self.owner(operation.owner));
        self.builder.see(owner, operation.invoked, operation.invoke);
        let named = operation.is_mode_named.then_some(operation.mode);
        let (mode, is_vague) = self.builder.mode(named, operation.action, (key, owner));
        let detail = self.detail(&operation);
        let builder = &mut self.builder;
        let place = OpId::at(builder.digest.operations.len());
        builder.pending.insert(operation.process, place);
        builder.edges.push(Edge::sent(place));
        builder.digest.names_permits |= operation.permits != 1;
        let mut operation = Operation {
            key,
            owner,
            mode,
            is_vague,
            by: None,
            detail,
            ..operation
        };
        sessions::forget(&mut operation);
        builder.digest.has_readers |= operation.is_reader();
        if operation.action == Action::Release {
            builder.released(owner);
        }
        builder.digest.operations.push(operation);
        self.places.insert(id, place);
    }

    fn completed(&mut self, id: OpId) {
        let operation = *self.whole.operation(id);
        let Some(completion) = operation.completion else {
            return;
        };
        self.pass(completion.time, completion.index);
        self.builder.pending.remove(&operation.process);
        if let Some(&place) = self.places.get(&id) {
            self.builder.edges.push(Edge::completed(place));
            if operation.outcome == Outcome::Ok {
                self.answered(place);
            }
        }
        if operation.outcome != Outcome::Unknown {
            let owner = self.owner(operation.owner);
            self.builder.see(owner, completion.time, completion.index);
        }
    }

    /// A grant or a release takes effect on the session that it belongs to.
    fn answered(&mut self, place: OpId) {
        let builder = &mut self.builder;
        let operation = &mut builder.digest.operations[place.position()];
        match operation.action {
            Action::Acquire => builder.sessions.grant(place, operation),
            Action::Release => {
                let place = (operation.key, operation.owner);
                builder.sessions.released(place);
            }
            Action::Renew | Action::Resource(_) | Action::Other => {}
        }
    }

    fn note(&mut self, event: u64) {
        let whole = self.whole;
        let same = |fault: &&super::FaultEvent| fault.event == event;
        if let Some(fault) = whole.faults.iter().find(same) {
            self.pass(fault.time, event);
            self.builder.digest.faults.push(fault.clone());
        } else if let Some(phase) = whole.final_phase.filter(|phase| phase.event == event) {
            self.pass(phase.time, event);
            self.builder.digest.final_phase = Some(phase);
        } else if let Some(lost) = whole.lost.iter().find(|note| note.event == event) {
            self.pass(lost.time, event);
            let owner = self.seen(lost.owner, lost.time, event);
            let key = self.key(lost.key);
            let note = LostNote {
                key,
                owner,
                ..*lost
            };
            self.builder.digest.lost.push(note);
            self.builder.end_session(key, owner);
        } else if let Some(queued) = whole.queued.iter().find(|note| note.event == event) {
            self.pass(queued.time, event);
            let owner = self.seen(queued.owner, queued.time, event);
            let key = self.key(queued.key);
            let acquire = queued.acquire.and_then(|id| self.places.get(&id).copied());
            let note = QueuedNote {
                key,
                owner,
                acquire,
                ..*queued
            };
            self.builder.digest.queued.push(note);
        } else if let Some(acting) = whole.acting.iter().find(|note| note.event == event) {
            self.pass(acting.time, event);
            let owner = self.seen(acting.owner, acting.time, event);
            let key = self.key(acting.key);
            let note = ActingNote {
                key,
                owner,
                ..*acting
            };
            self.builder.digest.acting.push(note);
        } else if let Some(time) = self.builder.digest.asides.copy(&whole.asides, event) {
            self.pass(time, event);
            self.crashed(event);
        } else {
            self.sign(event);
        }
    }

    /// A client that crashed takes its sessions with it.
    fn crashed(&mut self, event: u64) {
        let last = self.builder.digest.asides.failures.last();
        let crash = last
            .filter(|failure| failure.event == event && failure.note.kind == FailureKind::Crash);
        let name = crash.map(|failure| Name::clone(&failure.owner));
        if let Some(name) = name {
            let owner = OwnerId(self.builder.digest.owners.intern_name(&name));
            let operations = &mut self.builder.digest.operations;
            self.builder.sessions.end_all(owner, operations);
        }
    }

    /// A note that says no more than that its owner is alive, or that the history goes on.
    fn sign(&mut self, event: u64) {
        let whole = self.whole;
        let by = whole.alive_by.iter().position(|&by| by == event);
        let owner = by.and_then(|at| u32::try_from(at).ok()).map(OwnerId);
        if let Some(owner) = owner {
            let time = whole.alive[owner.0 as usize];
            self.pass(time, event);
            self.seen(owner, time, event);
        } else if whole.end_by == event {
            self.pass(whole.end, event);
        }
    }

    fn seen(&mut self, owner: OwnerId, time: Nanos, event: u64) -> OwnerId {
        let owner = self.owner(owner);
        self.builder.see(owner, time, event);
        owner
    }

    fn key(&mut self, key: KeyId) -> KeyId {
        let name = self.whole.keys.name(key.0);
        KeyId(self.builder.digest.keys.intern_name(name))
    }

    fn owner(&mut self, owner: OwnerId) -> OwnerId {
        let name = self.whole.owners.name(owner.0);
        OwnerId(self.builder.digest.owners.intern_name(name))
    }

    fn detail(&mut self, operation: &Operation) -> Option<DetailId> {
        let detail = *self.whole.detail(operation)?;
        let (whole, digest) = (self.whole, &mut self.builder.digest);
        let mut value = |id: ValueId| {
            let name = whole.values.name(id.0);
            ValueId(digest.values.intern_name(name))
        };
        let (asked, replied) = (detail.asked.map(&mut value), detail.replied.map(value));
        let resource = detail.resource.map(|resource| {
            let name = whole.resources.name(resource);
            digest.resources.intern_name(name)
        });
        Some(self.builder.add_detail(Detail {
            resource,
            asked,
            replied,
        }))
    }
}
