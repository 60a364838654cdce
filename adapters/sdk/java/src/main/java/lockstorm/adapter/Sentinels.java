package lockstorm.adapter;

import java.util.List;

/** Sentinels, and what they watch over. */
public final class Sentinels {
    private final String master;
    private final List<Server> sentinels;
    private final List<Server> servers;

    Sentinels(String master, List<Server> sentinels, List<Server> servers) {
        this.master = master;
        this.sentinels = sentinels;
        this.servers = servers;
    }

    /** Returns the name by which they call the primary, whichever server it is. */
    public String master() {
        return master;
    }

    /** Returns the sentinels. */
    public List<Server> sentinels() {
        return sentinels;
    }

    /** Returns the servers that they watch over, the first primary first. */
    public List<Server> servers() {
        return servers;
    }
}
