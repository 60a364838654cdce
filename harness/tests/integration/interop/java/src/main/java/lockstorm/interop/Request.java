package lockstorm.interop;

/** One line of the test's: what to do, with which lock, on which thread. Absent fields are null. */
final class Request {
    /** Repeated by the reply. */
    long id;
    /** The name of the thread that does it: each is a holder of its own. */
    String thread;
    String act;
    String kind;
    String name;
    /** "read" or "write". */
    String mode;
    /** How many permits a semaphore has in all. */
    int stock;
    /** How long to wait; absent means one try, with the watchdog. */
    Long wait_ms;
    Long lease_ms;
    /** The permit to give back; absent means the last one of this thread. */
    String permit;
    /**
     * Of a contention: the names, how many threads, for how long and how many rounds each at least,
     * and the first process id.
     */
    String[] names;
    int threads;
    long for_ms;
    int rounds;
    long process;

    boolean reads() {
        return "read".equals(mode);
    }

    /** The same request for another lock and mode, without a permit. */
    Request of(String otherName, String otherMode) {
        Request other = new Request();
        other.kind = kind;
        other.name = otherName;
        other.mode = otherMode;
        other.wait_ms = wait_ms;
        other.lease_ms = lease_ms;
        return other;
    }
}
