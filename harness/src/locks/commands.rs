//! The commands that each lock sends, those that its scripts call included.
//!
//! For: asking servers that someone else runs whether their user may use them. Not for: the locks
//! themselves, which send what their algorithms say.

use lockstorm_scenarios::LockKind;

const REDISSON: &[&str] = &[
    "EVAL",
    "INFO",
    "WAIT",
    "SUBSCRIBE",
    "UNSUBSCRIBE",
    "PUBLISH",
    "EXISTS",
    "HEXISTS",
    "HINCRBY",
    "PEXPIRE",
    "PTTL",
    "GET",
    "SET",
    "DEL",
];
const REDISSON_FENCED: &[&str] = &[
    "EVAL",
    "INFO",
    "WAIT",
    "SUBSCRIBE",
    "UNSUBSCRIBE",
    "PUBLISH",
    "EXISTS",
    "HEXISTS",
    "HINCRBY",
    "PEXPIRE",
    "PTTL",
    "GET",
    "SET",
    "DEL",
    "INCR",
];
const REDISSON_FAIR: &[&str] = &[
    "EVAL",
    "INFO",
    "SUBSCRIBE",
    "UNSUBSCRIBE",
    "PUBLISH",
    "EXISTS",
    "HEXISTS",
    "HINCRBY",
    "PEXPIRE",
    "PTTL",
    "GET",
    "SET",
    "DEL",
    "LINDEX",
    "LPOP",
    "RPUSH",
    "LRANGE",
    "LREM",
    "ZADD",
    "ZREM",
    "ZSCORE",
    "ZRANGE",
    "ZINCRBY",
];
const REDISSON_RW: &[&str] = &[
    "EVAL",
    "INFO",
    "WAIT",
    "SUBSCRIBE",
    "UNSUBSCRIBE",
    "PUBLISH",
    "HEXISTS",
    "HINCRBY",
    "HGET",
    "HSET",
    "HDEL",
    "HLEN",
    "HKEYS",
    "PEXPIRE",
    "PTTL",
    "GET",
    "SET",
    "DEL",
];
const REDISSON_SEMAPHORE: &[&str] = &[
    "EVAL",
    "SUBSCRIBE",
    "UNSUBSCRIBE",
    "PUBLISH",
    "GET",
    "SETNX",
    "INCRBY",
    "DECRBY",
];
const REDISSON_PERMITS: &[&str] = &[
    "EVAL",
    "SUBSCRIBE",
    "UNSUBSCRIBE",
    "PUBLISH",
    "GET",
    "SETNX",
    "INCRBY",
    "DECRBY",
    "PTTL",
    "PEXPIRE",
    "ZADD",
    "ZREM",
    "ZSCORE",
    "ZRANGE",
    "ZRANGEBYSCORE",
];

/// The commands of a lock.
pub const fn commands_of(lock: LockKind) -> &'static [&'static str] {
    match lock {
        LockKind::NoLock => &[],
        LockKind::Setnx => &["SETNX", "EXPIRE", "DEL"],
        LockKind::PlainDel => &["SET", "DEL"],
        LockKind::Token | LockKind::Redlock => &["SET", "EVAL", "GET", "DEL", "PEXPIRE"],
        LockKind::TokenWait => &["SET", "EVAL", "GET", "DEL", "PEXPIRE", "WAIT"],
        LockKind::TokenFenced => &["EVAL", "SET", "GET", "DEL", "PEXPIRE", "INCR"],
        LockKind::Redisson
        | LockKind::RedissonSpin
        | LockKind::RedissonMulti
        | LockKind::RedissonRed => REDISSON,
        LockKind::RedissonFenced => REDISSON_FENCED,
        LockKind::RedissonFair => REDISSON_FAIR,
        LockKind::RedissonRw => REDISSON_RW,
        LockKind::RedissonSemaphore => REDISSON_SEMAPHORE,
        LockKind::RedissonPermits => REDISSON_PERMITS,
        // Nobody knows what a library sends; nearly all send scripts by their digests.
        LockKind::Adapter => &["SET", "GET", "DEL", "EVAL", "EVALSHA"],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The commands that a script calls by name.
    fn called(script: &str) -> impl Iterator<Item = &str> {
        let calls = script.split("redis.call('").skip(1);
        calls.map(|rest| rest.split('\'').next().expect("a name has an end"))
    }

    #[test]
    fn every_command_that_a_script_calls_is_one_of_its_lock() {
        macro_rules! redisson {
            ($name:literal) => {
                include_str!(concat!("redisson/scripts/", $name, ".lua"))
            };
        }
        let scripts = [
            (LockKind::Token, include_str!("scripts/release.lua")),
            (LockKind::Token, include_str!("scripts/renew.lua")),
            (
                LockKind::TokenFenced,
                include_str!("scripts/acquire_fenced.lua"),
            ),
            (LockKind::Redisson, redisson!("lock")),
            (LockKind::Redisson, redisson!("unlock")),
            (LockKind::RedissonSpin, redisson!("unlock_spin")),
            (LockKind::Redisson, redisson!("renew")),
            (LockKind::RedissonFenced, redisson!("lock_fenced")),
            (LockKind::RedissonFair, redisson!("fair_head")),
            (LockKind::RedissonFair, redisson!("fair_lock")),
            (LockKind::RedissonFair, redisson!("fair_lock_3_10")),
            (LockKind::RedissonFair, redisson!("fair_unlock")),
            (LockKind::RedissonFair, redisson!("fair_leave")),
            (LockKind::RedissonFair, redisson!("fair_leave_3_10")),
            (LockKind::RedissonRw, redisson!("read_lock")),
            (LockKind::RedissonRw, redisson!("read_unlock")),
            (LockKind::RedissonRw, redisson!("read_renew")),
            (LockKind::RedissonRw, redisson!("write_lock")),
            (LockKind::RedissonRw, redisson!("write_unlock")),
            (LockKind::RedissonSemaphore, redisson!("set_permits")),
            (LockKind::RedissonSemaphore, redisson!("semaphore_acquire")),
            (LockKind::RedissonSemaphore, redisson!("semaphore_release")),
            (LockKind::RedissonPermits, redisson!("permits_acquire")),
            (LockKind::RedissonPermits, redisson!("permit_release")),
        ];
        for (lock, script) in scripts {
            for command in called(script) {
                let known = commands_of(lock).contains(&command);
                assert!(known, "{}: {command}", lock.name());
            }
        }
    }
}
