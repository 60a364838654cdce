//! Plan of a run: its lock, its clients, its network, and its single defect.

use lockstorm_checker::ModelName;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Ticks of a millisecond.
pub(crate) const MS: u64 = 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lock {
    Plain,
    Reentrant,
    ReadWrite,
    Semaphore(u32),
    /// With a queue that is served in order.
    Fair,
}

impl Lock {
    /// Number of permits, where it is not one lock for all.
    pub(crate) fn permits(self) -> Option<u32> {
        match self {
            Self::Semaphore(permits) => Some(permits),
            Self::Plain | Self::Reentrant | Self::ReadWrite | Self::Fair => None,
        }
    }

    /// The models that its service keeps to.
    pub(crate) fn models(self) -> &'static [ModelName] {
        match self {
            Self::Plain | Self::Fair => &[ModelName::OwnerAware, ModelName::Fenced],
            Self::Reentrant => &[
                ModelName::Reentrant { limit: None },
                ModelName::ReentrantFenced,
            ],
            Self::ReadWrite => &[ModelName::ReadWrite],
            Self::Semaphore(_) => &[ModelName::Semaphore { permits: None }],
        }
    }

    /// Tells whether grants carry fencing tokens.
    pub(crate) fn has_tokens(self) -> bool {
        match self {
            Self::Plain | Self::Reentrant | Self::Fair => true,
            Self::ReadWrite | Self::Semaphore(_) => false,
        }
    }
}

/// One thing that goes wrong, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Defect {
    DoubleGrant,
    EarlyExpiry,
    DuplicateToken,
    LowerToken,
    ForeignRelease,
    LostUpdate,
    DoubleEffect,
    StaleWrite,
    Overtaking,
    Stuck,
    PartialReleaseFrees,
    SpuriousRefusal,
    ReadReleaseFreesWriter,
    /// The lock tells its caller of a grant when the lease is over.
    LateGrant,
    /// A release leaves the token behind, without an expiry.
    Leftover,
    /// The library of a client does not come back from a call.
    Hang,
    /// The library of a client ends its process in a call.
    Crash,
}

impl Defect {
    pub(crate) const ALL: [Self; 17] = [
        Self::DoubleGrant,
        Self::EarlyExpiry,
        Self::DuplicateToken,
        Self::LowerToken,
        Self::ForeignRelease,
        Self::LostUpdate,
        Self::DoubleEffect,
        Self::StaleWrite,
        Self::Overtaking,
        Self::Stuck,
        Self::PartialReleaseFrees,
        Self::SpuriousRefusal,
        Self::ReadReleaseFreesWriter,
        Self::LateGrant,
        Self::Leftover,
        Self::Hang,
        Self::Crash,
    ];
}

/// Work that clients do on the resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    Nothing,
    /// Read a number, write the next one.
    Count,
    /// Append a value of one's own, read the list.
    Append,
}

#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) lock: Lock,
    /// In ticks, whole milliseconds.
    pub(crate) lease: Option<u64>,
    pub(crate) keys: usize,
    pub(crate) clients: usize,
    pub(crate) work: Work,
    /// Share of messages that are lost, and of those that are late.
    pub(crate) loss: f64,
    pub(crate) crash: f64,
    /// True if clients go on after their lease.
    pub(crate) sloppy: bool,
    pub(crate) defect: Option<Defect>,
    /// Clients begin nothing new after it.
    pub(crate) end: u64,
}

impl Plan {
    pub(crate) fn random(rng: &mut ChaCha8Rng, defect: Option<Defect>) -> Self {
        let locks = [
            Lock::Plain,
            Lock::Reentrant,
            Lock::ReadWrite,
            Lock::Semaphore(2),
            Lock::Semaphore(3),
            Lock::Fair,
        ];
        let lock = match defect {
            Some(Defect::Overtaking) => Lock::Fair,
            Some(Defect::PartialReleaseFrees) => Lock::Reentrant,
            Some(Defect::ReadReleaseFreesWriter) => Lock::ReadWrite,
            Some(Defect::LateGrant) => [Lock::Plain, Lock::Reentrant][rng.random_range(0..2)],
            Some(
                Defect::DuplicateToken
                | Defect::LowerToken
                | Defect::LostUpdate
                | Defect::DoubleEffect
                | Defect::StaleWrite,
            ) => [Lock::Plain, Lock::Reentrant, Lock::Fair][rng.random_range(0..3)],
            Some(
                Defect::DoubleGrant
                | Defect::EarlyExpiry
                | Defect::ForeignRelease
                | Defect::Stuck
                | Defect::SpuriousRefusal
                | Defect::Leftover
                | Defect::Hang
                | Defect::Crash,
            )
            | None => locks[rng.random_range(0..locks.len())],
        };
        // A write is late only where messages are.
        let late = defect == Some(Defect::StaleWrite);
        let needs_lease = matches!(defect, Some(Defect::Stuck | Defect::LateGrant));
        let leased = rng.random_bool(0.7) || late || needs_lease;
        let work = match (lock.has_tokens(), defect) {
            (false, _) => Work::Nothing,
            (true, Some(Defect::DoubleEffect)) => Work::Append,
            (true, Some(Defect::LostUpdate | Defect::StaleWrite)) => {
                [Work::Count, Work::Append][rng.random_range(0..2)]
            }
            (true, _) => [Work::Nothing, Work::Count, Work::Append][rng.random_range(0..3)],
        };
        // What is left behind is looked for where no message is late.
        let quiet = defect == Some(Defect::Leftover) || !late && rng.random_bool(0.4);
        let lengths = match defect {
            Some(Defect::StaleWrite) => 10..25,
            // An answer after the lease comes while the client still waits for it.
            Some(Defect::LateGrant) => 20..50,
            Some(_) | None => 20..120,
        };
        Self {
            lock,
            lease: leased.then(|| MS * rng.random_range(lengths)),
            keys: rng.random_range(1..=2),
            clients: rng.random_range(2..=5),
            work,
            loss: match (late, quiet) {
                (true, _) => 0.2,
                (false, true) => 0.0,
                (false, false) => 0.06,
            },
            crash: if quiet || !leased { 0.0 } else { 0.02 },
            sloppy: leased && (late || rng.random_bool(0.2)),
            defect,
            end: MS * rng.random_range(150..500),
        }
    }
}

/// How far a clock may go wrong during a lease: the default of the checker, and no part of a tick
/// more.
pub(crate) fn drift(lease: u64) -> u64 {
    lease / 100 + 2 * MS
}

/// Until when a lease that was asked for at `sent` certainly lasts: up to the tick in which its
/// floor lies.
pub(crate) fn floor(sent: u64, lease: Option<u64>) -> u64 {
    lease.map_or(u64::MAX, |lease| {
        sent + lease - lease.div_ceil(100) - 2 * MS
    })
}
