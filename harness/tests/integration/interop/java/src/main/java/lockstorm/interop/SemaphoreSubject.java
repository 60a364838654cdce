package lockstorm.interop;

import org.redisson.api.RSemaphore;

/** The semaphore: one permit at a time, which anybody may give back. */
final class SemaphoreSubject implements Subject {
    private final RSemaphore semaphore;

    SemaphoreSubject(RSemaphore semaphore) {
        this.semaphore = semaphore;
    }

    @Override
    public void stock(int permits) {
        semaphore.trySetPermits(permits);
    }

    @Override
    public Grant acquire(Request request) throws InterruptedException {
        return Grant.when(
            request.wait_ms == null
                ? semaphore.tryAcquire()
                : semaphore.tryAcquire(1, request.wait_ms, MS));
    }

    @Override
    public boolean release(Request request) {
        semaphore.release();
        return true;
    }

    @Override
    public Sight look(Request request) {
        return new Sight(null, null, null, null, semaphore.availablePermits());
    }
}
