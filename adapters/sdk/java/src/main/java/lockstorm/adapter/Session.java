package lockstorm.adapter;

import com.google.gson.JsonObject;

import java.util.Objects;

/** The conversation with the harness: which call of the adapter answers which request. */
final class Session {
    /** Highest version of the protocol that the kit speaks. */
    private static final long PROTOCOL = 2;

    private final String name;
    private final String version;
    private final Adapter adapter;
    private final Holds holds;
    private final Notes notes;
    private final Gate gate;
    private long protocol = PROTOCOL;

    /** Null until the client is open. */
    private volatile Abilities abilities;

    Session(String name, String version, Adapter adapter, Holds holds, Notes notes, Gate gate) {
        this.name = name;
        this.version = Objects.toString(version, "");
        this.adapter = adapter;
        this.holds = holds;
        this.notes = notes;
        this.gate = gate;
    }

    boolean can(String ability) {
        return abilities != null && abilities.can(ability);
    }

    /** Whether grants of the same lock to the same client add up. */
    boolean counts() {
        return abilities != null && abilities.counts();
    }

    /** Carries a request out and gives the answer, whatever the library throws. */
    JsonObject answer(String word, Request request) {
        try {
            return carriedOut(word, request);
        } catch (VirtualMachineError error) {
            // It can do nothing more that means something: the process ends.
            throw error;
        } catch (Throwable error) {
            return Answers.thrown(error);
        }
    }

    private JsonObject carriedOut(String word, Request request) throws Exception {
        switch (word) {
            case "hello":
                return hello(request);
            case "close":
                return Answers.is("done");
            case "open":
                return open(request);
            default:
                if (abilities == null) {
                    return Answers.said("unsupported", "'" + word + "' before 'open'");
                }
                return ofOpenClient(word, request);
        }
    }

    private JsonObject hello(Request request) {
        long asked = request.number("protocol");
        if (asked < 1) {
            throw new Request.Malformed("'protocol' must be 1 or more, and is " + asked);
        }
        protocol = Math.min(PROTOCOL, asked);
        JsonObject answer = Answers.is("hello");
        answer.addProperty("protocol", protocol);
        answer.addProperty("name", name);
        answer.addProperty("version", version);
        return answer;
    }

    private JsonObject open(Request request) throws Exception {
        if (abilities != null) {
            throw new FailedException("the client is open: 'open' must come once");
        }
        Abilities said = adapter.open(new Client(request, notes, gate));
        if (said.warmsUp()) {
            warmUp(Target.of("warm-up:" + request.text("client")));
        }
        if (adapter instanceof Awaiting) {
            said.with("await");
        }
        if (gate.isUsed()) {
            said.with("watchdog");
        }
        abilities = said;
        return said.answer(protocol);
    }

    private void warmUp(Target target) throws Exception {
        try {
            if (adapter.acquire(target).isGranted()) {
                adapter.release(target);
            }
        } catch (NotOwnerException error) {
            // What that tells of the library, it tells of each lock.
        }
    }

    private JsonObject ofOpenClient(String word, Request request) throws Exception {
        switch (word) {
            case "acquire":
                return adapter.acquire(abilities.known(request.target())).answer();
            case "renew":
                return renewed(abilities.known(request.target()));
            case "release":
                return released(abilities.known(request.target()));
            case "alive":
                return alive(abilities.known(request.target()));
            case "touch":
                adapter.touch(request.text("key"));
                return Answers.is("done");
            case "servers":
                adapter.follow(request.servers("servers"));
                return Answers.is("done");
            case "await":
                awaiting(word)
                        .await(
                                request.text("key"),
                                request.micros("pause_us"),
                                request.micros("within_us"));
                return Answers.is("done");
            case "end-wait":
                awaiting(word).endWait(request.text("key"), request.flag("granted"));
                return Answers.is("done");
            default:
                return Answers.said("unsupported", "the adapter knows no '" + word + "'");
        }
    }

    private JsonObject renewed(Target target) throws Exception {
        try {
            JsonObject answer = Answers.is("renewed");
            adapter.renew(target)
                    .ifPresent(lease -> answer.addProperty("lease_ms", lease.toMillis()));
            return answer;
        } catch (NotOwnerException error) {
            holds.lose(target);
            throw error;
        }
    }

    private JsonObject released(Target target) throws Exception {
        try {
            JsonObject answer = adapter.release(target).answer();
            holds.release(target);
            return answer;
        } catch (NotOwnerException error) {
            holds.lose(target);
            throw error;
        }
    }

    private JsonObject alive(Target target) throws Exception {
        switch (adapter.alive(target, holds.alive(target))) {
            case HELD:
                return Answers.is("held");
            case SUSPENDED:
                return Answers.is("suspended");
            default:
                return Answers.is("not-owner");
        }
    }

    private Awaiting awaiting(String word) {
        if (adapter instanceof Awaiting) {
            return (Awaiting) adapter;
        }
        throw new UnsupportedException("the adapter knows no '" + word + "'");
    }
}
