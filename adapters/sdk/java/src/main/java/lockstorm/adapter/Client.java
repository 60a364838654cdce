package lockstorm.adapter;

import com.google.gson.JsonObject;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Who the adapter is to be: what {@code open} says. */
public final class Client {
    private final Request request;
    private final Notes notes;
    private final Gate gate;

    Client(Request request, Notes notes, Gate gate) {
        this.request = request;
        this.notes = notes;
        this.gate = gate;
    }

    /** Returns the name of the client. */
    public String name() {
        return request.text("client");
    }

    /** Returns how long a grant is good; empty for a lock that never expires. */
    public Optional<Duration> lease() {
        return request.millisIfAny("lease_ms");
    }

    /**
     * Returns how long a grant is good, for a library without locks that never expire.
     *
     * @throws UnsupportedException if the lock is never to expire
     */
    public Duration neededLease() {
        return lease().orElseThrow(
                        () ->
                                new UnsupportedException(
                                        "its locks always expire: they need a lease"));
    }

    /** Returns how often to extend a lease; empty for never. */
    public Optional<Duration> renewEvery() {
        return request.millisIfAny("renew_every_ms");
    }

    /** Returns how long to wait for a server's reply. */
    public Duration patience() {
        return request.millis("reply_timeout_ms");
    }

    /** Returns how long to wait for one of several servers; empty for the library's own time. */
    public Optional<Duration> nodeTimeout() {
        return request.millisIfAny("node_timeout_ms");
    }

    /** Returns how many permits a semaphore has in all; 1 for a mutex. */
    public int permits() {
        return request.permits();
    }

    /** Returns the name by which the library is to call its owner; empty for its own. */
    public Optional<String> identity() {
        return request.textIfAny("identity");
    }

    /** Returns the shape of the deployment: {@code single}, {@code replicated} and so on. */
    public String topology() {
        return request.text("topology");
    }

    /** Returns the servers that take writes, in order. */
    public List<Server> servers() {
        return request.servers("servers");
    }

    /**
     * Returns the one server that takes writes.
     *
     * @throws UnsupportedException if there are several
     */
    public Server onlyServer() {
        List<Server> servers = servers();
        if (servers.size() != 1) {
            throw new UnsupportedException(
                    "the lock lives on one server, and here are " + servers.size());
        }
        return servers.get(0);
    }

    /** Returns all servers. */
    public List<Server> nodes() {
        return request.has("nodes") ? request.servers("nodes") : servers();
    }

    /** Returns the sentinels, where there are some. */
    public Optional<Sentinels> sentinels() {
        return request.within("sentinels")
                .map(
                        watch ->
                                new Sentinels(
                                        watch.text("master"),
                                        watch.servers("sentinels"),
                                        watch.servers("servers")));
    }

    /** Returns the seed for whatever is drawn at random. */
    public long seed() {
        return request.number("seed");
    }

    /** Returns the request as it came. */
    public JsonObject request() {
        return request.json();
    }

    /** Returns what tells the harness of events that it has not asked for. */
    public Notes notes() {
        return notes;
    }

    /**
     * Returns the gate through which the library's own watchdog is let. To ask for it, while the
     * client is opened, is to have the ability {@code watchdog}.
     */
    public Gate gate() {
        gate.use();
        return gate;
    }
}
