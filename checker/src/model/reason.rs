//! Reasons why a model does not allow a call, in words.

use super::call::Datum;
use super::values::Values;
use crate::operations::{Digest, OwnerId};
use crate::text;

/// Reason why a call cannot have been observed in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Reason {
    /// The lock is held, by nobody knows whom.
    Held,
    /// The lock is held by another, or by the caller itself.
    HeldBy(OwnerId),
    /// Readers hold the lock, one of them this one.
    ReadBy(OwnerId),
    /// The lock is free.
    Free,
    /// A refused call would have been allowed.
    Allowed,
    /// The caller does hold the lock.
    Owner,
    /// The caller entered as often as it may.
    Limit(u32),
    /// The token does not exceed an earlier one.
    Token { token: u64, last: u64 },
    /// A reentrant grant came with another token than the hold.
    OtherToken { token: u64, held: u64 },
    /// Too many permits are out.
    Permits { asked: u32, out: u32, of: u32 },
    /// The caller holds fewer permits than it gives back.
    Fewer { held: u32, released: u32 },
    /// The register has another value.
    Value(Datum),
    /// The register has the expected value, and yet the compare-and-set failed.
    Expected(Datum),
    /// So much was appended.
    Appended { parts: u32 },
}

impl Reason {
    /// The reason in words, to follow "but": without capital and stop.
    pub(crate) fn words(self, digest: &Digest, values: &Values) -> String {
        let owner = |id: OwnerId| text::name(digest.owner(id));
        let value = |datum: Datum| text::prose(values.text(datum));
        match self {
            Self::Held => "it is already held".to_owned(),
            Self::HeldBy(holder) => format!("it is already held by {}", owner(holder)),
            Self::ReadBy(reader) => format!("{} holds it as a reader", owner(reader)),
            Self::Free => "it is free".to_owned(),
            Self::Allowed => "it is free for the caller".to_owned(),
            Self::Owner => "the caller does hold it".to_owned(),
            Self::Limit(limit) => format!("the caller entered it {limit} times already"),
            Self::Token { token, last } => {
                format!("its token {token} does not exceed the earlier token {last}")
            }
            Self::OtherToken { token, held } => {
                format!("the hold that it enters again has token {held}, not {token}")
            }
            Self::Permits { asked, out, of } => {
                format!("{out} permits of {of} are out, too many for {asked} more")
            }
            Self::Fewer { held, released } => {
                format!("the caller holds {held} permits, not {released}")
            }
            Self::Value(held) => format!("the value is {}", value(held)),
            Self::Expected(held) => format!("the value is {}, as it expected", value(held)),
            Self::Appended { parts: 0 } => "nothing was appended".to_owned(),
            Self::Appended { parts } => format!("another value was built by {parts} appends"),
        }
    }
}
