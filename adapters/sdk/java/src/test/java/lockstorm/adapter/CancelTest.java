package lockstorm.adapter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;

class CancelTest {
    private static final String ACQUIRE = "'do':'acquire','key':'k'";

    private final Scripted lock = new Scripted(new Abilities().cancels());
    private final CountDownLatch begun = new CountDownLatch(1);

    /** Begins to wait, and after an interrupt ends like this. */
    private Callable<Grant> waiting(Callable<Grant> end) {
        return () -> {
            begun.countDown();
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException error) {
                return end.call();
            }
            throw new AssertionError("nobody counts down");
        };
    }

    private String cancelled(Callable<Grant> end) throws Exception {
        lock.acquire = waiting(end);
        try (Conversation talk = Conversation.open(lock)) {
            long acquire = talk.send(ACQUIRE);
            begun.await();
            long other = talk.send("'do':'cancel','request':" + (acquire - 1));
            talk.expect("{'is':'done','id':" + other + "}");
            talk.expectSilence();
            long cancel = talk.send("'do':'cancel','request':" + acquire);
            String first = talk.next();
            String second = talk.next();
            String done = "{'is':'done','id':" + cancel + "}";
            assertTrue(first.equals(done) || second.equals(done));
            lock.acquire = () -> Grant.of(!Thread.currentThread().isInterrupted());
            assertEquals("{'is':'granted'}", talk.ask(ACQUIRE), "the interrupt is left over");
            return (first.equals(done) ? second : first).replace(",'id':" + acquire, "");
        }
    }

    @Test
    void aCallThatIsInterruptedIsAnsweredAsCancelled() throws Exception {
        String answer =
                cancelled(
                        () -> {
                            throw new InterruptedException();
                        });
        assertEquals("{'is':'cancelled'}", answer);
    }

    @Test
    void aRefusalThatOnlyTheInterruptMayHaveCausedSaysNothing() throws Exception {
        String answer =
                cancelled(
                        () -> {
                            Thread.currentThread().interrupt();
                            return Grant.refused();
                        });
        assertEquals("{'is':'cancelled'}", answer);
    }

    @Test
    void aGrantThatCameAllTheSameIsAnswered() throws Exception {
        assertEquals("{'is':'granted'}", cancelled(Grant::granted));
    }

    @Test
    void aRequestThatHasHardlyBegunIsGivenUpToo() throws Exception {
        lock.acquire =
                waiting(
                        () -> {
                            throw new InterruptedException();
                        });
        try (Conversation talk = Conversation.open(lock)) {
            for (int n = 0; n < 100; n++) {
                long acquire = talk.send(ACQUIRE);
                talk.send("'do':'cancel','request':" + acquire);
                assertTrue((talk.next() + talk.next()).contains("cancelled"));
            }
        }
    }

    @Test
    void aRequestThatHasEndedIsLeftAlone() throws Exception {
        try (Conversation talk = Conversation.open(lock)) {
            long acquire = talk.send(ACQUIRE);
            talk.expect("{'is':'granted','id':" + acquire + "}");
            assertEquals("{'is':'done'}", talk.ask("'do':'cancel','request':" + acquire));
            lock.acquire =
                    () -> {
                        assertFalse(Thread.currentThread().isInterrupted());
                        return Grant.refused();
                    };
            assertEquals("{'is':'refused'}", talk.ask(ACQUIRE));
        }
    }
}
