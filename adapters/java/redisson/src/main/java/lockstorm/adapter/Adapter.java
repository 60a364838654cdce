package lockstorm.adapter;

import com.google.gson.Gson;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.RedissonLock;
import org.redisson.RedissonMultiLock;
import org.redisson.RedissonRedLock;
import org.redisson.api.RFuture;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/**
 * An adapter of Lockstorm around Redisson's locks: docs/adapter-protocol.md. Arguments: the version
 * of Redisson, the lock (lock, spin, fair, fenced, multi, red), `watchdog` where it is to be asked for
 * without a lease, and `unsynced` where no replica has to have a grant.
 *
 * <p>Redisson is used with its own defaults, but for its patience with a server and the lease of its
 * watchdog, which `open` names, and how often it looks for another primary.
 */
public final class Adapter {
    private static final int SCAN_MS = 100;

    private final String kind;
    private final boolean watchdog;
    private final boolean unsynced;
    private final List<RedissonClient> instances = new ArrayList<>();
    private final Map<String, RLock> locks = new HashMap<>();
    private final Map<String, Integer> held = new HashMap<>();
    private long leaseMs;
    /** When a lock of several masters began to set its lease; 0 where it did not. */
    private volatile long settled;

    private Adapter(String kind, List<String> more) {
        this.kind = kind;
        this.watchdog = more.contains("watchdog");
        this.unsynced = more.contains("unsynced");
    }

    public static void main(String[] args) throws Exception {
        Adapter adapter = new Adapter(args[1], Arrays.asList(args).subList(2, args.length));
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        // Whatever a library prints there is no answer.
        System.setOut(System.err);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String line;
        String what = "";
        while (!what.equals("close") && (line = in.readLine()) != null) {
            JsonObject request = new Gson().fromJson(line, JsonObject.class);
            what = request.get("do").getAsString();
            JsonObject answer = adapter.answer(what, request, args[0]);
            answer.add("id", request.get("id"));
            out.println(answer);
            out.flush();
        }
        System.exit(0);
    }

    private JsonObject answer(String what, JsonObject request, String version) {
        try {
            switch (what) {
                case "hello":
                    JsonObject hello = is("hello");
                    hello.addProperty("protocol", 1);
                    hello.addProperty("name", "Redisson " + kind + (watchdog ? " + watchdog" : ""));
                    hello.addProperty("version", version);
                    return hello;
                case "open":
                    return open(request);
                case "acquire":
                    return acquire(request);
                case "release":
                    lock(request).unlock();
                    held.merge(key(request), -1, Integer::sum);
                    return is("released");
                case "alive":
                    // Redisson tells nobody that a lock is lost.
                    return is(held.getOrDefault(key(request), 0) > 0 ? "held" : "not-owner");
                case "servers":
                    // It finds them by itself.
                    Thread.sleep(5 * SCAN_MS);
                    return is("done");
                case "touch":
                case "close":
                    return is("done");
                default:
                    return said("unsupported", "Redisson has no " + what);
            }
        } catch (Exception error) {
            for (Throwable cause = error; cause != null; cause = cause.getCause()) {
                if (cause instanceof IllegalMonitorStateException) {
                    held.remove(key(request));
                    return is("not-owner");
                }
                if (cause instanceof NoSuchMethodException) {
                    return said("unsupported", error.toString());
                }
            }
            return said("error", error.toString());
        }
    }

    private JsonObject open(JsonObject request) throws Exception {
        FromSource.source = request.get("source").getAsString();
        leaseMs = request.get("lease_ms").getAsLong();
        String topology = request.get("topology").getAsString();
        List<String[]> nodes = addresses(request, "nodes");
        if (topology.equals("independent") != (kind.equals("multi") || kind.equals("red"))) {
            return said("unsupported", "a " + kind + " on " + topology + " servers");
        }
        for (String[] server : addresses(request, "servers")) {
            Config config = config();
            // The replicas of a master bear its name.
            List<String> group = new ArrayList<>();
            for (String[] node : nodes) {
                boolean own = node[0].equals(server[0]) || node[0].startsWith(server[0] + "-");
                if (own || !topology.equals("independent")) {
                    group.add(node[1]);
                }
            }
            int patience = request.get("reply_timeout_ms").getAsInt();
            String[] all = group.toArray(new String[0]);
            if (topology.equals("sentinel")) {
                JsonObject sentinels = request.getAsJsonObject("sentinels");
                config.useSentinelServers().setMasterName(sentinels.get("master").getAsString());
                for (String[] sentinel : addresses(sentinels, "sentinels")) {
                    config.useSentinelServers().addSentinelAddress(sentinel[1]).setTimeout(patience);
                }
            } else if (topology.equals("cluster")) {
                config.useClusterServers().addNodeAddress(all).setScanInterval(SCAN_MS);
                config.useClusterServers().setTimeout(patience);
            } else if (all.length > 1) {
                config.useReplicatedServers().addNodeAddress(all).setScanInterval(SCAN_MS);
                config.useReplicatedServers().setTimeout(patience);
            } else {
                config.useSingleServer().setAddress(server[1]).setTimeout(patience);
            }
            instances.add(Redisson.create(config));
            if (topology.equals("cluster")) {
                break;
            }
        }
        // The first time, Java takes a second.
        JsonObject warm = new JsonObject();
        warm.addProperty("key", "warm-up:" + request.get("client").getAsString());
        if (acquire(warm).get("is").getAsString().equals("granted")) {
            try {
                lock(warm).unlock();
            } catch (RuntimeException lost) {
                // A multi lock of 3.10.6 holds nothing of what it is granted without a wait.
            }
        }
        held.clear();
        JsonObject opened = is("opened");
        String can = kind.equals("fenced") ? "[\"source\",\"wait\",\"tokens\"]" : "[\"source\",\"wait\"]";
        opened.add("can", new Gson().fromJson(can, JsonElement.class));
        return opened;
    }

    private Config config() throws ReflectiveOperationException {
        Config config = new Config();
        if (unsynced) {
            // 3.10.6 asks none anyway.
            Config.class.getMethod("setCheckLockSyncedSlaves", boolean.class).invoke(config, false);
        }
        config.setLockWatchdogTimeout(leaseMs);
        // No lock needs Redisson's own codec, which in old versions needs parts of the JDK that are
        // closed today.
        config.setCodec(StringCodec.INSTANCE);
        config.setThreads(2);
        config.setNettyThreads(4);
        return config;
    }

    private JsonObject acquire(JsonObject request) throws Exception {
        RLock lock = lock(request);
        JsonElement wait = request.get("wait_ms");
        long waitMs = wait == null ? -1 : wait.getAsLong();
        long lease = watchdog ? -1 : leaseMs;
        long begun = System.nanoTime();
        settled = 0;
        JsonObject granted = is("granted");
        if (kind.equals("fenced")) {
            // Here less than no time is for ever.
            Object token = lock.getClass()
                .getMethod("tryLockAndGetToken", long.class, long.class, TimeUnit.class)
                .invoke(lock, Math.max(waitMs, 0), lease, TimeUnit.MILLISECONDS);
            if (token == null) {
                return is("refused");
            }
            granted.addProperty("token", (Long) token);
        } else if (waitMs < 0 && watchdog ? !lock.tryLock() : !lock.tryLock(waitMs, lease, TimeUnit.MILLISECONDS)) {
            return is("refused");
        }
        held.merge(key(request), 1, Integer::sum);
        granted.addProperty("lease_ms", leaseMs);
        if (settled != 0) {
            granted.addProperty("waited_ms", (settled - begun) / 1_000_000);
        }
        return granted;
    }

    private RLock lock(JsonObject request) throws ReflectiveOperationException {
        String key = key(request);
        if (!locks.containsKey(key)) {
            locks.put(key, made(key));
        }
        return locks.get(key);
    }

    private RLock made(String key) throws ReflectiveOperationException {
        switch (kind) {
            case "multi":
                return new RedissonMultiLock(parts(key));
            case "red":
                return new RedissonRedLock(parts(key));
            case "lock":
                return instances.get(0).getLock(key);
            default:
                // Not every version has them.
                String name = "get" + kind.substring(0, 1).toUpperCase() + kind.substring(1) + "Lock";
                return (RLock) RedissonClient.class.getMethod(name, String.class).invoke(instances.get(0), key);
        }
    }

    /** A lock on each master, which notes when its lease is set: from then on it is good. */
    private RLock[] parts(String key) {
        return instances.stream().map(instance -> new RedissonLock(((Redisson) instance).getCommandExecutor(), key) {
            @Override
            public RFuture<Boolean> expireAsync(long time, TimeUnit unit) {
                settled = settled == 0 ? System.nanoTime() : settled;
                return super.expireAsync(time, unit);
            }
        }).toArray(RLock[]::new);
    }

    private static List<String[]> addresses(JsonObject of, String list) {
        List<String[]> addresses = new ArrayList<>();
        for (JsonElement server : of.getAsJsonArray(list)) {
            JsonObject node = server.getAsJsonObject();
            addresses.add(new String[] {
                node.get("name").getAsString(), "redis://" + node.get("address").getAsString()
            });
        }
        return addresses;
    }

    private static String key(JsonObject request) {
        return request.get("key").getAsString();
    }

    private static JsonObject is(String what) {
        JsonObject answer = new JsonObject();
        answer.addProperty("is", what);
        return answer;
    }

    private static JsonObject said(String what, String text) {
        JsonObject answer = is(what);
        answer.addProperty("text", text);
        return answer;
    }
}
