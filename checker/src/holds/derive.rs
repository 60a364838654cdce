//! Operations → holds.
//!
//! The operations of one owner on one key are taken in the order in which they bear on its hold:
//! a grant, a renewal and a proof at their answer, a release and an indeterminate acquire at
//! their invocation. From one grant to the next release there is one hold.
//!
//! A second grant to an owner that holds extends its hold (a reentrant lock), if it came while
//! the lease was certainly running; later it begins a new hold. The first release then ends the
//! hold for accusations, for not every lock counts its grants, unless the service says by a count
//! that it is a partial one. The hull ends with as many releases as there were grants.
//!
//! A writer may also read: an owner has a hold of each mode, and what is said of one is not said of
//! the other, as far as it can be told which is meant.

mod belief;
mod linger;
mod modes;
mod moment;

use self::moment::{Moment, News, moment};
use super::evidence::{
    deny, deny_release, excuse, is_after_grant, is_indeterminate_release, outlive, show,
};
use super::grants::Grants;
use super::hold::Hold;
use crate::history::{Mode, Nanos};
use crate::operations::{
    Action, Digest, Drift, Interval, KeyId, Lease, LostNote, OpId, Operation, Outcome,
};
use crate::options::Options;
use crate::parallel;

/// The holds of a history, grouped by key, each group in order of grant. Those of a long history
/// are computed by as many threads as there are cores, and are the same for any number.
pub fn holds(digest: &Digest, drift: Drift) -> Vec<Hold> {
    let threads = Options::default().threads(digest.operations.len());
    holds_by(threads, digest, drift)
}

/// Variant of [`holds`] that takes so many threads.
pub(crate) fn holds_by(threads: usize, digest: &Digest, drift: Drift) -> Vec<Hold> {
    let mut notes: Vec<&LostNote> = digest.lost.iter().collect();
    notes.sort_by_key(|note| note.key);
    let slots = 1 + usize::from(digest.has_two_modes());
    let owners = || vec![Owner::default(); slots * digest.owners.len()];
    let mut by_key = parallel::map(threads, &digest.all_keys(), owners, |owners, &key| {
        let first = notes.partition_point(|note| note.key < key);
        let last = notes.partition_point(|note| note.key <= key);
        let mut builder = Builder {
            digest,
            drift,
            holds: Vec::new(),
            slots,
            owners,
        };
        builder.take_all(key, &notes[first..last]);
        belief::settle(digest, key, &mut builder.holds);
        linger::settle(digest, &mut builder.holds);
        builder.holds
    });
    if let [one] = &mut *by_key {
        return std::mem::take(one);
    }
    let mut holds = Vec::with_capacity(by_key.iter().map(Vec::len).sum());
    for group in by_key {
        holds.extend(group);
    }
    holds
}

/// Holds that an owner has of the key at hand, in one mode; positions in the list of holds.
#[derive(Clone, Copy, Default)]
struct Owner {
    /// Granted, and no release sent.
    open: Option<usize>,
    /// The hold before that, whose release was sent.
    left: Option<usize>,
    /// That no release of it can have had an effect: the service must still keep it.
    is_kept: bool,
    /// The indeterminate acquire that a proof proves: of several the one that claims least, for
    /// nobody can tell which of them took effect.
    phantom: Option<usize>,
    /// The last answer to an acquire that was sent so far: its time and its event.
    asking: (Nanos, u64),
    /// The last acquire without an answer.
    unanswered: Option<OpId>,
    /// The last hold that it gave up, which may go on up to its ceiling.
    lapsed: Option<usize>,
    grants: Grants,
    /// The release that was answered last, and the last one without an answer.
    released: Option<(Nanos, OpId)>,
    doubted: Option<OpId>,
    /// How many of those without an answer may yet end a later hold.
    in_doubt: u32,
    /// How many were sent since the last grant that began a hold.
    sent: u32,
    /// By how much renewals that had no answer may yet extend the lease of a later hold.
    loose: Nanos,
    token_last: Option<u64>,
}

impl Owner {
    /// A release that may be of what it has or had.
    fn released_by(&mut self, id: OpId, release: &Operation) {
        match (release.outcome, release.answered()) {
            (Outcome::Ok, Some(answered)) => {
                self.released = self.released.max(Some((answered, id)));
            }
            (Outcome::Unknown, _) => self.doubted = Some(id),
            (Outcome::Ok | Outcome::Refused | Outcome::NotOwner | Outcome::Failed, _) => {}
        }
        self.in_doubt += u32::from(is_indeterminate_release(release));
        self.sent += 1;
    }
}

struct Builder<'a> {
    digest: &'a Digest,
    drift: Drift,
    holds: Vec<Hold>,
    /// How many an owner has: one, or two where it may write and read.
    slots: usize,
    /// By number and mode; all at their default between two keys.
    owners: &'a mut [Owner],
}

impl Builder<'_> {
    /// Everything that bears on the holds of `key`, in order of time.
    fn take_all(&mut self, key: KeyId, notes: &[&LostNote]) {
        let digest = self.digest;
        let edges = digest.edges(key).iter();
        let moments = edges.clone().filter_map(|&edge| moment(digest, edge));
        if notes.is_empty() && digest.is_in_time() {
            for moment in moments {
                self.take(moment);
            }
        } else {
            let notices = notes.iter().map(|note| Moment {
                time: note.time,
                index: note.event,
                news: News::Lost(note.owner),
            });
            let mut moments: Vec<Moment> = moments.chain(notices).collect();
            // Nearly sorted by nature, which the standard stable sort turns to account.
            moments.sort_by_key(|moment| (moment.time, moment.index));
            for moment in moments {
                self.take(moment);
            }
        }
        // Of many owners, a key with few operations concerns few.
        if self.owners.len() <= edges.len() {
            self.owners.fill(Owner::default());
        } else {
            for edge in edges {
                let owner = digest.operation(edge.operation()).owner;
                self.of(owner).fill(Owner::default());
            }
        }
    }

    fn take(&mut self, moment: Moment) {
        let id = match moment.news {
            News::Op(id) => id,
            News::Asked(id) => {
                let acquire = self.digest.operation(id);
                let place = self.place(acquire);
                let asking = &mut self.owners[place].asking;
                *asking = (*asking).max(acquire.effective_at());
                return;
            }
            News::Lost(owner) => {
                let first = self.slots * owner.0 as usize;
                for owner in &mut self.owners[first..first + self.slots] {
                    owner.grants.least = 0;
                    if let Some(open) = owner.open {
                        let told = &mut self.holds[open].told_lost;
                        *told = (*told).min(moment.time);
                    }
                }
                return;
            }
        };
        let operation = self.digest.operation(id);
        let place = self.place(operation);
        match self.slots {
            1 => self.take_at(place, id, operation),
            _ => self.take_beside(place, id, operation),
        }
    }

    /// An operation on the hold of one mode.
    fn take_at(&mut self, place: usize, id: OpId, operation: &Operation) {
        let mut owner = self.owners[place];
        match operation.action {
            Action::Acquire => self.acquire(&mut owner, id, operation),
            Action::Renew => self.renew(&mut owner, id, operation),
            Action::Release => self.release(&mut owner, id, operation),
            Action::Resource(_) => self.resource(&mut owner, id, operation),
            Action::Other => {}
        }
        self.owners[place] = owner;
    }

    fn acquire(&mut self, owner: &mut Owner, id: OpId, operation: &Operation) {
        self.give_up(owner, id, operation);
        let Some(answered) = operation.answered() else {
            owner.unanswered = Some(id);
            if let Some(open) = owner.open {
                // It may have been a reentrant grant, which extends the lease.
                self.holds[open].lease.ceiling = Nanos::MAX;
            }
            let phantom = self.begin(id, operation, Nanos::MAX, Lease::UNPROVED);
            let least = owner.phantom.into_iter().chain([phantom]);
            owner.phantom = least.min_by_key(|&position| self.claims(position));
            return;
        };
        owner.token_last = owner.token_last.max(operation.token);
        let lease = self.lease(operation, answered);
        if let Some(open) = owner.open {
            let hold = &mut self.holds[open];
            hold.lease = hold.lease.extended(lease);
            owner.grants.again(operation);
            if operation.count > Some(1) {
                show(hold, operation);
            }
            return;
        }
        self.settle(owner, answered);
        let enters_again = self.may_enter_again(owner, operation);
        let open = self.begin(id, operation, answered, lease);
        self.doubt(*owner, open, answered);
        owner.open = Some(open);
        owner.left = None;
        (owner.lapsed, owner.sent) = (None, 0);
        owner.grants.begin(operation.count, enters_again);
        self.race(owner, id, operation, answered);
    }

    /// Tells whether the service may still keep an earlier hold of the owner, whose release failed,
    /// had no answer or was never sent: a grant may then be one more of the same, and its release
    /// leaves the other.
    fn may_enter_again(&self, owner: &Owner, acquire: &Operation) -> bool {
        let earlier = owner.left.into_iter().chain(owner.lapsed);
        earlier.map(|at| &self.holds[at]).any(|hold| {
            let is_over = hold.hull.end < Nanos::MAX || hold.lease.ceiling < acquire.invoked;
            !is_over
        })
    }

    /// Counts what a hold that is known since `granted` owes to earlier operations of its owner
    /// that had no answer.
    fn doubt(&mut self, owner: Owner, position: usize, granted: Nanos) {
        let hold = &mut self.holds[position];
        hold.shown = if owner.in_doubt > 0 {
            granted
        } else {
            Nanos::MAX
        };
        hold.lease = hold.lease.loosened(owner.loose);
    }

    /// A grant inside the lease of the hold before, answered at `granted`, says that the one
    /// release of that hold took effect, though nobody answered it, or that the owner has entered
    /// twice: in either case nothing is left that could end the new hold.
    fn settle(&self, owner: &mut Owner, granted: Nanos) {
        let Some(left) = owner.left.map(|left| &self.holds[left]) else {
            return;
        };
        let release = left.release.map(|id| self.digest.operation(id));
        // One that was under way before the grant was known may yet strike, whatever came then.
        let granting = self.digest.operation(left.proof.unwrap_or(left.acquire));
        let is_later = |release: &&Operation| granting.last_event() < release.invoke;
        let doubted = release
            .filter(is_later)
            .is_some_and(is_indeterminate_release);
        let inside = granted <= left.lease.floor && left.told_lost == Nanos::MAX;
        if doubted && inside && owner.sent == 1 {
            owner.in_doubt = owner.in_doubt.saturating_sub(1);
        }
    }

    /// A release that was under way together with the acquire may have given the grant back before
    /// its owner knew of it; of an indeterminate acquire, before `telling`, which proves it, was
    /// answered at `granted`.
    fn race(&mut self, owner: &mut Owner, id: OpId, telling: &Operation, granted: Nanos) {
        let digest = self.digest;
        let acquire = digest.operation(id);
        let answered_during = owner.released.filter(|&(until, release)| {
            // One process does one thing after the other.
            let tie = digest.operation(release).process != telling.process;
            until > telling.invoked || until == telling.invoked && tie
        });
        let sent_during = owner.doubted.filter(|&doubted| {
            let release = digest.operation(doubted);
            let tie = doubted > id || release.process != acquire.process;
            release.invoked > acquire.invoked || release.invoked == acquire.invoked && tie
        });
        let race = answered_during.map(|(_, release)| release).or(sent_during);
        if let (Some(release), Some(open)) = (race, owner.open) {
            owner.open = None;
            let hold = &mut self.holds[open];
            hold.core.end = granted;
            hold.release = Some(release);
            owner.left = Some(open);
            owner.is_kept = false;
            owner.grants.over();
        }
    }

    /// Ends the hold of an owner that asks again after its lease, or after it was told that the
    /// lock is lost: it has given up the hold before. So has an owner that asks for another mode
    /// where there is one hold for both.
    fn give_up(&mut self, owner: &mut Owner, id: OpId, anew: &Operation) {
        let Some(open) = owner.open.filter(|&open| self.ends_by(open, id, anew)) else {
            return;
        };
        (owner.open, owner.lapsed) = (None, Some(open));
    }

    /// Tells whether a hold ends by what its owner asks for again.
    fn ends_by(&mut self, position: usize, id: OpId, anew: &Operation) -> bool {
        let hold = &mut self.holds[position];
        let asked = anew.answered().unwrap_or(anew.invoked);
        let is_other = self.slots == 1 && hold.mode != anew.mode;
        let ends = asked > hold.lease.floor || hold.told_lost < Nanos::MAX || is_other;
        if ends {
            hold.give_up(id, anew);
        }
        ends
    }

    fn begin(&mut self, id: OpId, acquire: &Operation, granted: Nanos, lease: Lease) -> usize {
        self.holds.push(Hold {
            key: acquire.key,
            owner: acquire.owner,
            mode: acquire.mode,
            permits: acquire.permits,
            acquire: id,
            proof: None,
            release: None,
            partial: None,
            anew: None,
            denial: None,
            renewals: 0,
            token: acquire.token,
            core: Interval::new(granted, Nanos::MAX),
            hull: Interval::new(acquire.invoked, Nanos::MAX),
            lease,
            is_open_ended: acquire.lease == Some(Nanos(0)) && !acquire.is_of_session,
            told_lost: Nanos::MAX,
            shown: Nanos::MAX,
            acting: self.digest.alive[acquire.owner.0 as usize],
            lingers: Nanos(0),
        });
        self.holds.len() - 1
    }

    fn renew(&mut self, owner: &mut Owner, id: OpId, operation: &Operation) {
        // After the lease it may be the hold of another acquire that was renewed.
        let beside_a_grant = operation.effective_at() < owner.asking;
        let is_asking = beside_a_grant || owner.unanswered > Some(id);
        if operation.outcome == Outcome::Ok && (is_asking || owner.phantom.is_some()) {
            self.give_up(owner, id, operation);
            let racing = self.racing_its_release(*owner, operation);
            let racing = racing.filter(|_| is_asking && owner.open.is_none());
            if racing.is_some_and(|left| self.ends_by(left, id, operation)) {
                return;
            }
        }
        match operation.outcome {
            Outcome::NotOwner => owner.grants.least = 0,
            Outcome::Unknown => {
                let subject = owner.open.or(owner.lapsed);
                owner.loose = owner.loose + self.slack_of(subject, operation);
            }
            Outcome::Ok | Outcome::Refused | Outcome::Failed => {}
        }
        let Some(position) = owner
            .open
            .or_else(|| self.racing_its_release(*owner, operation))
        else {
            match (operation.outcome, operation.answered()) {
                // What an acquire beside it was granted may be what it renewed.
                (Outcome::Ok, Some(answered)) if !beside_a_grant => {
                    self.prove(owner, id, operation, answered);
                }
                (Outcome::Unknown, _) => {
                    if let Some(lapsed) = owner.lapsed {
                        self.loosen(lapsed, operation);
                    }
                }
                (Outcome::Ok | Outcome::NotOwner | Outcome::Refused | Outcome::Failed, _) => {}
            }
            return;
        };
        let length = operation.lease.or(self.asked_for(position));
        let drift = self.drift;
        let hold = &mut self.holds[position];
        // A renewal sent before the grant may have met the hold before this one.
        let sent_inside = is_after_grant(hold, operation, self.digest);
        match (operation.outcome, operation.answered()) {
            (Outcome::Ok, Some(answered)) => {
                let lease = Lease::granted(operation.asked(), answered, length, drift);
                hold.lease = hold.lease.reaching(lease.ceiling);
                if sent_inside {
                    hold.lease = hold.lease.extended(lease);
                    show(hold, operation);
                }
                hold.renewals += 1;
            }
            (Outcome::NotOwner, Some(answered)) if sent_inside && owner.open.is_some() => {
                if !operation.by_library {
                    hold.told_lost = hold.told_lost.min(answered);
                }
                hold.hull.end = hold.hull.end.min(answered);
                deny(hold, id, answered);
            }
            (Outcome::Unknown, _) => self.loosen(position, operation),
            (Outcome::Ok | Outcome::NotOwner | Outcome::Refused | Outcome::Failed, _) => {}
        }
    }

    /// By how much a renewal without an answer may extend what its owner has, or comes to have.
    fn slack_of(&self, subject: Option<usize>, renewal: &Operation) -> Nanos {
        let length = subject.and_then(|position| self.asked_for(position));
        Lease::slack_of(renewal.lease.or(length), self.drift)
    }

    fn loosen(&mut self, position: usize, renewal: &Operation) {
        let slack = self.slack_of(Some(position), renewal);
        let lease = &mut self.holds[position].lease;
        *lease = lease.loosened(slack);
    }

    /// The hold whose release was sent while this renewal was under way.
    fn racing_its_release(&self, owner: Owner, renewal: &Operation) -> Option<usize> {
        owner
            .left
            .filter(|&left| renewal.invoked < self.holds[left].core.end)
    }

    /// How much an indeterminate acquire would hold if it were proved, and how long at the least.
    fn claims(&self, position: usize) -> (bool, u32, Nanos) {
        let hold = &self.holds[position];
        let length = self.asked_for(position).unwrap_or(Nanos::MAX);
        (
            hold.mode == Mode::Write,
            hold.permits,
            hold.hull.start + length,
        )
    }

    /// The lease that the acquire of a hold asked for, or got.
    fn asked_for(&self, position: usize) -> Option<Nanos> {
        self.digest.operation(self.holds[position].acquire).lease
    }

    fn release(&mut self, owner: &mut Owner, id: OpId, operation: &Operation) {
        if let Some(left) = owner.left {
            excuse(&mut self.holds[left], operation, self.digest);
        }
        if let Some(open) = owner.open.filter(|_| owner.grants.outlast(operation)) {
            self.keep(open, id, operation);
        } else if let Some(open) = owner.open.take() {
            let length = self.asked_for(open);
            let hold = &mut self.holds[open];
            hold.core.end = hold.core.end.min(operation.invoked);
            hold.release = Some(id);
            if operation.outcome == Outcome::Ok {
                show(hold, operation);
                if operation.count > Some(0) {
                    outlive(hold, operation, length, self.drift);
                }
            }
            // At equal times the release may have come before the renewal.
            excuse(hold, operation, self.digest);
            deny_release(hold, id, operation, self.digest);
            owner.left = Some(open);
            owner.is_kept = operation.outcome == Outcome::Failed;
        } else if operation.outcome == Outcome::Ok && self.phantom_before(owner, id).is_some() {
            if let Some(answered) = operation.answered() {
                self.prove(owner, id, operation, answered);
            }
            owner.left = owner.open.take();
            owner.is_kept = false;
        } else if let Some(left) = owner.left.filter(|_| owner.is_kept) {
            deny_release(&mut self.holds[left], id, operation, self.digest);
            owner.is_kept = operation.outcome == Outcome::Failed;
        }
        owner.released_by(id, operation);
        owner.grants.release(operation);
        if let (Some(left), Outcome::Ok | Outcome::NotOwner, Some(answered)) =
            (owner.left, operation.outcome, operation.answered())
            && owner.grants.most == 0
        {
            let hold = &mut self.holds[left];
            // It may still hold some of its permits.
            let ends = if operation.outcome == Outcome::Ok {
                operation.permits >= hold.permits
            } else {
                operation.permits <= hold.permits
            };
            if ends {
                hold.hull.end = hold.hull.end.min(answered);
            }
        }
    }

    /// A partial release: the hold goes on, and its lease may have been extended.
    fn keep(&mut self, open: usize, id: OpId, release: &Operation) {
        let length = self.asked_for(open);
        let hold = &mut self.holds[open];
        hold.partial = hold.partial.or(Some(id));
        if release.outcome == Outcome::Ok {
            show(hold, release);
        }
        excuse(hold, release, self.digest);
        outlive(hold, release, length, self.drift);
    }

    /// The token of an indeterminate acquire was seen at the resource.
    fn resource(&mut self, owner: &mut Owner, id: OpId, operation: &Operation) {
        if owner.open.is_none()
            && operation.token > owner.token_last
            && let Some(answered) = operation.answered()
        {
            self.prove(owner, id, operation, answered);
        }
    }

    /// The phantom that an operation can prove: one sent before the acquire says nothing of it.
    fn phantom_before(&self, owner: &Owner, id: OpId) -> Option<usize> {
        let phantom = owner.phantom;
        phantom.filter(|&position| self.holds[position].acquire < id)
    }

    /// Turns the phantom of an owner into a hold that begins at `answered`. What may just as well
    /// be of a hold that it gave up proves nothing.
    fn prove(&mut self, owner: &mut Owner, id: OpId, proof: &Operation, answered: Nanos) {
        if self.is_of_lapsed(*owner, proof, answered) {
            return;
        }
        let Some(position) = self.phantom_before(owner, id) else {
            return;
        };
        owner.phantom = None;
        let asked_for = self.asked_for(position);
        let hold = &mut self.holds[position];
        hold.proof = Some(id);
        hold.core.start = answered;
        hold.token = hold.token.or(proof.token);
        // The acquire took effect between its invocation and the proof.
        hold.lease = Lease::granted(hold.hull.start, answered, asked_for, self.drift);
        if proof.action == Action::Renew {
            let length = proof.lease.or(asked_for);
            let renewed = Lease::granted(proof.invoked, answered, length, self.drift);
            hold.lease = hold.lease.extended(renewed);
        }
        self.doubt(*owner, position, answered);
        let acquire = self.digest.operation(self.holds[position].acquire);
        let enters_again = self.may_enter_again(owner, acquire);
        let hold = &mut self.holds[position];
        let acquire = hold.acquire;
        if proof.action == Action::Release {
            hold.release = Some(id);
            hold.core.end = hold.core.start;
        }
        owner.token_last = owner.token_last.max(hold.token);
        owner.open = Some(position);
        (owner.lapsed, owner.sent) = (None, 0);
        owner.grants.begin(None, enters_again);
        if proof.action != Action::Release {
            self.race(owner, acquire, proof, answered);
        }
    }

    /// Tells whether a success may be of the hold that its owner gave up last; a renewal then
    /// lengthens what that may have.
    fn is_of_lapsed(&mut self, owner: Owner, proof: &Operation, answered: Nanos) -> bool {
        let by_token = matches!(proof.action, Action::Resource(_));
        let Some(lapsed) = owner.lapsed.filter(|_| !by_token) else {
            return false;
        };
        let length = proof.lease.or(self.asked_for(lapsed));
        let renewed = Lease::granted(proof.asked(), answered, length, self.drift);
        let hold = &mut self.holds[lapsed];
        let may_be = proof.invoked <= hold.lease.ceiling;
        if may_be && proof.action == Action::Renew {
            hold.lease = hold.lease.reaching(renewed.ceiling);
        }
        may_be
    }

    fn lease(&self, operation: &Operation, answered: Nanos) -> Lease {
        Lease::granted(operation.asked(), answered, operation.lease, self.drift)
    }
}
