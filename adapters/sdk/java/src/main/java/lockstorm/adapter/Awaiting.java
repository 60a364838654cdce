package lockstorm.adapter;

import java.time.Duration;

/**
 * An adapter that knows when it is worth trying again. To implement it is to have the ability
 * {@code await}.
 */
public interface Awaiting {
    /**
     * Returns when another try may be worth it.
     *
     * @param pause how long to wait where nothing tells
     * @param within after how long to return at the latest
     */
    void await(String key, Duration pause, Duration within) throws Exception;

    /** Notes that nobody waits for the lock any more, and whether it was granted in the end. */
    void endWait(String key, boolean granted) throws Exception;
}
