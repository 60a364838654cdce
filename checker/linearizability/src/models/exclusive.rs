//! `owner-aware`, `reentrant`, `fenced` and `reentrant-fenced`: one owner at a time.
//!
//! The four differ in two points only: whether the owner may enter again, and whether a grant's
//! token says something. An expiry drops the hold, however often it was entered.

use std::num::NonZeroU64;

use crate::call::OwnerId;
use crate::call::{Call, LeaseId, Reply, Request};
use crate::model::{Model, Precondition, denied, extended};
use crate::reason::Reason;

/// Behaviour of a lock that one owner holds at a time.
#[derive(Clone, Copy)]
pub struct Exclusive {
    /// Number of times that an owner may enter.
    pub limit: u32,
    /// `true` if the tokens of its grants must grow.
    pub is_fenced: bool,
}

/// Holder of the lock, and the greatest token so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct State {
    hold: Option<Held>,
    /// The greatest token that was granted; 0 if none is known, and without fencing.
    token: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Held {
    owner: OwnerId,
    count: u32,
    lease: LeaseId,
    /// `true` if the greatest token is that of this hold.
    is_token_known: bool,
}

impl Exclusive {
    pub const OWNER_AWARE: Self = Self {
        limit: 1,
        is_fenced: false,
    };

    pub const FENCED: Self = Self {
        limit: 1,
        is_fenced: true,
    };

    pub const REENTRANT_FENCED: Self = Self {
        limit: u32::MAX,
        is_fenced: true,
    };

    pub const fn reentrant(limit: u32) -> Self {
        Self {
            limit,
            is_fenced: false,
        }
    }

    fn acquire(
        self,
        state: State,
        owner: OwnerId,
        token: Option<NonZeroU64>,
        lease: LeaseId,
    ) -> Result<State, Reason> {
        let token = token.map_or(0, NonZeroU64::get);
        let token = if self.is_fenced { token } else { 0 };
        let hold = match state.hold {
            None => Held {
                owner,
                count: 1,
                lease,
                is_token_known: false,
            },
            Some(held) if held.owner != owner || self.limit == 1 => {
                return Err(Reason::HeldBy(held.owner));
            }
            Some(held) if held.count >= self.limit => return Err(Reason::Limit(self.limit)),
            Some(held) => Held {
                count: held.count + 1,
                lease: extended(held.lease, lease),
                ..held
            },
        };
        let last = state.token;
        match token {
            0 => Ok(State {
                hold: Some(hold),
                token: last,
            }),
            token if hold.is_token_known && token != last => {
                Err(Reason::OtherToken { token, held: last })
            }
            token if !hold.is_token_known && token <= last => Err(Reason::Token { token, last }),
            token => Ok(State {
                hold: Some(Held {
                    is_token_known: true,
                    ..hold
                }),
                token,
            }),
        }
    }
}

impl State {
    fn held_by(self, owner: OwnerId) -> Result<Held, Reason> {
        match self.hold {
            None => Err(Reason::Free),
            Some(held) if held.owner != owner => Err(Reason::HeldBy(held.owner)),
            Some(held) => Ok(held),
        }
    }

    fn with(self, hold: Option<Held>) -> Self {
        Self { hold, ..self }
    }
}

impl Model for Exclusive {
    type State = State;

    fn initial(&self) -> State {
        State {
            hold: None,
            token: 0,
        }
    }

    fn step(&self, state: &State, call: &Call) -> Result<State, Reason> {
        match (call.request, call.reply) {
            (Request::Acquire { token, lease, .. }, Reply::Done) => {
                self.acquire(*state, call.owner, token, lease)
            }
            (Request::Acquire { .. }, Reply::Denied) => {
                let allowed = self.acquire(*state, call.owner, None, LeaseId::NEVER);
                denied(state, &allowed, Reason::Allowed)
            }
            (Request::Renew { .. } | Request::Release { .. }, Reply::Denied) => denied(
                state,
                &state.held_by(call.owner).map(|_| *state),
                Reason::Owner,
            ),
            (Request::Renew { lease, .. }, Reply::Done) => {
                let held = state.held_by(call.owner)?;
                let lease = extended(held.lease, lease);
                Ok(state.with(Some(Held { lease, ..held })))
            }
            (Request::Release { .. }, Reply::Done) => {
                let held = state.held_by(call.owner)?;
                let count = held.count - 1;
                Ok(state.with((count > 0).then_some(Held { count, ..held })))
            }
            (Request::Expire(lease), _) => {
                Ok(state.with(state.hold.filter(|held| held.lease != lease)))
            }
            (
                Request::Read(_) | Request::Write(_) | Request::Cas { .. } | Request::Append(_),
                _,
            ) => Ok(*state),
        }
    }

    fn preconditions(&self, call: &Call) -> [Precondition; 2] {
        let owner = Precondition::Owner(call.owner.0);
        match (call.request, call.reply) {
            (Request::Acquire { .. }, Reply::Done) if self.limit > 1 => [Precondition::Free, owner],
            (Request::Acquire { .. }, Reply::Done) => Precondition::Free.only(),
            (Request::Acquire { .. }, Reply::Denied) => Precondition::Held.only(),
            (Request::Renew { .. } | Request::Release { .. }, Reply::Done) => owner.only(),
            (Request::Renew { .. } | Request::Release { .. }, Reply::Denied)
            | (
                Request::Expire(_)
                | Request::Read(_)
                | Request::Write(_)
                | Request::Cas { .. }
                | Request::Append(_),
                _,
            ) => Precondition::Any.only(),
        }
    }

    fn visit_met(&self, state: &State, visit: &mut impl FnMut(Precondition)) {
        match state.hold {
            None => visit(Precondition::Free),
            Some(held) => {
                visit(Precondition::Held);
                visit(Precondition::Owner(held.owner.0));
            }
        }
    }
}
