//! Events → what the checker keeps of them: operations and the notes that matter.
//!
//! For: taking a history event by event, so that its events need not be kept. Not for: refusing
//! histories in bad order, which the reader does; here a stray completion counts for nothing, and
//! an operation whose process moves on without completing it is indeterminate.

mod asides;
mod excerpt;
mod givers;
mod modes;
mod notes;
mod sessions;
mod suspensions;
mod widened;

use std::collections::HashMap;
use std::num::NonZeroU32;

pub use self::asides::{
    Asides, CommandAside, ExpiredAside, FailureAside, RoleAside, RouteAside, StallAside, ViewAside,
};
pub(crate) use self::excerpt::Item;
use self::givers::GiverNumbers;
use self::modes::Modes;
pub(crate) use self::notes::ActingNote;
pub use self::notes::{FaultEvent, FinalPhase, Loss, LostNote, QueuedNote};
use self::sessions::Sessions;
use self::suspensions::Suspensions;
use super::groups::Groups;
use super::operation::{
    Access, Action, Completion, Detail, DetailId, Edge, KeyId, OpId, Operation, Outcome, OwnerId,
    ValueId,
};
use crate::history::names::Names;
use crate::history::{
    Event, EventSink, FailureKind, Function, Givers, Header, History, Kind, Mode, Name, Nanos,
    Process, Value,
};

/// Extract of a history that the checker keeps. Its operations are in order of invocation.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Clone, Debug, Default)]
pub struct Digest {
    /// Header of the history that the events belong to.
    pub header: Header,
    /// Number of events in the history.
    pub events: u64,
    /// Time of the latest event.
    pub end: Nanos,
    /// The operations, by index of their invocation.
    pub operations: Vec<Operation>,
    /// Names of lock keys, by [`KeyId`].
    pub keys: Names,
    /// Names of owners, by [`OwnerId`].
    pub owners: Names,
    /// Names of guarded resources, by [`Detail::resource`].
    pub resources: Names,
    /// Values read and written, as JSON text, by [`ValueId`].
    pub values: Names,
    /// Requests of operations on resources, with their replies.
    details: Vec<Detail>,
    /// The sets of servers that granted locks, by [`GiversId`](crate::operations::GiversId).
    givers: Vec<Givers>,
    /// The ends of the operations on each key, in order of their events.
    edges: Groups<Edge>,
    /// `true` if no event is earlier than one before it, so that the order of events is that of
    /// time.
    is_in_time: bool,
    /// `true` if an operation asks for none or several permits.
    names_permits: bool,
    /// `true` if an operation on a lock is a reader's.
    has_readers: bool,
    /// `true` if a renewal or a release names its mode: a history that does so leaves the mode out
    /// only where it is the usual one.
    names_modes: bool,
    /// The most by which the lease of a grant is shorter than the one that was asked for. So much
    /// longer than it says may a server keep the lock: libraries take off what the request took.
    pub(crate) shortfall: Nanos,
    /// Time at which each owner was last known to be alive, by [`OwnerId`].
    pub alive: Vec<Nanos>,
    /// Index of the event that says so, by [`OwnerId`].
    alive_by: Vec<u64>,
    /// Index of the last event in time.
    end_by: u64,
    /// Notes that a client acts as holder, by index.
    pub(crate) acting: Vec<ActingNote>,
    /// `true` for each owner that ever sent a release, by [`OwnerId`]; the last owners may be
    /// missing.
    releases: Vec<bool>,
    /// "You lost the lock" notices, by index.
    pub lost: Vec<LostNote>,
    /// Doorways of fair locks, by index.
    pub queued: Vec<QueuedNote>,
    /// Life cycles of faults, by index.
    pub faults: Vec<FaultEvent>,
    /// Notes that no verdict rests on.
    pub asides: Asides,
    /// The phase that the run was in last.
    pub last_phase: Option<Name>,
    /// The start of the final phase.
    pub final_phase: Option<FinalPhase>,
}

impl Digest {
    /// The digest of a whole history.
    pub fn of(history: &History) -> Self {
        let mut builder = DigestBuilder::new(history.header.clone());
        for event in &history.events {
            builder.push(event);
        }
        builder.finish()
    }

    /// Its operations, by their numbers.
    pub(crate) fn ids(&self) -> impl Iterator<Item = OpId> + Clone + use<> {
        (0..self.operations.len()).map(OpId::at)
    }

    /// One operation.
    pub fn operation(&self, id: OpId) -> &Operation {
        &self.operations[id.position()]
    }

    /// Returns what an operation asked of the guarded resource, and what it was told.
    pub fn detail(&self, operation: &Operation) -> Option<&Detail> {
        let id = operation.detail?.0.get() as usize;
        self.details.get(id - 1)
    }

    /// The servers that granted `operation`, as far as its reply names them.
    pub fn givers(&self, operation: &Operation) -> Option<&Givers> {
        self.givers.get(operation.by?.0.get() as usize - 1)
    }

    /// The ends of the operations on `key`, in order of their events.
    pub(crate) fn edges(&self, key: KeyId) -> &[Edge] {
        self.edges.of(key.0)
    }

    /// The operations on `key`, in order of invocation.
    pub(crate) fn operations_on(&self, key: KeyId) -> impl Iterator<Item = (OpId, &Operation)> {
        let sent = self.edges(key).iter().filter(|edge| edge.is_sent());
        sent.map(|edge| (edge.operation(), self.operation(edge.operation())))
    }

    /// Tells whether the order of events is that of time.
    pub(crate) fn is_in_time(&self) -> bool {
        self.is_in_time
    }

    /// Tells whether an operation asks for none or several permits.
    pub(crate) fn names_permits(&self) -> bool {
        self.names_permits
    }

    /// Tells whether an owner ever sends a release, of this lock or another.
    pub(crate) fn releases(&self, owner: OwnerId) -> bool {
        self.releases
            .get(owner.0 as usize)
            .is_some_and(|&releases| releases)
    }

    /// Tells whether an owner may hold a lock twice, as a writer and as a reader. The permits of a
    /// semaphore have no modes.
    pub(crate) fn has_two_modes(&self) -> bool {
        self.has_readers && self.header.permits.unwrap_or(1) <= 1
    }

    /// All keys that the history names.
    pub(crate) fn all_keys(&self) -> Vec<KeyId> {
        (0..self.keys.len() as u32).map(KeyId).collect()
    }

    /// A value, as JSON text.
    pub fn value(&self, value: ValueId) -> &str {
        self.values.name(value.0)
    }

    /// The text of a key as people are shown it; [`Self::keys`] has all of a huge one.
    pub fn key(&self, key: KeyId) -> &str {
        self.keys.shown(key.0)
    }

    /// The text of an owner as people are shown it; [`Self::owners`] has all of a huge one.
    pub fn owner(&self, owner: OwnerId) -> &str {
        self.owners.shown(owner.0)
    }
}

/// Builds a [`Digest`] from events in order of their index.
#[derive(Debug, Default)]
pub struct DigestBuilder {
    digest: Digest,
    /// The operation that each process waits for.
    pending: HashMap<u64, OpId>,
    /// The ends of all operations, in order of their events.
    edges: Vec<Edge>,
    /// An event was earlier than one before it.
    is_disordered: bool,
    modes: Modes,
    givers: GiverNumbers,
    sessions: Sessions,
    suspensions: Suspensions,
}

impl DigestBuilder {
    /// An empty digest.
    pub fn new(header: Header) -> Self {
        Self {
            digest: Digest {
                header,
                ..Digest::default()
            },
            ..Self::default()
        }
    }

    /// Takes the next event.
    pub fn push(&mut self, event: &Event) {
        self.digest.events += 1;
        self.pass(event.time, event.index);
        match (event.kind, event.process) {
            (Kind::Note, _) => self.note(event),
            (Kind::Invoke, Process::Client(process)) => self.invoke(event, process),
            (Kind::Ok | Kind::Fail | Kind::Info, Process::Client(process)) => {
                self.complete(event, process);
            }
            (Kind::Invoke | Kind::Ok | Kind::Fail | Kind::Info, Process::Nemesis) => {}
        }
    }

    /// The digest; operations still pending are indeterminate.
    pub fn finish(self) -> Digest {
        let mut digest = self.digest;
        digest.givers = self.givers.finish();
        self.suspensions.finish(&mut digest.lost);
        let key = |edge: Edge| digest.operation(edge.operation()).key.0;
        digest.edges = Groups::new(self.edges, digest.keys.len(), key);
        digest.is_in_time = !self.is_disordered;
        digest
    }

    fn invoke(&mut self, event: &Event, process: u64) {
        let key = self.key(&event.key);
        let owner = self.owner(&event.value, event.process);
        self.see(owner, event.time, event.index);
        let action = Action::from(&event.function);
        if action == Action::Release {
            self.released(owner);
        }
        let detail = matches!(action, Action::Resource(_)).then(|| self.detail(&event.value));
        let permits = event.value.permits.unwrap_or(1);
        self.digest.names_permits |= permits != 1;
        let (mode, is_vague) = self.mode(event.value.mode, action, (key, owner));
        let position = self.digest.operations.len();
        self.pending.insert(process, OpId::at(position));
        self.edges.push(Edge::sent(OpId::at(position)));
        let mut operation = Operation {
            invoke: event.index,
            invoked: event.time,
            completion: None,
            lease: event.value.lease_ms.map(Nanos::from_millis),
            is_of_session: false,
            is_kept_by_session: false,
            token: event.value.token,
            process,
            key,
            owner,
            is_named: event.value.owner.is_some(),
            permits,
            action,
            mode,
            is_vague,
            is_mode_named: event.value.mode.is_some(),
            outcome: Outcome::Unknown,
            waited: Nanos(0),
            is_timed: false,
            by_harness: event.value.by_harness,
            by_library: event.value.by_library,
            is_void: false,
            is_told_no: false,
            is_ownership_open: false,
            count: None,
            by: None,
            detail,
        };
        if action == Action::Acquire {
            sessions::ask(&mut operation, event.value.until);
        }
        self.digest.has_readers |= operation.is_reader();
        self.digest.operations.push(operation);
    }

    /// The mode of an operation, and whether nobody can tell which it is.
    fn mode(
        &mut self,
        named: Option<Mode>,
        action: Action,
        place: (KeyId, OwnerId),
    ) -> (Mode, bool) {
        let digest = &mut self.digest;
        let is_of_hold = matches!(action, Action::Renew | Action::Release);
        digest.names_modes |= is_of_hold && named.is_some();
        match named {
            Some(mode) => (mode, false),
            None if is_of_hold && digest.has_readers && !digest.names_modes => {
                self.modes.of_unnamed(&digest.operations, place)
            }
            None => (Mode::Write, false),
        }
    }

    fn detail(&mut self, value: &Value) -> DetailId {
        let resource = value.resource.as_ref();
        let detail = Detail {
            resource: resource.map(|name| self.digest.resources.intern_name(name)),
            asked: self.value(value),
            replied: None,
        };
        self.add_detail(detail)
    }

    fn add_detail(&mut self, detail: Detail) -> DetailId {
        self.digest.details.push(detail);
        let id = u32::try_from(self.digest.details.len()).ok();
        DetailId(
            id.and_then(NonZeroU32::new)
                .expect("four billion operations do not fit in memory"),
        )
    }

    fn value(&mut self, value: &Value) -> Option<ValueId> {
        let json = value.value.as_ref()?;
        Some(ValueId(self.digest.values.intern(&json.to_string())))
    }

    fn complete(&mut self, event: &Event, process: u64) {
        let Some(id) = self.pending.remove(&process) else {
            return;
        };
        self.edges.push(Edge::completed(id));
        let position = id.position();
        let is_exact = self.digest.header.waits_at_least != Some(true);
        let operation = &mut self.digest.operations[position];
        operation.completion = Some(Completion {
            index: event.index,
            time: event.time,
        });
        operation.outcome = outcome(operation.action, event);
        if operation.outcome == Outcome::Ok {
            let granted = event.value.lease_ms.map(Nanos::from_millis);
            let has_asked = operation.lease.is_some_and(|asked| asked > Nanos(0));
            operation.is_void = has_asked && granted == Some(Nanos(0));
            if let (Some(asked), Some(granted)) = (operation.lease, granted) {
                let shortfall = Nanos(asked.0.saturating_sub(granted.0));
                self.digest.shortfall = self.digest.shortfall.max(shortfall);
            }
            operation.lease = granted.or(operation.lease);
            operation.token = event.value.token.or(operation.token);
            match operation.action {
                Action::Acquire => {
                    sessions::answer(operation, &event.value);
                    self.sessions.grant(id, operation);
                }
                Action::Release => self.sessions.released((operation.key, operation.owner)),
                Action::Renew | Action::Resource(_) | Action::Other => {}
            }
        }
        operation.by = event.value.by.as_deref().map(|by| self.givers.intern(by));
        let is_no = event.error.as_deref() == Some(Event::REFUSED);
        operation.is_told_no =
            is_no && operation.action == Action::Acquire && operation.outcome == Outcome::Unknown;
        operation.is_ownership_open = event.value.ownership.is_some();
        operation.count = event.value.count;
        if operation.is_last_release() {
            self.suspensions.stand((operation.key, operation.owner));
        }
        operation.waited = waited(operation, event);
        operation.is_timed = is_exact && event.value.waited_ns.is_some();
        if let Some(detail) = operation.detail {
            let replied = self.value(&event.value);
            self.digest.details[detail.0.get() as usize - 1].replied = replied;
        }
        // An info may have been written on behalf of a client that was killed.
        if event.kind != Kind::Info {
            let owner = self.digest.operations[position].owner;
            self.see(owner, event.time, event.index);
        }
    }

    fn note(&mut self, event: &Event) {
        if let (Function::Fault, Some(fault)) = (&event.function, &event.value.fault) {
            self.digest.faults.push(FaultEvent {
                event: event.index,
                time: event.time,
                note: (**fault).clone(),
            });
        }
        if let (Function::Phase, Some(phase)) = (&event.function, &event.value.phase) {
            self.digest.last_phase = Some(Name::clone(&phase.name));
            if &*phase.name == "final" {
                self.digest.final_phase = Some(FinalPhase {
                    event: event.index,
                    time: event.time,
                    bound: phase.bound,
                });
            }
        }
        self.digest.asides.push(event);
        let failure = event.value.failure.as_deref();
        if failure.is_some_and(|failure| failure.kind == FailureKind::Crash) {
            let owner = self.owner(&event.value, event.process);
            self.sessions.end_all(owner, &mut self.digest.operations);
        }
        // Neither a connection that comes back nor what a server knows is a sign of what a client
        // believes, and who has failed does not live.
        let is_aside = matches!(
            event.function,
            Function::Routed
                | Function::Role
                | Function::View
                | Function::Command
                | Function::Failure
                | Function::Expired
                | Function::Stall
        );
        if event.process == Process::Nemesis || is_aside {
            return;
        }
        let owner = self.owner(&event.value, event.process);
        self.see(owner, event.time, event.index);
        if event.function == Function::Alive {
            let note = ActingNote {
                event: event.index,
                time: event.time,
                key: self.key(&event.key),
                owner,
            };
            self.digest.acting.push(note);
        }
        match event.function {
            Function::Lost => self.lost(event, owner, Loss::Told),
            Function::Suspended => self.lost(event, owner, Loss::Suspended),
            Function::Ended => self.lost(event, owner, Loss::Ended),
            Function::Resumed => {
                let place = (self.key(&event.key), owner);
                if self.suspensions.take_back(place) {
                    self.sessions.end(place, false, &mut self.digest.operations);
                }
            }
            _ => {}
        }
        if event.function == Function::Queued {
            self.queued(event, owner);
        }
    }

    fn lost(&mut self, event: &Event, owner: OwnerId, loss: Loss) {
        let key = self.key(&event.key);
        match loss {
            Loss::Suspended => self.suspensions.begin((key, owner), self.digest.lost.len()),
            Loss::Told | Loss::Ended => self.suspensions.stand((key, owner)),
        }
        self.digest.lost.push(LostNote {
            loss,
            event: event.index,
            time: event.time,
            key,
            owner,
        });
        self.end_session(key, owner);
    }

    fn end_session(&mut self, key: KeyId, owner: OwnerId) {
        let operations = &mut self.digest.operations;
        self.sessions.end((key, owner), true, operations);
    }

    fn queued(&mut self, event: &Event, owner: OwnerId) {
        let waiting = match event.process {
            Process::Client(process) => self.pending.get(&process).copied(),
            Process::Nemesis => None,
        };
        let acquire = waiting.filter(|&id| self.digest.operation(id).action == Action::Acquire);
        let note = QueuedNote {
            event: event.index,
            time: event.time,
            key: self.key(&event.key),
            owner,
            acquire,
        };
        self.digest.queued.push(note);
    }

    fn key(&mut self, key: &Name) -> KeyId {
        KeyId(self.digest.keys.intern_name(key))
    }

    fn owner(&mut self, value: &Value, process: Process) -> OwnerId {
        OwnerId(match &value.owner {
            Some(owner) => self.digest.owners.intern_name(owner),
            None => self.digest.owners.intern(&process.to_string()),
        })
    }

    fn released(&mut self, owner: OwnerId) {
        let releases = &mut self.digest.releases;
        let known = releases.len().max(owner.0 as usize + 1);
        releases.resize(known, false);
        releases[owner.0 as usize] = true;
    }

    /// An event of this time has come.
    fn pass(&mut self, time: Nanos, event: u64) {
        self.is_disordered |= time < self.digest.end;
        if time >= self.digest.end {
            (self.digest.end, self.digest.end_by) = (time, event);
        }
    }

    fn see(&mut self, owner: OwnerId, time: Nanos, event: u64) {
        let owner = owner.0 as usize;
        let digest = &mut self.digest;
        if digest.alive.len() <= owner {
            digest.alive.resize(owner + 1, Nanos(0));
            digest.alive_by.resize(owner + 1, event);
        }
        if time >= digest.alive[owner] {
            (digest.alive[owner], digest.alive_by[owner]) = (time, event);
        }
    }
}

impl EventSink for DigestBuilder {
    fn header(&mut self, header: Header) {
        self.digest.header = header;
    }

    fn event(&mut self, event: Event) {
        self.push(&event);
    }
}

/// Never beyond the answer, whatever the event says.
fn waited(operation: &Operation, event: &Event) -> Nanos {
    let told = event.value.waited_ns.filter(|_| operation.is_grant());
    Nanos(told.unwrap_or(0)).min(event.time - operation.invoked)
}

/// Only the two refusals are observations; every other `fail` says that nothing was executed.
fn outcome(action: Action, event: &Event) -> Outcome {
    match (event.kind, action, event.error.as_deref()) {
        (Kind::Ok, _, _) => Outcome::Ok,
        (Kind::Fail, Action::Acquire, Some(Event::REFUSED))
        | (Kind::Fail, Action::Resource(Access::Cas), None | Some(Event::REFUSED)) => {
            Outcome::Refused
        }
        (Kind::Fail, Action::Renew | Action::Release, Some(Event::NOT_OWNER)) => Outcome::NotOwner,
        (Kind::Fail, _, _) => Outcome::Failed,
        (Kind::Info | Kind::Invoke | Kind::Note, _, _) => Outcome::Unknown,
    }
}
