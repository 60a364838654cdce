//! The exact sweep: decides locks by the cores of their sessions, in O(n log n).
//!
//! For: the histories of locks as they mostly are. Not for: what it cannot decide exactly; there it
//! says nothing, and the frontier decides.
//!
//! A session is what one owner did from a grant on. It holds at least from the answer of the grant
//! to the first instant at which it can have ended (its core), and at most from the sending of the
//! acquire to the last such instant. To shrink each session to its core leaves the others all the
//! room there is: so what was granted is legal exactly where the cores leave each other alone. To
//! stretch the sessions as far as their neighbours allow explains the most refusals: so a refused
//! try is illegal exactly where it lies inside a stretch that is free even then. There a phantom
//! may explain it: an acquire without an answer, of which nobody knows whether it took effect.
//!
//! Left to the frontier are: refused tries of a semaphore of several permits (which holds to
//! stretch is a choice there, for two may not go past a third), and of a lock that may be entered
//! again; refused tries that nothing but a phantom explains where readers share; calls of one owner
//! that overlap; ties of refused tries in one process; leases that may end before their grant was
//! answered; entering again; tokens that do not grow.

mod clash;
mod free;
mod sessions;
mod shared;
#[cfg(test)]
mod tests;

use crate::model::{Call, CallId, Specification};

use clash::clash;
use free::Explained;
use sessions::{Log, sessions};

/// What the sweep must know of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rules {
    /// One holds at a time, and anybody may release it.
    Ownerless,
    /// One owner holds at a time; the tokens of a fenced lock grow.
    Exclusive { is_fenced: bool },
    /// The same, and it may enter again.
    Reentrant { is_fenced: bool },
    /// So many hold at a time.
    Permits(u32),
    /// Readers share it.
    Readers,
}

impl Rules {
    /// Of a model, if it is one of a lock.
    pub(crate) fn of(specification: &Specification) -> Option<Self> {
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

    /// Whether one owner holds at a time, and once.
    fn is_plain(self) -> bool {
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Proof {
    /// There is an order in which all calls are allowed.
    Legal,
    /// There is none: this call cannot have returned.
    Illegal(CallId),
}

/// Decides the calls of one lock, in order of invocation, if it can.
pub(crate) fn decide(rules: Rules, calls: &[Call]) -> Option<Proof> {
    let Log {
        sessions,
        tries,
        phantoms,
        doubt,
    } = sessions(rules, calls)?;
    if let Some(due) = clash(rules, &sessions) {
        // Where others may release it, or a crashed call may have ended a session early, the cores
        // are shorter than they seem.
        let sure = !doubt.of_cores && rules != Rules::Ownerless;
        return sure.then_some(Proof::Illegal(due));
    }
    let mut last = 0;
    let tokens = sessions.iter().filter_map(|session| session.token);
    let grow = tokens
        .map(u64::from)
        .all(|token| token > std::mem::replace(&mut last, token));
    if rules.is_fenced() && !grow {
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
    match explained {
        Explained::All => Some(Proof::Legal),
        Explained::AllBut(due) => {
            // What a phantom explains to readers and writers is not considered here.
            let is_open = doubt.of_refusals || rules == Rules::Readers && !phantoms.is_empty();
            let sure = !doubt.of_cores && !is_open && rules != Rules::Ownerless;
            sure.then_some(Proof::Illegal(due))
        }
        Explained::Unclear => None,
    }
}
