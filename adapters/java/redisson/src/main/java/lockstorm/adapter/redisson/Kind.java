package lockstorm.adapter.redisson;

import lockstorm.adapter.Abilities;
import lockstorm.adapter.Grant;
import lockstorm.adapter.Mode;
import lockstorm.adapter.Release;
import lockstorm.adapter.Target;
import lockstorm.adapter.UnsupportedException;

import org.redisson.api.RLock;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RedissonClient;

import java.util.Locale;

/** The kinds of locks and semaphores. The words of the command line are these in small letters. */
enum Kind {
    LOCK,
    SPIN,
    FAIR,
    FENCED,
    RW,
    MULTI,
    RED,
    SEMAPHORE,
    PERMITS;

    static Kind of(String word) {
        for (Kind kind : values()) {
            if (kind.word().equals(word)) {
                return kind;
            }
        }
        throw new UnsupportedException("there is no lock '" + word + "'");
    }

    String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Tells whether it is made of a lock on each of several masters. */
    boolean isOfSeveralMasters() {
        return this == MULTI || this == RED;
    }

    /** Tells whether it has permits rather than an owner. */
    boolean hasPermits() {
        return this == SEMAPHORE || this == PERMITS;
    }

    /** Says what it can do and promises. */
    Abilities abilities() {
        Abilities abilities = new Abilities().waits();
        if (hasPermits()) {
            abilities.permits().promises("permits");
            // Whoever likes may give back what a plain semaphore has given out.
            return this == SEMAPHORE ? abilities.denies("own-release") : abilities;
        }
        abilities.silentWatchdog().promises("keeps-alive", "reentrant");
        switch (this) {
            case FAIR:
                return abilities.promises("fair");
            case FENCED:
                return abilities.tokens().promises("fenced");
            case RW:
                return abilities.readers().promises("shared-readers");
            case RED:
                return abilities.promises("survives-minority");
            default:
                return abilities;
        }
    }

    /** Makes the one of this name. */
    Holding named(String key, int permits, Instances instances)
            throws ReflectiveOperationException {
        RedissonClient redisson = instances.first();
        switch (this) {
            case SPIN:
                return new PlainLock(newer(redisson, "getSpinLock", key));
            case FAIR:
                return new PlainLock(redisson.getFairLock(key));
            case FENCED:
                return new FencedLock(newer(redisson, "getFencedLock", key));
            case RW:
                return readWrite(redisson.getReadWriteLock(key));
            case MULTI:
            case RED:
                return new LockOfMasters(this == RED, key, instances.all());
            case SEMAPHORE:
                return new Semaphore(redisson.getSemaphore(key), permits);
            case PERMITS:
                return new ExpiringPermits(redisson.getPermitExpirableSemaphore(key), permits);
            default:
                return new PlainLock(redisson.getLock(key));
        }
    }

    private static RLock newer(RedissonClient redisson, String name, String key)
            throws ReflectiveOperationException {
        return (RLock) Newer.call(RedissonClient.class, redisson, name, key);
    }

    private static Holding readWrite(RReadWriteLock lock) {
        Holding reading = new PlainLock(lock.readLock());
        Holding writing = new PlainLock(lock.writeLock());
        return new Holding() {
            @Override
            public Grant take(Target target, long waitMs, long leaseMs) throws Exception {
                return of(target).take(target, waitMs, leaseMs);
            }

            @Override
            public Release giveBack(Target target) throws Exception {
                return of(target).giveBack(target);
            }

            private Holding of(Target target) {
                return target.mode() == Mode.READ ? reading : writing;
            }
        };
    }
}
