//! Promises of a library, and abilities of its adapter.

use std::time::Duration;

/// Ability that not all adapters have. Every adapter of this kit can be cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ability {
    /// It knows when to try again: [`Lock::await_turn`](crate::Lock::await_turn).
    Await,
    /// Its owner is called as [`Client::identity`](crate::Client::identity) says.
    Identity,
    /// Its waiters stand in a queue: [`Client::queued`](crate::Client::queued).
    Queue,
    /// It renews by itself, and that cannot be wrapped.
    SilentWatchdog,
    /// It does so for every lock, also where nobody asks for renewals.
    AlwaysRenews,
    /// Each grant has a fencing token, greater than those before of the same key.
    Tokens,
    /// It waits by itself, as long as [`Ask::wait`](crate::Ask::wait) says.
    Wait,
    /// It renews by itself, and each renewal passes through
    /// [`Client::renewal`](crate::Client::renewal).
    Watchdog,
}

impl Ability {
    /// The word of the protocol.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Await => "await",
            Self::Identity => "identity",
            Self::Queue => "queue",
            Self::SilentWatchdog => "silent-watchdog",
            Self::AlwaysRenews => "always-renews",
            Self::Tokens => "tokens",
            Self::Wait => "wait",
            Self::Watchdog => "watchdog",
        }
    }
}

/// Promises of a library, and abilities of its adapter. The default is a plain lock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opened {
    /// Abilities.
    pub can: Vec<Ability>,
    /// `true` if the lock knows readers; they are not handed on to another.
    pub readers: bool,
    /// `true` if it is a semaphore; more than one permit is not handed on to another.
    pub permits: bool,
    /// Promises beyond those of every lock, by the names of `lockstorm list promises`.
    pub promises: Vec<&'static str>,
    /// Promises of every lock that the library does not make.
    pub denies: Vec<&'static str>,
    /// Longest time that a call takes, all its tries included; 10 s where it is not said.
    pub answers_within: Option<Duration>,
    /// Key at which a server keeps the lock, with `{key}` in the place of its name; the name where
    /// it is not said.
    pub server_key: Option<&'static str>,
}

impl Opened {
    pub(crate) fn can(&self, ability: Ability) -> bool {
        self.can.contains(&ability)
    }
}
