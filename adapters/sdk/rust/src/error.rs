//! Reasons why a call was not carried out.

use std::any::type_name;
use std::fmt::Display;

/// Reason why a call was not carried out.
///
/// Any error of a library turns into [`Error::Unknown`] by the question mark, which is the answer
/// that is safe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The lock is not the client's. Only a renewal or a release may say so.
    NotOwner,
    /// It certainly had no effect: a server, or the library itself, refused to carry it out.
    Failed(String),
    /// The adapter or its library cannot do that at all.
    Unsupported(String),
    /// Nobody knows whether it had an effect, or will have one yet.
    Unknown(String),
    /// Nobody knows whether it had an effect, but the library has told its user that the lock is
    /// held no more. Only a renewal or a release may say so.
    Lost(String),
}

impl Error {
    /// It certainly had no effect, for this reason.
    pub fn failed(why: impl Display) -> Self {
        Self::Failed(why.to_string())
    }

    /// Nobody knows whether it had an effect, but the lock is held no more, for this reason.
    pub fn lost(why: impl Display) -> Self {
        Self::Lost(why.to_string())
    }

    /// It cannot be done at all; `what` says in words what cannot.
    pub fn unsupported(what: impl Display) -> Self {
        Self::Unsupported(what.to_string())
    }
}

impl<E: std::error::Error> From<E> for Error {
    fn from(error: E) -> Self {
        Self::Unknown(format!("{}: {error}", type_name::<E>()))
    }
}
