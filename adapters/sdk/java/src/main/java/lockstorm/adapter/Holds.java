package lockstorm.adapter;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** What the harness has been told that the client holds. */
final class Holds {
    private final Map<Target, Integer> counts = new HashMap<>();
    private final Set<Target> suspended = new HashSet<>();

    /** What was granted at least once; of nothing else may a note speak. */
    private final Set<Target> known = new HashSet<>();

    /** What is asked for at this moment, by {@link #asking}. */
    private Target asked;

    private Thread asking;

    synchronized void ask(Target target) {
        asked = target;
        asking = Thread.currentThread();
    }

    /** The harness has been told what came of it. */
    synchronized void asked(boolean granted, boolean counted) {
        if (granted) {
            counts.merge(asked, 1, (before, one) -> counted ? before + one : one);
            known.add(asked);
            suspended.remove(asked);
        }
        asked = null;
        notifyAll();
    }

    synchronized void release(Target target) {
        counts.computeIfPresent(target, (same, count) -> count > 1 ? count - 1 : null);
    }

    synchronized void lose(Target target) {
        counts.remove(target);
        suspended.remove(target);
    }

    synchronized void suspend(Target target) {
        suspended.add(target);
    }

    synchronized void resume(Target target) {
        suspended.remove(target);
    }

    synchronized Alive alive(Target target) {
        if (!counts.containsKey(target)) {
            return Alive.NOT_OWNER;
        }
        return suspended.contains(target) ? Alive.SUSPENDED : Alive.HELD;
    }

    /**
     * Tells whether the harness knows of a grant. Where the lock is being asked for, and the
     * library is quicker to speak of it than the answer, waits for the answer.
     */
    synchronized boolean isKnown(Target target) {
        boolean interrupted = false;
        while (!known.contains(target)
                && target.equals(asked)
                && asking != Thread.currentThread()) {
            try {
                wait();
            } catch (InterruptedException error) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return known.contains(target);
    }
}
