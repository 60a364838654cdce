package lockstorm.interop;

import org.redisson.api.RLock;

/** The reentrant lock, the fair one, and each side of the read-write lock. */
final class LockSubject implements Subject {
    private final RLock lock;

    LockSubject(RLock lock) {
        this.lock = lock;
    }

    @Override
    public Grant acquire(Request request) throws InterruptedException {
        return Grant.when(
            request.wait_ms == null
                ? lock.tryLock()
                : lock.tryLock(request.wait_ms, request.lease_ms, MS));
    }

    @Override
    public boolean release(Request request) {
        return unlock(lock);
    }

    static boolean unlock(RLock lock) {
        try {
            lock.unlock();
            return true;
        } catch (IllegalMonitorStateException notOwner) {
            return false;
        }
    }

    @Override
    public Sight look(Request request) {
        return new Sight(
            lock.isLocked(), lock.getHoldCount(), lock.remainTimeToLive(), null, null);
    }
}
