//! Known-bad locks: each is one of ours with one mistake, as authors of locks make it.
//!
//! For: proof that the checker and the shipped scenarios catch such a mistake. Not for: what the
//! mistake is in the code; that is for the harness, which makes it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::locks::LockKind;

/// Makes the enum and what one can say of each variant, from one row for each mutant: the variant,
/// its name in scenario files, the lock that it is made from, and what is wrong.
macro_rules! mutants {
    ($($variant:ident, $name:literal, $lock:ident, $summary:literal;)+) => {
        /// A lock with one mistake.
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
        )]
        pub enum Mutant {
            $(
                #[doc = $summary]
                #[serde(rename = $name)]
                $variant,
            )+
        }

        impl Mutant {
            /// Every mutant, in the order of `lockstorm list mutants`: lock by lock.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// The word used in scenario files.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// The lock that it is made from.
            pub const fn lock(self) -> LockKind {
                match self {
                    $(Self::$variant => LockKind::$lock,)+
                }
            }

            /// Mistake, in one line.
            pub const fn summary(self) -> &'static str {
                match self {
                    $(Self::$variant => $summary,)+
                }
            }
        }
    };
}

mutants! {
    WatchdogNotStopped, "watchdog-not-stopped", Setnx,
        "a release does not end the renewals, which then keep the lock of the next holder";
    SameTokenForAll, "same-token-for-all", Token,
        "every client writes the same value, so each can release the lock of another";
    ReleaseByAnyone, "release-by-anyone", Token,
        "a release deletes the key without a look at its owner";
    RenewalByAnyone, "renewal-by-anyone", Token,
        "a renewal extends the lease of any holder";
    RenewalRecreates, "renewal-recreates", Token,
        "a renewal takes a lock that is gone once more, and hides the loss";
    RenewalInSeconds, "renewal-in-seconds", Token,
        "a renewal hands seconds to PEXPIRE, and so shortens the lease a thousand times";
    LeaseInSeconds, "lease-in-seconds", Token,
        "an acquire hands seconds to PX, and the lock is gone at once";
    SetWithoutNx, "set-without-nx", Token,
        "SET without NX: everyone who asks is granted the lock";
    NeverExpires, "never-expires", Token,
        "SET without PX: the lock of a client that died is never free again";
    EndByClientClock, "end-by-client-clock", Token,
        "SET with PXAT: the client's clock says when the lease ends, and the server's when it has";
    WaitNotRead, "wait-not-read", TokenWait,
        "the lock is granted however many replicas WAIT counts";
    CounterNotRaised, "counter-not-raised", TokenFenced,
        "the counter is read and not raised: every grant has the same fencing token";
    CounterExpires, "counter-expires", TokenFenced,
        "the counter expires with the lock, and the fencing tokens begin again at 1";
    HalfIsAMajority, "half-is-a-majority", Redlock,
        "a quorum of N/2, rounded down: two clients can have one each";
    TimeNotChecked, "time-not-checked", Redlock,
        "a majority is enough, though the lease was used up while the nodes were asked";
    DriftIgnored, "drift-ignored", Redlock,
        "no allowance for clock drift: a lease is granted to its very last millisecond";
    ReleaseOnOneNode, "release-on-one-node", Redlock,
        "a release asks the first node only, and the majority keeps the lock";
    FailedTryNotWithdrawn, "failed-try-not-withdrawn", Redlock,
        "a try that got no majority leaves its keys where it did succeed";
    SyncNotRead, "sync-not-read", Redisson,
        "the lock is granted whether or not a replica acknowledges it";
    ThreadIsTheOwner, "thread-is-the-owner", Redisson,
        "the holder id is the thread's number without the client's: all clients are one owner";
    InstanceIsTheOwner, "instance-is-the-owner", Redisson,
        "the holder id is the client's without the thread's number: all threads are one owner";
    UnlockByAnyone, "unlock-by-anyone", Redisson,
        "an unlock looks whether the lock is held, and not by whom";
    ExpiresInSeconds, "expires-in-seconds", Redisson,
        "milliseconds are handed to EXPIRE: the lock of a dead client stays for half an hour";
    WatchdogForAnyone, "watchdog-for-anyone", Redisson,
        "the watchdog extends the lock of any holder";
    WatchdogRecreates, "watchdog-recreates", Redisson,
        "the watchdog writes its hold again without a look for it, and hides the loss";
    ReentryNotCounted, "reentry-not-counted", Redisson,
        "the hold count is set to 1 and not raised, so the first unlock frees the lock";
    FirstUnlockFrees, "first-unlock-frees", Redisson,
        "an unlock frees the lock however often it is held";
    LatchNotRead, "latch-not-read", Redisson,
        "an unlock that is sent again does not look whether it was executed, and counts twice";
    OneLatchForAll, "one-latch-for-all", Redisson,
        "all unlock requests share one latch: what a dead client left there passes for one's own";
    TokenNotRaised, "token-not-raised", RedissonFenced,
        "the token is read and not raised: every grant has the same fencing token";
    TokenExpires, "token-expires", RedissonFenced,
        "the counter expires with the lock, and the fencing tokens begin again at 1";
    NewcomersOvertake, "newcomers-overtake", RedissonFair,
        "a lock that is free is granted without a look at the head of the queue";
    QueuePoppedTwice, "queue-popped-twice", RedissonFair,
        "a grant takes two waiters off the queue, and one of them loses its turn";
    QueueIsAStack, "queue-is-a-stack", RedissonFair,
        "who comes last is put at the head of the queue";
    LeaverStaysInQueue, "leaver-stays-in-queue", RedissonFair,
        "who gives up waiting is not taken off the queue, and blocks it forever";
    DeadWaitersStay, "dead-waiters-stay", RedissonFair,
        "a waiter that died is never taken off the queue, and blocks it forever";
    NobodyIsWoken, "nobody-is-woken", RedissonFair,
        "an unlock does not wake who is next, who sleeps on while the lock is free";
    WriterIgnoresReaders, "writer-ignores-readers", RedissonRw,
        "a writer is kept out by writers only";
    ReaderIgnoresWriter, "reader-ignores-writer", RedissonRw,
        "a reader looks for a mode that is never written, and is never kept out";
    ReadUnlockFreesAll, "read-unlock-frees-all", RedissonRw,
        "the first reader that leaves frees the lock of the others";
    LastReaderSetsLease, "last-reader-sets-lease", RedissonRw,
        "a read unlock leaves the lease of the last reader and not the longest";
    WriteUnlockByAnyone, "write-unlock-by-anyone", RedissonRw,
        "a write unlock looks whether somebody writes, and not who";
    MajorityIsEnough, "majority-is-enough", RedissonMulti,
        "a lock of all masters is granted by more than half";
    NothingGivenBack, "nothing-given-back", RedissonMulti,
        "a try that is refused by one master keeps what it got from the others";
    HalfIsEnough, "half-is-enough", RedissonRed,
        "N/2 masters, rounded down, are enough: two clients can have one each";
    OnePermitMore, "one-permit-more", RedissonSemaphore,
        "the comparison is off by one, and there is one permit more than there should be";
    LastPermitKept, "last-permit-kept", RedissonSemaphore,
        "the comparison is off by one, and the last permit is never given out";
    OnePermitTaken, "one-permit-taken", RedissonSemaphore,
        "one permit is taken, however many were asked for";
    PermitReturnedTwice, "permit-returned-twice", RedissonSemaphore,
        "a release returns each permit twice";
    PermitsNotReturned, "permits-not-returned", RedissonSemaphore,
        "a release returns nothing";
    StockSetByEveryone, "stock-set-by-everyone", RedissonSemaphore,
        "each client sets the number of free permits again when it comes";
    EndedPermitCounts, "ended-permit-counts", RedissonPermits,
        "a permit that was taken back from its owner is returned by its owner once more";
    PermitReclaimedTwice, "permit-reclaimed-twice", RedissonPermits,
        "a permit that has ended is taken back again and again";
    PermitsNeverEnd, "permits-never-end", RedissonPermits,
        "a permit that has ended is not taken back";
}

impl Mutant {
    /// The mutants that are made from `lock`.
    pub fn of(lock: LockKind) -> impl Iterator<Item = Self> {
        Self::ALL
            .into_iter()
            .filter(move |mutant| mutant.lock() == lock)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_mutant_has_a_name_of_its_own_and_stands_with_those_of_its_lock() {
        let names: BTreeSet<_> = Mutant::ALL.iter().map(|mutant| mutant.name()).collect();
        assert_eq!(names.len(), Mutant::ALL.len());
        let by_lock: Vec<_> = LockKind::ALL.into_iter().flat_map(Mutant::of).collect();
        assert_eq!(by_lock, Mutant::ALL);
    }
}
