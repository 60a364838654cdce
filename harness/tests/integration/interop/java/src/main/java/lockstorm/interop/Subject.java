package lockstorm.interop;

import java.util.concurrent.TimeUnit;
import org.redisson.api.RedissonClient;

/** A lock of Redisson, in the words of the test. */
interface Subject {
    /** What is granted; null means refused. */
    record Grant(Long token, String permit) {
        static Grant when(boolean granted) {
            return granted ? new Grant(null, null) : null;
        }
    }

    /** What can be seen of the lock by this thread; null where the kind has no such thing. */
    record Sight(Boolean locked, Integer holds, Long ttl_ms, Long token, Integer free) {}

    /** Sets how many permits there are, if that is not set yet. */
    default void stock(int permits) {}

    Grant acquire(Request request) throws InterruptedException;

    /** Whether it was the caller's to give back. */
    boolean release(Request request);

    Sight look(Request request);

    TimeUnit MS = TimeUnit.MILLISECONDS;

    static Subject of(RedissonClient redisson, Request request) {
        String name = request.name;
        return switch (request.kind) {
            case "reentrant" -> new LockSubject(redisson.getLock(name));
            case "fair" -> new LockSubject(redisson.getFairLock(name));
            case "read-write" -> new LockSubject(
                request.reads()
                    ? redisson.getReadWriteLock(name).readLock()
                    : redisson.getReadWriteLock(name).writeLock());
            case "fenced" -> fenced(redisson, name);
            case "semaphore" -> new SemaphoreSubject(redisson.getSemaphore(name));
            case "permits" -> new PermitsSubject(redisson.getPermitExpirableSemaphore(name));
            default -> throw new IllegalArgumentException("no such kind: " + request.kind);
        };
    }

    /** By name, because older versions of Redisson are built without it. */
    private static Subject fenced(RedissonClient redisson, String name) {
        try {
            return (Subject) Class.forName("lockstorm.interop.FencedSubject")
                .getDeclaredConstructor(RedissonClient.class, String.class)
                .newInstance(redisson, name);
        } catch (ReflectiveOperationException error) {
            throw new UnsupportedOperationException("this Redisson has no fenced lock", error);
        }
    }
}
