package lockstorm.adapter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.time.Duration;

class NotesTest {
    private static final Target TARGET = Target.of("k");
    private static final String ACQUIRE = "'do':'acquire','key':'k'";
    private static final Duration PAUSE = Duration.ofMillis(30);

    private final Scripted lock = new Scripted(new Abilities());
    private Conversation talk;
    private Notes notes;

    @BeforeEach
    void open() throws Exception {
        talk = Conversation.open(lock);
        notes = lock.client.notes();
    }

    @AfterEach
    void close() throws Exception {
        talk.close();
    }

    private static void pause() throws InterruptedException {
        Thread.sleep(PAUSE.toMillis());
    }

    private static void assertWithin(Duration told, Duration elapsed) {
        boolean isWithin = told.compareTo(PAUSE) >= 0 && told.compareTo(elapsed) < 0;
        assertTrue(isWithin, told + " of " + elapsed);
    }

    private static Duration since(long nanos) {
        return Duration.ofNanos(System.nanoTime() - nanos);
    }

    @Test
    void aNoteSaysHowLongAfterARequestItWasTold() throws Exception {
        talk.ask(ACQUIRE);
        long begun = System.nanoTime();
        long request = talk.send("'do':'touch','key':'k'");
        talk.expect("{'is':'done','id':" + request + "}");
        pause();
        notes.suspended(TARGET);
        assertWithin(talk.expectTold("suspended", request), since(begun));
        notes.resumed(TARGET);
        assertWithin(talk.expectTold("resumed", request), since(begun));
        Conversation.start(() -> lock.client.gate().pass(TARGET, () -> true));
        talk.next();
        // It is no request.
        talk.write("{'go':1}");
        talk.next();
        notes.lost(TARGET);
        assertWithin(talk.expectTold("lost", request), since(begun));
    }

    @Test
    void aNoteThatWaitsForAnAnswerSaysWhenItWasTold() throws Exception {
        lock.acquire =
                () -> {
                    pause();
                    Thread library = new Thread(() -> notes.lost(TARGET));
                    library.start();
                    while (library.getState() != Thread.State.WAITING) {
                        Thread.onSpinWait();
                    }
                    pause();
                    return Grant.granted();
                };
        long begun = System.nanoTime();
        long acquire = talk.send(ACQUIRE);
        talk.expect("{'is':'granted','id':" + acquire + "}");
        Duration told = talk.expectTold("lost", acquire);
        assertWithin(told, since(begun).minus(PAUSE));
    }

    @Test
    void whatIsToldBeforeARequestHasNoTime() {
        assertEquals("{}", new LastRequest().now().toString());
    }
}
