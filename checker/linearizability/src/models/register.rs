//! `register` and `cas-register`: a value that is read, written, and compared and set.

use crate::call::{Call, Datum, Reply, Request};
use crate::model::{Model, Precondition};
use crate::reason::Reason;

/// The model; its state is the value.
pub struct Register;

impl Model for Register {
    type State = Datum;

    fn initial(&self) -> Datum {
        Datum::NULL
    }

    fn step(&self, &held: &Datum, call: &Call) -> Result<Datum, Reason> {
        match (call.request, call.reply) {
            (Request::Write(new), _) => Ok(new),
            (Request::Read(seen), _) if seen == held => Ok(held),
            (Request::Cas { expected, new }, Reply::Done) if expected == held => Ok(new),
            (Request::Cas { expected, .. }, Reply::Denied) if expected != held => Ok(held),
            (Request::Cas { .. }, Reply::Denied) => Err(Reason::Expected(held)),
            (Request::Read(_) | Request::Cas { .. }, _) => Err(Reason::Value(held)),
            (
                Request::Acquire { .. }
                | Request::Renew { .. }
                | Request::Release { .. }
                | Request::Expire(_)
                | Request::Append(_),
                _,
            ) => Ok(held),
        }
    }

    fn preconditions(&self, call: &Call) -> [Precondition; 2] {
        match (call.request, call.reply) {
            (Request::Read(value), _)
            | (
                Request::Cas {
                    expected: value, ..
                },
                Reply::Done,
            ) => Precondition::Value(value.0).only(),
            (
                Request::Acquire { .. }
                | Request::Renew { .. }
                | Request::Release { .. }
                | Request::Expire(_)
                | Request::Write(_)
                | Request::Cas { .. }
                | Request::Append(_),
                _,
            ) => Precondition::Any.only(),
        }
    }

    fn visit_met(&self, state: &Datum, visit: &mut impl FnMut(Precondition)) {
        visit(Precondition::Value(state.0));
    }
}
