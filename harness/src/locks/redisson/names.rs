//! The names of Redisson's keys and channels. All names of one lock hash to one Cluster slot.

/// `p:{n}`, or `p:n` where the name brings braces of its own.
pub fn prefixed(prefix: &str, name: &str) -> String {
    format!("{prefix}:{}", braced(name))
}

/// `{n}`, or `n` where the name brings braces of its own.
pub fn braced(name: &str) -> String {
    if name.contains('{') {
        name.to_owned()
    } else {
        format!("{{{name}}}")
    }
}

/// `{n}:s`, or `n:s` where the name brings braces of its own.
pub fn suffixed(name: &str, suffix: &str) -> String {
    format!("{}:{suffix}", braced(name))
}

/// Where the release of a lock is told.
pub fn lock_channel(name: &str) -> String {
    prefixed("redisson_lock__channel", name)
}

/// Where the release of a read-write lock is told.
pub fn read_write_channel(name: &str) -> String {
    prefixed("redisson_rwlock", name)
}

/// Where the return of permits is told.
pub fn semaphore_channel(name: &str) -> String {
    prefixed("redisson_sc", name)
}

/// Remembers what one unlock request did.
pub fn latch(name: &str, request: &str) -> String {
    format!("{}:{request}", prefixed("redisson_unlock_latch", name))
}

/// Counts the fencing tokens of a lock; never expires.
pub fn token_counter(name: &str) -> String {
    prefixed("redisson_lock_token", name)
}

/// The queue of a fair lock.
pub fn queue(name: &str) -> String {
    prefixed("redisson_lock_queue", name)
}

/// When each waiter of a fair lock is presumed dead.
pub fn queue_timeouts(name: &str) -> String {
    prefixed("redisson_lock_timeout", name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_share_the_slot_of_their_lock_whether_or_not_it_has_braces() {
        assert_eq!(lock_channel("a"), "redisson_lock__channel:{a}");
        assert_eq!(lock_channel("{t}a"), "redisson_lock__channel:{t}a");
        assert_eq!(suffixed("a", "timeout"), "{a}:timeout");
        assert_eq!(suffixed("{t}a", "timeout"), "{t}a:timeout");
        assert_eq!(latch("a", "00ff"), "redisson_unlock_latch:{a}:00ff");
    }
}
