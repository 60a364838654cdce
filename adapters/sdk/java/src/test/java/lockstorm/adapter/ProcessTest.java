package lockstorm.adapter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

class ProcessTest {
    /** A library that prints, and keeps a thread. */
    public static final class Noisy {
        public static void main(String[] args) {
            new Thread(Noisy::sleep).start();
            Scripted lock = new Scripted(new Abilities());
            lock.acquire =
                    () -> {
                        System.out.println("the library prints");
                        if (lock.target.key().equals("memory")) {
                            throw new OutOfMemoryError("no more memory");
                        }
                        return Grant.granted();
                    };
            Adapter.serve("noisy", null, lock);
        }

        private static void sleep() {
            try {
                Thread.sleep(TimeUnit.HOURS.toMillis(1));
            } catch (InterruptedException error) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private String said;
    private String errors;

    /** Starts it, writes these lines, and returns how it ends. */
    private int ends(boolean endInput, String... lines) throws Exception {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String path = System.getProperty("java.class.path");
        Process process = new ProcessBuilder(java, "-cp", path, Noisy.class.getName()).start();
        try {
            for (String line : lines) {
                process.getOutputStream().write((line.replace('\'', '"') + "\n").getBytes());
            }
            process.getOutputStream().flush();
            if (endInput) {
                process.getOutputStream().close();
            }
            assertTrue(process.waitFor(20, TimeUnit.SECONDS), "it is still there");
            said = read(process.getInputStream());
            errors = read(process.getErrorStream());
            return process.exitValue();
        } finally {
            process.destroyForcibly();
        }
    }

    private static String read(InputStream in) throws IOException {
        return new String(in.readAllBytes(), StandardCharsets.UTF_8).replace('"', '\'');
    }

    @Test
    void itEndsWhenItIsToldToCloseAndWhatTheLibraryPrintsIsNoAnswer() throws Exception {
        int status =
                ends(
                        false,
                        "{'id':1,'do':'open'," + Conversation.CLIENT + "}",
                        "{'id':2,'do':'acquire','key':'k'}",
                        "{'id':3,'do':'close'}");
        assertEquals(
                "{'is':'opened','can':[],'promises':[],'denies':[],'id':1}\n"
                        + "{'is':'granted','id':2}\n{'is':'done','id':3}\n",
                said);
        assertEquals("the library prints\n", errors);
        assertEquals(0, status);
    }

    @Test
    void itEndsWhereItCannotGoOn() throws Exception {
        int status =
                ends(
                        false,
                        "{'id':1,'do':'open'," + Conversation.CLIENT + "}",
                        "{'id':2,'do':'acquire','key':'memory'}");
        assertEquals(1, status);
        assertTrue(errors.contains("OutOfMemoryError: no more memory"), errors);
    }

    @Test
    void itEndsWhenItsInputEnds() throws Exception {
        assertEquals(0, ends(true));
        assertEquals("", said + errors);
    }

    @Test
    void aLineThatIsNoRequestEndsItWithAWordWhy() throws Exception {
        assertEquals(1, ends(false, "hello?"));
        assertEquals(
                "lockstorm adapter: a line must be one JSON object, and this is none: hello?\n",
                errors);
        assertEquals(1, ends(false, "{'do':'hello'}"));
        assertEquals("lockstorm adapter: 'id' is missing\n", errors);
        assertEquals(1, ends(false, "{'go':7}"));
        assertEquals("lockstorm adapter: renewal 7 does not wait\n", errors);
    }
}
