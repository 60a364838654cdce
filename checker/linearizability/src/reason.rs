//! Reasons why a model does not allow a call, in words.

use crate::call::{Datum, OwnerId};

/// Reason why a call cannot have been observed in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
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
    Token {
        /// Token of the grant.
        token: u64,
        /// Greatest token before.
        last: u64,
    },
    /// A reentrant grant came with another token than the hold.
    OtherToken {
        /// Token of the grant.
        token: u64,
        /// Token of the hold.
        held: u64,
    },
    /// Too many permits are out.
    Permits {
        /// Number that was asked for.
        asked: u32,
        /// Number that is out.
        out: u32,
        /// Number that there is.
        of: u32,
    },
    /// The caller holds fewer permits than it gives back.
    Fewer {
        /// Number that it holds.
        held: u32,
        /// Number that it gives back.
        released: u32,
    },
    /// The register has another value.
    Value(Datum),
    /// The register has the expected value, and yet the compare-and-set failed.
    Expected(Datum),
    /// So much was appended.
    Appended {
        /// Number of appends.
        parts: u32,
    },
}

impl Reason {
    /// The reason in words, to follow "but": without capital and stop. Owners and values are named
    /// by the caller, who knows them.
    pub fn words(
        self,
        owner: impl Fn(OwnerId) -> String,
        value: impl Fn(Datum) -> String,
    ) -> String {
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
