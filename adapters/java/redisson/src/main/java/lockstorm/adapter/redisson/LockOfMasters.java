package lockstorm.adapter.redisson;

import lockstorm.adapter.Grant;
import lockstorm.adapter.Release;
import lockstorm.adapter.Target;

import org.redisson.Redisson;
import org.redisson.RedissonLock;
import org.redisson.RedissonMultiLock;
import org.redisson.RedissonRedLock;
import org.redisson.api.RFuture;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A lock on every master, or on most of them. */
final class LockOfMasters implements Holding {
    private final boolean isRed;
    private final PlainLock lock;

    /** When it began to set its lease, from which on that is good; 0 where it did not. */
    private volatile long settled;

    LockOfMasters(boolean isRed, String key, List<RedissonClient> masters) {
        this.isRed = isRed;
        RLock[] parts = masters.stream().map(master -> part(master, key)).toArray(RLock[]::new);
        lock = new PlainLock(isRed ? new RedissonRedLock(parts) : new RedissonMultiLock(parts));
    }

    /** The lock on one master, as Redisson makes it, which notes when its lease is set. */
    private RLock part(RedissonClient master, String key) {
        return new RedissonLock(((Redisson) master).getCommandExecutor(), key) {
            @Override
            public RFuture<Boolean> expireAsync(long time, TimeUnit unit) {
                settled = settled == 0 ? System.nanoTime() : settled;
                return super.expireAsync(time, unit);
            }
        };
    }

    @Override
    public Grant take(Target target, long waitMs, long leaseMs) throws Exception {
        long begun = System.nanoTime();
        settled = 0;
        Grant grant = lock.take(target, waitMs, leaseMs);
        if (!grant.isGranted()) {
            // It says so too of masters that it could not ask.
            return Grant.refusedForUnknownReason();
        }
        return settled == 0 ? grant : grant.waited(Duration.ofNanos(settled - begun));
    }

    /** Gives it back; an unlock of the red lock never tells what came of it. */
    @Override
    public Release giveBack(Target target) {
        lock.giveBack(target);
        return isRed ? Release.ownershipUnknown() : Release.released();
    }
}
