//! The watchdog against a real server: what one round sends, and when there is no more to renew.

use std::fs::File;
use std::io::BufReader;
use std::sync::Arc;
use std::time::Duration;

use crate::support::have_server;
use crate::support::test_bed::{TestBed, spec, with_command};
use lockstorm_checker::history::{Event, Function, Header, History, Kind, Name, read_jsonl};
use lockstorm_harness::client::{AnyLock, Reply, Session, SessionParts};
use lockstorm_harness::clock::RunClock;
use lockstorm_harness::locks::LockRequest;
use lockstorm_harness::recorder::Recorder;
use lockstorm_harness::seed::Seed;

/// A client that records what it does.
struct Client {
    session: Session,
    recorder: Recorder,
    history: tempfile::TempPath,
}

impl Client {
    fn new(bed: &TestBed, lock: &str) -> Self {
        let history = tempfile::NamedTempFile::new().expect("a temporary file can be made");
        let history = history.into_temp_path();
        let recorder = Recorder::start(&history, &Header::new(), RunClock::start())
            .expect("the history can be written");
        let spec = spec(lock);
        let context = bed.context(0);
        let session = Session::new(SessionParts {
            name: "c0".into(),
            process: 0,
            clients: 2,
            gate: Arc::clone(&context.dialer.gate),
            lock: AnyLock::new(&spec, context).expect("it is one of ours"),
            lease: spec.lease().map(|lease| lease.0),
            until: None,
            renew_every: spec.renew_every().map(|every| every.0),
            lacks_watchdog: false,
            renews_unseen: false,
            renews_on: false,
            sink: recorder.sink(),
            rng: Seed(1).stream("c0"),
            job: None,
        });
        Self {
            session,
            recorder,
            history,
        }
    }

    /// Takes locks that nobody else wants.
    async fn take(&mut self, locks: usize) {
        for n in 0..locks {
            let reply = self.session.acquire(&key(n), LockRequest::default()).await;
            assert_eq!(reply, Reply::Done);
        }
    }

    /// All that it recorded. Reading it proves that no process did two things at once.
    async fn history(self) -> History {
        self.recorder.finish().await.expect("everything is written");
        let file = File::open(&self.history).expect("the file is there");
        read_jsonl(BufReader::new(file), "history").expect("and is a history")
    }
}

fn key(n: usize) -> Name {
    format!("lock-{n}").into()
}

fn renewals(history: &History, right: impl Fn(&Event) -> bool) -> usize {
    let events = history.events.iter();
    events
        .filter(|event| event.function == Function::Renew && right(event))
        .count()
}

/// 250 locks go in three scripts since there are batches, in 250 before, and each is a renewal of
/// its own in the history.
#[tokio::test(flavor = "multi_thread")]
async fn one_round_renews_all_that_is_held_in_batches_of_the_era() {
    if !have_server() {
        return;
    }
    for (lock, scripts) in [
        ("redisson = {}", 3),
        ("redisson-fair = {}", 3),
        ("redisson-fenced = {}", 3),
        ("redisson = { era = \"3.17\" }", 250),
        ("redisson-rw = {}", 250),
        ("token = { renew-every = \"1s\" }", 250),
    ] {
        let bed = TestBed::single().await;
        let mut client = Client::new(&bed, lock);
        client.take(250).await;
        let mut monitor = bed.monitor().await;
        assert_eq!(client.session.renew_all().await, Reply::Done);
        let lines = monitor.so_far(&bed).await;
        assert_eq!(with_command(&lines, "EVAL"), scripts, "{lock}");
        let history = client.history().await;
        for kind in [Kind::Invoke, Kind::Ok] {
            let each = renewals(&history, |event| event.kind == kind);
            assert_eq!(each, 250, "{lock}, {kind:?}");
        }
    }
}

/// Locks that were given back are in no later round, and neither are those that turned out to be
/// lost: of these the history tells, once.
#[tokio::test(flavor = "multi_thread")]
async fn the_watchdog_lets_go_of_what_is_given_back_or_lost() {
    if !have_server() {
        return;
    }
    let bed = TestBed::single().await;
    let mut client = Client::new(&bed, "redisson = {}");
    client.take(4).await;
    let released = client
        .session
        .release(&key(0), LockRequest::default())
        .await;
    assert_eq!(released, Reply::Done);
    assert_eq!(bed.number(&["DEL", "lock-1"]).await, 1);
    for _ in 0..2 {
        assert_eq!(client.session.renew_all().await, Reply::Done);
    }
    let held: Vec<_> = client.session.held().await;
    assert_eq!(held, [2, 3].map(|n| (key(n), LockRequest::default())));
    let history = client.history().await;
    assert_eq!(renewals(&history, |event| event.key == key(0)), 0);
    let lost = |event: &Event| event.error.as_deref() == Some(Event::NOT_OWNER);
    assert_eq!(
        renewals(&history, |event| event.key == key(1) && lost(event)),
        1
    );
    assert_eq!(renewals(&history, lost), 1);
    assert_eq!(renewals(&history, |event| event.kind == Kind::Ok), 4);
}

/// No answer to a whole batch leaves every renewal of it undecided and every lock held, and the
/// next round goes on with other processes, for these may do nothing any more.
#[tokio::test(flavor = "multi_thread")]
async fn a_batch_without_an_answer_is_undecided_lock_by_lock() {
    if !have_server() {
        return;
    }
    let mut bed = TestBed::behind_the_fabric().await;
    let mut client = Client::new(&bed, "redisson = {}");
    client.take(3).await;
    bed.cut("primary", "c0").await;
    assert_eq!(client.session.renew_all().await, Reply::Done);
    bed.heal("primary", "c0").await;
    assert_eq!(client.session.renew_all().await, Reply::Done);
    assert_eq!(client.session.held().await.len(), 3);
    let history = client.history().await;
    for (kind, number) in [(Kind::Invoke, 6), (Kind::Info, 3), (Kind::Ok, 3)] {
        assert_eq!(
            renewals(&history, |event| event.kind == kind),
            number,
            "{kind:?}"
        );
    }
}

/// The work is longer than the time to live: without a round in time there would be nothing left.
#[tokio::test(flavor = "multi_thread")]
async fn rounds_come_in_time_while_the_client_is_at_work() {
    if !have_server() {
        return;
    }
    let bed = TestBed::single().await;
    let mut client = Client::new(&bed, "redisson = { watchdog = \"3s\" }");
    client.take(2).await;
    let work = Duration::from_millis(3500);
    assert_eq!(client.session.work(work).await, Reply::Done);
    assert_eq!(bed.number(&["EXISTS", "lock-0", "lock-1"]).await, 2);
}
