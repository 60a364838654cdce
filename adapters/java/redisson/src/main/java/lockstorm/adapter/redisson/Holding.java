package lockstorm.adapter.redisson;

import lockstorm.adapter.Grant;
import lockstorm.adapter.Release;
import lockstorm.adapter.Target;
import lockstorm.adapter.UnsupportedException;

/** A lock or a semaphore of Redisson's, by its name. */
interface Holding {
    /**
     * Tries to take it.
     *
     * @param waitMs how long to wait, in milliseconds; less than 0 for one try
     * @param leaseMs for how long to take it, in milliseconds; less than 0 for the watchdog
     */
    Grant take(Target target, long waitMs, long leaseMs) throws Exception;

    /** Takes it for so many milliseconds from now on. */
    default void renew(long leaseMs) throws Exception {
        throw new UnsupportedException("no call of the library renews it");
    }

    /** Gives it back. */
    Release giveBack(Target target) throws Exception;
}
