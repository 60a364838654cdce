package lockstorm.adapter;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;

import java.time.Duration;
import java.util.Collection;
import java.util.Set;
import java.util.TreeSet;

/**
 * What a library can do and promises: the answer to {@code open}. The words are explained in
 * docs/adapter-protocol.md. The abilities {@code await} and {@code watchdog} need not be named: an
 * adapter has them that is {@link Awaiting}, or has asked for the {@linkplain Client#gate() gate}.
 */
public final class Abilities {
    /** Words that a harness does not know that speaks version 1 of the protocol. */
    private static final Set<String> SINCE_VERSION_2 =
            Set.of("cancel", "identity", "silent-watchdog", "always-renews");

    private final Set<String> can = new TreeSet<>();
    private final Set<String> promises = new TreeSet<>();
    private final Set<String> denies = new TreeSet<>();
    private Duration answersWithin;
    private String serverKey;
    private boolean readers;
    private boolean permits;
    private boolean warmsUp;

    /** Each grant has a token, greater than those before of the same key. */
    public Abilities tokens() {
        return with("tokens");
    }

    /** {@code acquire} takes as long as {@link Target#patience} says, and tries again by itself. */
    public Abilities waits() {
        return with("wait");
    }

    /**
     * The library gives a call up whose thread is interrupted. The call then throws, or ends as it
     * would have; the interrupt is never left for the next call.
     */
    public Abilities cancels() {
        return with("cancel");
    }

    /** The library's owner is called as {@link Client#identity} says. */
    public Abilities identity() {
        return with("identity");
    }

    /** Waiters stand in a queue, and {@link Notes#queued} says when one has taken its place. */
    public Abilities queue() {
        return with("queue");
    }

    /** The library renews what it holds by itself, and cannot be held up. */
    public Abilities silentWatchdog() {
        return with("silent-watchdog");
    }

    /** It does so for every lock, also where {@link Client#renewEvery} is empty. */
    public Abilities alwaysRenews() {
        return with("always-renews");
    }

    /** The library knows readers. Else the kit answers that there are none. */
    public Abilities readers() {
        readers = true;
        return this;
    }

    /** The library knows permits. Else the kit answers that there is one holder. */
    public Abilities permits() {
        permits = true;
        return this;
    }

    /**
     * Before the client is open, a lock is taken and given back that nobody else asks for, because
     * Java takes a second for whatever it does first.
     */
    public Abilities warmUp() {
        warmsUp = true;
        return this;
    }

    /** Adds promises beyond those of every lock, as {@code lockstorm list promises} names them. */
    public Abilities promises(String... names) {
        promises.addAll(Set.of(names));
        return this;
    }

    /** Adds promises of every lock that this library does not make. */
    public Abilities denies(String... names) {
        denies.addAll(Set.of(names));
        return this;
    }

    /** The longest time that a call takes as the library is configured, all its tries included. */
    public Abilities answersWithin(Duration bound) {
        answersWithin = bound;
        return this;
    }

    /** The key at which a server keeps the lock, with {@code {key}} in the place of its name. */
    public Abilities serverKey(String pattern) {
        serverKey = pattern;
        return this;
    }

    Abilities with(String ability) {
        can.add(ability);
        return this;
    }

    boolean warmsUp() {
        return warmsUp;
    }

    boolean can(String ability) {
        return can.contains(ability);
    }

    /**
     * Whether one client may hold the lock more than once, so that its grants are to be counted.
     */
    boolean counts() {
        return permits || promises.contains("reentrant");
    }

    /** Returns what is left of a target, or says why there can be none such. */
    Target known(Target target) {
        if (target.mode() == Mode.READ && !readers) {
            throw new UnsupportedException(
                    "the lock has one holder, who writes: it has no readers");
        }
        if (target.permits() != 1 && !permits) {
            throw new UnsupportedException("the lock has one holder: 'permits' must be 1");
        }
        return can("wait") ? target : target.withoutPatience();
    }

    /** The answer {@code opened}, in the words of a version of the protocol. */
    JsonObject answer(long protocol) {
        Set<String> words = new TreeSet<>(can);
        if (protocol < 2) {
            words.removeAll(SINCE_VERSION_2);
        }
        JsonObject answer = Answers.is("opened");
        answer.add("can", list(words));
        answer.add("promises", list(promises));
        answer.add("denies", list(denies));
        if (answersWithin != null) {
            answer.addProperty("answers_within_ms", answersWithin.toMillis());
        }
        if (serverKey != null) {
            answer.addProperty("server_key", serverKey);
        }
        return answer;
    }

    private static JsonArray list(Collection<String> words) {
        JsonArray list = new JsonArray();
        words.forEach(list::add);
        return list;
    }
}
