//! Signs in a picture.

use super::drawing::Mark;
use super::ink::Ink;
use crate::head::Sign;

/// Its mark and its colour.
pub(super) const fn look(sign: Sign) -> (Mark, Ink) {
    match sign {
        Sign::Good => (Mark::Check, Ink::Valid),
        Sign::Open => (Mark::Question, Ink::Unknown),
        Sign::Bad => (Mark::Cross, Ink::Violation),
    }
}
