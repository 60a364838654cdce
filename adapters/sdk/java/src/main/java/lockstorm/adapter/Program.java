package lockstorm.adapter;

import com.google.gson.JsonObject;

import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * The loop of an adapter. One thread reads; another carries requests out, so that words to the gate
 * and to give a request up are heard meanwhile.
 */
final class Program {
    private final BufferedReader in;
    private final Output output;
    private final Holds holds = new Holds();
    private final LastRequest lastRequest = new LastRequest();
    private final Gate gate;
    private final Session session;
    private final Turn turn = new Turn();

    Program(String name, String version, Adapter adapter, InputStream in, OutputStream out) {
        this.in = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
        output = new Output(out);
        gate = new Gate(output, holds);
        Notes notes = new Notes(output, holds, lastRequest);
        session = new Session(name, version, adapter, holds, notes, gate);
    }

    /** Serves, and ends the process even if the library keeps threads. */
    static void main(String name, String version, Adapter adapter) {
        FileOutputStream out = new FileOutputStream(FileDescriptor.out);
        System.setOut(System.err);
        try {
            new Program(name, version, adapter, System.in, out).run();
            System.exit(0);
        } catch (Request.Malformed error) {
            System.err.println("lockstorm adapter: " + error.getMessage());
            System.exit(1);
        } catch (Throwable error) {
            fail(error);
        }
    }

    /** Ends the process where it cannot go on, which is better than silence. */
    private static void fail(Throwable error) {
        error.printStackTrace();
        System.exit(1);
    }

    /** Answers until the input ends or asks to close. */
    void run() throws IOException, InterruptedException {
        ExecutorService calls = Executors.newSingleThreadExecutor(Program::thread);
        String line;
        while ((line = in.readLine()) != null) {
            long readAt = System.nanoTime();
            Request request = read(line);
            if (request.has("go") || request.has("skip")) {
                boolean mayPass = request.has("go");
                gate.hear(request.number(mayPass ? "go" : "skip"), mayPass);
                continue;
            }
            long id = request.number("id");
            String word = request.text("do");
            lastRequest.read(id, readAt);
            if (word.equals("cancel")) {
                write(id, cancelled(request));
                continue;
            }
            turn.expect(id);
            calls.execute(() -> carryOut(id, word, request));
            if (word.equals("close")) {
                calls.shutdown();
                calls.awaitTermination(Long.MAX_VALUE, TimeUnit.NANOSECONDS);
                return;
            }
        }
    }

    private static Request read(String line) {
        try {
            return Request.read(line);
        } catch (Request.Malformed error) {
            String shown = line.length() <= 200 ? line : line.substring(0, 200) + " ...";
            throw new Request.Malformed(error.getMessage() + ", and this is none: " + shown);
        }
    }

    private static Thread thread(Runnable calls) {
        Thread thread = new Thread(calls, "lockstorm-calls");
        thread.setDaemon(true);
        thread.setUncaughtExceptionHandler((same, error) -> fail(error));
        return thread;
    }

    private void carryOut(long id, String word, Request request) {
        Target asked = asked(word, request);
        if (asked != null) {
            holds.ask(asked);
        }
        turn.begin(id);
        JsonObject answer = session.answer(word, request);
        boolean wasCancelled = turn.end();
        if (wasCancelled && (Answers.is(answer, "error") || Answers.is(answer, "refused"))) {
            // A library may say no where it was only interrupted.
            answer = Answers.is("cancelled");
        }
        write(id, answer);
        if (asked != null) {
            holds.asked(Answers.is(answer, "granted"), session.counts());
        }
    }

    /** What an acquire asks for; null for other requests and for one that makes no sense. */
    private static Target asked(String word, Request request) {
        try {
            return word.equals("acquire") ? request.target() : null;
        } catch (Request.Malformed error) {
            return null;
        }
    }

    private JsonObject cancelled(Request request) {
        if (!session.can("cancel")) {
            return Answers.said("unsupported", "the library cannot give a call up");
        }
        try {
            turn.cancel(request.number("request"));
            return Answers.is("done");
        } catch (Request.Malformed error) {
            return Answers.thrown(error);
        }
    }

    private void write(long id, JsonObject answer) {
        answer.addProperty("id", id);
        output.write(answer);
    }
}
