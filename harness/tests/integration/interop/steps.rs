//! The steps that are compared: all that a client of each kind of lock can do.

use std::time::Duration;

use lockstorm_checker::history::Mode::{self, Read, Write};
use lockstorm_scenarios::Era;

use super::kind::Kind;

/// Number of clients.
pub const CLIENTS: usize = 4;
/// Time that whoever waits is ready to wait: it can be told from what locks take by themselves.
pub const WAIT: Duration = Duration::from_secs(200);
/// Time for which whoever gives up waits.
const SOON: Duration = Duration::from_millis(200);

/// Step of one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// One try.
    Acquire(usize, Mode),
    /// Gives back what it may or may not have.
    Release(usize, Mode),
    /// Begins to wait.
    Wait(usize),
    /// Gives back what another is granted that waits for it.
    HandOver(usize, usize),
    /// Waits for so long, in vain.
    GiveUp(usize, Duration),
    /// All leases end, those that have any.
    Lapse,
}

use Step::{Acquire, GiveUp, HandOver, Lapse, Release, Wait};

/// Twice in, once refused, twice out, and once too often; once too late.
const REENTRANT: &[Step] = &[
    Acquire(0, Write),
    Acquire(0, Write),
    Acquire(1, Write),
    Release(1, Write),
    Release(0, Write),
    Release(0, Write),
    Release(0, Write),
    Acquire(1, Write),
    GiveUp(2, SOON),
    Lapse,
    Release(1, Write),
];

/// Twice in and out, with two in the queue, one who overtakes nobody, and one who leaves it.
const FAIR: &[Step] = &[
    Acquire(0, Write),
    Acquire(0, Write),
    Wait(1),
    Wait(2),
    Acquire(3, Write),
    Release(3, Write),
    Release(0, Write),
    HandOver(0, 1),
    GiveUp(3, SOON),
    Acquire(1, Write),
    Release(1, Write),
    HandOver(1, 2),
    Wait(0),
    GiveUp(1, SOON),
    HandOver(2, 0),
    Release(0, Write),
    Release(0, Write),
    Acquire(1, Write),
    Lapse,
    Release(1, Write),
];

/// Readers who share, a writer who comes again, reads as well, and goes on as a reader.
const READ_WRITE: &[Step] = &[
    Acquire(0, Read),
    Acquire(1, Read),
    Acquire(0, Read),
    Acquire(2, Write),
    Release(2, Write),
    Acquire(0, Write),
    Release(0, Read),
    Release(1, Read),
    Release(0, Read),
    Acquire(0, Write),
    Acquire(0, Write),
    Acquire(0, Read),
    Acquire(1, Read),
    Acquire(1, Write),
    Release(1, Write),
    Release(1, Read),
    Release(0, Write),
    Release(0, Write),
    Acquire(1, Read),
    Release(0, Read),
    Release(1, Read),
    Release(1, Read),
    Release(1, Write),
    Acquire(1, Read),
    Lapse,
    Release(1, Read),
    Acquire(1, Write),
    Lapse,
    Release(1, Write),
];

/// Two permits, and three who want one.
const PERMITS: &[Step] = &[
    Acquire(0, Write),
    Acquire(1, Write),
    Acquire(2, Write),
    GiveUp(3, SOON),
    Release(0, Write),
    Acquire(2, Write),
    Release(1, Write),
    Release(2, Write),
];

/// Two permits, of which one comes back too late, and one is taken back by somebody else.
const PERMITS_THAT_END: &[Step] = &[
    Acquire(0, Write),
    Acquire(1, Write),
    Acquire(2, Write),
    GiveUp(3, SOON),
    Release(0, Write),
    Acquire(2, Write),
    Lapse,
    Release(1, Write),
    Acquire(3, Write),
    Release(2, Write),
    Release(3, Write),
];

/// The steps of a kind.
pub const fn of(era: Era, kind: Kind) -> &'static [Step] {
    match (kind, era) {
        (Kind::Reentrant | Kind::Fenced, _) => REENTRANT,
        (Kind::Fair, _) => FAIR,
        (Kind::ReadWrite, _) => READ_WRITE,
        // In 3.10 a permit that had ended was given back as if it had not; ours knows no eras.
        (Kind::Semaphore, _) | (Kind::Permits, Era::V3_10) => PERMITS,
        (Kind::Permits, Era::V3_17 | Era::V4_7) => PERMITS_THAT_END,
    }
}
