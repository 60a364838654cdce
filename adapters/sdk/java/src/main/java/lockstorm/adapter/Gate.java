package lockstorm.adapter;

import com.google.gson.JsonObject;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * The gate through which each renewal passes that the library's own watchdog is about to send. It
 * tells the harness before, and what came of it after. Put it around the library's own renewing
 * method, on whichever thread the library calls that.
 */
public final class Gate {
    /** A renewal of the library's. */
    @FunctionalInterface
    public interface Renewal<X extends Exception> {
        /** Sends it, and returns false where the library says that the lock is lost. */
        boolean send() throws X;
    }

    private final Output output;
    private final Holds holds;

    /** Renewals that wait, by their numbers: true lets one pass, false leaves it out. */
    private final Map<Long, CompletableFuture<Boolean>> waiting = new HashMap<>();

    private long last;
    private volatile boolean isUsed;

    Gate(Output output, Holds holds) {
        this.output = output;
        this.holds = holds;
    }

    /**
     * Lets one renewal pass, or leaves it out while the scenario stalls the watchdog.
     *
     * @return what the renewal returned; true where it was left out, so that the library goes on
     *     believing that it holds the lock
     * @throws X what the renewal threw, unchanged
     */
    public <X extends Exception> boolean pass(Target target, Renewal<X> renewal) throws X {
        if (!holds.isKnown(target)) {
            // The client was never granted it: a renewal all the same is none that it knows of.
            return renewal.send();
        }
        Announced announced = announce(target);
        if (!announced.mayPass()) {
            return true;
        }
        try {
            boolean renewed = renewal.send();
            announced.end(Answers.is(renewed ? "renewed" : "not-owner"));
            return renewed;
        } catch (Throwable error) {
            announced.end(Answers.thrown(error));
            throw error;
        }
    }

    void use() {
        isUsed = true;
    }

    boolean isUsed() {
        return isUsed;
    }

    /** Hears what the harness says of an announced renewal. */
    void hear(long number, boolean mayPass) {
        CompletableFuture<Boolean> waits;
        synchronized (this) {
            waits = waiting.remove(number);
        }
        if (waits == null) {
            throw new Request.Malformed("renewal " + number + " does not wait");
        }
        waits.complete(mayPass);
    }

    /** Numbers grow in the order of the lines, so the line is written before the next number. */
    private synchronized Announced announce(Target target) {
        Announced announced = new Announced(++last, target);
        waiting.put(announced.number, announced.word);
        JsonObject note = Notes.about("renewing", target);
        note.addProperty("number", announced.number);
        output.write(note);
        return announced;
    }

    /** A renewal under way. */
    private final class Announced {
        private final long number;
        private final Target target;
        private final CompletableFuture<Boolean> word = new CompletableFuture<>();

        Announced(long number, Target target) {
            this.number = number;
            this.target = target;
        }

        /** Waits for the word even if interrupted: the harness expects the outcome after it. */
        boolean mayPass() {
            return word.join();
        }

        void end(JsonObject outcome) {
            if (Answers.is(outcome, "unsupported")) {
                // No outcome of a renewal that was sent.
                outcome.addProperty("is", "error");
            }
            if (Answers.is(outcome, "not-owner")) {
                holds.lose(target);
            }
            JsonObject note = Notes.note("renewed");
            note.addProperty("number", number);
            note.add("outcome", outcome);
            output.write(note);
        }
    }
}
