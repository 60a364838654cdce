//! The property `model` against a naive search that shares nothing with the checker.
//!
//! - `state`: the models, written anew from the definitions;
//! - `search`: every order in which operations may have taken effect;
//! - `generate`, `small`: random histories, half of them illegal or nearly, and all tiny ones.
//!
//! A disagreement prints the history, its seed, and the smallest history that still shows it.

mod generate;
mod ops;
mod search;
mod shrink;
mod small;
mod state;

use lockstorm_checker::{Drift, Nanos, Options, Property, Verdict, check};

use crate::model_oracle::ops::{DRIFT, Op, history, lines};
use crate::model_oracle::search::{Ceiling, explained, tells};
use crate::model_oracle::shrink::shrunk;
use crate::model_oracle::state::Model;

/// Histories in all, of all models: 10,000 random ones and as many tiny ones, or as many of each as
/// `LOCKSTORM_ROUNDS` says.
fn rounds() -> usize {
    let named = std::env::var("LOCKSTORM_ROUNDS").ok();
    named.map_or(10_000, |rounds| {
        rounds.parse().expect("LOCKSTORM_ROUNDS is a number")
    })
}

/// Verdict of the checker: it tells whether some order explains the history.
fn judged(ops: &[Op], model: Model) -> Verdict {
    let options = Options {
        only: Some([Property::Model].into()),
        model: Some(model.name().parse().expect("the model has this name")),
        drift: Some(Drift {
            ppm: 0,
            fixed: Nanos::from_millis(DRIFT),
        }),
        ..Options::default()
    };
    let analysis = check(&history(ops), &options);
    analysis.properties[&Property::Model].verdict
}

/// Tells whether the checker says something else than the search.
///
/// Where a lease was extended after its end, a service would have dropped the hold, and the
/// definitions read it as one that went on: both answers are right there.
fn differs(ops: &[Op], model: Model) -> bool {
    let counts = |op: &Op| op.is_required() && tells(op, model);
    if !ops.iter().any(counts) {
        return false;
    }
    match judged(ops, model) {
        Verdict::Violated => explained(ops, model, Ceiling::Exact),
        Verdict::Valid => !explained(ops, model, Ceiling::Latest),
        // Of several leased holds of one owner nobody can tell which one a release ends.
        Verdict::Unknown => {
            let several = matches!(model, Model::Semaphore(_) | Model::ReadWrite);
            !several || !ops.iter().any(Op::is_leased)
        }
    }
}

fn agrees(ops: &[Op], model: Model, label: &str) {
    if differs(ops, model) {
        let small = shrunk(ops, |ops| differs(ops, model));
        panic!(
            "{} {label}: the checker says {:?} of\n{}and of the smaller\n{}",
            model.name(),
            judged(&small, model),
            lines(ops),
            lines(&small),
        );
    }
}

#[test]
fn what_a_run_of_the_model_recorded_is_explained() {
    let each = rounds() / Model::ALL.len() / 4;
    for model in Model::ALL {
        for seed in 0..each as u64 {
            let ops = generate::legal(seed, model);
            assert!(explained(&ops, model, Ceiling::Exact), "{}", lines(&ops));
            agrees(&ops, model, &format!("seed {seed}"));
        }
    }
}

#[test]
fn random_histories_are_judged_as_a_naive_search_does() {
    let each = rounds() / Model::ALL.len();
    for model in Model::ALL {
        let mut illegal = 0;
        for seed in 0..each as u64 {
            let ops = generate::changed(seed, model);
            agrees(&ops, model, &format!("seed {seed}"));
            illegal += usize::from(!explained(&ops, model, Ceiling::Exact));
        }
        println!("{}: {illegal} of {each} are illegal", model.name());
        assert!(
            (each / 5..=each * 4 / 5).contains(&illegal),
            "{illegal} of {each}"
        );
    }
}

#[test]
fn tiny_histories_are_judged_as_a_naive_search_does() {
    let each = rounds() / Model::ALL.len();
    for model in Model::ALL {
        for leased in [false, true]
            .into_iter()
            .take(1 + usize::from(model.is_lock()))
        {
            let all = small::histories(model, leased).count();
            // In the long mode all of them; otherwise some of everywhere.
            let step = (all / each).max(1);
            for (number, ops) in small::histories(model, leased).step_by(step).enumerate() {
                agrees(
                    &ops,
                    model,
                    &format!("leased {leased}, number {}", number * step),
                );
            }
        }
    }
}
