package lockstorm.adapter;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * One client of a library's lock, driven by Lockstorm: docs/adapter-protocol.md.
 *
 * <p>An adapter's {@code main} hands it to {@link #serve}. All methods are then called on one
 * thread, one after the other, so a library that knows owners by their threads sees one owner.
 * Besides {@link NotOwnerException}, {@link FailedException} and {@link UnsupportedException} they
 * may throw whatever the library throws. It becomes the answer that is safe: {@code error}, which
 * says that nobody knows whether the call had an effect.
 */
public interface Adapter {
    /**
     * Makes ready to be this client; it is called once, before anything else.
     *
     * @return what the library can do and promises
     * @throws UnsupportedException if it cannot be such a client, with the reason
     */
    Abilities open(Client client) throws Exception;

    /**
     * Tries once to take the lock. Only an adapter with the ability to {@linkplain Abilities#waits
     * wait} may take longer than one try.
     */
    Grant acquire(Target target) throws Exception;

    /**
     * Gives the lock back.
     *
     * @throws NotOwnerException if the library says that the lock is not this client's
     */
    Release release(Target target) throws Exception;

    /**
     * Extends the lease by a call of the library.
     *
     * @return for how long the lock is good from here on, where the library says it; else the lease
     *     that {@link Client#lease} names is meant
     * @throws NotOwnerException if the library says that the lock is not this client's
     */
    default Optional<Duration> renew(Target target) throws Exception {
        throw new UnsupportedException("the library has no call that renews");
    }

    /**
     * Tells whether the client goes on as the holder, without asking a server.
     *
     * @param known what follows from the answers and notes so far; right for a library that tells
     *     of losses by calls or by exceptions only
     */
    default Alive alive(Target target, Alive known) throws Exception {
        return known;
    }

    /** Does what a client has to do just before it changes what the lock guards. */
    default void touch(String key) throws Exception {}

    /** Turns to other servers: from now on these take the writes. */
    default void follow(List<Server> servers) throws Exception {
        throw new UnsupportedException("it stays with the servers that it was opened with");
    }

    /**
     * Answers requests from standard input until it ends or asks to close, and ends the process.
     * What the library prints to standard output goes to standard error.
     *
     * @param name the name of the lock, as reports show it
     * @param version the version of the library; null where it is not known
     */
    static void serve(String name, String version, Adapter adapter) {
        Program.main(name, version, adapter);
    }
}
