//! The sweep over the calls of one lock, and what it must know of the lock.

use std::collections::HashMap;

use crate::call::OwnerId;
use crate::call::{Call, CallId};
use crate::specification::Specification;

use super::clash::clash;
use super::free::{self, Explained};
use super::sessions::{Log, Session, sessions};
use super::shared;

/// Facts that the sweep must know of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// One holds at a time, and anybody may release it.
    Ownerless,
    /// One owner holds at a time; the tokens of a fenced lock grow.
    Exclusive {
        /// True of a fenced lock.
        is_fenced: bool,
    },
    /// One owner holds at a time, and may enter again; the tokens of a fenced lock grow.
    Reentrant {
        /// True of a fenced lock.
        is_fenced: bool,
    },
    /// So many hold at a time.
    Permits(u32),
    /// Readers share it.
    Readers,
}

impl Rules {
    /// Of a model, if it is one of a lock.
    pub fn of(specification: &Specification) -> Option<Self> {
        Some(match specification {
            Specification::Mutex(_) => Self::Ownerless,
            Specification::Exclusive(model) if model.limit > 1 => Self::Reentrant {
                is_fenced: model.is_fenced,
            },
            Specification::Exclusive(model) => Self::Exclusive {
                is_fenced: model.is_fenced,
            },
            Specification::Semaphore(model) => Self::Permits(model.permits),
            Specification::ReadWrite(_) => Self::Readers,
            Specification::Register(_) | Specification::Append(_) => return None,
        })
    }

    /// Tells whether one owner holds at a time, and only once.
    pub(super) fn is_plain(self) -> bool {
        match self {
            Self::Ownerless | Self::Exclusive { .. } | Self::Permits(1) => true,
            Self::Reentrant { .. } | Self::Permits(_) | Self::Readers => false,
        }
    }

    fn is_fenced(self) -> bool {
        match self {
            Self::Exclusive { is_fenced } | Self::Reentrant { is_fenced } => is_fenced,
            Self::Ownerless | Self::Permits(_) | Self::Readers => false,
        }
    }
}

/// A proved answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// There is an order in which all calls are allowed.
    Legal,
    /// There is none.
    Illegal {
        /// This call cannot have returned.
        due: CallId,
        /// Calls that show it, in order, and more than are needed; none if there is no short list.
        shown: Vec<CallId>,
    },
}

/// Decides the calls of one lock, in order of invocation, if it can.
pub fn decide(rules: Rules, calls: &[Call]) -> Option<Proof> {
    let Log {
        sessions,
        tries,
        phantoms,
        doubt,
    } = sessions(rules, calls)?;
    let shown = |due: CallId, others: &[usize]| {
        let others: Vec<CallId> = others.iter().map(|&at| sessions[at].acquire).collect();
        Proof::Illegal {
            due,
            shown: followed(calls, &others, due),
        }
    };
    if let Some(clash) = clash(rules, &sessions) {
        let granted = clash
            .iter()
            .map(|&at| (sessions[at].granted, sessions[at].acquire));
        let (_, last) = granted.max()?;
        // Where others may release it, or a crashed call may have ended a session early, the cores
        // are shorter than they seem.
        let sure = !doubt.of_cores && rules != Rules::Ownerless;
        return sure.then(|| shown(last, &clash));
    }
    if rules.is_fenced() && !tokens_grow(&sessions) {
        return None;
    }
    if tries.is_empty() {
        return Some(Proof::Legal);
    }
    let explained = match rules {
        Rules::Readers => shared::explain(&sessions, &tries),
        Rules::Ownerless | Rules::Exclusive { .. } | Rules::Permits(1) => {
            free::explain(&sessions, &tries, &phantoms)
        }
        Rules::Reentrant { .. } | Rules::Permits(_) => return None,
    };
    let (due, after) = match explained {
        Explained::All => return Some(Proof::Legal),
        Explained::Unclear => return None,
        Explained::AllBut { attempt, after } => (attempt, after),
    };
    if doubt.of_cores || doubt.of_refusals || rules == Rules::Ownerless {
        return None;
    }
    let is_shared = rules == Rules::Readers;
    match (is_shared, phantoms.is_empty()) {
        (false, true) => Some(shown(due, after.as_slice())),
        // What a phantom explains to readers and writers is not considered here.
        (true, false) => None,
        // To rule these out takes more than the session before.
        (true, true) | (false, false) => Some(Proof::Illegal {
            due,
            shown: Vec::new(),
        }),
    }
}

fn tokens_grow(sessions: &[Session]) -> bool {
    let mut last = 0;
    let tokens = sessions.iter().filter_map(|session| session.token);
    tokens
        .map(u64::from)
        .all(|token| token > std::mem::replace(&mut last, token))
}

/// The due call, and what the owners of the others did from these acquires on until it returned.
fn followed(calls: &[Call], acquires: &[CallId], due: CallId) -> Vec<CallId> {
    let call = |id: CallId| calls[id.0 as usize];
    let others = acquires.iter().filter(|&&id| id != due);
    let since: HashMap<OwnerId, CallId> = others.map(|&id| (call(id).owner, id)).collect();
    let first = since.values().min().map_or(due, |&id| id.min(due));
    let end = calls.partition_point(|one| one.invoked <= call(due).returned);
    let is_shown = |&id: &CallId| {
        let from = since.get(&call(id).owner);
        // The end of its lease is a call of the same operation.
        call(id).op == call(due).op || from.is_some_and(|&from| from <= id)
    };
    let all = first.0..end as u32;
    all.map(CallId).filter(is_shown).collect()
}
