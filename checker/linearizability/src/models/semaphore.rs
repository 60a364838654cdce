//! `semaphore`: no more permits out than there are; an owner releases only what it holds.

use crate::call::OwnerId;
use crate::call::{Call, LeaseId, Reply, Request};
use crate::model::{Model, Precondition, denied, extended};
use crate::reason::Reason;

/// The model.
pub struct Semaphore {
    /// Number of permits that there are.
    pub permits: u32,
}

/// Permits that one grant has out. What has no lease is added up by owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Loan {
    owner: OwnerId,
    lease: LeaseId,
    permits: u32,
}

/// Loans that are out, in order of owner and lease.
pub type State = Vec<Loan>;

impl Semaphore {
    fn acquire(&self, state: &State, loan: Loan) -> Result<State, Reason> {
        let out: u32 = state.iter().map(|loan| loan.permits).sum();
        let asked = loan.permits;
        if asked > self.permits.saturating_sub(out) {
            return Err(Reason::Permits {
                asked,
                out,
                of: self.permits,
            });
        }
        let mut state = state.clone();
        if asked == 0 {
            return Ok(state);
        }
        match state.binary_search_by_key(&(loan.owner, loan.lease), |loan| (loan.owner, loan.lease))
        {
            Ok(at) => state[at].permits += asked,
            Err(at) => state.insert(at, loan),
        }
        Ok(state)
    }
}

fn held_by(state: &State, owner: OwnerId) -> impl Iterator<Item = &Loan> {
    state.iter().filter(move |loan| loan.owner == owner)
}

fn release(state: &State, owner: OwnerId, permits: u32) -> Result<State, Reason> {
    let held = held_by(state, owner).map(|loan| loan.permits).sum();
    if held < permits {
        return Err(Reason::Fewer {
            held,
            released: permits,
        });
    }
    let mut left = permits;
    let mut state = state.clone();
    for loan in state.iter_mut().filter(|loan| loan.owner == owner) {
        let taken = left.min(loan.permits);
        loan.permits -= taken;
        left -= taken;
    }
    state.retain(|loan| loan.permits > 0);
    Ok(state)
}

fn renew(state: &State, owner: OwnerId, lease: LeaseId) -> Result<State, Reason> {
    if held_by(state, owner).next().is_none() {
        return Err(Reason::Fewer {
            held: 0,
            released: 1,
        });
    }
    if lease == LeaseId::NEVER {
        return Ok(state.clone());
    }
    let mut renewed: State = Vec::with_capacity(state.len());
    for &loan in state {
        let lease = if loan.owner == owner {
            extended(loan.lease, lease)
        } else {
            loan.lease
        };
        match renewed.last_mut() {
            Some(last) if (last.owner, last.lease) == (loan.owner, lease) => {
                last.permits += loan.permits;
            }
            Some(_) | None => renewed.push(Loan { lease, ..loan }),
        }
    }
    Ok(renewed)
}

impl Model for Semaphore {
    type State = State;

    fn initial(&self) -> State {
        Vec::new()
    }

    fn step(&self, state: &State, call: &Call) -> Result<State, Reason> {
        let owner = call.owner;
        match (call.request, call.reply) {
            (Request::Acquire { permits, lease, .. }, reply) => {
                let loan = Loan {
                    owner,
                    lease,
                    permits,
                };
                let allowed = self.acquire(state, loan);
                match reply {
                    Reply::Done => allowed,
                    Reply::Denied => denied(state, &allowed, Reason::Allowed),
                }
            }
            (Request::Renew { lease, .. }, Reply::Done) => renew(state, owner, lease),
            (Request::Renew { lease, .. }, Reply::Denied) => {
                denied(state, &renew(state, owner, lease), Reason::Owner)
            }
            (Request::Release { permits, .. }, Reply::Done) => release(state, owner, permits),
            (Request::Release { permits, .. }, Reply::Denied) => {
                denied(state, &release(state, owner, permits), Reason::Owner)
            }
            (Request::Expire(lease), _) => {
                let rest = state.iter().filter(|loan| loan.lease != lease);
                Ok(rest.copied().collect())
            }
            (
                Request::Read(_) | Request::Write(_) | Request::Cas { .. } | Request::Append(_),
                _,
            ) => Ok(state.clone()),
        }
    }

    fn preconditions(&self, call: &Call) -> [Precondition; 2] {
        match (call.request, call.reply) {
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
        for loan in state {
            visit(Precondition::Owner(loan.owner.0));
        }
    }
}
