//! Calls → sessions: when each can have begun and ended.

use std::collections::HashMap;
use std::num::NonZeroU64;

use super::Rules;
use crate::call::Mode;
use crate::call::OwnerId;
use crate::call::{Call, CallId, LeaseId, Reply, Request};
use crate::time::Time;

/// Hold of one owner, from its grant on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Session {
    pub(super) acquire: CallId,
    /// Time at which the acquire was sent: the session cannot have begun earlier.
    pub(super) sent: Time,
    /// Time at which the grant was answered: the session has begun by then.
    pub(super) granted: Time,
    /// The first instant at which it can have ended.
    pub(super) end_min: Time,
    /// The last; [`Time::MAX`] if it may never have.
    pub(super) end_max: Time,
    pub(super) token: Option<NonZeroU64>,
    pub(super) is_shared: bool,
}

/// A refused try.
#[derive(Clone, Copy, Debug)]
pub(super) struct Try {
    pub(super) id: CallId,
    pub(super) sent: Time,
    pub(super) refused: Time,
    pub(super) is_shared: bool,
}

/// An acquire without an answer: it may have begun a hold that nobody released, or nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Phantom {
    /// Time at which the acquire was sent: the hold cannot have begun earlier.
    pub(super) sent: Time,
    /// Earliest time at which its lease can have ended; [`Time::MAX`] without a lease.
    pub(super) end_min: Time,
}

/// Questions that calls without an answer leave open.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Doubt {
    /// One of them may have ended a later session of its owner before its core did.
    pub(super) of_cores: bool,
    /// One of them may explain refusals in a way that is not considered here.
    pub(super) of_refusals: bool,
}

/// The calls of one lock.
#[derive(Debug)]
pub(super) struct Log {
    pub(super) sessions: Vec<Session>,
    pub(super) tries: Vec<Try>,
    /// Those whose token fits everywhere.
    pub(super) phantoms: Vec<Phantom>,
    pub(super) doubt: Doubt,
}

/// The sessions of a lock, if all that its owners did is made of such.
pub(super) fn sessions(rules: Rules, calls: &[Call]) -> Option<Log> {
    let mut builder = Builder {
        rules,
        leases: leases(calls),
        owners: HashMap::new(),
        log: Log {
            sessions: Vec::with_capacity(calls.len() / 2),
            tries: Vec::new(),
            phantoms: Vec::new(),
            doubt: Doubt::default(),
        },
    };
    for (id, call) in (0..).map(CallId).zip(calls) {
        if call.is_operation() {
            // A try is in order with the calls of its own process only: ties would need more care.
            let refused = |id: &CallId| is_refused(&calls[id.0 as usize]);
            if call
                .after
                .is_some_and(|before| refused(&before) || refused(&id))
            {
                return None;
            }
            builder.take(id, call)?;
        }
    }
    builder.finish()
}

fn is_refused(call: &Call) -> bool {
    matches!(call.request, Request::Acquire { .. }) && call.reply == Reply::Denied
}

/// The floor and the ceiling of each lease, by its number.
fn leases(calls: &[Call]) -> Vec<(Time, Time)> {
    let mut leases: Vec<(LeaseId, Time, Time)> = Vec::new();
    for call in calls {
        if let Request::Expire(lease) = call.request {
            leases.push((lease, call.invoked, call.returned));
        }
    }
    leases.sort_unstable();
    leases
        .iter()
        .map(|&(_, floor, ceiling)| (floor, ceiling))
        .collect()
}

/// Current state of an owner.
#[derive(Clone, Copy, Debug, Default)]
struct Owner {
    open: Option<Open>,
    /// Its last call that was answered, and when.
    last: Option<(CallId, Time)>,
    /// `true` if an acquire or a release of the owner has no answer.
    is_crashed: bool,
}

/// A session that goes on.
#[derive(Clone, Copy, Debug)]
struct Open {
    session: Session,
    lease: LeaseId,
    /// Time at which the last renewal was sent that found the owner still holding.
    renewed: Time,
}

struct Builder {
    rules: Rules,
    leases: Vec<(Time, Time)>,
    owners: HashMap<OwnerId, Owner>,
    log: Log,
}

/// Tells whether a renewal or a release names the mode of a hold.
fn is_of(call: &Call, is_shared: bool) -> bool {
    match call.request {
        Request::Renew { mode, .. } | Request::Release { mode, .. } => {
            (mode == Mode::Read) == is_shared
        }
        Request::Acquire { .. }
        | Request::Expire(_)
        | Request::Read(_)
        | Request::Write(_)
        | Request::Cas { .. }
        | Request::Append(_) => false,
    }
}

impl Owner {
    /// Tells whether a call comes after all that was answered before, by time or by program order.
    fn is_followed_by(&self, call: &Call) -> bool {
        self.last.is_none_or(|(last, answered)| {
            answered < call.invoked || (answered == call.invoked && call.after == Some(last))
        })
    }
}

impl Builder {
    /// Adds a call to the sessions of its owner. Calls come in the order in which they were sent.
    /// `None` where the call does not fit into sessions; the lock is then left to the search, which
    /// knows no sessions.
    fn take(&mut self, id: CallId, call: &Call) -> Option<()> {
        let mut owner = self.owners.get(&call.owner).copied().unwrap_or_default();
        if !owner.is_followed_by(call) {
            return None;
        }
        // An owner with an unanswered call goes on: that call may still take effect, and cut short
        // any session that follows.
        self.log.doubt.of_cores |= owner.is_crashed;
        match (call.request, call.reply) {
            // Sessions are of one permit each.
            (Request::Acquire { permits, .. } | Request::Release { permits, .. }, _)
                if permits != 1 =>
            {
                return None;
            }
            (Request::Acquire { mode, .. }, Reply::Denied) => {
                self.refuse(&owner, id, call, mode)?;
            }
            (Request::Acquire { .. }, Reply::Done) if call.is_required() => {
                self.grant(&mut owner, id, call)?;
            }
            (Request::Acquire { lease, token, .. }, Reply::Done) => {
                self.crash(&mut owner, call, lease, token);
            }
            (Request::Release { .. } | Request::Renew { .. }, Reply::Denied) => {
                self.deny(&mut owner, call)?;
            }
            (Request::Release { .. }, Reply::Done) => self.release(&mut owner, call)?,
            (Request::Renew { lease, .. }, Reply::Done) => self.renew(&mut owner, call, lease)?,
            (
                Request::Expire(_)
                | Request::Read(_)
                | Request::Write(_)
                | Request::Cas { .. }
                | Request::Append(_),
                _,
            ) => return None,
        }
        if call.is_required() {
            owner.last = Some((id, call.returned));
        }
        self.owners.insert(call.owner, owner);
        Some(())
    }

    /// Adds a refused try. It needs some session of another owner to explain it, which is sought
    /// once all sessions are known.
    fn refuse(&mut self, owner: &Owner, id: CallId, call: &Call, mode: Mode) -> Option<()> {
        let is_shared = self.is_shared(mode);
        let writes = owner.open.is_some_and(|open| !open.session.is_shared);
        // A writer keeps out all readers but itself.
        if is_shared && (writes || owner.is_crashed) {
            return None;
        }
        self.log.tries.push(Try {
            id,
            sent: call.invoked,
            refused: call.returned,
            is_shared,
        });
        Some(())
    }

    /// Opens a session, and ends the one that the owner had lost before.
    fn grant(&mut self, owner: &mut Owner, id: CallId, call: &Call) -> Option<()> {
        let Request::Acquire {
            mode, token, lease, ..
        } = call.request
        else {
            return None;
        };
        self.close_before(owner, call)?;
        let session = Session {
            acquire: id,
            sent: call.invoked,
            granted: call.returned,
            end_min: Time::MAX,
            end_max: Time::MAX,
            token,
            is_shared: self.is_shared(mode),
        };
        owner.open = Some(Open {
            session,
            lease,
            renewed: Time(0),
        });
        Some(())
    }

    /// Notes an acquire without an answer: it was granted at any time since, or never. One with a
    /// fencing token would have to fit between other tokens, so what it refused stays in doubt; one
    /// without fits everywhere, and is a phantom.
    fn crash(&mut self, owner: &mut Owner, call: &Call, lease: LeaseId, token: Option<NonZeroU64>) {
        // It may enter a session of its owner again, with a lease that ends earlier.
        self.log.doubt.of_cores |= !self.rules.is_plain() && owner.open.is_some();
        owner.is_crashed = true;
        if token.is_some() {
            self.log.doubt.of_refusals = true;
        } else {
            let sent = call.invoked;
            let end_min = self.lease(lease).0;
            self.log.phantoms.push(Phantom { sent, end_min });
        }
    }

    fn is_shared(&self, mode: Mode) -> bool {
        self.rules == Rules::Readers && mode == Mode::Read
    }

    /// Returns the earliest and the latest time at which a lease can have ended.
    fn lease(&self, lease: LeaseId) -> (Time, Time) {
        if lease == LeaseId::NEVER {
            return (Time::MAX, Time::MAX);
        }
        self.leases[lease.0 as usize]
    }

    /// Returns the earliest and the latest time at which the lease of a session can have ended, as
    /// the owner still held when it was renewed.
    fn lapse(&self, open: &Open) -> (Time, Time) {
        let (floor, ceiling) = self.lease(open.lease);
        (floor.max(open.renewed), ceiling)
    }

    /// Ends the session of an owner that is granted the lock again: it had lost the lock.
    fn close_before(&mut self, owner: &mut Owner, acquire: &Call) -> Option<()> {
        let Some(open) = owner.open.take() else {
            return Some(());
        };
        if !self.rules.is_plain() {
            return None;
        }
        let (first, last) = self.lapse(&open);
        self.close(&open, first, last.min(acquire.returned))
    }

    fn close(&mut self, open: &Open, end_min: Time, end_max: Time) -> Option<()> {
        // A session that may have ended before its grant was answered has no core.
        (open.session.granted <= end_min && end_min <= end_max).then(|| {
            self.log.sessions.push(Session {
                end_min,
                end_max,
                ..open.session
            });
        })
    }

    fn release(&mut self, owner: &mut Owner, call: &Call) -> Option<()> {
        let open = owner.open.take();
        if call.is_required() {
            let open = open?;
            let (_, last) = self.lapse(&open);
            return self.close(&open, call.invoked, last.min(call.returned));
        }
        owner.is_crashed = true;
        let Some(open) = open else {
            return Some(());
        };
        let (first, last) = self.lapse(&open);
        self.close(&open, first.min(call.invoked), last)
    }

    fn renew(&mut self, owner: &mut Owner, call: &Call, lease: LeaseId) -> Option<()> {
        if !call.is_required() {
            // Late, it may give a later session of its owner a lease that ends earlier.
            self.log.doubt.of_cores = true;
            return Some(());
        }
        let open = owner.open.as_mut()?;
        let leases = &self.leases;
        let still = open.lease == LeaseId::NEVER || call.invoked <= leases[open.lease.0 as usize].1;
        // What a renewal without a lease does to a lease, the models see in different ways.
        if open.lease != LeaseId::NEVER && lease == LeaseId::NEVER {
            return None;
        }
        open.lease = open.lease.max(lease);
        open.renewed = call.invoked;
        still.then_some(())
    }

    /// Ends the session of an owner that is told that it does not hold the lock: it has lost it.
    fn deny(&mut self, owner: &mut Owner, call: &Call) -> Option<()> {
        if owner.is_crashed || self.rules == Rules::Ownerless {
            return None;
        }
        // Of a lock in two modes, it says nothing of the hold in the other.
        let is_other =
            |open: &Open| self.rules == Rules::Readers && !is_of(call, open.session.is_shared);
        if owner.open.as_ref().is_none_or(is_other) {
            return Some(());
        }
        let open = owner.open.take()?;
        let (first, last) = self.lapse(&open);
        self.close(&open, first, last.min(call.returned))
    }

    fn finish(mut self) -> Option<Log> {
        let open: Vec<Open> = self
            .owners
            .values()
            .filter_map(|owner| owner.open)
            .collect();
        for open in open {
            let (first, last) = self.lapse(&open);
            self.close(&open, first, last)?;
        }
        let place = |session: &Session| (session.granted, session.end_min, session.acquire);
        self.log.sessions.sort_unstable_by_key(place);
        Some(self.log)
    }
}
