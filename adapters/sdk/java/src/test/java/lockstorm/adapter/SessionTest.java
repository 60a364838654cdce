package lockstorm.adapter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

class SessionTest {
    private static final String ACQUIRE = "'do':'acquire','key':'k','mode':'write','permits':1";
    private static final String RELEASE = "'do':'release','key':'k'";
    private static final String ALIVE = "'do':'alive','key':'k'";

    private final Abilities abilities = new Abilities();
    private final Scripted lock = new Scripted(abilities);

    @Test
    void helloIsAnsweredWithTheLowerVersion() throws Exception {
        try (Conversation talk = new Conversation(lock)) {
            String rest = ",'name':'scripted','version':'1.0'}";
            assertEquals(
                    "{'is':'hello','protocol':2" + rest, talk.ask("'do':'hello','protocol':3"));
            assertEquals(
                    "{'is':'hello','protocol':1" + rest, talk.ask("'do':'hello','protocol':1"));
        }
    }

    @Test
    void openSaysWhoToBe() throws Exception {
        String more =
                ",'renew_every_ms':600,'node_timeout_ms':50,'identity':'me','permits':2,'nodes':[],"
                    + "'sentinels':{'master':'m','sentinels':[{'name':'s','address':'::1:26379'}],"
                    + "'servers':[]},'new':true";
        try (Conversation talk = new Conversation(lock)) {
            talk.ask("'do':'open'," + Conversation.CLIENT + more);
        }
        Client client = lock.client;
        assertEquals("a", client.name());
        assertEquals(Optional.of(Duration.ofSeconds(2)), client.lease());
        assertEquals(Optional.of(Duration.ofMillis(600)), client.renewEvery());
        assertEquals(Duration.ofMillis(500), client.patience());
        assertEquals(Optional.of(Duration.ofMillis(50)), client.nodeTimeout());
        assertEquals(Optional.of("me"), client.identity());
        assertEquals(2, client.permits());
        assertEquals("primary at 127.0.0.1:6379", client.onlyServer().toString());
        assertEquals(List.of(), client.nodes());
        Sentinels sentinels = client.sentinels().orElseThrow();
        assertEquals("m", sentinels.master());
        assertEquals("::1", sentinels.sentinels().get(0).host());
        assertTrue(client.request().get("new").getAsBoolean());
    }

    @Test
    void openedNamesWhatTheAdapterCanDo() throws Exception {
        abilities.tokens().waits().cancels().identity().queue().silentWatchdog();
        abilities.promises("fenced").denies("own-release").serverKey("lock:{key}");
        abilities.answersWithin(Duration.ofSeconds(3));
        String rest =
                "],'promises':['fenced'],'denies':['own-release'],'answers_within_ms':3000,"
                        + "'server_key':'lock:{key}'}";
        try (Conversation talk = new Conversation(lock)) {
            assertEquals(
                    "{'is':'opened','can':['cancel','identity','queue','silent-watchdog','tokens',"
                            + "'wait'"
                            + rest,
                    talk.ask("'do':'open'," + Conversation.CLIENT));
        }
        try (Conversation talk = new Conversation(lock)) {
            talk.ask("'do':'hello','protocol':1");
            assertEquals(
                    "{'is':'opened','can':['queue','tokens','wait'" + rest,
                    talk.ask("'do':'open'," + Conversation.CLIENT));
        }
    }

    @Test
    void whatTheAdapterImplementsNeedNotBeNamed() throws Exception {
        class Waiting extends Scripted implements Awaiting {
            String waited;

            Waiting() {
                super(new Abilities());
            }

            @Override
            public Abilities open(Client client) {
                client.gate();
                return super.open(client);
            }

            @Override
            public void await(String key, Duration pause, Duration within) {
                waited = key + " " + pause + " " + within;
            }

            @Override
            public void endWait(String key, boolean granted) {
                waited += " " + granted;
            }
        }

        Waiting waiting = new Waiting();
        try (Conversation talk = new Conversation(waiting)) {
            assertEquals(
                    "{'is':'opened','can':['await','watchdog'],'promises':[],'denies':[]}",
                    talk.ask("'do':'open'," + Conversation.CLIENT));
            String done = "{'is':'done'}";
            assertEquals(
                    done, talk.ask("'do':'await','key':'k','pause_us':1000,'within_us':2000000"));
            assertEquals(done, talk.ask("'do':'end-wait','key':'k','granted':true"));
        }
        assertEquals("k PT0.001S PT2S true", waiting.waited);
    }

    @Test
    void aLockIsTakenAndGivenBackToWarmUp() throws Exception {
        abilities.warmUp();
        lock.release =
                () -> {
                    lock.acquire = Grant::refused;
                    throw new NotOwnerException();
                };
        try (Conversation talk = Conversation.open(lock)) {
            assertEquals("warm-up:a", lock.target.key());
            assertEquals("{'is':'refused'}", talk.ask(ACQUIRE));
            assertEquals("{'is':'not-owner'}", talk.ask("'do':'alive','key':'warm-up:a'"));
        }
    }

    @Test
    void whatTheAdapterDoesNotKnowIsUnsupported() throws Exception {
        try (Conversation talk = Conversation.open(lock)) {
            for (String request :
                    List.of(
                            "'do':'dance'",
                            "'do':'await','key':'k','pause_us':1,'within_us':1",
                            "'do':'renew','key':'k'",
                            "'do':'servers','servers':[]",
                            "'do':'cancel','request':1",
                            "'do':'acquire','key':'k','mode':'read'",
                            "'do':'acquire','key':'k','permits':2")) {
                String answer = talk.ask(request);
                assertTrue(answer.startsWith("{'is':'unsupported','text':"), answer);
            }
            assertEquals("{'is':'done'}", talk.ask("'do':'touch','key':'k'"));
        }
    }

    @Test
    void modePermitsAndPatienceAreHandedOnToWhoKnowsThem() throws Exception {
        try (Conversation talk = Conversation.open(lock)) {
            talk.ask("'do':'acquire','key':'k','wait_ms':70");
        }
        assertEquals(Optional.empty(), lock.target.patience());
        abilities.readers().permits().waits();
        try (Conversation talk = Conversation.open(lock)) {
            talk.ask("'do':'acquire','key':'k','mode':'read','permits':3,'wait_ms':70");
        }
        assertEquals(Mode.READ, lock.target.mode());
        assertEquals(3, lock.target.permits());
        assertEquals(Optional.of(Duration.ofMillis(70)), lock.target.patience());
    }

    @Test
    void badInputGetsAClearError() throws Exception {
        try (Conversation talk = new Conversation(lock)) {
            assertEquals(
                    "{'is':'unsupported','text':''acquire' before 'open''}", talk.ask(ACQUIRE));
            assertFailed(talk, "'protocol' is missing", "'do':'hello'");
            assertFailed(
                    talk, "'protocol' must be 1 or more, and is 0", "'do':'hello','protocol':0");
            talk.ask("'do':'open'," + Conversation.CLIENT);
            assertFailed(talk, "the client is open: 'open' must come once", "'do':'open'");
            assertFailed(talk, "'key' is missing", "'do':'acquire'");
            assertFailed(talk, "'key' must be a text", "'do':'acquire','key':7");
            assertFailed(talk, "'key' must be a text", "'do':'release','key':{}");
            assertFailed(
                    talk,
                    "'mode' must be 'write' or 'read', and is 'sing'",
                    "'do':'alive','key':'k','mode':'sing'");
            assertFailed(
                    talk,
                    "'permits' must be 1 or more, and is 0",
                    "'do':'acquire','key':'k','permits':0");
            assertFailed(
                    talk,
                    "'permits' must be a whole number, 0 or more",
                    "'do':'acquire','key':'k','permits':1.5");
            assertFailed(
                    talk,
                    "'permits' must be a whole number, 0 or more",
                    "'do':'acquire','key':'k','permits':1e999999999");
            assertFailed(
                    talk,
                    "'address' must be 'ip:port', and is 'here'",
                    "'do':'servers','servers':[{'name':'n','address':'here'}]");
        }
    }

    private static void assertFailed(Conversation talk, String text, String request)
            throws Exception {
        String said = talk.ask(request);
        assertEquals("{'is':'failed','text':'" + text + "'}", said);
    }

    @Test
    void aGrantSaysWhatTheLibraryKnows() throws Exception {
        lock.acquire =
                () ->
                        Grant.granted()
                                .lease(Duration.ofMillis(1500))
                                .token(Long.MAX_VALUE)
                                .mark("ä")
                                .mark(new byte[] {-1, 0})
                                .by(List.of("n1", "n2"))
                                .waited(Duration.ofMillis(5));
        try (Conversation talk = Conversation.open(lock)) {
            assertEquals(
                    "{'is':'granted','lease_ms':1500,'token':9223372036854775807,"
                            + "'marks':['ä',{'base64':'/wA='}],'by':['n1','n2'],'waited_ms':5}",
                    talk.ask(ACQUIRE));
            lock.acquire = () -> Grant.granted().untilSessionEnd();
            assertEquals("{'is':'granted','until':'session-end'}", talk.ask(ACQUIRE));
            lock.acquire = () -> Grant.of(false);
            assertEquals("{'is':'refused'}", talk.ask(ACQUIRE));
            lock.acquire = Grant::refusedForUnknownReason;
            assertEquals("{'is':'refused','reason':'unknown'}", talk.ask(ACQUIRE));
            lock.release = () -> Release.ownershipUnknown().count(2);
            assertEquals("{'is':'released','ownership':'unknown','count':2}", talk.ask(RELEASE));
        }
    }

    @Test
    void whatTheLibraryThrowsBecomesTheSafeAnswer() throws Exception {
        try (Conversation talk = Conversation.open(lock)) {
            lock.acquire =
                    () -> {
                        throw new IllegalStateException("no reply", new java.io.IOException());
                    };
            assertEquals(
                    "{'is':'error','text':'IllegalStateException: no reply; caused by"
                            + " IOException'}",
                    talk.ask(ACQUIRE));
            lock.acquire =
                    () -> {
                        throw new FailedException(new IllegalArgumentException("too long"));
                    };
            assertEquals(
                    "{'is':'failed','text':'IllegalArgumentException: too long'}",
                    talk.ask(ACQUIRE));
            lock.acquire =
                    () -> {
                        throw new AssertionError("x".repeat(100_000));
                    };
            assertTrue(talk.ask(ACQUIRE).length() < 5000);
            lock.release =
                    () -> {
                        throw new NotOwnerException();
                    };
            assertEquals("{'is':'not-owner'}", talk.ask(RELEASE));
        }
    }

    @Test
    void aHoldIsCountedOnlyWhereTheLockIsReentrant() throws Exception {
        for (boolean reentrant : List.of(true, false)) {
            Scripted one =
                    new Scripted(reentrant ? abilities.promises("reentrant") : new Abilities());
            try (Conversation talk = Conversation.open(one)) {
                assertEquals("{'is':'not-owner'}", talk.ask(ALIVE));
                talk.ask(ACQUIRE);
                talk.ask(ACQUIRE);
                assertEquals("{'is':'held'}", talk.ask(ALIVE));
                assertEquals("{'is':'not-owner'}", talk.ask("'do':'alive','key':'other'"));
                talk.ask(RELEASE);
                assertEquals(reentrant ? "{'is':'held'}" : "{'is':'not-owner'}", talk.ask(ALIVE));
                talk.ask(RELEASE);
                assertEquals("{'is':'not-owner'}", talk.ask(ALIVE));
            }
        }
    }

    @Test
    void aReleaseThatIsRefusedEndsTheHoldAndOneThatFailsDoesNot() throws Exception {
        try (Conversation talk = Conversation.open(lock)) {
            talk.ask(ACQUIRE);
            lock.release =
                    () -> {
                        throw new IllegalStateException("no reply");
                    };
            talk.ask(RELEASE);
            assertEquals("{'is':'held'}", talk.ask(ALIVE));
            lock.release =
                    () -> {
                        throw new NotOwnerException();
                    };
            talk.ask(RELEASE);
            assertEquals("{'is':'not-owner'}", talk.ask(ALIVE));
        }
    }

    @Test
    void notesChangeWhatIsHeld() throws Exception {
        try (Conversation talk = Conversation.open(lock)) {
            Target target = Target.of("k");
            Notes notes = lock.client.notes();
            notes.lost(target);
            talk.expectSilence();
            talk.ask(ACQUIRE);
            notes.suspended(target);
            talk.expectTold("suspended", 3);
            assertEquals("{'is':'suspended'}", talk.ask(ALIVE));
            notes.resumed(target);
            talk.expectTold("resumed", 4);
            assertEquals("{'is':'held'}", talk.ask(ALIVE));
            notes.lost(target);
            talk.expectTold("lost", 5);
            assertEquals("{'is':'not-owner'}", talk.ask(ALIVE));
            notes.queued("k");
            talk.expect("{'note':'queued','key':'k'}");
            notes.routed("n2", "n1", "failover");
            talk.expect("{'note':'routed','to':'n2','from':'n1','why':'failover'}");
        }
    }
}
