//! Each accusation of a simulated lock rests on the events that its witness cites.

use lockstorm_checker::history::{Function, History, Until};
use lockstorm_checker::{Nanos, Options, Property};

use crate::carried::{Tried, carries};
use crate::mutation::plan::Defect;
use crate::mutation::world::run;
use crate::mutation::{MODELLED, for_each_seed, rounds};

/// Short enough for a wait of the simulation to be too long.
const BOUND: Nanos = Nanos::from_millis(100);

/// Has every grant last as long as the session of its owner instead of a lease, whatever came of
/// it.
fn bind_to_sessions(history: &mut History) {
    let acquires = history.events.iter_mut();
    for event in acquires.filter(|event| event.function == Function::Acquire) {
        event.value.lease_ms = None;
        event.value.until = Some(Until::SessionEnd);
    }
}

#[test]
fn a_witness_cites_what_it_rests_on_and_no_more() {
    let (mut tried, mut of_sessions) = (Tried::new(), Tried::new());
    for defect in Defect::ALL {
        for_each_seed(rounds() / 10, |seed| {
            let run = run(seed, Some(defect));
            let models = run.plan.lock.models();
            let options = Options {
                only: Some(Property::ALL.into()),
                model: Some(models[(seed / MODELLED) as usize % models.len()]),
                witnesses_max: 1,
                liveness_bound: Some(BOUND),
                availability_gap_max: Some(BOUND),
                ..Options::default()
            };
            let label = format!("{defect:?}, seed {seed}");
            let mut history = run.record.history(run.plan.lock);
            // Who goes on after the lease breaks the promise in the name of the lock.
            history.header.promises = vec!["tells-of-loss".to_owned()];
            carries(&history, &options, &label, &mut tried);
            bind_to_sessions(&mut history);
            let label = format!("{label}, held by sessions");
            carries(&history, &options, &label, &mut of_sessions);
        });
    }
    println!("{tried:?}, held by sessions {of_sessions:?}");
    let never = Property::ALL
        .into_iter()
        .filter(|property| !tried.contains_key(property));
    let never: Vec<Property> = never.collect();
    assert!(
        never.is_empty() || rounds() < 300,
        "never violated: {never:?}"
    );
}
