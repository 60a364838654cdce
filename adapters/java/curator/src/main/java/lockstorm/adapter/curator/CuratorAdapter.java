package lockstorm.adapter.curator;

import lockstorm.adapter.Abilities;
import lockstorm.adapter.Adapter;
import lockstorm.adapter.Client;
import lockstorm.adapter.Grant;
import lockstorm.adapter.NotOwnerException;
import lockstorm.adapter.Release;
import lockstorm.adapter.Target;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** An adapter of Lockstorm around Curator's {@link InterProcessMutex}. Argument: its version. */
public final class CuratorAdapter implements Adapter {
    private final Map<String, Mutex> mutexes = new ConcurrentHashMap<>();
    private CuratorFramework curator;
    private Duration lease;

    /** The library's lock, which says to those who extend it where its node is. */
    private static final class Mutex extends InterProcessMutex {
        private Mutex(CuratorFramework curator, String path) {
            super(curator, path);
        }

        private String node() {
            String path = getLockPath();
            return path.substring(path.lastIndexOf('/') + 1);
        }
    }

    public static void main(String[] args) {
        Adapter.serve("Curator", args[0], new CuratorAdapter());
    }

    @Override
    public Abilities open(Client client) throws Exception {
        lease = client.neededLease();
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
                            for (String key : mutexes.keySet()) {
                                switch (state) {
                                    case SUSPENDED -> client.notes().suspended(Target.of(key));
                                    case LOST -> client.notes().lost(Target.of(key));
                                    case RECONNECTED -> client.notes().resumed(Target.of(key));
                                    default -> {}
                                }
                            }
                        });
        curator.start();
        curator.blockUntilConnected();
        return new Abilities()
                .alwaysRenews()
                .waits()
                .warmUp()
                .promises("keeps-alive", "survives-minority", "reentrant", "tells-of-loss")
                .answersWithin(Duration.ofSeconds(90));
    }

    @Override
    public Grant acquire(Target target) throws Exception {
        Mutex mutex =
                mutexes.computeIfAbsent(
                        target.key(), key -> new Mutex(curator, "/" + key.replace("/", "%2F")));
        long patience = target.patience().orElse(Duration.ZERO).toMillis();
        if (!mutex.acquire(patience, TimeUnit.MILLISECONDS)) {
            return Grant.refused();
        }
        return Grant.granted().lease(lease).mark(mutex.node());
    }

    @Override
    public Release release(Target target) throws Exception {
        Mutex mutex = mutexes.get(target.key());
        if (mutex == null || !mutex.isOwnedByCurrentThread()) {
            throw new NotOwnerException();
        }
        mutex.release();
        return Release.released();
    }
}
