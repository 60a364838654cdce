package lockstorm.interop;

import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.redisson.api.RedissonClient;

/**
 * Threads that contend for locks for a while, and tell what happened as events of a history: lines
 * of history.jsonl, with the time of this machine's monotonic clock.
 */
final class Contention {
    /** How long a critical section and the pause after it last, in nanoseconds. */
    private static final long WORK_MIN = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long WORK_MAX = TimeUnit.MILLISECONDS.toNanos(4);

    private final RedissonClient redisson;
    private final Request request;

    Contention(RedissonClient redisson, Request request) {
        this.redisson = redisson;
        this.request = request;
    }

    /** All events in the order of their times. */
    List<JsonObject> run() throws InterruptedException {
        for (String name : request.names) {
            Subject.of(redisson, request.of(name, "write")).stock(request.stock);
        }
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(request.for_ms);
        List<Contender> contenders = new ArrayList<>();
        for (int n = 0; n < request.threads; n++) {
            Contender contender = new Contender(request.process + n, end);
            contender.start();
            contenders.add(contender);
        }
        List<JsonObject> events = new ArrayList<>();
        for (Contender contender : contenders) {
            contender.join();
            events.addAll(contender.events);
        }
        // The sort is stable: events of one thread stay in their order.
        events.sort(Comparator.comparingLong(event -> event.get("time").getAsLong()));
        for (int index = 0; index < events.size(); index++) {
            events.get(index).addProperty("index", index);
        }
        return events;
    }

    /** One owner: a thread of this instance of Redisson. */
    private final class Contender extends Thread {
        private final List<JsonObject> events = new ArrayList<>();
        private final long end;
        private final String owner;
        private long process;

        Contender(long process, long end) {
            this.process = process;
            this.owner = "java-" + process;
            this.end = end;
        }

        @Override
        public void run() {
            ThreadLocalRandom random = ThreadLocalRandom.current();
            for (int n = 0; n < request.rounds || System.nanoTime() - end < 0; n++) {
                String name = request.names[random.nextInt(request.names.length)];
                boolean reads = "read-write".equals(request.kind) && random.nextBoolean();
                round(request.of(name, reads ? "read" : "write"));
                work();
            }
        }

        private void round(Request ask) {
            Subject subject = Subject.of(redisson, ask);
            Subject.Grant grant;
            event("invoke", "acquire", ask, asked(ask), null);
            try {
                grant = subject.acquire(ask);
            } catch (Exception error) {
                indeterminate("acquire", ask, error);
                return;
            }
            if (grant == null) {
                event("fail", "acquire", ask, value(ask), "refused");
                return;
            }
            JsonObject granted = asked(ask);
            if (grant.token() != null) {
                granted.addProperty("token", grant.token());
            }
            event("ok", "acquire", ask, granted, null);
            work();
            ask.permit = grant.permit();
            event("invoke", "release", ask, value(ask), null);
            try {
                boolean released = subject.release(ask);
                event(
                    released ? "ok" : "fail",
                    "release",
                    ask,
                    value(ask),
                    released ? null : "not-owner");
            } catch (Exception error) {
                indeterminate("release", ask, error);
            }
        }

        /** Never shorter than said: the locks leave wake-ups behind that end a single park at once. */
        private void work() {
            long length = ThreadLocalRandom.current().nextLong(WORK_MIN, WORK_MAX);
            long until = System.nanoTime() + length;
            for (long left = length; left > 0; left = until - System.nanoTime()) {
                LockSupport.parkNanos(left);
            }
        }

        private JsonObject value(Request ask) {
            JsonObject value = new JsonObject();
            value.addProperty("owner", owner);
            if (ask.reads()) {
                value.addProperty("mode", "read");
            }
            return value;
        }

        /** A semaphore's permits have no lease. */
        private JsonObject asked(Request ask) {
            JsonObject value = value(ask);
            if (!"semaphore".equals(ask.kind)) {
                value.addProperty("lease_ms", ask.lease_ms);
            }
            value.addProperty("wait_ms", ask.wait_ms);
            return value;
        }

        /** Nobody knows what it did: the thread goes on under another process id. */
        private void indeterminate(String function, Request ask, Exception error) {
            event("info", function, ask, value(ask), error.toString());
            process += request.process + request.threads;
        }

        private void event(
            String type, String function, Request ask, JsonObject value, String error) {
            JsonObject event = new JsonObject();
            event.addProperty("time", System.nanoTime());
            event.addProperty("type", type);
            event.addProperty("process", process);
            event.addProperty("f", function);
            event.addProperty("key", ask.name);
            event.add("value", value);
            if (error != null) {
                event.addProperty("error", error);
            }
            events.add(event);
        }
    }
}
