package lockstorm.adapter.redisson;

import lockstorm.adapter.Grant;
import lockstorm.adapter.Release;
import lockstorm.adapter.Target;

import org.redisson.api.RSemaphore;

import java.util.concurrent.TimeUnit;

/** A semaphore whose permits nobody takes back from the dead. */
final class Semaphore implements Holding {
    private final RSemaphore semaphore;

    Semaphore(RSemaphore semaphore, int permits) {
        this.semaphore = semaphore;
        semaphore.trySetPermits(permits);
    }

    @Override
    public Grant take(Target target, long waitMs, long leaseMs) throws Exception {
        int permits = target.permits();
        boolean taken =
                waitMs < 0
                        ? semaphore.tryAcquire(permits)
                        : semaphore.tryAcquire(permits, waitMs, TimeUnit.MILLISECONDS);
        return Grant.of(taken);
    }

    /** Gives permits back, whoever has them. */
    @Override
    public Release giveBack(Target target) {
        semaphore.release(target.permits());
        return Release.ownershipUnknown();
    }
}
