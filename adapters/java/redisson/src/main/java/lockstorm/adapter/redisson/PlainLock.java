package lockstorm.adapter.redisson;

import lockstorm.adapter.Grant;
import lockstorm.adapter.Release;
import lockstorm.adapter.Target;

import org.redisson.api.RLock;

import java.util.concurrent.TimeUnit;

/** A lock that is taken by {@code tryLock} and given back by {@code unlock}. */
class PlainLock implements Holding {
    private final RLock lock;

    PlainLock(RLock lock) {
        this.lock = lock;
    }

    @Override
    public Grant take(Target target, long waitMs, long leaseMs) throws Exception {
        boolean taken =
                waitMs < 0 && leaseMs < 0
                        ? lock.tryLock()
                        : lock.tryLock(waitMs, leaseMs, TimeUnit.MILLISECONDS);
        return Grant.of(taken);
    }

    @Override
    public Release giveBack(Target target) {
        lock.unlock();
        return Release.released();
    }
}
