//! The loop over pipes, with a lock that does what the key says.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::future::pending;
use std::io::{BufRead as _, BufReader, PipeWriter, Write as _, pipe};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use lockstorm_adapter::{
    Ability, Acquired, Ask, Client, Error, Grant, Lock, Mode, Opened, Released, Server, converse,
    locked_version, serve,
};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

/// Longest time that a test waits for a line.
const PATIENCE: Duration = Duration::from_secs(10);

/// A lock that does what the key says.
struct Scripted {
    client: Client,
    opened: Opened,
}

impl Lock for Scripted {
    async fn open(client: Client) -> Result<Self, Error> {
        let mut opened = Opened::default();
        match client.topology.as_str() {
            "nowhere" => return Err(Error::unsupported("only on Mondays")),
            "claims" => {
                opened = Opened {
                    can: vec![Ability::Tokens, Ability::SilentWatchdog],
                    promises: vec!["fenced"],
                    denies: vec!["settles"],
                    answers_within: Some(Duration::from_secs(60)),
                    server_key: Some("lock:{key}"),
                    ..opened
                }
            }
            "knows" => {
                opened.can = vec![Ability::Wait, Ability::Await];
                (opened.readers, opened.permits) = (true, true);
            }
            "reentrant" => opened.promises = vec!["reentrant"],
            _ => {}
        }
        Ok(Self { client, opened })
    }

    fn opened(&self) -> Opened {
        self.opened.clone()
    }

    async fn acquire(&mut self, ask: &Ask) -> Result<Acquired, Error> {
        match ask.key.as_str() {
            "full" => Ok(Acquired::Granted(Grant {
                lease: Some(Duration::from_micros(600_700)),
                token: Some(7),
                marks: vec!["text".into(), vec![255, 0].into()],
                by: vec!["n1".to_owned()],
                waited: Some(Duration::from_millis(3)),
                until_session_end: false,
            })),
            "of a session" => Ok(Acquired::Granted(Grant {
                until_session_end: true,
                ..Grant::default()
            })),
            "refused" => Ok(Acquired::Refused),
            "silent" => Ok(Acquired::RefusedUnknown),
            "hangs" => pending().await,
            "asked" => Err(Error::failed(format!("{ask:?}"))),
            "noted" => {
                self.client.queued("noted");
                self.client.routed("n2", Some("n1"), None);
                Ok(Acquired::Granted(Grant::default()))
            }
            "watched" => {
                let (client, ask) = (self.client.clone(), ask.clone());
                tokio::spawn(async move { watch(&client, &ask).await });
                pending().await
            }
            "doubtful" => {
                self.client.suspended(ask);
                Ok(Acquired::Granted(Grant::default()))
            }
            _ => Ok(Acquired::Granted(Grant::default())),
        }
    }

    async fn renew(&mut self, ask: &Ask) -> Result<Option<Duration>, Error> {
        match ask.key.as_str() {
            "doubtful" => self.client.resumed(ask),
            "lost" => self.client.lost(ask),
            _ => end(&ask.key)?,
        }
        Ok(Some(Duration::from_secs(1)))
    }

    async fn release(&mut self, ask: &Ask) -> Result<Released, Error> {
        match ask.key.as_str() {
            "silent" => Ok(Released::OwnershipUnknown),
            "counted" => Ok(Released::Count(2)),
            key => end(key).map(|()| Released::Free),
        }
    }

    async fn follow(&mut self, servers: Vec<Server>) -> Result<(), Error> {
        match servers.as_slice() {
            [_] => Ok(()),
            _ => Err(Error::failed("one server, please")),
        }
    }

    async fn await_turn(&mut self, _: &str, pause: Duration, _: Duration) -> Result<(), Error> {
        assert_eq!(pause, Duration::from_micros(20));
        Ok(())
    }

    async fn end_wait(&mut self, _: &str, granted: bool) -> Result<(), Error> {
        assert!(granted);
        Ok(())
    }
}

/// The error that a key says.
fn end(key: &str) -> Result<(), Error> {
    match key {
        "another's" => Err(Error::NotOwner),
        "failing" => Err(Error::failed("read only")),
        "impossible" => Err(Error::unsupported("never")),
        "broken" => Ok("one".parse::<u8>().map(|_| ())?),
        "given back" => Err(Error::lost("it failed")),
        "wordy" => Err(Error::Unknown("ä".repeat(100_000))),
        _ => Ok(()),
    }
}

/// A watchdog: its first renewal is granted, its second denied, its third never answered.
async fn watch(client: &Client, ask: &Ask) {
    let lease = Some(Duration::from_secs(1));
    let said = |outcome: &Result<Option<Duration>, Error>| outcome.clone();
    let first = client.renewal(ask, async { Ok(lease) }, said).await;
    assert_eq!(first, Some(Ok(lease)));
    let second = async { Err(Error::NotOwner) };
    assert!(client.renewal(ask, second, said).await.is_some());
    let left_out = async { panic!("it must not be sent") };
    assert_eq!(client.renewal(ask, left_out, said).await, None);
    let third = client.renewal(ask, pending(), said);
    let given_up = tokio::time::timeout(Duration::from_millis(100), third);
    assert!(given_up.await.is_err());
    let never_sent = client.renewal(ask, pending(), said);
    let given_up = tokio::time::timeout(Duration::from_millis(100), never_sent);
    assert!(given_up.await.is_err());
    client.routed("n2", Some("n1"), Some("the last renewal was given up"));
}

/// The other end of a conversation.
struct Harness {
    input: Option<PipeWriter>,
    lines: Receiver<String>,
    conversation: JoinHandle<std::io::Result<()>>,
}

impl Harness {
    fn new() -> Self {
        let (hear, input) = pipe().unwrap();
        let (output, say) = pipe().unwrap();
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                let _ = sender.send(line.unwrap());
            }
        });
        let conversation = thread::spawn(move || {
            let talk = converse::<Scripted>("a lock", "1.2", BufReader::new(hear), say);
            Runtime::new().unwrap().block_on(talk)
        });
        Self {
            input: Some(input),
            lines,
            conversation,
        }
    }

    /// With an open client on this topology.
    fn open(topology: &str) -> Self {
        let harness = Self::new();
        harness.say(&json!({"id": 1, "do": "hello", "protocol": 3}));
        let hello =
            json!({"id": 1, "is": "hello", "protocol": 2, "name": "a lock", "version": "1.2"});
        harness.hear(&hello);
        harness.say(&opening(topology));
        assert!(harness.next().contains("opened"));
        harness
    }

    fn write(&self, line: &str) {
        let mut input = self.input.as_ref().unwrap();
        writeln!(input, "{line}").unwrap();
    }

    fn say(&self, message: &Value) {
        self.write(&message.to_string());
    }

    fn next(&self) -> String {
        self.lines
            .recv_timeout(PATIENCE)
            .expect("it says something")
    }

    fn hear(&self, expected: &Value) {
        let mut said: Value = serde_json::from_str(&self.next()).unwrap();
        for time in ["after", "after_us"] {
            // Tested by themselves.
            said.as_object_mut().unwrap().remove(time);
        }
        assert_eq!(said, *expected);
    }

    /// Makes a request about a key.
    fn ask(&self, word: &str, key: &str) {
        self.say(&json!({"id": 3, "do": word, "key": key}));
    }

    fn expect(&self, word: &str, key: &str, mut answer: Value) {
        self.ask(word, key);
        answer["id"] = 3.into();
        self.hear(&answer);
    }

    fn ended(mut self) -> Result<(), String> {
        self.input = None;
        let ended = self.conversation.join().unwrap();
        ended.map_err(|error| error.to_string())
    }
}

fn opening(topology: &str) -> Value {
    json!({
        "id": 2, "do": "open", "client": "a", "lease_ms": 600, "reply_timeout_ms": 500,
        "topology": topology, "servers": [{"name": "n1", "address": "127.0.0.1:6379"}],
        "nodes": [], "source": "127.0.0.1", "seed": 7, "lock": {},
    })
}

#[test]
fn a_session_goes_through_all_calls() {
    let harness = Harness::open("single");
    let mark = json!({"base64": "/wA="});
    harness.expect(
        "acquire",
        "full",
        json!({
            "is": "granted", "lease_ms": 600, "token": 7, "marks": ["text", mark], "by": ["n1"],
            "waited_ms": 3,
        }),
    );
    let granted = json!({"is": "granted", "until": "session-end"});
    harness.expect("acquire", "of a session", granted);
    harness.expect("alive", "full", json!({"is": "held"}));
    harness.expect("touch", "full", json!({"is": "done"}));
    harness.expect("renew", "full", json!({"is": "renewed", "lease_ms": 1000}));
    harness.expect("release", "full", json!({"is": "released"}));
    harness.expect("alive", "full", json!({"is": "not-owner"}));
    let unknown = json!({"is": "unsupported", "text": "'dance' is not known"});
    harness.expect("dance", "full", unknown);
    harness
        .say(&json!({"id": 4, "do": "servers", "servers": [{"name": "n", "address": "[::1]:1"}]}));
    harness.hear(&json!({"id": 4, "is": "done"}));
    harness.say(&json!({"id": 5, "do": "close"}));
    harness.hear(&json!({"id": 5, "is": "done"}));
    assert_eq!(harness.ended(), Ok(()));
}

#[test]
fn opened_says_what_it_can() {
    for (asked, spoken, cancel) in [(2, 2, Some("cancel")), (1, 1, None)] {
        let harness = Harness::new();
        harness.say(&json!({"id": 1, "do": "hello", "protocol": asked}));
        let hello = harness.next();
        assert!(hello.contains(&format!("\"protocol\":{spoken}")), "{hello}");
        harness.say(&opening("claims"));
        let words = ["tokens", "silent-watchdog"].into_iter();
        let can: Vec<&str> = words.chain(cancel).collect();
        harness.hear(&json!({
            "id": 2, "is": "opened", "can": can, "promises": ["fenced"], "denies": ["settles"],
            "answers_within_ms": 60000, "server_key": "lock:{key}",
        }));
    }
}

#[test]
fn what_cannot_be_opened_says_why() {
    let harness = Harness::new();
    let early = json!({"is": "unsupported", "text": "'open' must come before 'acquire'"});
    harness.expect("acquire", "k", early);
    harness.say(&opening("nowhere"));
    harness.hear(&json!({"id": 2, "is": "unsupported", "text": "only on Mondays"}));
    let mut odd = opening("single");
    odd["servers"] = json!([]);
    harness.say(&odd);
    let text = "'servers' must name one server at least";
    harness.hear(&json!({"id": 2, "is": "failed", "text": text}));
    odd["servers"] = json!([{"name": "n", "address": "there"}]);
    harness.say(&odd);
    let said = harness.next();
    assert!(
        said.contains("failed") && said.contains("socket address"),
        "{said}"
    );
}

#[test]
fn errors_become_answers() {
    let harness = Harness::open("single");
    harness.expect("acquire", "refused", json!({"is": "refused"}));
    harness.expect(
        "acquire",
        "silent",
        json!({"is": "refused", "reason": "unknown"}),
    );
    let unknown = json!({"is": "released", "ownership": "unknown"});
    harness.expect("release", "silent", unknown);
    harness.expect("release", "counted", json!({"is": "released", "count": 2}));
    let text = "core::num::error::ParseIntError: invalid digit found in string";
    for (key, answer, alive) in [
        ("another's", json!({"is": "not-owner"}), "not-owner"),
        (
            "failing",
            json!({"is": "failed", "text": "read only"}),
            "held",
        ),
        (
            "impossible",
            json!({"is": "unsupported", "text": "never"}),
            "held",
        ),
        ("broken", json!({"is": "error", "text": text}), "held"),
    ] {
        for word in ["renew", "release"] {
            harness.expect("acquire", key, json!({"is": "granted"}));
            harness.expect(word, key, answer.clone());
            harness.expect("alive", key, json!({"is": alive}));
        }
    }
    harness.ask("renew", "wordy");
    let said = harness.next();
    assert!(
        said.len() < 5000 && said.ends_with(" ...\"}"),
        "{} bytes",
        said.len()
    );
}

#[test]
fn a_lock_is_lost_by_an_answer_that_tells_nothing_else() {
    let harness = Harness::open("single");
    for word in ["renew", "release"] {
        harness.expect("acquire", "given back", json!({"is": "granted"}));
        let unknown = json!({"is": "error", "text": "it failed"});
        harness.expect(word, "given back", unknown);
        let mut lost = json!({"note": "lost", "mode": "write", "permits": 1});
        lost["key"] = "given back".into();
        harness.hear(&lost);
        harness.expect("alive", "given back", json!({"is": "not-owner"}));
    }
}

#[test]
fn only_what_a_lock_knows_is_handed_on() {
    let reading = json!({
        "id": 3, "do": "acquire", "key": "asked", "mode": "read", "permits": 2, "wait_ms": 50,
    });
    let plain = Harness::open("single");
    plain.say(&reading);
    let text = "the lock knows no readers: 'mode' must be 'write'";
    plain.hear(&json!({"id": 3, "is": "unsupported", "text": text}));
    plain.say(&json!({"id": 3, "do": "acquire", "key": "asked", "permits": 2}));
    let text = "the lock is no semaphore: 'permits' must be 1";
    plain.hear(&json!({"id": 3, "is": "unsupported", "text": text}));
    plain.say(&json!({"id": 3, "do": "acquire", "key": "asked", "wait_ms": 50}));
    let text = format!("{:?}", Ask::of("asked"));
    plain.hear(&json!({"id": 3, "is": "failed", "text": text}));
    let text = "it does not know when to try again";
    plain.expect("await", "k", json!({"is": "unsupported", "text": text}));

    let knowing = Harness::open("knows");
    knowing.say(&reading);
    let text = format!(
        "{:?}",
        Ask {
            mode: Mode::Read,
            permits: 2,
            wait: Some(Duration::from_millis(50)),
            ..Ask::of("asked")
        }
    );
    knowing.hear(&json!({"id": 3, "is": "failed", "text": text}));
    let turn = json!({"id": 3, "do": "await", "key": "k", "pause_us": 20, "within_us": 90});
    knowing.say(&turn);
    knowing.hear(&json!({"id": 3, "is": "done"}));
    knowing.say(&json!({"id": 3, "do": "end-wait", "key": "k", "granted": true}));
    knowing.hear(&json!({"id": 3, "is": "done"}));
}

#[test]
fn a_cancelled_call_is_given_up() {
    let harness = Harness::open("single");
    harness.ask("acquire", "hangs");
    harness.say(&json!({"id": 4, "do": "cancel", "request": 3}));
    harness.hear(&json!({"id": 4, "is": "done"}));
    harness.hear(&json!({"id": 3, "is": "cancelled"}));
    harness.expect("alive", "hangs", json!({"is": "not-owner"}));
    harness.say(&json!({"id": 5, "do": "cancel", "request": 3}));
    harness.hear(&json!({"id": 5, "is": "done"}));
    harness.expect("acquire", "free", json!({"is": "granted"}));
}

#[test]
fn renewals_pass_while_a_call_is_under_way() {
    let harness = Harness::open("single");
    harness.ask("acquire", "watched");
    let renewing = |number: u64| {
        let mut note = json!({"note": "renewing", "key": "watched", "mode": "write", "permits": 1});
        note["number"] = number.into();
        note
    };
    let renewed = |number: u64, outcome: Value| {
        let mut note = json!({"note": "renewed", "outcome": outcome});
        note["number"] = number.into();
        note
    };
    harness.hear(&renewing(1));
    harness.say(&json!({"go": 1}));
    harness.hear(&renewed(1, json!({"is": "renewed", "lease_ms": 1000})));
    harness.hear(&renewing(2));
    harness.say(&json!({"go": 2}));
    harness.hear(&renewed(2, json!({"is": "not-owner"})));
    harness.hear(&renewing(3));
    harness.say(&json!({"skip": 3}));
    harness.hear(&renewing(4));
    harness.say(&json!({"go": 4}));
    let text = "the library gave the renewal up before it had a reply";
    harness.hear(&renewed(4, json!({"is": "error", "text": text})));
    harness.hear(&renewing(5));
    let why = "the last renewal was given up";
    harness.hear(&json!({"note": "routed", "to": "n2", "from": "n1", "why": why}));
    harness.say(&json!({"go": 5}));
    let text = "the library gave the renewal up before it was sent";
    harness.hear(&renewed(5, json!({"is": "failed", "text": text})));
    harness.say(&json!({"id": 4, "do": "cancel", "request": 3}));
    harness.hear(&json!({"id": 4, "is": "done"}));
}

#[test]
fn notes_are_said_and_remembered() {
    let harness = Harness::open("single");
    let note =
        |word: &str, key: &str| json!({"note": word, "key": key, "mode": "write", "permits": 1});
    harness.ask("acquire", "noted");
    harness.hear(&json!({"note": "queued", "key": "noted"}));
    harness.hear(&json!({"note": "routed", "to": "n2", "from": "n1"}));
    harness.hear(&json!({"id": 3, "is": "granted"}));
    harness.ask("acquire", "doubtful");
    harness.hear(&note("suspended", "doubtful"));
    harness.hear(&json!({"id": 3, "is": "granted"}));
    harness.expect("alive", "doubtful", json!({"is": "suspended"}));
    harness.ask("renew", "doubtful");
    harness.hear(&note("resumed", "doubtful"));
    harness.next();
    harness.expect("alive", "doubtful", json!({"is": "held"}));
    harness.expect("acquire", "lost", json!({"is": "granted"}));
    harness.ask("renew", "lost");
    harness.hear(&note("lost", "lost"));
    harness.next();
    harness.expect("alive", "lost", json!({"is": "not-owner"}));
}

#[test]
fn only_a_reentrant_lock_is_held_twice() {
    for (topology, after) in [("reentrant", "held"), ("single", "not-owner")] {
        let harness = Harness::open(topology);
        for word in ["acquire", "acquire", "release"] {
            harness.ask(word, "k");
            harness.next();
        }
        harness.expect("alive", "k", json!({"is": after}));
    }
}

#[test]
fn the_end_of_input_ends_a_call_under_way() {
    let harness = Harness::open("single");
    harness.ask("acquire", "hangs");
    assert_eq!(harness.ended(), Ok(()));
}

#[test]
fn what_was_asked_before_the_end_of_input_is_answered() {
    let mut harness = Harness::open("single");
    harness.ask("acquire", "k");
    harness.ask("release", "k");
    harness.input = None;
    harness.hear(&json!({"id": 3, "is": "granted"}));
    harness.hear(&json!({"id": 3, "is": "released"}));
    assert_eq!(harness.ended(), Ok(()));
}

#[test]
fn bad_input_is_named() {
    for (line, complaint) in [
        ("hello", "line 1 of standard input: must be a JSON object: "),
        (
            r#"{"do":"hello"}"#,
            "a request must have 'id', a number, and 'do', a word",
        ),
        (
            r#"{"id":-1,"do":"hello"}"#,
            "a request must have 'id', a number",
        ),
        (r#"{"go":5}"#, "renewal 5 must have been announced"),
        (r#"{"skip":"x"}"#, "'skip' must be the number of a renewal"),
        (
            &" ".repeat(65_537),
            "line 1 of standard input: must have 65536 bytes at most",
        ),
    ] {
        let harness = Harness::new();
        harness.write(line);
        let error = harness.ended().unwrap_err();
        assert!(error.contains(complaint), "{error}");
    }
    let harness = Harness::open("single");
    for (request, complaint) in [
        (json!({"id": 3, "do": "acquire"}), "missing field `key`"),
        (
            json!({"id": 3, "do": "acquire", "key": ""}),
            "'key' must be",
        ),
        (
            json!({"id": 3, "do": "renew", "key": "k", "mode": "no"}),
            "expected `write` or `read`",
        ),
        (
            json!({"id": 3, "do": "renew", "key": "k", "permits": 0}),
            "'permits' must be 1 or more",
        ),
        (opening("single"), "'open' must come once"),
    ] {
        harness.say(&request);
        let said = harness.next();
        assert!(said.contains(complaint), "{said}");
    }
}

#[test]
fn a_lock_file_says_the_version() {
    let lock_file = "[[package]]\nname = \"rslock\"\nversion = \"0.10.0\"\n";
    assert_eq!(locked_version(lock_file, "rslock"), "0.10.0");
    assert_eq!(locked_version(lock_file, "lock"), "unknown");
}

#[test]
#[ignore = "the process that the next test starts"]
fn adapter() {
    println!("a library speaks");
    thread::spawn(|| {
        loop {
            thread::park();
        }
    });
    serve::<Scripted>("a lock", "1.2");
}

#[test]
fn a_process_keeps_its_answers_clean_and_ends() {
    let mut process = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "adapter", "--nocapture"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = process.stdin.take().unwrap();
    let output = process.stdout.take().unwrap();
    writeln!(input, "{}", opening("single")).unwrap();
    let mut lines = BufReader::new(output).lines().map(Result::unwrap);
    // The test's own head goes before the adapter begins.
    let first = lines.find(|line| line.starts_with('{'));
    assert!(first.unwrap().contains("opened"));
    writeln!(input, r#"{{"id":3,"do":"acquire","key":"k"}}"#).unwrap();
    assert_eq!(lines.next().unwrap(), r#"{"id":3,"is":"granted"}"#);
    drop(input);
    assert_eq!(lines.next(), None);
    assert!(process.wait().unwrap().success());
}
