//! Two holds of one owner: a writer may also read.
//!
//! Who asks to write while it reads gives up its reading, for some locks turn the one into the
//! other; who asks to read gives up its writing after its lease only. Where a history does not say
//! which of the two holds a renewal or a release is about, and it can be either, both count no
//! longer from there on, and neither can have been lost by it. A release in a mode in which its
//! owner has nothing may be about the other hold; it accuses nobody of having kept that.

use super::{Builder, Owner};
use crate::history::Mode;
use crate::holds::excuse;
use crate::operations::{Action, Lease, OpId, Operation, Outcome, OwnerId};

impl Builder<'_> {
    /// Where it is kept what the owner of an operation has, in the mode of the operation.
    pub(super) fn place(&self, operation: &Operation) -> usize {
        let reads = self.slots == 2 && operation.mode == Mode::Read;
        self.slots * operation.owner.0 as usize + usize::from(reads)
    }

    /// All that an owner has.
    pub(super) fn of(&mut self, owner: OwnerId) -> &mut [Owner] {
        let first = self.slots * owner.0 as usize;
        &mut self.owners[first..first + self.slots]
    }

    /// An operation of an owner that may have two holds, the one of its mode at `place`.
    pub(super) fn take_beside(&mut self, place: usize, id: OpId, operation: &Operation) {
        match operation.action {
            Action::Acquire => self.ask_beside(place ^ 1, id, operation),
            Action::Renew | Action::Release if operation.is_vague => {
                return self.vague(place, id, operation);
            }
            Action::Renew if !self.has_any(place, id) => {
                self.lengthen(self.owners[place ^ 1].open, operation);
            }
            Action::Release if self.is_stray(place, id, operation) => {
                self.give_up_at(place ^ 1, id, operation);
            }
            Action::Resource(_) => return self.used(place, id, operation),
            Action::Renew | Action::Release | Action::Other => {}
        }
        self.take_at(place, id, operation);
    }

    /// Its owner asks for the lock in the other mode than that of `place`.
    fn ask_beside(&mut self, place: usize, id: OpId, acquire: &Operation) {
        if acquire.mode == Mode::Write {
            self.give_up_at(place, id, acquire);
        } else {
            let mut owner = self.owners[place];
            self.give_up(&mut owner, id, acquire);
            self.owners[place] = owner;
        }
    }

    /// Tells whether there is something that an operation may be about.
    fn has_any(&self, place: usize, id: OpId) -> bool {
        let owner = &self.owners[place];
        owner.open.is_some() || self.phantom_before(owner, id).is_some()
    }

    /// Tells whether a release may be about the hold of the other mode: nothing is open that it can
    /// be about. Writing that was given up is given back later; reading may have been turned into
    /// writing.
    fn is_stray(&self, place: usize, id: OpId, release: &Operation) -> bool {
        let is_late = release.mode == Mode::Write && self.owners[place].lapsed.is_some();
        !self.has_any(place, id) && !is_late
    }

    /// The hold that is open may have ended, or been turned into another.
    fn give_up_at(&mut self, place: usize, id: OpId, operation: &Operation) {
        let owner = &mut self.owners[place];
        let Some(open) = owner.open.take() else {
            return;
        };
        owner.lapsed = Some(open);
        let hold = &mut self.holds[open];
        hold.give_up(id, operation);
        if operation.action == Action::Release {
            excuse(hold, operation, self.digest);
        }
    }

    /// The service may have extended a hold, for all that it was asked about.
    fn lengthen(&mut self, hold: Option<usize>, renewal: &Operation) {
        let Some(position) = hold else {
            return;
        };
        let length = renewal.lease.or(self.asked_for(position));
        match (renewal.outcome, renewal.answered()) {
            (Outcome::Ok, Some(answered)) => {
                let renewed = Lease::granted(renewal.asked(), answered, length, self.drift);
                let lease = &mut self.holds[position].lease;
                *lease = lease.reaching(renewed.ceiling);
            }
            (Outcome::Unknown, _) => self.loosen(position, renewal),
            (Outcome::Ok | Outcome::NotOwner | Outcome::Refused | Outcome::Failed, _) => {}
        }
    }

    /// A renewal or a release that may be about either hold.
    fn vague(&mut self, place: usize, id: OpId, operation: &Operation) {
        let denied = operation.outcome == Outcome::NotOwner;
        let may_be = |place: usize| {
            let lapsed = self.owners[place].lapsed.is_some();
            lapsed || self.has_any(place, id)
        };
        let (here, there) = (may_be(place), may_be(place ^ 1));
        if !(denied || here && there) {
            // It is about the only one that there is.
            let only = if there { place ^ 1 } else { place };
            self.take_at(only, id, operation);
            self.note(only ^ 1, id, operation);
            return;
        }
        for place in [place, place ^ 1] {
            if operation.action == Action::Renew {
                let owner = &self.owners[place];
                let (open, lapsed) = (owner.open, owner.lapsed);
                self.lengthen(open, operation);
                self.lengthen(lapsed, operation);
            }
            self.give_up_at(place, id, operation);
            self.note(place, id, operation);
        }
    }

    /// Notes what an operation that may be about something else may have done nevertheless.
    fn note(&mut self, place: usize, id: OpId, operation: &Operation) {
        let owner = &mut self.owners[place];
        match operation.action {
            Action::Release => {
                owner.released_by(id, operation);
                if let Some(left) = owner.left {
                    excuse(&mut self.holds[left], operation, self.digest);
                }
            }
            Action::Renew if operation.outcome == Outcome::Unknown => {
                let slack = Lease::slack_of(operation.lease, self.drift);
                owner.loose = owner.loose + slack;
            }
            Action::Renew | Action::Acquire | Action::Resource(_) | Action::Other => {}
        }
    }

    /// A token was seen at the resource. Where two acquires had no answer, nobody can tell which of
    /// them it is of.
    fn used(&mut self, place: usize, id: OpId, operation: &Operation) {
        let both = [place, place ^ 1];
        let owners = both.map(|place| &self.owners[place]);
        let holds = owners.iter().any(|owner| owner.open.is_some());
        let known = owners
            .iter()
            .any(|owner| operation.token <= owner.token_last);
        let mut proved = both.into_iter().filter(|&place| self.has_any(place, id));
        if let (Some(place), None, false, false) = (proved.next(), proved.next(), holds, known) {
            self.take_at(place, id, operation);
        }
    }
}
