package lockstorm.adapter.redisson;

import lockstorm.adapter.Abilities;
import lockstorm.adapter.Adapter;
import lockstorm.adapter.Client;
import lockstorm.adapter.Grant;
import lockstorm.adapter.NotOwnerException;
import lockstorm.adapter.Release;
import lockstorm.adapter.Server;
import lockstorm.adapter.Target;
import lockstorm.adapter.UnsupportedException;

import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * An adapter of Lockstorm around Redisson's locks. Arguments: the version of Redisson, the {@link
 * Kind} of lock, {@code watchdog} where it is always to be asked for without a lease, so that the
 * watchdog renews it, and not only where leases are to be renewed, and {@code unsynced} where no
 * replica has to have a grant.
 */
public final class RedissonAdapter implements Adapter {
    /** Commands of a call to a master, one after the other: two tries, and to give up. */
    private static final int COMMANDS = 3;

    private final String version;
    private final String word;
    private final List<String> options;
    private final Map<String, Holding> known = new HashMap<>();
    private Kind kind;
    private Instances instances;

    /** In milliseconds; 0 for what never ends. */
    private long leaseMs;

    private boolean isWatched;
    private int permits;

    private RedissonAdapter(String version, String word, List<String> options) {
        this.version = version;
        this.word = word;
        this.options = options;
    }

    public static void main(String[] args) {
        if (args.length < 2) {
            System.err.println("the arguments must be VERSION LOCK [watchdog] [unsynced]");
            System.exit(64);
        }
        List<String> options = Arrays.asList(args).subList(2, args.length);
        String name = "Redisson " + args[1] + (options.contains("watchdog") ? " + watchdog" : "");
        Adapter.serve(name, args[0], new RedissonAdapter(args[0], args[1], options));
    }

    @Override
    public Abilities open(Client client) throws Exception {
        kind = Kind.of(word);
        if (kind.isOfSeveralMasters() != client.topology().equals("independent")) {
            throw new UnsupportedException("a " + word + " on " + client.topology() + " servers");
        }
        leaseMs = leaseMs(client);
        permits = client.permits();
        boolean isToBeRenewed = options.contains("watchdog") || client.renewEvery().isPresent();
        isWatched = isToBeRenewed && !kind.hasPermits();
        instances = new Instances(client, leaseMs, options.contains("unsynced"));
        Abilities abilities = kind.abilities().answersWithin(longestCall()).warmUp();
        // Locks of several masters in 3.10.6 go on when their thread is interrupted.
        boolean goesOn = kind.isOfSeveralMasters() && version.startsWith("3.10.");
        return goesOn ? abilities : abilities.cancels();
    }

    private long leaseMs(Client client) {
        if (kind != Kind.SEMAPHORE) {
            return client.neededLease().toMillis();
        }
        if (client.lease().isPresent()) {
            throw new UnsupportedException("permits of a semaphore never end: they have no lease");
        }
        return 0;
    }

    private Duration longestCall() {
        return instances.longestCommand().multipliedBy(COMMANDS * instances.all().size());
    }

    @Override
    public Grant acquire(Target target) throws Exception {
        long waitMs = target.patience().map(Duration::toMillis).orElse(-1L);
        long askedMs = isWatched || leaseMs == 0 ? -1 : leaseMs;
        Grant grant = named(target.key()).take(target, waitMs, askedMs);
        return leaseMs > 0 && grant.isGranted() ? grant.lease(Duration.ofMillis(leaseMs)) : grant;
    }

    @Override
    public Optional<Duration> renew(Target target) throws Exception {
        named(target.key()).renew(leaseMs);
        return Optional.of(Duration.ofMillis(leaseMs));
    }

    @Override
    public Release release(Target target) throws Exception {
        try {
            return named(target.key()).giveBack(target);
        } catch (RuntimeException error) {
            for (Throwable cause = error; cause != null; cause = cause.getCause()) {
                if (cause instanceof IllegalMonitorStateException) {
                    throw new NotOwnerException(cause);
                }
            }
            throw error;
        }
    }

    /** Gives it time: it finds other servers by itself, within a few looks. */
    @Override
    public void follow(List<Server> servers) throws InterruptedException {
        Thread.sleep(5 * Instances.SCAN_MS);
    }

    private Holding named(String key) throws ReflectiveOperationException {
        Holding holding = known.get(key);
        if (holding == null) {
            holding = kind.named(key, permits, instances);
            known.put(key, holding);
        }
        return holding;
    }
}
