//! The storm engine: many clients at once, and faults on a schedule.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use lockstorm_checker::history::{Mode, Name};
use lockstorm_nemesis::{Nemesis, Schedule};
use lockstorm_scenarios::{Clients, DurationRange, NemesisEntry, Storm};
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use tokio::task::JoinSet;
use tokio::time::{interval, timeout};
use tokio_util::sync::CancellationToken;

use super::stage::{Stage, Stopped};
use crate::client::{Reply, Session};
use crate::locks::Ask;
use crate::seed::draw;

/// How often the user hears how far it is.
const TELL_EVERY: Duration = Duration::from_secs(1);
/// How long clients may take to finish their round when the load ends.
const DRAIN_WITHIN: Duration = Duration::from_secs(30);

/// Runs the load for its time; when it ends every client has given back what it held.
pub async fn run(
    stage: &Stage,
    nemesis: &mut Nemesis,
    storm: &Storm,
    entries: &[NemesisEntry],
) -> Option<Stopped> {
    let over = CancellationToken::new();
    let grants = Arc::new(AtomicU64::new(0));
    let mut clients = start_clients(stage, &over, &grants);
    let mut schedule = Schedule::new(entries, stage.seed.stream("nemesis"));
    let faults = schedule.run(nemesis, over.clone());
    let watch = async {
        let interrupted = watch(stage, storm, &grants).await;
        over.cancel();
        interrupted
    };
    let (errors, interrupted) = tokio::join!(faults, watch);
    let drained = timeout(DRAIN_WITHIN, async {
        while clients.join_next().await.is_some() {}
    });
    let stuck = drained.await.is_err();
    if interrupted {
        Some(Stopped("interrupted".to_owned()))
    } else if stuck {
        Some(Stopped(format!(
            "clients did not end their round within {DRAIN_WITHIN:?}"
        )))
    } else {
        errors.first().map(|error| {
            Stopped(format!(
                "{} faults of the storm failed, the first: {error}",
                errors.len()
            ))
        })
    }
}

fn start_clients(stage: &Stage, over: &CancellationToken, grants: &Arc<AtomicU64>) -> JoinSet<()> {
    let keys: Arc<[Name]> = stage.keys().into();
    let mut clients = JoinSet::new();
    for (n, name) in stage.client_names().into_iter().enumerate() {
        let worker = Worker {
            session: stage.session(&name, n),
            rng: stage.seed.stream(&format!("storm/{name}")),
            habits: stage.case.clients.clone(),
            retry: stage.retry(),
            keys: keys.clone(),
            grants: grants.clone(),
        };
        clients.spawn(worker.run(over.clone()));
    }
    clients
}

/// Waits for the end of the storm and tells the user how it goes; `true` if interrupted.
async fn watch(stage: &Stage, storm: &Storm, grants: &AtomicU64) -> bool {
    let start = tokio::time::Instant::now();
    let mut tick = interval(TELL_EVERY);
    let end = tokio::time::sleep_until(start + storm.duration.0);
    tokio::pin!(end);
    loop {
        tokio::select! {
            () = &mut end => return false,
            () = stage.interrupt.cancelled() => return true,
            _ = tick.tick() => stage.progress.say(&format!(
                "{} of {} s, {} grants",
                start.elapsed().as_secs(),
                storm.duration.0.as_secs(),
                grants.load(Ordering::Relaxed)
            )),
        }
    }
}

/// All of a share.
const PERCENT: u32 = 100;

/// One client under load.
struct Worker {
    session: Session,
    rng: ChaCha8Rng,
    habits: Clients,
    retry: DurationRange,
    keys: Arc<[Name]>,
    grants: Arc<AtomicU64>,
}

impl Worker {
    /// Rounds of acquire, work and release until the storm is over or the client is dead.
    async fn run(mut self, over: CancellationToken) {
        while !over.is_cancelled() {
            let key = self.keys[self.rng.random_range(0..self.keys.len())].clone();
            if self.round(&key).await == Reply::Killed {
                return;
            }
            let pause = draw(&mut self.rng, self.habits.think);
            tokio::select! {
                () = over.cancelled() => return,
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    async fn round(&mut self, key: &Name) -> Reply {
        let reads = self.rng.random_range(0..PERCENT) < self.habits.read_percent;
        let ask = Ask {
            mode: if reads { Mode::Read } else { Mode::Write },
            permits: 1,
            wait: Some(self.habits.wait.0),
        };
        let reply = self.session.acquire_within(key, ask, self.retry).await;
        if reply != Reply::Done {
            return reply;
        }
        self.grants.fetch_add(1, Ordering::Relaxed);
        let hold = draw(&mut self.rng, self.habits.hold);
        if self.session.work(hold).await == Reply::Killed {
            return Reply::Killed;
        }
        self.session.release(key, ask).await
    }
}
