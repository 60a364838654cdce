package lockstorm.interop;

import com.google.gson.Gson;
import com.google.gson.JsonObject;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/**
 * One instance of Redisson that does what it is told: a JSON object a line on standard input, and at
 * least one for each on standard output, with the id of what it answers. Ends with its input.
 *
 * <p>Not a client to be judged: it exists so that the locks of Lockstorm meet the real ones.
 */
public final class Peer {
    private static final Gson GSON = new Gson();
    private static final PrintStream OUT = new PrintStream(System.out, false, StandardCharsets.UTF_8);

    private final RedissonClient redisson;
    private final Map<String, ExecutorService> threads = new HashMap<>();

    private Peer(RedissonClient redisson) {
        this.redisson = redisson;
    }

    /** Arguments: the server's address, and the lease of the watchdog in milliseconds. */
    public static void main(String[] args) throws Exception {
        Config config = new Config();
        config.useSingleServer().setAddress("redis://" + args[0]);
        config.setLockWatchdogTimeout(Long.parseLong(args[1]));
        // No lock needs Redisson's own codec, which in old versions needs parts of the JDK that are
        // closed today.
        config.setCodec(StringCodec.INSTANCE);
        Peer peer = new Peer(Redisson.create(config));
        BufferedReader in =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            peer.accept(GSON.fromJson(line, Request.class));
        }
        // Threads may wait for locks still: nobody is left whom that concerns.
        System.exit(0);
    }

    private void accept(Request request) {
        // The clock is read here and now: the exchange is timed.
        if ("clock".equals(request.act)) {
            reply(request, "nanos", System.nanoTime());
            return;
        }
        threads
            .computeIfAbsent(request.thread, name -> Executors.newSingleThreadExecutor())
            .execute(() -> answer(request));
    }

    private void answer(Request request) {
        try {
            switch (request.act) {
                case "stock" -> {
                    Subject.of(redisson, request).stock(request.stock);
                    reply(request, "stocked", true);
                }
                case "acquire" ->
                    reply(request, "grant", Subject.of(redisson, request).acquire(request));
                case "release" ->
                    reply(request, "released", Subject.of(redisson, request).release(request));
                case "look" -> reply(request, "sight", Subject.of(redisson, request).look(request));
                case "contend" -> contend(request);
                default -> throw new IllegalArgumentException("no such act: " + request.act);
            }
        } catch (Throwable error) {
            error.printStackTrace();
            reply(request, "error", error.toString());
        }
    }

    private void contend(Request request) throws InterruptedException {
        for (JsonObject event : new Contention(redisson, request).run()) {
            reply(request, "event", event);
        }
        reply(request, "over", true);
    }

    private static void reply(Request request, String what, Object answer) {
        JsonObject line = new JsonObject();
        line.addProperty("id", request.id);
        line.add(what, GSON.toJsonTree(answer));
        // A refusal is a null that must be seen: as the object writes itself, not as Gson would.
        synchronized (OUT) {
            OUT.println(line);
            OUT.flush();
        }
    }
}
