//! Standing of each lock on its servers in a comparison: what it withstood, what broke it, its
//! cost.
//!
//! For: the first screen of an assessment of several rows, the same sentences in every format. Not
//! for: the tables behind it, which `assessment` and `grid` arrange.

use std::collections::BTreeMap;

use lockstorm_scenarios::Promise;

use crate::grid::{ACQUIRE, Cell, GAP, Grid, ROUND_TRIPS, Row};
use crate::model::{Answer, PromiseOutcome, SuiteRecord, SuiteRun};
use crate::words;

/// Situations that a sentence names at most; the others are counted.
const NAMED_MAX: usize = 3;

/// One lock on one topology, in a few sentences.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Standing<'a> {
    /// Name of the lock.
    pub(crate) lock: &'a str,
    /// Its servers.
    pub(crate) topology: &'a str,
    /// In how many situations it kept what it promises.
    pub(crate) withstood: String,
    /// How each promise was broken, with the fewest faults that did.
    pub(crate) broken: Vec<String>,
    /// Its cost without a fault, beside that of the first row; absent where nothing was measured.
    pub(crate) cost: Option<String>,
}

/// The standing of each row of an assessment; none where there is only one row.
pub(crate) fn standings(suite: &SuiteRecord) -> Vec<Standing<'_>> {
    let mut rows = Grid::new(suite).rows;
    let ran = |row: &Row| row.cells.iter().any(|cell| matches!(cell, Cell::Ran(_)));
    rows.retain(ran);
    match rows.as_slice() {
        [] | [_] => Vec::new(),
        [first, ..] => rows.iter().map(|row| of(suite, row, first)).collect(),
    }
}

fn of<'a>(suite: &'a SuiteRecord, row: &Row<'a>, first: &Row<'a>) -> Standing<'a> {
    let here = |run: &&SuiteRun| {
        let labels = &run.record.labels;
        labels.lock == row.lock && labels.topology == row.topology
    };
    let runs: Vec<&SuiteRun> = suite.runs.iter().filter(here).collect();
    Standing {
        lock: row.lock,
        topology: row.topology,
        withstood: withstood(&runs),
        broken: broken(&runs),
        cost: cost(row, first),
    }
}

/// Counts the situations by the worst answer of their runs.
fn withstood(runs: &[&SuiteRun]) -> String {
    let mut situations: BTreeMap<&str, Answer> = BTreeMap::new();
    for run in runs {
        let outcomes = run.record.outcomes();
        let answers: Vec<Answer> = outcomes.iter().map(PromiseOutcome::answer).collect();
        // One promise kept is more than others that could not be told.
        let worst = [Answer::Broken, Answer::Kept, Answer::CouldNotTell]
            .into_iter()
            .find(|answer| answers.contains(answer));
        let Some(worst) = worst else { continue };
        let known = situations.entry(&run.record.labels.hazard).or_insert(worst);
        *known = (*known).max(worst);
    }
    let with = |answer| situations.values().filter(|one| **one == answer).count();
    let all = words::count(situations.len() as u64, "situation");
    let open = match with(Answer::CouldNotTell) {
        0 => String::new(),
        open => format!(", could not be told in {open}"),
    };
    format!(
        "Kept what it promises in {} of {all}{open}",
        with(Answer::Kept)
    )
}

/// For each promise that was broken, the situations that needed the fewest faults for it.
fn broken(runs: &[&SuiteRun]) -> Vec<String> {
    let mut fewest: BTreeMap<Promise, BTreeMap<usize, Vec<&str>>> = BTreeMap::new();
    for run in runs {
        for outcome in run.record.outcomes() {
            if outcome.answer() == Answer::Broken {
                let faults = run.record.analysis.faults.len();
                let by_faults = fewest.entry(outcome.promise).or_default();
                let hazards = by_faults.entry(faults).or_default();
                let hazard = run.record.labels.hazard.as_str();
                if !hazards.contains(&hazard) {
                    hazards.push(hazard);
                }
            }
        }
    }
    let sentence = |(promise, by_faults): (Promise, BTreeMap<usize, Vec<&str>>)| {
        let (faults, hazards) = by_faults.into_iter().next()?;
        let with = match faults {
            0 => "without any fault".to_owned(),
            some => format!("with {}", words::count(some as u64, "fault")),
        };
        let named = hazards.iter().take(NAMED_MAX).copied().collect::<Vec<_>>();
        let others = match hazards.len().saturating_sub(NAMED_MAX) {
            0 => String::new(),
            others => format!(" and {others} more"),
        };
        let named = named.join("; ");
        Some(format!("Broke {} {with}: {named}{others}", promise.name()))
    };
    fewest.into_iter().filter_map(sentence).collect()
}

/// The figures of a row, each beside that of the first row.
fn cost(row: &Row<'_>, first: &Row<'_>) -> Option<String> {
    let (price, base) = (&row.price, &first.price);
    let is_first = (row.lock, row.topology) == (first.lock, first.topology);
    let figure = |at: usize, before: &str, after: &str| {
        let value = price.figures[at].value.as_ref()?;
        let amount = price.figures[at].amount?;
        let times = base.figures[at]
            .amount
            .filter(|base| !is_first && *base > 0.0);
        let times = times.map_or_else(String::new, |base| format!(" ({:.1} times)", amount / base));
        Some(format!("{before}{value}{after}{times}"))
    };
    let figures = [
        figure(ACQUIRE, "half of the grants within ", ""),
        figure(ROUND_TRIPS, "", " round trips a cycle"),
    ];
    let mut figures: Vec<String> = figures.into_iter().flatten().collect();
    let gap = &price.figures[GAP].below;
    if let Some(worst) = gap.strip_prefix("worst ") {
        figures.push(format!("nobody was granted it for up to {worst}"));
    }
    (!figures.is_empty()).then(|| format!("Cost: {}", figures.join(", ")))
}

impl Standing<'_> {
    /// Its sentences, in order.
    pub(crate) fn sentences(&self) -> Vec<String> {
        let withstood = std::iter::once(&self.withstood);
        let all = withstood.chain(&self.broken).chain(&self.cost);
        all.cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn each_row_says_what_it_withstood_what_broke_it_and_its_cost() {
        let suite = sample::assessment();
        let told: Vec<String> = standings(&suite)
            .iter()
            .map(|one| {
                format!(
                    "{} on {}: {}",
                    one.lock,
                    one.topology,
                    one.sentences().join(". ")
                )
            })
            .collect();
        insta::assert_snapshot!(told.join("\n"));
    }

    #[test]
    fn one_row_alone_is_compared_with_nothing() {
        let mut suite = sample::assessment();
        let labels = suite.runs[0].record.labels.clone();
        suite
            .runs
            .retain(|run| run.record.labels.lock == labels.lock);
        for run in &mut suite.runs {
            run.record.labels.topology.clone_from(&labels.topology);
        }
        suite.not_run.clear();
        assert_eq!(standings(&suite), []);
    }
}
