//! `mutex`: held or free, whoever asks. For histories that know no owners, as Knossos has them.

use crate::call::{Call, LeaseId, Reply, Request};
use crate::model::{Model, Precondition, denied, extended};
use crate::reason::Reason;

/// The model.
pub struct Mutex;

/// The lease of the hold, if there is one.
pub type State = Option<LeaseId>;

impl Model for Mutex {
    type State = State;

    fn initial(&self) -> State {
        None
    }

    fn step(&self, state: &State, call: &Call) -> Result<State, Reason> {
        let allowed = match (call.request, *state) {
            (Request::Acquire { lease, .. }, None) => Ok(Some(lease)),
            (Request::Acquire { .. }, Some(_)) => Err(Reason::Held),
            (Request::Renew { lease, .. }, Some(held)) => Ok(Some(extended(held, lease))),
            (Request::Release { .. }, Some(_)) => Ok(None),
            (Request::Renew { .. } | Request::Release { .. }, None) => Err(Reason::Free),
            (Request::Expire(lease), held) => Ok(held.filter(|&held| held != lease)),
            (
                Request::Read(_) | Request::Write(_) | Request::Cas { .. } | Request::Append(_),
                held,
            ) => Ok(held),
        };
        match call.reply {
            Reply::Done => allowed,
            Reply::Denied => denied(
                state,
                &allowed,
                state.map_or(Reason::Free, |_| Reason::Held),
            ),
        }
    }

    fn preconditions(&self, call: &Call) -> [Precondition; 2] {
        let place = match (call.request, call.reply) {
            (Request::Acquire { .. }, Reply::Done)
            | (Request::Renew { .. } | Request::Release { .. }, Reply::Denied) => {
                Precondition::Free
            }
            (Request::Acquire { .. }, Reply::Denied)
            | (Request::Renew { .. } | Request::Release { .. }, Reply::Done) => Precondition::Held,
            (
                Request::Expire(_)
                | Request::Read(_)
                | Request::Write(_)
                | Request::Cas { .. }
                | Request::Append(_),
                _,
            ) => Precondition::Any,
        };
        place.only()
    }

    fn visit_met(&self, state: &State, visit: &mut impl FnMut(Precondition)) {
        visit(state.map_or(Precondition::Free, |_| Precondition::Held));
    }
}
