//! The storm engine: many clients at once, and faults on a schedule.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use lockstorm_checker::history::{Mode, Name};
use lockstorm_nemesis::{Nemesis, Schedule};
use lockstorm_scenarios::{Clients, DurationRange, NemesisEntry, Pick, Storm};
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use tokio::task::JoinSet;
use tokio::time::{Instant, interval, timeout};
use tokio_util::sync::CancellationToken;

use super::stage::{Stage, Stopped};
use crate::client::{Reply, Session};
use crate::locks::LockRequest;
use crate::seed::draw;

/// Interval at which the user hears how far it is.
const TELL_EVERY: Duration = Duration::from_secs(1);
/// Time that clients may take to finish their round when the load ends, beside what they are told
/// to wait and to work.
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
    let mut clients = match start_clients(stage, storm, &over, &grants).await {
        Ok(clients) => clients,
        Err(stopped) => return Some(stopped),
    };
    let mut schedule = Schedule::new(entries, storm.quiet, &stage.seed.stream("nemesis"));
    // The load goes on until the last faults have had their effects.
    let calm = CancellationToken::new();
    let faults = async {
        let errors = schedule.run(nemesis, calm.clone()).await;
        // A schedule without faults has nothing to wait for.
        calm.cancelled().await;
        over.cancel();
        errors
    };
    let watch = async {
        let end = watch(stage, storm, &grants, &mut clients).await;
        calm.cancel();
        end
    };
    let look = async {
        if let Some(watch) = &stage.watch {
            watch.look_until(&over).await;
        }
    };
    let (errors, end, ()) = tokio::join!(faults, watch, look);
    let within = round(&stage.case.clients) + DRAIN_WITHIN;
    let drained = timeout(within, all_done(&mut clients));
    if drained.await.is_err() && end != End::Interrupted {
        let text = format!("clients did not end their round within {within:?}");
        return Some(Stopped::new(text));
    }
    let failed = errors.first().map(|error| {
        Stopped::new(format!(
            "{} faults of the storm failed, the first: {error}",
            errors.len()
        ))
    });
    incomplete(storm, end, grants.load(Ordering::Relaxed)).or(failed)
}

/// The longest that a round takes in which everything is answered at once.
fn round(habits: &Clients) -> Duration {
    habits.wait.0 + habits.hold.max.0 + habits.think.max.0
}

/// Way in which the load came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// Its time was over.
    Time,
    /// Every client has done its rounds, or is dead.
    Rounds,
    /// The user wanted it.
    Interrupted,
    /// Something is wrong with a client.
    Complaint,
}

/// Reason why the load has not shown what it is for, if it has not. A complaint gives its own.
fn incomplete(storm: &Storm, end: End, grants: u64) -> Option<Stopped> {
    let text = match (end, storm.rounds) {
        (End::Complaint, _) => return None,
        (End::Interrupted, _) => "interrupted".to_owned(),
        (End::Time, Some(rounds)) => format!(
            "the clients did not do their {rounds} rounds within {}",
            storm.duration
        ),
        (End::Time, None) | (End::Rounds, _) => {
            let expected = storm
                .grants
                .filter(|&expected| u64::from(expected) != grants)?;
            format!("expected {expected} grants, got {grants}")
        }
    };
    Some(Stopped::new(text))
}

async fn start_clients(
    stage: &Stage,
    storm: &Storm,
    over: &CancellationToken,
    grants: &Arc<AtomicU64>,
) -> Result<JoinSet<()>, Stopped> {
    let keys: Arc<[Name]> = stage.keys().into();
    let names = stage.client_names();
    let sessions = stage.sessions(&names, 0).await?;
    let start = Instant::now();
    let mut clients = JoinSet::new();
    for (n, (name, session)) in names.into_iter().zip(sessions).enumerate() {
        let worker = Worker {
            session,
            rng: stage.seed.stream(&format!("storm/{name}")),
            habits: stage.case.clients.clone(),
            retry: stage.retry(),
            keys: keys.clone(),
            grants: grants.clone(),
            number: n,
            start,
        };
        clients.spawn(worker.run(over.clone(), storm.rounds));
    }
    Ok(clients)
}

/// Waits until every client has come to its end.
async fn all_done(clients: &mut JoinSet<()>) {
    while clients.join_next().await.is_some() {}
}

/// Waits for the end of the storm and tells the user how it goes.
async fn watch(stage: &Stage, storm: &Storm, grants: &AtomicU64, clients: &mut JoinSet<()>) -> End {
    let start = Instant::now();
    let mut tick = interval(TELL_EVERY);
    let registry = stage.servers.registry();
    let end = tokio::time::sleep_until(start + storm.duration.0);
    tokio::pin!(end);
    loop {
        tokio::select! {
            () = &mut end => return End::Time,
            () = stage.interrupt.cancelled() => return End::Interrupted,
            () = registry.complained() => return End::Complaint,
            () = all_done(clients), if storm.rounds.is_some() => return End::Rounds,
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
    /// Number of this client, from 0.
    number: usize,
    /// Time at which the storm began.
    start: Instant,
}

impl Worker {
    /// Rounds of acquire, work and release until it has done as many as it has to, the storm is
    /// over or the client is dead.
    async fn run(mut self, over: CancellationToken, rounds: Option<u32>) {
        let mut done = 0;
        while !over.is_cancelled() && rounds.is_none_or(|rounds| done < rounds) {
            let key = self.pick(done);
            if self.round(&key).await == Reply::Killed {
                return self.session.die().await;
            }
            done += 1;
            if rounds == Some(done) {
                return;
            }
            let next = self.next_round();
            tokio::select! {
                () = over.cancelled() => return,
                () = tokio::time::sleep_until(next) => {}
            }
        }
    }

    /// The lock of the round that comes after `done` others.
    fn pick(&mut self, done: u32) -> Name {
        let at = match self.habits.pick {
            Pick::Random => self.rng.random_range(0..self.keys.len()),
            Pick::InTurn => {
                let before = done as usize * self.habits.count as usize;
                (before + self.number) % self.keys.len()
            }
        };
        self.keys[at].clone()
    }

    /// Time at which the next round begins.
    fn next_round(&mut self) -> Instant {
        match self.habits.every {
            None => Instant::now() + draw(&mut self.rng, self.habits.think),
            Some(every) => self.start + next_multiple(self.start.elapsed(), every.0),
        }
    }

    /// The critical section. A client that has a job begins it, takes as long as it takes, and
    /// brings it to its end, whatever has become of its lock by then.
    async fn work(&mut self, key: &Name) -> Reply {
        let hold = draw(&mut self.rng, self.habits.hold);
        let begun = self.session.has_job();
        if begun && self.session.find_orders(key).await == Reply::Killed {
            return Reply::Killed;
        }
        let reply = self.session.work(hold).await;
        if !begun || reply == Reply::Killed {
            return reply;
        }
        self.session.close_orders(key).await
    }

    async fn round(&mut self, key: &Name) -> Reply {
        let reads = self.rng.random_range(0..PERCENT) < self.habits.read_percent;
        let ask = LockRequest {
            mode: if reads { Mode::Read } else { Mode::Write },
            permits: 1,
            wait: Some(self.habits.wait.0),
        };
        let reply = self.session.acquire_within(key, ask, self.retry).await;
        if reply != Reply::Done {
            return reply;
        }
        self.grants.fetch_add(1, Ordering::Relaxed);
        if self.work(key).await == Reply::Killed {
            return Reply::Killed;
        }
        if !self.habits.release {
            return Reply::Done;
        }
        self.session.release(key, ask).await
    }
}

/// The first multiple of `every` that lies after `elapsed`.
fn next_multiple(elapsed: Duration, every: Duration) -> Duration {
    let passed = elapsed.as_nanos() / every.as_nanos().max(1);
    let next = (passed + 1).saturating_mul(every.as_nanos());
    Duration::from_nanos(u64::try_from(next).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use lockstorm_scenarios::DurationSpec;

    use super::*;

    const fn storm(rounds: Option<u32>, grants: Option<u32>) -> Storm {
        Storm {
            duration: DurationSpec::from_secs(5),
            rounds,
            grants,
            quiet: None,
        }
    }

    #[test]
    fn a_round_that_took_too_long_leaves_out_those_that_have_passed() {
        let second = Duration::from_secs(1);
        assert_eq!(next_multiple(Duration::ZERO, second), second);
        assert_eq!(next_multiple(Duration::from_millis(600), second), second);
        assert_eq!(
            next_multiple(Duration::from_millis(2600), second),
            3 * second
        );
    }

    #[test]
    fn other_grants_than_expected_and_rounds_that_were_not_done_are_told() {
        let text =
            |storm: &Storm, end, grants| incomplete(storm, end, grants).map(|stopped| stopped.why);
        let exact = storm(Some(1), Some(3));
        assert_eq!(text(&exact, End::Rounds, 3), None);
        let two = text(&exact, End::Rounds, 2);
        assert_eq!(two.as_deref(), Some("expected 3 grants, got 2"));
        let late = text(&exact, End::Time, 3);
        let expected = "the clients did not do their 1 rounds within 5s";
        assert_eq!(late.as_deref(), Some(expected));
        assert_eq!(text(&storm(None, None), End::Time, 0), None);
        let ended = text(&storm(None, None), End::Interrupted, 0);
        assert_eq!(ended.as_deref(), Some("interrupted"));
    }
}
