package lockstorm.adapter.redisson;

import lockstorm.adapter.Grant;
import lockstorm.adapter.Target;

import org.redisson.api.RLock;

import java.util.concurrent.TimeUnit;

/** A lock whose grants have tokens. Older versions do not know its type. */
final class FencedLock extends PlainLock {
    private final RLock lock;

    FencedLock(RLock lock) {
        super(lock);
        this.lock = lock;
    }

    @Override
    public Grant take(Target target, long waitMs, long leaseMs) throws Exception {
        // Here less than no time is forever.
        long wait = Math.max(waitMs, 0);
        Object token =
                Newer.call(
                        lock.getClass(),
                        lock,
                        "tryLockAndGetToken",
                        wait,
                        leaseMs,
                        TimeUnit.MILLISECONDS);
        return token == null ? Grant.refused() : Grant.granted().token((Long) token);
    }
}
