//! The time of what the library tells unasked.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::io::{BufRead as _, BufReader, Lines, PipeReader, PipeWriter, Write as _, pipe};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use lockstorm_adapter::{Acquired, Ask, Client, Error, Grant, Lock, Released, converse};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

/// Time after a request at which something is told.
const PAUSE: Duration = Duration::from_millis(30);

/// A lock that is lost.
struct Losing {
    client: Client,
}

impl Lock for Losing {
    async fn open(client: Client) -> Result<Self, Error> {
        Ok(Self { client })
    }

    async fn acquire(&mut self, ask: &Ask) -> Result<Acquired, Error> {
        let (client, ask) = (self.client.clone(), ask.clone());
        tokio::spawn(async move { lose(&client, &ask).await });
        Ok(Acquired::Granted(Grant::default()))
    }

    async fn renew(&mut self, _: &Ask) -> Result<Option<Duration>, Error> {
        sleep(PAUSE);
        Err(Error::lost("it failed"))
    }

    async fn release(&mut self, ask: &Ask) -> Result<Released, Error> {
        sleep(PAUSE);
        self.client.suspended(ask);
        self.client.resumed(ask);
        Ok(Released::Free)
    }
}

/// Renews once, and tells twice that the lock is lost.
async fn lose(client: &Client, ask: &Ask) {
    let renewal = async {
        sleep(PAUSE);
        Err(Error::lost("it failed"))
    };
    let said = |outcome: &Result<Option<Duration>, Error>| outcome.clone();
    assert!(client.renewal(ask, renewal, said).await.is_some());
    client.lost(ask);
}

/// The other end of a conversation.
struct Harness {
    input: PipeWriter,
    lines: Lines<BufReader<PipeReader>>,
}

impl Harness {
    /// With an open client.
    fn open() -> Self {
        let (hear, input) = pipe().unwrap();
        let (output, say) = pipe().unwrap();
        thread::spawn(move || {
            let talk = converse::<Losing>("a lock", "1.2", BufReader::new(hear), say);
            Runtime::new().unwrap().block_on(talk)
        });
        let mut harness = Self {
            input,
            lines: BufReader::new(output).lines(),
        };
        let servers = json!([{"name": "n1", "address": "127.0.0.1:6379"}]);
        harness.say(&json!({"id": 1, "do": "open", "servers": servers}));
        harness.next();
        harness
    }

    fn say(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
    }

    fn ask(&mut self, id: u64, word: &str) {
        self.say(&json!({"id": id, "do": word, "key": "k"}));
    }

    fn next(&mut self) -> Value {
        let line = self.lines.next().unwrap().unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Hears what was told after this request, which was made at `begun`, and after the pause.
    fn hear_after(&mut self, request: u64, word: &str, begun: Instant) {
        let said = self.next();
        let after_us = said["after_us"].as_u64().unwrap();
        let note = json!({
            "note": word, "key": "k", "mode": "write", "permits": 1, "after": request,
            "after_us": after_us,
        });
        assert_eq!(said, note);
        let (after, elapsed) = (Duration::from_micros(after_us), begun.elapsed());
        assert!(
            PAUSE <= after && after < elapsed,
            "{after:?} of {elapsed:?}"
        );
    }
}

#[test]
fn a_note_is_timed_from_the_request_under_way() {
    let mut harness = Harness::open();
    let begun = Instant::now();
    harness.ask(3, "release");
    harness.hear_after(3, "suspended", begun);
    harness.hear_after(3, "resumed", begun);
    assert_eq!(harness.next()["is"], "released");
}

#[test]
fn a_loss_by_an_answer_is_timed_as_the_call_ends() {
    let mut harness = Harness::open();
    let begun = Instant::now();
    harness.ask(3, "renew");
    assert_eq!(harness.next()["is"], "error");
    harness.hear_after(3, "lost", begun);
}

#[test]
fn a_note_is_timed_from_the_last_request_and_not_from_the_word_about_a_renewal() {
    let mut harness = Harness::open();
    harness.ask(3, "acquire");
    let heard = [harness.next(), harness.next()];
    assert!(heard.iter().any(|line| line["note"] == "renewing"));
    let begun = Instant::now();
    harness.ask(4, "touch");
    harness.next();
    harness.say(&json!({"go": 1}));
    assert_eq!(harness.next()["note"], "renewed");
    harness.hear_after(4, "lost", begun);
    harness.hear_after(4, "lost", begun);
}
