package lockstorm.interop;

import org.redisson.api.RPermitExpirableSemaphore;

/** The semaphore whose permits have names and expire. */
final class PermitsSubject implements Subject {
    private final RPermitExpirableSemaphore semaphore;

    PermitsSubject(RPermitExpirableSemaphore semaphore) {
        this.semaphore = semaphore;
    }

    @Override
    public void stock(int permits) {
        semaphore.trySetPermits(permits);
    }

    @Override
    public Grant acquire(Request request) throws InterruptedException {
        long wait = request.wait_ms == null ? 0 : request.wait_ms;
        String permit = semaphore.tryAcquire(wait, request.lease_ms, MS);
        return permit == null ? null : new Grant(null, permit);
    }

    @Override
    public boolean release(Request request) {
        return semaphore.tryRelease(request.permit);
    }

    @Override
    public Sight look(Request request) {
        return new Sight(null, null, null, null, semaphore.availablePermits());
    }
}
