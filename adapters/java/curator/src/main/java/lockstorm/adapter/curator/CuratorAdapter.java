package lockstorm.adapter.curator;

import lockstorm.adapter.Abilities;
import lockstorm.adapter.Adapter;
import lockstorm.adapter.Client;
import lockstorm.adapter.Grant;
import lockstorm.adapter.Release;
import lockstorm.adapter.Target;
import lockstorm.adapter.UnsupportedException;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.ExponentialBackoffRetry;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/**
 * An adapter of Lockstorm around Curator's locks. Arguments: its version, and {@code mutex}, {@code
 * rw} or {@code semaphore}.
 */
public final class CuratorAdapter implements Adapter {
    private final Map<String, Recipe> recipes = new HashMap<>();

    /** What was asked for: a listener reads it, on a thread of the library's. */
    private final Set<Target> asked = ConcurrentHashMap.newKeySet();

    private final String word;
    private CuratorFramework curator;
    private Duration lease;
    private int permits;

    private CuratorAdapter(String word) {
        this.word = word;
    }

    public static void main(String[] args) {
        String word = args.length > 1 ? args[1] : "mutex";
        Adapter.serve("Curator " + word, args[0], new CuratorAdapter(word));
    }

    @Override
    public Abilities open(Client client) throws Exception {
        Abilities abilities = abilities();
        lease = client.neededLease();
        permits = client.permits();
        String servers =
                client.servers().stream()
                        .map(server -> server.host() + ":" + server.port())
                        .collect(Collectors.joining(","));
        curator =
                CuratorFrameworkFactory.builder()
                        .connectString(servers)
                        .sessionTimeoutMs(Math.toIntExact(lease.toMillis() * 3 / 2))
                        .retryPolicy(new ExponentialBackoffRetry(1000, 3))
                        .build();
        curator.getConnectionStateListenable()
                .addListener(
                        (self, state) -> {
                            for (Target target : asked) {
                                switch (state) {
                                    case SUSPENDED -> client.notes().suspended(target);
                                    case LOST -> client.notes().lost(target);
                                    case RECONNECTED -> client.notes().resumed(target);
                                    default -> {}
                                }
                            }
                        });
        curator.start();
        curator.blockUntilConnected();
        return abilities;
    }

    private Abilities abilities() {
        Abilities all =
                new Abilities()
                        .alwaysRenews()
                        .waits()
                        .warmUp()
                        .promises("keeps-alive", "survives-minority", "tells-of-loss")
                        .answersWithin(Duration.ofSeconds(90));
        return switch (word) {
            case "mutex" -> all.promises("reentrant");
            case "rw" -> all.readers().promises("reentrant", "shared-readers");
            case "semaphore" -> all.permits().promises("permits");
            default -> throw new UnsupportedException("there is no lock '" + word + "'");
        };
    }

    private Recipe recipe(String key) {
        String path = "/" + key.replace("/", "%2F");
        return switch (word) {
            case "mutex" -> new Mutex(curator, path);
            case "rw" -> new ReadWrite(curator, path);
            default -> new Permits(curator, path, permits);
        };
    }

    @Override
    public Grant acquire(Target target) throws Exception {
        long patienceMs = target.patience().orElse(Duration.ZERO).toMillis();
        Recipe recipe = recipes.computeIfAbsent(target.key(), this::recipe);
        asked.add(target);
        Grant grant = recipe.take(target, patienceMs);
        return grant.isGranted() ? grant.lease(lease) : grant;
    }

    @Override
    public Release release(Target target) throws Exception {
        recipes.computeIfAbsent(target.key(), this::recipe).giveBack(target);
        return Release.released();
    }
}
