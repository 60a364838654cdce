//! `mutex`: held or free, whoever asks. For histories that know no owners, as Knossos has them.

use super::call::{Call, LeaseId, Reply, Request};
use super::reason::Reason;
use super::rules::{Model, Shelf, denied, extended};

/// The model.
pub(crate) struct Mutex;

/// The lease of the hold, if there is one.
pub(crate) type State = Option<LeaseId>;

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

    fn shelves(&self, call: &Call) -> [Shelf; 2] {
        let place = match (call.request, call.reply) {
            (Request::Acquire { .. }, Reply::Done)
            | (Request::Renew { .. } | Request::Release { .. }, Reply::Denied) => Shelf::Free,
            (Request::Acquire { .. }, Reply::Denied)
            | (Request::Renew { .. } | Request::Release { .. }, Reply::Done) => Shelf::Held,
            (
                Request::Expire(_)
                | Request::Read(_)
                | Request::Write(_)
                | Request::Cas { .. }
                | Request::Append(_),
                _,
            ) => Shelf::Any,
        };
        place.only()
    }

    fn open(&self, state: &State, visit: &mut impl FnMut(Shelf)) {
        visit(state.map_or(Shelf::Free, |_| Shelf::Held));
    }
}
