//! The kinds of lock that both sides know.

use std::time::Duration;

use lockstorm_checker::ModelName;
use lockstorm_checker::history::Mode;
use lockstorm_scenarios::{Era, Lock as Spec};
use serde_json::json;

/// Time for which whoever waits is ready to wait.
pub const WAIT: Duration = Duration::from_secs(20);
/// Number of permits that a semaphore has where clients contend for it.
pub const PERMITS: u32 = 2;

/// A kind of lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Reentrant,
    Fair,
    ReadWrite,
    Fenced,
    Semaphore,
    Permits,
}

impl Kind {
    const ALL: [Self; 6] = [
        Self::Reentrant,
        Self::Fair,
        Self::ReadWrite,
        Self::Fenced,
        Self::Semaphore,
        Self::Permits,
    ];

    /// Those that this version of Redisson has.
    pub fn of(era: Era) -> impl Iterator<Item = Self> {
        let has_fenced = era == Era::V4_7;
        Self::ALL
            .into_iter()
            .filter(move |&kind| has_fenced || kind != Self::Fenced)
    }

    /// As the Java program calls it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Reentrant => "reentrant",
            Self::Fair => "fair",
            Self::ReadWrite => "read-write",
            Self::Fenced => "fenced",
            Self::Semaphore => "semaphore",
            Self::Permits => "permits",
        }
    }

    /// Our lock of this kind, as the era has it.
    pub fn spec(self, era: Era, lease: Duration, permits: u32) -> Spec {
        let lease = format!("{}ms", lease.as_millis());
        let hash = json!({ "lease": lease, "era": era });
        let spec = match self {
            Self::Reentrant => json!({ "redisson": hash }),
            Self::Fair => json!({ "redisson-fair": hash }),
            Self::ReadWrite => json!({ "redisson-rw": hash }),
            Self::Fenced => json!({ "redisson-fenced": hash }),
            Self::Semaphore => json!({ "redisson-semaphore": { "permits": permits } }),
            Self::Permits => json!({ "redisson-permits": { "permits": permits, "lease": lease } }),
        };
        serde_json::from_value(spec).expect("it is one of our locks")
    }

    /// Tells whether it has permits instead of one holder.
    pub const fn has_permits(self) -> bool {
        match self {
            Self::Semaphore | Self::Permits => true,
            Self::Reentrant | Self::Fair | Self::ReadWrite | Self::Fenced => false,
        }
    }

    /// How it can be held.
    pub const fn modes(self) -> &'static [Mode] {
        match self {
            Self::ReadWrite => &[Mode::Write, Mode::Read],
            Self::Reentrant | Self::Fair | Self::Fenced | Self::Semaphore | Self::Permits => {
                &[Mode::Write]
            }
        }
    }

    /// Tells whether no client of Redisson's loses the message that should wake it.
    ///
    /// Before 3.28 any might. To this day, a writer's release wakes as many as wait at the instant
    /// at which it is heard (`LockPubSub`): who has just looked, and waits a moment later, is left.
    pub fn wakes_all(self, era: Era) -> bool {
        era == Era::V4_7 && self != Self::ReadWrite
    }

    /// Model that judges a history of it.
    pub const fn model(self) -> ModelName {
        match self {
            Self::Reentrant | Self::Fair => ModelName::Reentrant { limit: None },
            Self::ReadWrite => ModelName::ReadWrite,
            Self::Fenced => ModelName::Fenced,
            Self::Semaphore | Self::Permits => ModelName::Semaphore { permits: None },
        }
    }
}
