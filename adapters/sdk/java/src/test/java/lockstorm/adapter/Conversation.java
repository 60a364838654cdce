package lockstorm.adapter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import com.google.gson.JsonElement;
import com.google.gson.JsonParser;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.Pipe;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A harness that talks with an adapter over pipes. */
final class Conversation implements AutoCloseable {
    /** Far more than any answer takes. */
    private static final long LIMIT_S = 20;

    /** How long silence is listened to. */
    private static final long SILENCE_MS = 100;

    private final OutputStream requests;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
    private long last;

    Conversation(Adapter adapter) throws IOException {
        Pipe in = Pipe.open();
        requests = Channels.newOutputStream(in.sink());
        InputStream input = Channels.newInputStream(in.source());
        start(() -> new Program("scripted", "1.0", adapter, input, new Lines()).run());
    }

    /**
     * What the adapter writes, line by line. A pipe would close for a thread that is interrupted.
     */
    private final class Lines extends OutputStream {
        private final ByteArrayOutputStream line = new ByteArrayOutputStream();

        @Override
        public void write(int one) {
            if (one == '\n') {
                lines.add(line.toString(StandardCharsets.UTF_8));
                line.reset();
            } else {
                line.write(one);
            }
        }
    }

    /** A conversation with an adapter that is open, with a lease of two seconds. */
    static Conversation open(Adapter adapter) throws Exception {
        Conversation talk = new Conversation(adapter);
        talk.ask("'do':'hello','protocol':2");
        talk.ask("'do':'open'," + CLIENT);
        return talk;
    }

    /** What {@code open} says in these tests. */
    static final String CLIENT =
            "'client':'a','lease_ms':2000,'reply_timeout_ms':500,'topology':'single','seed':7,"
                    + "'servers':[{'name':'primary','address':'127.0.0.1:6379'}]";

    /** Sends a request, and returns its number. */
    long send(String fields) throws IOException {
        write("{'id':" + ++last + "," + fields + "}");
        return last;
    }

    void write(String line) throws IOException {
        requests.write((line.replace('\'', '"') + "\n").getBytes(StandardCharsets.UTF_8));
    }

    /** Sends a request and returns the answer, without its number. */
    String ask(String fields) throws Exception {
        long id = send(fields);
        String answer = next();
        String number = ",'id':" + id;
        assertEquals(
                number, answer.substring(answer.length() - number.length() - 1).replace("}", ""));
        return answer.replace(number, "");
    }

    /** The next line, with single quotes. */
    String next() throws InterruptedException {
        String line = lines.poll(LIMIT_S, TimeUnit.SECONDS);
        assertNotNull(line, "the adapter says nothing");
        JsonElement json = JsonParser.parseString(line);
        assertEquals(json.toString(), line, "not one JSON object a line");
        return line.replace('"', '\'');
    }

    void expect(String line) throws InterruptedException {
        assertEquals(line, next());
    }

    /** Expects a note on the lock k that was told after a request; returns how long after. */
    Duration expectTold(String word, long request) throws InterruptedException {
        String line = next();
        String note = "{'note':'" + word + "','key':'k','mode':'write','after':" + request;
        assertEquals(note, line.replaceFirst(",'after_us':\\d+}$", ""));
        String micros = line.substring(line.lastIndexOf(':') + 1, line.length() - 1);
        return Duration.of(Long.parseLong(micros), ChronoUnit.MICROS);
    }

    void expectSilence() throws InterruptedException {
        assertNull(lines.poll(SILENCE_MS, TimeUnit.MILLISECONDS));
    }

    @Override
    public void close() throws IOException {
        requests.close();
    }

    /** Does this on a thread of its own, which ends with the tests. */
    static void start(Work work) {
        Thread thread =
                new Thread(
                        () -> {
                            try {
                                work.run();
                            } catch (Exception error) {
                                error.printStackTrace();
                            }
                        });
        thread.setDaemon(true);
        thread.start();
    }

    interface Work {
        void run() throws Exception;
    }
}
