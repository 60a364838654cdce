//! Mistakes in a script: the line that is changed, and what it is changed to.

use lockstorm_scenarios::Mutant;

/// One line of one script.
pub(super) struct LineChange {
    /// The whole script, as it should be.
    pub(super) script: &'static str,
    /// The line without its indentation; there is exactly one like it.
    line: &'static str,
    /// Line that stands there instead; empty where the line is left out.
    instead: &'static str,
}

impl LineChange {
    /// The script with its mistake.
    pub(super) fn applied(&self) -> String {
        let change = |line: &'static str| {
            if line.trim() == self.line {
                self.instead
            } else {
                line
            }
        };
        let lines: Vec<_> = self.script.lines().map(change).collect();
        lines.join("\n")
    }
}

const fn change(script: &'static str, line: &'static str, instead: &'static str) -> LineChange {
    LineChange {
        script,
        line,
        instead,
    }
}

/// A script beside the locks.
macro_rules! script {
    ($path:literal) => {
        include_str!(concat!("../", $path, ".lua"))
    };
}

/// A script of the fair lock, with the head that they share.
macro_rules! fair {
    ($name:literal) => {
        concat!(
            script!("redisson/scripts/fair_head"),
            include_str!(concat!("../redisson/scripts/", $name, ".lua"))
        )
    };
}

/// Returns the change of a mutant to a script; `None` where its mistake is in the code.
#[expect(clippy::too_many_lines, reason = "a table")]
pub(super) const fn changed_line(mutant: Mutant) -> Option<LineChange> {
    Some(match mutant {
        Mutant::ReleaseByAnyone => change(
            script!("scripts/release"),
            "if redis.call('GET', KEYS[1]) ~= ARGV[1] then",
            "if not redis.call('GET', KEYS[1]) then",
        ),
        Mutant::RenewalByAnyone => change(
            script!("scripts/renew"),
            "if redis.call('GET', KEYS[1]) ~= ARGV[1] then",
            "if not redis.call('GET', KEYS[1]) then",
        ),
        Mutant::RenewalRecreates => change(
            script!("scripts/renew"),
            "if redis.call('GET', KEYS[1]) ~= ARGV[1] then",
            "if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) and \
             redis.call('GET', KEYS[1]) ~= ARGV[1] then",
        ),
        Mutant::RenewalInSeconds => change(
            script!("scripts/renew"),
            "return redis.call('PEXPIRE', KEYS[1], ARGV[2])",
            "return redis.call('PEXPIRE', KEYS[1], math.ceil(ARGV[2] / 1000))",
        ),
        Mutant::CounterNotRaised => change(
            script!("scripts/acquire_fenced"),
            "return redis.call('INCR', KEYS[2])",
            "return tonumber(redis.call('GET', KEYS[2]) or 1)",
        ),
        Mutant::CounterExpires => change(
            script!("scripts/acquire_fenced"),
            "return redis.call('INCR', KEYS[2])",
            "return redis.call('INCR', KEYS[2]) * redis.call('PEXPIRE', KEYS[2], ARGV[2])",
        ),
        Mutant::UnlockByAnyone => change(
            script!("redisson/scripts/unlock"),
            "if redis.call('HEXISTS', KEYS[1], ARGV[3]) == 0 then",
            "if redis.call('EXISTS', KEYS[1]) == 0 then",
        ),
        Mutant::ExpiresInSeconds => change(
            script!("redisson/scripts/lock"),
            "redis.call('PEXPIRE', KEYS[1], ARGV[1])",
            "redis.call('EXPIRE', KEYS[1], ARGV[1])",
        ),
        Mutant::WatchdogForAnyone => change(
            script!("redisson/scripts/renew"),
            "if redis.call('HEXISTS', name, ARGV[i + 1]) == 1 then",
            "if redis.call('EXISTS', name) == 1 then",
        ),
        Mutant::WatchdogRecreates => change(
            script!("redisson/scripts/renew"),
            "if redis.call('HEXISTS', name, ARGV[i + 1]) == 1 then",
            "if redis.call('HSET', name, ARGV[i + 1], 1) >= 0 then",
        ),
        Mutant::ReentryNotCounted => change(
            script!("redisson/scripts/lock"),
            "redis.call('HINCRBY', KEYS[1], ARGV[2], 1)",
            "redis.call('HSET', KEYS[1], ARGV[2], 1)",
        ),
        Mutant::FirstUnlockFrees => change(
            script!("redisson/scripts/unlock"),
            "if redis.call('HINCRBY', KEYS[1], ARGV[3], -1) > 0 then",
            "if redis.call('HINCRBY', KEYS[1], ARGV[3], -1) < 0 then",
        ),
        Mutant::LatchNotRead => change(
            script!("redisson/scripts/unlock"),
            "local done = KEYS[3] and redis.call('GET', KEYS[3])",
            "local done = false",
        ),
        Mutant::TokenNotRaised => change(
            script!("redisson/scripts/lock_fenced"),
            "return {-1, redis.call('INCR', KEYS[2])}",
            "return {-1, tonumber(redis.call('GET', KEYS[2]) or 1)}",
        ),
        Mutant::TokenExpires => change(
            script!("redisson/scripts/lock_fenced"),
            "return {-1, redis.call('INCR', KEYS[2])}",
            "return {-1, redis.call('INCR', KEYS[2]) * redis.call('PEXPIRE', KEYS[2], ARGV[1])}",
        ),
        Mutant::NewcomersOvertake => change(
            fair!("fair_lock"),
            "if redis.call('EXISTS', KEYS[1]) == 0 and (not head or head == holder) then",
            "if redis.call('EXISTS', KEYS[1]) == 0 then",
        ),
        Mutant::QueuePoppedTwice => change(
            fair!("fair_lock"),
            "redis.call('ZREM', KEYS[3], holder)",
            "redis.call('ZREM', KEYS[3], holder, redis.call('LPOP', KEYS[2]) or '')",
        ),
        Mutant::QueueIsAStack => change(
            fair!("fair_lock"),
            "redis.call('RPUSH', KEYS[2], holder)",
            "redis.call('LPUSH', KEYS[2], holder)",
        ),
        Mutant::LeaverStaysInQueue => change(
            script!("redisson/scripts/fair_leave"),
            "return redis.call('LREM', KEYS[1], 0, ARGV[1])",
            "return 1",
        ),
        Mutant::DeadWaitersStay => change(
            fair!("fair_lock"),
            "if not until_ms or tonumber(until_ms) > tonumber(now_ms) then",
            "if not until_ms or tonumber(until_ms) > 0 then",
        ),
        Mutant::NobodyIsWoken => change(
            fair!("fair_unlock"),
            "if free == 1 and next_in_turn then",
            "if free == 0 and next_in_turn then",
        ),
        Mutant::WriterIgnoresReaders => change(
            script!("redisson/scripts/write_lock"),
            "if not mode then",
            "if mode ~= 'write' then",
        ),
        Mutant::ReaderIgnoresWriter => change(
            script!("redisson/scripts/read_lock"),
            "if mode == 'write' and redis.call('HEXISTS', KEYS[1], ARGV[3]) == 0 then",
            "if mode == 'writer' and redis.call('HEXISTS', KEYS[1], ARGV[3]) == 0 then",
        ),
        Mutant::ReadUnlockFreesAll => change(
            script!("redisson/scripts/read_unlock"),
            "if redis.call('HLEN', KEYS[1]) > 1 then",
            "if redis.call('HLEN', KEYS[1]) < 1 then",
        ),
        Mutant::LastReaderSetsLease => change(
            script!("redisson/scripts/read_unlock"),
            "longest = math.max(longest, left)",
            "longest = left",
        ),
        Mutant::WriteUnlockByAnyone => change(
            script!("redisson/scripts/write_unlock"),
            "if mode ~= 'write' or redis.call('HEXISTS', KEYS[1], ARGV[3]) == 0 then",
            "if mode ~= 'write' then",
        ),
        Mutant::OnePermitMore => change(
            script!("redisson/scripts/semaphore_acquire"),
            "if free and tonumber(free) >= tonumber(ARGV[1]) then",
            "if free and tonumber(free) >= tonumber(ARGV[1]) - 1 then",
        ),
        Mutant::LastPermitKept => change(
            script!("redisson/scripts/semaphore_acquire"),
            "if free and tonumber(free) >= tonumber(ARGV[1]) then",
            "if free and tonumber(free) > tonumber(ARGV[1]) then",
        ),
        Mutant::OnePermitTaken => change(
            script!("redisson/scripts/semaphore_acquire"),
            "redis.call('DECRBY', KEYS[1], ARGV[1])",
            "redis.call('DECR', KEYS[1])",
        ),
        Mutant::PermitReturnedTwice => change(
            script!("redisson/scripts/semaphore_release"),
            "local free = redis.call('INCRBY', KEYS[1], ARGV[1])",
            "local free = redis.call('INCRBY', KEYS[1], 2 * ARGV[1])",
        ),
        Mutant::PermitsNotReturned => change(
            script!("redisson/scripts/semaphore_release"),
            "local free = redis.call('INCRBY', KEYS[1], ARGV[1])",
            "local free = tonumber(redis.call('GET', KEYS[1]))",
        ),
        Mutant::StockSetByEveryone => change(
            script!("redisson/scripts/set_permits"),
            "if redis.call('SETNX', KEYS[1], ARGV[1]) == 0 then",
            "if not redis.call('SET', KEYS[1], ARGV[1]) then",
        ),
        Mutant::EndedPermitCounts => change(
            script!("redisson/scripts/permit_release"),
            "if redis.call('ZREM', KEYS[3], ARGV[1]) == 0 then",
            "if redis.call('ZREM', KEYS[3], ARGV[1]) < 0 then",
        ),
        Mutant::PermitReclaimedTwice => change(
            script!("redisson/scripts/permits_acquire"),
            "redis.call('ZREM', KEYS[2], unpack(ended))",
            "",
        ),
        Mutant::PermitsNeverEnd => change(
            script!("redisson/scripts/permits_acquire"),
            "local ended = redis.call('ZRANGEBYSCORE', KEYS[2], 0, ARGV[3], 'LIMIT', 0, ARGV[1])",
            "local ended = redis.call('ZRANGEBYSCORE', KEYS[2], 0, 0, 'LIMIT', 0, ARGV[1])",
        ),
        Mutant::WatchdogNotStopped
        | Mutant::SameTokenForAll
        | Mutant::LeaseInSeconds
        | Mutant::SetWithoutNx
        | Mutant::NeverExpires
        | Mutant::EndByClientClock
        | Mutant::WaitNotRead
        | Mutant::HalfIsAMajority
        | Mutant::TimeNotChecked
        | Mutant::DriftIgnored
        | Mutant::ReleaseOnOneNode
        | Mutant::FailedTryNotWithdrawn
        | Mutant::SyncNotRead
        | Mutant::ThreadIsTheOwner
        | Mutant::InstanceIsTheOwner
        | Mutant::OneLatchForAll
        | Mutant::MajorityIsEnough
        | Mutant::NothingGivenBack
        | Mutant::HalfIsEnough => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_changed_line_occurs_exactly_once_and_becomes_another_script() {
        let changes = Mutant::ALL
            .into_iter()
            .filter_map(|mutant| Some((mutant.name(), changed_line(mutant)?)));
        let mut wrong = Vec::new();
        for (name, change) in changes {
            let lines = change.script.lines();
            let found = lines.filter(|line| line.trim() == change.line).count();
            if found != 1 {
                wrong.push(format!("{name}: its line occurs {found} times"));
            }
            let applied = change.applied();
            let differ = applied
                .lines()
                .zip(change.script.lines())
                .filter(|(is, was)| is != was);
            if differ.count() != 1 || applied.lines().count() != change.script.lines().count() {
                wrong.push(format!("{name}: not exactly one line differs"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
