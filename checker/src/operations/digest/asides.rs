//! Notes beside the operations: which servers clients turned to, what servers knew of a lock, and
//! what they were told.
//!
//! For: stories and counts, and the two properties that need no second client (dead on arrival, and
//! leftover). Not for: any other verdict.

use crate::history::{
    CommandNote, Event, ExpiredNote, FailureNote, Function, Name, Nanos, RoleNote, RouteNote,
    ViewNote,
};

/// The notes, and how many turns there were.
#[derive(Clone, Debug, Default)]
pub struct Asides {
    /// The turns of clients; a first connection is none.
    pub routes: Vec<RouteAside>,
    /// Roles that servers took on.
    pub roles: Vec<RoleAside>,
    /// Records of what servers knew of a lock.
    pub views: Vec<ViewAside>,
    /// Commands that servers executed on a lock.
    pub commands: Vec<CommandAside>,
    /// Failures of clients.
    pub failures: Vec<FailureAside>,
    /// Leases that servers ended because their time was over.
    pub expired: Vec<ExpiredAside>,
    /// Intervals in which the recorder of the history stood still.
    pub stalls: Vec<StallAside>,
    /// Number of times that a client turned to another server.
    pub redirects: u64,
    /// Number of times that a client turned to the same server again.
    pub reconnects: u64,
}

/// A client turned to a server.
#[derive(Clone, Debug)]
pub struct RouteAside {
    /// Index of the note.
    pub event: u64,
    /// Time of the note.
    pub time: Nanos,
    /// Owner that turned to the server.
    pub owner: Name,
    /// Content of the note.
    pub note: RouteNote,
}

/// A server became a primary or a replica.
#[derive(Clone, Debug)]
pub struct RoleAside {
    /// Index of the note.
    pub event: u64,
    /// Time of the note.
    pub time: Nanos,
    /// Content of the note.
    pub note: RoleNote,
}

/// Record of what the servers knew of a lock.
#[derive(Clone, Debug)]
pub struct ViewAside {
    /// Index of the note.
    pub event: u64,
    /// Time of the note.
    pub time: Nanos,
    /// Key of the lock.
    pub key: Name,
    /// Content of the note.
    pub note: ViewNote,
}

/// Command that a server executed on a lock.
#[derive(Clone, Debug)]
pub struct CommandAside {
    /// Index of the note.
    pub event: u64,
    /// Time of the note.
    pub time: Nanos,
    /// Key of the lock.
    pub key: Name,
    /// Content of the note.
    pub note: CommandNote,
}

/// A client failed by itself.
#[derive(Clone, Debug)]
pub struct FailureAside {
    /// Index of the note.
    pub event: u64,
    /// Time at which the failure was found.
    pub time: Nanos,
    /// Client that failed.
    pub owner: Name,
    /// Content of the note.
    pub note: FailureNote,
}

/// A server ended leases because their time was over.
#[derive(Clone, Debug)]
pub struct ExpiredAside {
    /// Index of the note.
    pub event: u64,
    /// Time of the note.
    pub time: Nanos,
    /// Content of the note.
    pub note: ExpiredNote,
}

/// Standstill of the recorder of the history.
#[derive(Clone, Copy, Debug)]
pub struct StallAside {
    /// Index of the note.
    pub event: u64,
    /// From when it was last known to go on until it did again.
    pub interval: (Nanos, Nanos),
}

impl StallAside {
    /// Tells whether the recorder stood still at some time from `start` to `end`.
    pub fn touches(&self, start: Nanos, end: Nanos) -> bool {
        self.interval.0 <= end && start <= self.interval.1
    }
}

impl Asides {
    /// Takes the note of an event over from others, if it tells what a server was, had or was told;
    /// gives its time.
    pub(super) fn copy(&mut self, others: &Self, event: u64) -> Option<Nanos> {
        if let Some(view) = others.views.iter().find(|view| view.event == event) {
            self.views.push(view.clone());
            return Some(view.time);
        }
        if let Some(command) = others.commands.iter().find(|one| one.event == event) {
            self.commands.push(command.clone());
            return Some(command.time);
        }
        if let Some(failure) = others.failures.iter().find(|one| one.event == event) {
            self.failures.push(failure.clone());
            return Some(failure.time);
        }
        if let Some(expired) = others.expired.iter().find(|one| one.event == event) {
            self.expired.push(expired.clone());
            return Some(expired.time);
        }
        if let Some(stall) = others.stalls.iter().find(|one| one.event == event) {
            self.stalls.push(*stall);
            return Some(stall.interval.1);
        }
        let role = others.roles.iter().find(|role| role.event == event)?;
        self.roles.push(role.clone());
        Some(role.time)
    }

    /// Tells whether the recorder of the history stood still at some time from `start` to `end`.
    pub fn is_stalled(&self, start: Nanos, end: Nanos) -> bool {
        self.stalls.iter().any(|stall| stall.touches(start, end))
    }

    /// Takes a note, if it is one of these.
    pub(super) fn push(&mut self, event: &Event) {
        let (index, time, key) = (event.index, event.time, &event.key);
        match &event.function {
            Function::Routed => self.route(event),
            Function::Role => {
                if let Some(note) = event.value.role.as_deref() {
                    let (event, note) = (index, note.clone());
                    self.roles.push(RoleAside { event, time, note });
                }
            }
            Function::View => {
                if let Some(note) = event.value.view.as_deref() {
                    let (key, note) = (key.clone(), note.clone());
                    let event = index;
                    self.views.push(ViewAside {
                        event,
                        time,
                        key,
                        note,
                    });
                }
            }
            Function::Command => {
                if let Some(note) = event.value.command.as_deref() {
                    let (key, note) = (key.clone(), note.clone());
                    let event = index;
                    self.commands.push(CommandAside {
                        event,
                        time,
                        key,
                        note,
                    });
                }
            }
            Function::Failure => self.fail(event),
            Function::Expired => {
                if let Some(note) = event.value.expired.as_deref() {
                    let (event, note) = (index, note.clone());
                    self.expired.push(ExpiredAside { event, time, note });
                }
            }
            Function::Stall => {
                if let Some(note) = event.value.stall.as_deref() {
                    let (event, interval) = (index, (note.since.min(time), time));
                    self.stalls.push(StallAside { event, interval });
                }
            }
            Function::Acquire
            | Function::Renew
            | Function::Release
            | Function::Queued
            | Function::Lost
            | Function::Suspended
            | Function::Resumed
            | Function::Ended
            | Function::Alive
            | Function::Fault
            | Function::Phase
            | Function::Read
            | Function::Write
            | Function::Cas
            | Function::Append
            | Function::Other(_) => {}
        }
    }

    fn route(&mut self, event: &Event) {
        let Some(note) = event.value.route.as_deref() else {
            return;
        };
        match &note.from {
            None => return,
            Some(from) if *from == note.to => self.reconnects += 1,
            Some(_) => self.redirects += 1,
        }
        self.routes.push(RouteAside {
            event: event.index,
            time: event.time,
            owner: owner(event),
            note: note.clone(),
        });
    }

    fn fail(&mut self, event: &Event) {
        let Some(note) = event.value.failure.as_deref() else {
            return;
        };
        self.failures.push(FailureAside {
            event: event.index,
            time: event.time,
            owner: owner(event),
            note: note.clone(),
        });
    }
}

/// Returns the owner that an event of a client is about.
fn owner(event: &Event) -> Name {
    let owner = event.value.owner.clone();
    owner.unwrap_or_else(|| event.process.to_string().into())
}
