package lockstorm.adapter;

import com.google.gson.JsonObject;

/** What an adapter says without being asked. All methods may be called on any thread. */
public final class Notes {
    private final Output output;
    private final Holds holds;
    private final LastRequest lastRequest;

    Notes(Output output, Holds holds, LastRequest lastRequest) {
        this.output = output;
        this.holds = holds;
        this.lastRequest = lastRequest;
    }

    /** The library says that the lock is lost. */
    public void lost(Target target) {
        JsonObject moment = lastRequest.now();
        if (holds.isKnown(target)) {
            holds.lose(target);
            output.write(at(moment, about("lost", target)));
        }
    }

    /** The library says that it does not know whether the lock is held. */
    public void suspended(Target target) {
        JsonObject moment = lastRequest.now();
        if (holds.isKnown(target)) {
            holds.suspend(target);
            output.write(at(moment, about("suspended", target)));
        }
    }

    /** The library knows again: the lock was held all the time. */
    public void resumed(Target target) {
        JsonObject moment = lastRequest.now();
        if (holds.isKnown(target)) {
            holds.resume(target);
            output.write(at(moment, about("resumed", target)));
        }
    }

    /** The client has taken a place in the queue, while it asks for the lock or waits. */
    public void queued(String key) {
        JsonObject note = note("queued");
        note.addProperty("key", key);
        output.write(note);
    }

    /**
     * Commands go to another server from here on, or to the same over a new connection.
     *
     * @param to the name of the server
     * @param from the name of the server before; null where there was none
     * @param why the reason, in words
     */
    public void routed(String to, String from, String why) {
        JsonObject note = note("routed");
        note.addProperty("to", to);
        if (from != null) {
            note.addProperty("from", from);
        }
        note.addProperty("why", why);
        output.write(note);
    }

    private static JsonObject at(JsonObject moment, JsonObject note) {
        moment.entrySet().forEach(field -> note.add(field.getKey(), field.getValue()));
        return note;
    }

    static JsonObject about(String word, Target target) {
        JsonObject note = note(word);
        note.addProperty("key", target.key());
        note.addProperty("mode", target.mode() == Mode.READ ? "read" : "write");
        return note;
    }

    static JsonObject note(String word) {
        JsonObject note = new JsonObject();
        note.addProperty("note", word);
        return note;
    }
}
