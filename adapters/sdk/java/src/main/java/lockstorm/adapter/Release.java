package lockstorm.adapter;

import com.google.gson.JsonObject;

/** What came of giving a lock back, where it was not refused. */
public final class Release {
    private final JsonObject answer = Answers.is("released");

    private Release() {}

    /** The lock was the client's, and is given back. */
    public static Release released() {
        return new Release();
    }

    /**
     * The library's release tells nothing: nobody knows whether the lock was the client's still.
     */
    public static Release ownershipUnknown() {
        Release release = new Release();
        release.answer.addProperty("ownership", "unknown");
        return release;
    }

    /** Adds how often the client holds the lock now, and returns this. */
    public Release count(int count) {
        answer.addProperty("count", count);
        return this;
    }

    JsonObject answer() {
        return answer;
    }
}
