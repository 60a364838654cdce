package lockstorm.adapter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

class GateTest {
    private static final Target TARGET = Target.of("k");
    private static final String ACQUIRE = "'do':'acquire','key':'k'";
    private static final String RENEWING =
            "{'note':'renewing','key':'k','mode':'write','number':%d}";
    private static final String RENEWED = "{'note':'renewed','number':%d,'outcome':%s}";

    private final Scripted lock = new Scripted(new Abilities());
    private Conversation talk;
    private Gate gate;

    @BeforeEach
    void open() throws Exception {
        talk = Conversation.open(lock);
        gate = lock.client.gate();
    }

    @AfterEach
    void close() throws Exception {
        talk.close();
    }

    private static void expect(Conversation talk, String line, Object... values) throws Exception {
        talk.expect(String.format(line, values));
    }

    /** A renewal on a thread of the library's. */
    private CompletableFuture<Boolean> renewal(Gate.Renewal<?> renewal) {
        CompletableFuture<Boolean> passed = new CompletableFuture<>();
        Conversation.start(
                () -> {
                    try {
                        passed.complete(gate.pass(TARGET, renewal));
                    } catch (Throwable error) {
                        passed.completeExceptionally(error);
                    }
                });
        return passed;
    }

    @Test
    void aRenewalPassesWhileARequestIsUnderWay() throws Exception {
        talk.ask(ACQUIRE);
        CountDownLatch end = new CountDownLatch(1);
        lock.acquire =
                () -> {
                    end.await();
                    return Grant.refused();
                };
        long acquire = talk.send("'do':'acquire','key':'other'");
        AtomicInteger sent = new AtomicInteger();
        CompletableFuture<Boolean> passed = renewal(() -> sent.incrementAndGet() > 0);
        expect(talk, RENEWING, 1);
        assertEquals(0, sent.get(), "sent before it was let");
        talk.write("{'go':1}");
        expect(talk, RENEWED, 1, "{'is':'renewed'}");
        assertTrue(passed.get());
        end.countDown();
        talk.expect("{'is':'refused','id':" + acquire + "}");
    }

    @Test
    void aRenewalThatIsToBeSkippedIsLeftOutInSilence() throws Exception {
        talk.ask(ACQUIRE);
        CompletableFuture<Boolean> passed = renewal(() -> false);
        expect(talk, RENEWING, 1);
        talk.write("{'skip':1}");
        assertTrue(passed.get(), "the library is to go on believing");
        talk.expectSilence();
        renewal(() -> true);
        expect(talk, RENEWING, 2);
    }

    @Test
    void aRefusedRenewalEndsTheHold() throws Exception {
        talk.ask(ACQUIRE);
        CompletableFuture<Boolean> passed = renewal(() -> false);
        expect(talk, RENEWING, 1);
        talk.write("{'go':1}");
        expect(talk, RENEWED, 1, "{'is':'not-owner'}");
        assertFalse(passed.get());
        assertEquals("{'is':'not-owner'}", talk.ask("'do':'alive','key':'k'"));
    }

    @Test
    void whatTheRenewalThrowsReachesTheLibraryUnchanged() throws Exception {
        talk.ask(ACQUIRE);
        IllegalStateException thrown = new IllegalStateException("no reply");
        CompletableFuture<Boolean> passed =
                renewal(
                        () -> {
                            throw thrown;
                        });
        expect(talk, RENEWING, 1);
        talk.write("{'go':1}");
        expect(talk, RENEWED, 1, "{'is':'error','text':'IllegalStateException: no reply'}");
        Throwable caught = assertThrows(CompletionException.class, passed::join).getCause();
        assertEquals(thrown, caught);
        assertEquals("{'is':'held'}", talk.ask("'do':'alive','key':'k'"));
    }

    @Test
    void aRenewalThatIsQuickerThanTheGrantWaitsForItsAnswer() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        CompletableFuture<CompletableFuture<Boolean>> passed = new CompletableFuture<>();
        lock.acquire =
                () -> {
                    passed.complete(renewal(() -> true));
                    end.await();
                    return Grant.granted();
                };
        long acquire = talk.send(ACQUIRE);
        passed.get();
        talk.expectSilence();
        end.countDown();
        talk.expect("{'is':'granted','id':" + acquire + "}");
        expect(talk, RENEWING, 1);
    }

    @Test
    void aRenewalOfWhatWasNeverGrantedIsNotSpokenOf() throws Exception {
        AtomicInteger sent = new AtomicInteger();
        assertTrue(gate.pass(TARGET, () -> sent.incrementAndGet() == 1));
        lock.acquire =
                () -> {
                    // On the thread of the call it must not wait for the end of the call.
                    gate.pass(TARGET, () -> sent.incrementAndGet() == 2);
                    throw new IllegalStateException("no reply");
                };
        assertEquals("{'is':'error','text':'IllegalStateException: no reply'}", talk.ask(ACQUIRE));
        assertEquals(2, sent.get());
        talk.expectSilence();
    }

    @Test
    void linesOfManyThreadsNeverMix() throws Exception {
        talk.ask(ACQUIRE);
        int each = 200;
        int threads = 8;
        for (int n = 0; n < threads; n++) {
            Conversation.start(
                    () -> {
                        for (int m = 0; m < each; m++) {
                            gate.pass(TARGET, () -> true);
                        }
                    });
        }
        long last = 0;
        for (int renewed = 0; renewed < threads * each; ) {
            JsonObject line = JsonParser.parseString(talk.next()).getAsJsonObject();
            if (line.get("note").getAsString().equals("renewed")) {
                renewed++;
                continue;
            }
            long number = line.get("number").getAsLong();
            assertEquals(last + 1, number, "numbers grow");
            last = number;
            talk.write("{'go':" + number + "}");
        }
    }

    @Test
    void anInterruptDoesNotTearARenewalFromItsWord() throws Exception {
        talk.ask(ACQUIRE);
        CompletableFuture<Thread> waiter = new CompletableFuture<>();
        CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
        Conversation.start(
                () -> {
                    waiter.complete(Thread.currentThread());
                    gate.pass(
                            TARGET,
                            () -> interrupted.complete(Thread.currentThread().isInterrupted()));
                });
        expect(talk, RENEWING, 1);
        waiter.get().interrupt();
        talk.expectSilence();
        talk.write("{'go':1}");
        expect(talk, RENEWED, 1, "{'is':'renewed'}");
        assertTrue(interrupted.get(1, TimeUnit.SECONDS), "the library learns of it");
    }
}
