package lockstorm.adapter.redisson;

import lockstorm.adapter.Client;
import lockstorm.adapter.Sentinels;
import lockstorm.adapter.Server;

import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** An instance of Redisson for each server that takes writes, or for all that stand as one. */
final class Instances {
    /** How often it looks for another primary. */
    static final int SCAN_MS = 100;

    /** Longest pause before it sends a command again: 1.5 s before 4.0, 1 to 2 s since. */
    private static final Duration RETRY_MAX = Duration.ofSeconds(2);

    /** How long it waits for replicas to have a grant. */
    private static final Duration SYNC = Duration.ofSeconds(1);

    private final List<RedissonClient> all = new ArrayList<>();
    private final int timeoutMs;

    Instances(Client client, long leaseMs, boolean unsynced) throws ReflectiveOperationException {
        timeoutMs = (int) client.nodeTimeout().orElse(client.patience()).toMillis();
        for (Server server : client.servers()) {
            Config config = config(leaseMs, unsynced);
            use(config, client, server);
            all.add(Redisson.create(config));
            if (client.topology().equals("cluster")) {
                break;
            }
        }
    }

    List<RedissonClient> all() {
        return all;
    }

    RedissonClient first() {
        return all.get(0);
    }

    /** How long a command may take with all its tries. */
    Duration longestCommand() {
        Duration once = Duration.ofMillis(timeoutMs).plus(SYNC);
        int retries = new Config().useSingleServer().getRetryAttempts();
        return once.plus(once.plus(RETRY_MAX).multipliedBy(retries));
    }

    private static Config config(long leaseMs, boolean unsynced)
            throws ReflectiveOperationException {
        Config config = new Config();
        if (unsynced) {
            // 3.10.6 asks none anyway.
            Newer.call(Config.class, config, "setCheckLockSyncedSlaves", false);
        }
        if (leaseMs > 0) {
            config.setLockWatchdogTimeout(leaseMs);
        }
        // No lock needs Redisson's own codec, which in old versions needs parts of the JDK that are
        // closed today.
        config.setCodec(StringCodec.INSTANCE);
        config.setThreads(2);
        config.setNettyThreads(4);
        return config;
    }

    private void use(Config config, Client client, Server server) {
        String[] group = group(client, server);
        if (client.topology().equals("sentinel")) {
            Sentinels watch = client.sentinels().orElseThrow();
            config.useSentinelServers()
                    .setMasterName(watch.master())
                    .addSentinelAddress(urls(watch.sentinels()))
                    .setTimeout(timeoutMs);
        } else if (client.topology().equals("cluster")) {
            config.useClusterServers()
                    .addNodeAddress(group)
                    .setScanInterval(SCAN_MS)
                    .setTimeout(timeoutMs);
        } else if (group.length > 1) {
            config.useReplicatedServers()
                    .addNodeAddress(group)
                    .setScanInterval(SCAN_MS)
                    .setTimeout(timeoutMs);
        } else {
            config.useSingleServer().setAddress(group[0]).setTimeout(timeoutMs);
        }
    }

    /** A server that takes writes, and its replicas, which bear its name; or all that are one. */
    private static String[] group(Client client, Server server) {
        List<Server> group = new ArrayList<>(client.nodes());
        if (client.topology().equals("independent")) {
            group.removeIf(
                    node ->
                            !node.name().equals(server.name())
                                    && !node.name().startsWith(server.name() + "-"));
        }
        return urls(group);
    }

    private static String[] urls(List<Server> servers) {
        return servers.stream().map(server -> "redis://" + server.address()).toArray(String[]::new);
    }
}
