//! End of every run: everything is healed, every holder gives back, and a fresh client proves that
//! each lock can be had again.

use std::time::Duration;

use futures_util::future::join_all;
use lockstorm_checker::Nanos;
use lockstorm_checker::history::{Name, PhaseNote};
use lockstorm_nemesis::Nemesis;
use lockstorm_scenarios::{DurationRange, DurationSpec};
use tokio::time::{Instant, timeout};

use super::litmus;
use super::stage::{Stage, Stopped};
use crate::client::{Order, Reply, Session};
use crate::locks::LockRequest;

/// Time that a free lock may stay unobtainable, beyond one lease, unless the scenario says.
pub const LIVENESS_BOUND: DurationSpec = DurationSpec::from_secs(5);
/// Time that holders may take to give back.
const DRAIN_WITHIN: Duration = Duration::from_secs(10);
/// Pauses of a probe between two tries.
const PROBE_RETRY: DurationRange = DurationRange::from_millis(10, 30);

/// Ends the run; gives the reason if it could not be ended as it should.
pub async fn run(
    stage: &Stage,
    nemesis: &mut Nemesis,
    clients: litmus::Clients,
) -> Option<Stopped> {
    stage
        .progress
        .say("healing, then asking for every lock once more");
    nemesis.observe_pending().await;
    let unhealed = nemesis.heal_all().await;
    let drain = clients.iter().map(|(_, client)| client.order(Order::Drain));
    let drained = timeout(DRAIN_WITHIN, join_all(drain)).await;
    // They hold nothing now, and live on: a watchdog that goes on all the same is the lock's. Who
    // has not given back in time is no such proof, and is ended.
    let clients = drained.is_ok().then_some(clients);
    if stage.interrupt.is_cancelled() {
        return Some(Stopped::new("interrupted".to_owned()));
    }
    let recovered = tokio::select! {
        () = stage.interrupt.cancelled() => return Some(Stopped::new("interrupted".to_owned())),
        recovered = stage.servers.recover() => recovered,
    };
    if let Err(wrong) = recovered {
        let text = format!("the servers are stuck, which says nothing of the lock: {wrong}");
        return Some(Stopped::new(text));
    }
    // Processes take their time to start, which is none of the lock's.
    let probes = match stage
        .sessions(&probe_names(stage), stage.client_names().len())
        .await
    {
        Ok(probes) => probes,
        Err(stopped) => return Some(stopped),
    };
    let bound = bound(stage);
    let note = PhaseNote {
        name: "final".into(),
        bound: Some(Nanos(bound.as_nanos() as u64)),
    };
    stage.sink.phase(note).await;
    let keys = stage.keys();
    let number = probes.len();
    let probes = probes.into_iter().enumerate().map(|(n, session)| {
        let share = keys.iter().skip(n).step_by(number);
        probe(session, share, bound)
    });
    tokio::select! {
        () = stage.interrupt.cancelled() => return Some(Stopped::new("interrupted".to_owned())),
        _ = join_all(probes) => {}
    }
    drop(clients);
    if let Some(error) = unhealed.first() {
        Some(Stopped::new(format!(
            "a fault could not be healed: {error}"
        )))
    } else if drained.is_err() {
        Some(Stopped::new(format!(
            "holders did not give back within {DRAIN_WITHIN:?}"
        )))
    } else {
        None
    }
}

/// One lease, for what a dead holder left behind, and the named bound.
fn bound(stage: &Stage) -> Duration {
    let beyond = stage.case.checks.liveness_bound.unwrap_or(LIVENESS_BOUND);
    stage.case.lock.lease().unwrap_or_default().0 + beyond.0
}

/// The clients that ask in the end.
fn probe_names(stage: &Stage) -> Vec<String> {
    match stage.probes() {
        1 => vec!["probe".to_owned()],
        probes => (0..probes).map(|n| format!("probe-{n}")).collect(),
    }
}

/// A probe asks for its share of the keys, one after the other: for each until it is granted or the
/// bound is over, and gives it back.
async fn probe(mut session: Session, keys: impl Iterator<Item = &Name>, bound: Duration) {
    let end = Instant::now() + bound;
    for key in keys {
        let ask = LockRequest {
            wait: Some(end.saturating_duration_since(Instant::now())),
            ..LockRequest::default()
        };
        if session.acquire_within(key, ask, PROBE_RETRY).await == Reply::Done {
            if session.has_job() {
                // What the holders have left behind.
                session.find_orders(key).await;
            }
            session.release(key, ask).await;
        }
    }
}
