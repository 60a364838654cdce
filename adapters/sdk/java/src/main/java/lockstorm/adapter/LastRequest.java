package lockstorm.adapter;

import com.google.gson.JsonObject;

/** The last request that was read, from which the harness is told moments. */
final class LastRequest {
    /** A request, and when its line was read, by {@link System#nanoTime}. */
    private static final class Read {
        private final long id;
        private final long nanos;

        Read(long id, long nanos) {
            this.id = id;
            this.nanos = nanos;
        }
    }

    /** Null before the first one; replaced as a whole. */
    private volatile Read last;

    void read(long id, long nanos) {
        last = new Read(id, nanos);
    }

    /** Returns the present moment as fields of a note: after which request, and how long after. */
    JsonObject now() {
        Read read = last;
        JsonObject moment = new JsonObject();
        if (read != null) {
            moment.addProperty("after", read.id);
            moment.addProperty("after_us", (System.nanoTime() - read.nanos) / 1000);
        }
        return moment;
    }
}
