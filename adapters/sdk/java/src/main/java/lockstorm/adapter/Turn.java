package lockstorm.adapter;

import java.util.HashMap;
import java.util.Map;

/** The requests that were read and not answered yet, which can be given up. */
final class Turn {
    /** By number, whether it is to be given up. */
    private final Map<Long, Boolean> waiting = new HashMap<>();

    /** The one that is being carried out; null while none is. */
    private Long underWay;

    private Thread thread;

    /** A request was read. */
    synchronized void expect(long id) {
        waiting.put(id, false);
    }

    /** The calling thread carries it out, interrupted already if it is to be given up already. */
    synchronized void begin(long id) {
        underWay = id;
        thread = Thread.currentThread();
        if (waiting.get(id)) {
            thread.interrupt();
        }
    }

    /** Ends it, with whatever interrupt is left, and tells whether it was to be given up. */
    synchronized boolean end() {
        boolean isCancelled = waiting.remove(underWay);
        underWay = null;
        Thread.interrupted();
        return isCancelled;
    }

    /** Gives a request up by interrupting its thread, unless it has ended. */
    synchronized void cancel(Long id) {
        if (waiting.replace(id, true) != null && id.equals(underWay)) {
            thread.interrupt();
        }
    }
}
