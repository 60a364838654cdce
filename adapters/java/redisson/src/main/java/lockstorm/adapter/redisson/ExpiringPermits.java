package lockstorm.adapter.redisson;

import lockstorm.adapter.FailedException;
import lockstorm.adapter.Grant;
import lockstorm.adapter.NotOwnerException;
import lockstorm.adapter.Release;
import lockstorm.adapter.Target;

import org.redisson.api.RPermitExpirableSemaphore;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A semaphore whose permits have names and end. */
final class ExpiringPermits implements Holding {
    private final RPermitExpirableSemaphore semaphore;

    /** The permits of each grant, the last first. */
    private final Deque<List<?>> held = new ArrayDeque<>();

    ExpiringPermits(RPermitExpirableSemaphore semaphore, int permits) {
        this.semaphore = semaphore;
        semaphore.trySetPermits(permits);
    }

    @Override
    public Grant take(Target target, long waitMs, long leaseMs) throws Exception {
        List<?> taken = taken(target.permits(), Math.max(waitMs, 0), leaseMs);
        if (taken.isEmpty()) {
            return Grant.refused();
        }
        held.push(taken);
        Grant grant = Grant.granted();
        taken.forEach(permit -> grant.mark(permit.toString()));
        return grant;
    }

    private List<?> taken(int permits, long waitMs, long leaseMs) throws Exception {
        if (permits > 1) {
            return (List<?>) call("tryAcquire", permits, waitMs, leaseMs, TimeUnit.MILLISECONDS);
        }
        String permit = semaphore.tryAcquire(waitMs, leaseMs, TimeUnit.MILLISECONDS);
        return permit == null ? List.of() : List.of(permit);
    }

    @Override
    public void renew(long leaseMs) throws NotOwnerException {
        for (Object permit : held.isEmpty() ? List.of() : held.peek()) {
            if (!semaphore.updateLeaseTime((String) permit, leaseMs, TimeUnit.MILLISECONDS)) {
                throw new NotOwnerException();
            }
        }
    }

    @Override
    public Release giveBack(Target target) throws Exception {
        if (held.isEmpty()) {
            throw new FailedException("this client has no permit to give back");
        }
        List<?> permits = held.peek();
        boolean all =
                permits.size() > 1
                        ? (int) call("tryRelease", permits) == permits.size()
                        : semaphore.tryRelease((String) permits.get(0));
        held.pop();
        if (!all) {
            throw new NotOwnerException();
        }
        return Release.released();
    }

    /** Calls a method of several permits at once, which older versions do not have. */
    private Object call(String name, Object... args) throws ReflectiveOperationException {
        return Newer.call(RPermitExpirableSemaphore.class, semaphore, name, args);
    }
}
