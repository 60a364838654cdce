//! `register` and `cas-register`: a value that is read, written, and compared and set.

use super::call::{Call, Datum, Reply, Request};
use super::reason::Reason;
use super::rules::{Model, Shelf};

/// The model; its state is the value.
pub(crate) struct Register;

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

    fn shelves(&self, call: &Call) -> [Shelf; 2] {
        match (call.request, call.reply) {
            (Request::Read(value), _)
            | (
                Request::Cas {
                    expected: value, ..
                },
                Reply::Done,
            ) => Shelf::Value(value.0).only(),
            (
                Request::Acquire { .. }
                | Request::Renew { .. }
                | Request::Release { .. }
                | Request::Expire(_)
                | Request::Write(_)
                | Request::Cas { .. }
                | Request::Append(_),
                _,
            ) => Shelf::Any.only(),
        }
    }

    fn open(&self, state: &Datum, visit: &mut impl FnMut(Shelf)) {
        visit(Shelf::Value(state.0));
    }
}
