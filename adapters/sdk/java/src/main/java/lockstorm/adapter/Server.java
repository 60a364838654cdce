package lockstorm.adapter;

/** A server, and where it listens. */
public final class Server {
    private final String name;
    private final String host;
    private final int port;

    Server(String name, String host, int port) {
        this.name = name;
        this.host = host;
        this.port = port;
    }

    /** Returns its name, such as {@code primary} or {@code n1}. */
    public String name() {
        return name;
    }

    /** Returns the host, an IP address. */
    public String host() {
        return host;
    }

    /** Returns the port. */
    public int port() {
        return port;
    }

    /** Returns the address as {@code host:port}. */
    public String address() {
        return host + ":" + port;
    }

    @Override
    public String toString() {
        return name + " at " + address();
    }
}
