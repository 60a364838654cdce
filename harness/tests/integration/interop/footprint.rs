//! Each step leaves the same on the server, whoever takes it: the same answer, the same keys with
//! the same values and times to live, and the same messages.
//!
//! Holders, permits and times differ from run to run: holders get a number in the order in which
//! they appear, times are rounded.

use lockstorm_checker::history::Mode;
use lockstorm_scenarios::Era;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use super::client::{Client, Granted, Side};
use super::ear::Ear;
use super::keys::Keys;
use super::kind::Kind;
use super::steps::{self, Step};
use super::test_bed::{LONG, POLL, TestBed, text};
use crate::support::WITHIN;

/// Traces of one step.
#[derive(Debug, PartialEq, Eq)]
struct Footprint {
    step: Step,
    /// Answer to the client.
    answer: String,
    keys: Vec<String>,
    messages: Vec<String>,
}

/// Ends all leases: what has a time to live goes, and permits have ended long ago.
const LAPSE: &str = "
for _, name in ipairs(redis.call('KEYS', '*')) do
  if redis.call('PTTL', name) > 0 then
    redis.call('DEL', name)
  elseif redis.call('TYPE', name).ok == 'zset' then
    for _, permit in ipairs(redis.call('ZRANGE', name, 0, -1)) do
      redis.call('ZADD', name, 1, permit)
    end
  end
end";

/// A client that waits, and what it is granted.
type Waiting = JoinHandle<(Client, Option<Granted>)>;

/// One side on its way through the steps.
struct Walk<'a> {
    bed: &'a TestBed,
    clients: Vec<Option<Client>>,
    waiting: Vec<Option<Waiting>>,
    keys: Keys,
    ear: Ear,
}

#[tokio::test(flavor = "multi_thread")]
async fn each_step_of_ours_leaves_what_redisson_4_7_leaves() {
    compare(Era::V4_7).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "an older era; make interop"]
async fn each_step_of_ours_leaves_what_redisson_3_17_leaves() {
    compare(Era::V3_17).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "an older era; make interop"]
async fn each_step_of_ours_leaves_what_redisson_3_10_leaves() {
    compare(Era::V3_10).await;
}

async fn compare(era: Era) {
    let Some(bed) = TestBed::prepare(era).await else {
        return;
    };
    for kind in Kind::of(era) {
        let ours = walk(&bed, kind, Side::Ours).await;
        let theirs = walk(&bed, kind, Side::Theirs).await;
        for (ours, theirs) in ours.iter().zip(&theirs) {
            assert_eq!(ours, theirs, "{era:?} {kind:?}: ours, and theirs");
        }
        assert_eq!(ours.len(), theirs.len());
    }
}

/// Takes each step of a kind of lock on this side, and returns what each left.
async fn walk(bed: &TestBed, kind: Kind, side: Side) -> Vec<Footprint> {
    bed.command(&["FLUSHALL"]).await;
    let ear = Ear::open(bed).await;
    let mut clients = Vec::new();
    for _ in 0..steps::CLIENTS {
        clients.push(Some(bed.client(side, kind, "walk", 2, LONG).await));
    }
    let mut walk = Walk {
        bed,
        waiting: clients.iter().map(|_| None).collect(),
        clients,
        keys: Keys::default(),
        ear,
    };
    let mut footprints = Vec::new();
    for step in steps::of(bed.era, kind) {
        let answer = walk.take(*step).await;
        footprints.push(Footprint {
            step: *step,
            answer,
            messages: walk.ear.heard(bed, &mut walk.keys).await,
            keys: walk.keys.all(bed).await,
        });
    }
    footprints
}

impl Walk<'_> {
    async fn take(&mut self, step: Step) -> String {
        match step {
            Step::Acquire(n, mode) => told(self.client(n).acquire(mode).await),
            Step::GiveUp(n, wait) => told(self.client(n).acquire_within(Mode::Write, wait).await),
            Step::Release(n, mode) => {
                let released = self.client(n).release(mode).await;
                format!("released: {released}")
            }
            Step::Wait(n) => {
                self.wait(n).await;
                "waits".to_owned()
            }
            Step::Lapse => {
                self.bed.command(&["EVAL", LAPSE, "0"]).await;
                "lapsed".to_owned()
            }
            Step::HandOver(from, n) => {
                let released = self.client(from).release(Mode::Write).await;
                let waiting = self.waiting[n].take().expect("it waits");
                let (client, granted) = timeout(WITHIN, waiting)
                    .await
                    .expect("it is its turn")
                    .expect("no client panics");
                self.clients[n] = Some(client);
                format!("released: {released}, {}", told(granted))
            }
        }
    }

    /// Lets a client wait, until it has its place in the queue.
    async fn wait(&mut self, n: usize) {
        let before = self.queue().await;
        let mut client = self.clients[n].take().expect("it does nothing else");
        self.waiting[n] = Some(tokio::spawn(async move {
            let granted = client.acquire_within(Mode::Write, steps::WAIT).await;
            (client, granted)
        }));
        let deadline = Instant::now() + WITHIN;
        while self.queue().await == before {
            assert!(Instant::now() < deadline, "{n} does not queue");
            sleep(POLL).await;
        }
    }

    /// Length of the queue.
    async fn queue(&self) -> String {
        let length = ["LLEN", "redisson_lock_queue:{walk}"];
        text(&self.bed.command(&length).await)
    }

    fn client(&mut self, n: usize) -> &mut Client {
        self.clients[n].as_mut().expect("it does nothing else")
    }
}

fn told(granted: Option<Granted>) -> String {
    match granted {
        Some(Granted { token: Some(token) }) => format!("granted with token {token}"),
        Some(Granted { token: None }) => "granted".to_owned(),
        None => "refused".to_owned(),
    }
}
