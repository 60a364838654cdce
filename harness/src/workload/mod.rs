//! Work of the clients of a run: they follow a script, or make a storm; and how every run ends.

mod final_phase;
mod holders;
mod litmus;
mod stage;
mod storm;
mod waits;

pub use stage::{Stage, Stopped, keys};

use lockstorm_nemesis::Nemesis;
use lockstorm_scenarios::Workload;

/// Runs the workload of the stage's case, and its final phase. Gives the reason if it stopped
/// before its end.
pub async fn run(stage: &Stage, mut nemesis: Nemesis) -> Option<Stopped> {
    let (clients, stopped) = match &stage.case.workload {
        Workload::Litmus(steps) => litmus::run(stage, &mut nemesis, steps).await,
        Workload::Storm(storm, entries) => (
            Vec::new(),
            storm::run(stage, &mut nemesis, storm, entries).await,
        ),
    };
    let casualties = stage.servers.casualties();
    let unfinished = final_phase::run(stage, &mut nemesis, clients).await;
    // Where a server died by itself, the rest only follows from it.
    let died = casualties.first().map(|casualty| {
        Stopped::new(format!(
            "a server died by itself: {casualty}; its log says why"
        ))
    });
    // The same holds for a client that did what it must not, or died.
    let odd = stage.servers.registry().complaints().into_iter().next();
    died.or(odd.map(Stopped::new)).or(stopped).or(unfinished)
}
