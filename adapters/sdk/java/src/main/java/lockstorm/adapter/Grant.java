package lockstorm.adapter;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;

import java.time.Duration;
import java.util.Base64;
import java.util.List;

/** What came of a try to take a lock. The methods that add to a grant return it. */
public final class Grant {
    private final JsonObject answer;

    private Grant(String is) {
        answer = Answers.is(is);
    }

    /** The lock is the client's. */
    public static Grant granted() {
        return new Grant("granted");
    }

    /** Another has the lock. */
    public static Grant refused() {
        return new Grant("refused");
    }

    /**
     * The library said no, and would have said so too if it could not ask its servers: nobody knows
     * whether the try had an effect.
     */
    public static Grant refusedForUnknownReason() {
        Grant grant = refused();
        grant.answer.addProperty("reason", "unknown");
        return grant;
    }

    /** The lock is the client's, or another has it. */
    public static Grant of(boolean granted) {
        return granted ? granted() : refused();
    }

    /** Adds for how long the library says that the lock is good, counted from the call. */
    public Grant lease(Duration lease) {
        answer.addProperty("lease_ms", lease.toMillis());
        return this;
    }

    /**
     * Adds that the lock has no lease and goes with a session of the client's, which ends when
     * nobody knows.
     */
    public Grant untilSessionEnd() {
        answer.addProperty("until", "session-end");
        return this;
    }

    /** Adds the fencing token. */
    public Grant token(long token) {
        answer.addProperty("token", token);
        return this;
    }

    /** Adds a text by which servers know the holder, such as the random value at the key. */
    public Grant mark(String mark) {
        list("marks").add(mark);
        return this;
    }

    /** Adds bytes by which servers know the holder. */
    public Grant mark(byte[] mark) {
        JsonObject bytes = new JsonObject();
        bytes.addProperty("base64", Base64.getEncoder().encodeToString(mark));
        list("marks").add(bytes);
        return this;
    }

    /** Adds the names of the servers that granted it. */
    public Grant by(List<String> servers) {
        servers.forEach(list("by")::add);
        return this;
    }

    /** Adds how long after the call the try was sent that was granted, at least. */
    public Grant waited(Duration waited) {
        answer.addProperty("waited_ms", waited.toMillis());
        return this;
    }

    /** Tells whether the lock is the client's. */
    public boolean isGranted() {
        return Answers.is(answer, "granted");
    }

    JsonObject answer() {
        return answer;
    }

    private JsonArray list(String name) {
        if (!answer.has(name)) {
            answer.add(name, new JsonArray());
        }
        return answer.getAsJsonArray(name);
    }
}
