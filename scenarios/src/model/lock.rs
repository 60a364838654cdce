//! Which lock a scenario tests, and with what options.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::duration::{DurationRange, Span};
use super::topology::TopologyKind;

/// The lock under test, as `lock.<kind> = { ... }`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Lock {
    /// SETNX, then EXPIRE, plain DEL.
    Setnx(Setnx),
    /// SET NX PX with a random value, compare-and-delete.
    Token(Token),
    /// A majority of independent nodes.
    Redlock(Redlock),
}

/// A lock without its options.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum LockKind {
    /// See [`Lock::Setnx`].
    Setnx,
    /// See [`Lock::Token`].
    Token,
    /// See [`Lock::Redlock`].
    Redlock,
}

/// Options of [`Lock::Setnx`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Setnx {
    /// Time to live set by the second command; whole seconds, for EXPIRE knows no smaller unit.
    #[serde(default = "default_lease")]
    pub lease: Span,
    /// Extend the lease this often while the lock is held; absent means never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renew_every: Option<Span>,
}

/// Options of [`Lock::Token`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Token {
    /// Time to live of the key.
    #[serde(default = "default_lease")]
    pub lease: Span,
    /// Extend the lease this often while the lock is held; absent means never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renew_every: Option<Span>,
}

/// Options of [`Lock::Redlock`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Redlock {
    /// Time to live of the key on each node.
    #[serde(default = "default_lease")]
    pub lease: Span,
    /// Extend the lease this often while the lock is held; absent means never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renew_every: Option<Span>,
    /// How long one node may take to answer; far below the lease.
    #[serde(default = "default_node_timeout")]
    pub node_timeout: Span,
    /// Pause between two tries of a waiting acquire, drawn at random from this range.
    #[serde(default = "default_retry_delay")]
    pub retry_delay: DurationRange,
}

const fn default_lease() -> Span {
    Span::from_secs(2)
}

const fn default_node_timeout() -> Span {
    Span::from_millis(50)
}

const fn default_retry_delay() -> DurationRange {
    DurationRange::from_millis(10, 50)
}

impl Lock {
    /// Without options.
    pub const fn kind(&self) -> LockKind {
        match self {
            Self::Setnx(_) => LockKind::Setnx,
            Self::Token(_) => LockKind::Token,
            Self::Redlock(_) => LockKind::Redlock,
        }
    }

    /// Time to live of a grant.
    pub const fn lease(&self) -> Span {
        match self {
            Self::Setnx(setnx) => setnx.lease,
            Self::Token(token) => token.lease,
            Self::Redlock(redlock) => redlock.lease,
        }
    }

    /// How often a held lease is extended, if at all.
    pub const fn renew_every(&self) -> Option<Span> {
        match self {
            Self::Setnx(setnx) => setnx.renew_every,
            Self::Token(token) => token.renew_every,
            Self::Redlock(redlock) => redlock.renew_every,
        }
    }

    /// Pause between two tries of a waiting acquire, where the algorithm prescribes one; else it
    /// is for the clients to choose.
    pub const fn retry_delay(&self) -> Option<DurationRange> {
        match self {
            Self::Setnx(_) | Self::Token(_) => None,
            Self::Redlock(redlock) => Some(redlock.retry_delay),
        }
    }

    /// How reports name it: the kind, with ` + renewal` where the lease is extended.
    pub fn label(&self) -> String {
        let name = self.kind().name();
        if self.renew_every().is_some() {
            format!("{name} + renewal")
        } else {
            name.to_owned()
        }
    }
}

impl LockKind {
    /// Every lock, in the order of `lockstorm list locks`.
    pub const ALL: [Self; 3] = [Self::Setnx, Self::Token, Self::Redlock];

    /// The word used in scenario files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Setnx => "setnx",
            Self::Token => "token",
            Self::Redlock => "redlock",
        }
    }

    /// Whether the lock makes sense on servers of this shape.
    pub const fn supports(self, topology: TopologyKind) -> bool {
        match self {
            Self::Setnx | Self::Token => {
                matches!(topology, TopologyKind::Single | TopologyKind::Replicated)
            }
            Self::Redlock => matches!(topology, TopologyKind::Independent),
        }
    }

    /// What it does and promises, in one line.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::Setnx => "SETNX then EXPIRE, plain DEL: the broken ancestor; promises little",
            Self::Token => {
                "SET NX PX with a random value, compare-and-delete: exclusive as long as its one \
                 server remembers"
            }
            Self::Redlock => "the Redlock algorithm: a majority of independent nodes",
        }
    }
}
