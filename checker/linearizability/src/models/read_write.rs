//! `read-write`: readers share, a writer excludes all others, a writer may also read, and nobody
//! upgrades from reading to writing.
//!
//! A release or a renewal is about the hold of its mode or, where its owner has none of that mode,
//! about the only hold that it has: many histories say the mode when they acquire and nowhere else.
//! A lock may keep the two apart, so that one is refused wherever its owner has none of its mode.

use crate::call::Mode;
use crate::call::OwnerId;
use crate::call::{Call, LeaseId, Reply, Request};
use crate::model::{Model, Precondition, denied, extended};
use crate::reason::Reason;

/// The model.
pub struct ReadWrite;

/// Owner that writes, and the owners that read, in order of owner.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct State {
    writer: Option<(OwnerId, LeaseId)>,
    readers: Vec<Reader>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Reader {
    owner: OwnerId,
    count: u32,
    lease: LeaseId,
}

impl State {
    fn reader(&self, owner: OwnerId) -> Result<usize, usize> {
        self.readers
            .binary_search_by_key(&owner, |reader| reader.owner)
    }

    /// Tells whether an owner holds the lock in exactly this mode.
    fn has(&self, owner: OwnerId, mode: Mode) -> bool {
        match mode {
            Mode::Write => self.writer.is_some_and(|(writer, _)| writer == owner),
            Mode::Read => self.reader(owner).is_ok(),
        }
    }

    /// In which mode an owner holds the lock, the named one first.
    fn holds(&self, owner: OwnerId, named: Mode) -> Result<Mode, Reason> {
        let writes = self.has(owner, Mode::Write);
        let reads = self.has(owner, Mode::Read);
        match (named, writes, reads) {
            (Mode::Write, true, _) | (Mode::Read, true, false) => Ok(Mode::Write),
            (Mode::Read, _, true) | (Mode::Write, false, true) => Ok(Mode::Read),
            (_, false, false) => Err(match (self.writer, self.readers.first()) {
                (Some((holder, _)), _) => Reason::HeldBy(holder),
                (None, Some(reader)) => Reason::ReadBy(reader.owner),
                (None, None) => Reason::Free,
            }),
        }
    }

    fn acquire(&self, owner: OwnerId, mode: Mode, lease: LeaseId) -> Result<Self, Reason> {
        let mut state = self.clone();
        match (mode, self.writer, self.readers.first()) {
            (Mode::Write, Some((writer, _)), _) => return Err(Reason::HeldBy(writer)),
            (Mode::Write, None, Some(reader)) => return Err(Reason::ReadBy(reader.owner)),
            (Mode::Write, None, None) => state.writer = Some((owner, lease)),
            (Mode::Read, Some((writer, _)), _) if writer != owner => {
                return Err(Reason::HeldBy(writer));
            }
            (Mode::Read, _, _) => match self.reader(owner) {
                Ok(at) => {
                    let reader = &mut state.readers[at];
                    reader.count += 1;
                    reader.lease = extended(reader.lease, lease);
                }
                Err(at) => {
                    let count = 1;
                    state.readers.insert(
                        at,
                        Reader {
                            owner,
                            count,
                            lease,
                        },
                    );
                }
            },
        }
        Ok(state)
    }

    fn release(&self, owner: OwnerId, mode: Mode) -> Result<Self, Reason> {
        let mut state = self.clone();
        match self.holds(owner, mode)? {
            Mode::Write => state.writer = None,
            Mode::Read => {
                for reader in state.readers.iter_mut().filter(|one| one.owner == owner) {
                    reader.count -= 1;
                }
                state.readers.retain(|reader| reader.count > 0);
            }
        }
        Ok(state)
    }

    fn renew(&self, owner: OwnerId, mode: Mode, longer: LeaseId) -> Result<Self, Reason> {
        let mut state = self.clone();
        match self.holds(owner, mode)? {
            _ if longer == LeaseId::NEVER => {}
            Mode::Write => {
                let renewed = |(owner, lease)| (owner, extended(lease, longer));
                state.writer = state.writer.map(renewed);
            }
            Mode::Read => {
                for reader in state.readers.iter_mut().filter(|one| one.owner == owner) {
                    reader.lease = extended(reader.lease, longer);
                }
            }
        }
        Ok(state)
    }

    fn expire(&self, lease: LeaseId) -> Self {
        let mut state = self.clone();
        state.writer = state.writer.filter(|&(_, held)| held != lease);
        state.readers.retain(|reader| reader.lease != lease);
        state
    }
}

impl Model for ReadWrite {
    type State = State;

    fn initial(&self) -> State {
        State::default()
    }

    fn step(&self, state: &State, call: &Call) -> Result<State, Reason> {
        let owner = call.owner;
        if let (Request::Renew { mode, .. } | Request::Release { mode, .. }, Reply::Denied) =
            (call.request, call.reply)
        {
            return if state.has(owner, mode) {
                Err(Reason::Owner)
            } else {
                Ok(state.clone())
            };
        }
        let (allowed, why_not) = match call.request {
            Request::Acquire { mode, lease, .. } => {
                (state.acquire(owner, mode, lease), Reason::Allowed)
            }
            Request::Renew { mode, lease } => (state.renew(owner, mode, lease), Reason::Owner),
            Request::Release { mode, .. } => (state.release(owner, mode), Reason::Owner),
            Request::Expire(lease) => return Ok(state.expire(lease)),
            Request::Read(_) | Request::Write(_) | Request::Cas { .. } | Request::Append(_) => {
                return Ok(state.clone());
            }
        };
        match call.reply {
            Reply::Done => allowed,
            Reply::Denied => denied(state, &allowed, why_not),
        }
    }

    fn preconditions(&self, call: &Call) -> [Precondition; 2] {
        match (call.request, call.reply) {
            (
                Request::Acquire {
                    mode: Mode::Write, ..
                },
                Reply::Done,
            ) => Precondition::Free.only(),
            (Request::Acquire { .. }, Reply::Denied) => Precondition::Held.only(),
            (Request::Renew { .. } | Request::Release { .. }, Reply::Done) => {
                Precondition::Owner(call.owner.0).only()
            }
            (
                Request::Acquire { .. }
                | Request::Renew { .. }
                | Request::Release { .. }
                | Request::Expire(_)
                | Request::Read(_)
                | Request::Write(_)
                | Request::Cas { .. }
                | Request::Append(_),
                _,
            ) => Precondition::Any.only(),
        }
    }

    fn visit_met(&self, state: &State, visit: &mut impl FnMut(Precondition)) {
        if state.writer.is_none() && state.readers.is_empty() {
            return visit(Precondition::Free);
        }
        visit(Precondition::Held);
        if let Some((writer, _)) = state.writer {
            visit(Precondition::Owner(writer.0));
        }
        for reader in &state.readers {
            visit(Precondition::Owner(reader.owner.0));
        }
    }
}
