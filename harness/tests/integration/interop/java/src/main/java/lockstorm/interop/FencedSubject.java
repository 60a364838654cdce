package lockstorm.interop;

import org.redisson.api.RFencedLock;
import org.redisson.api.RedissonClient;

/** The fenced lock. */
final class FencedSubject implements Subject {
    private final RFencedLock lock;

    FencedSubject(RedissonClient redisson, String name) {
        this.lock = redisson.getFencedLock(name);
    }

    @Override
    public Grant acquire(Request request) {
        // Without arguments it never answers where the lock is held (Redisson 4.7.0).
        long wait = request.wait_ms == null ? 0 : request.wait_ms;
        Long token = lock.tryLockAndGetToken(wait, request.lease_ms, MS);
        return token == null ? null : new Grant(token, null);
    }

    @Override
    public boolean release(Request request) {
        return LockSubject.unlock(lock);
    }

    @Override
    public Sight look(Request request) {
        return new Sight(
            lock.isLocked(),
            lock.getHoldCount(),
            lock.remainTimeToLive(),
            lock.getToken(),
            null);
    }
}
