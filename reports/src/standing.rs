//! Standing of each lock on its servers in a comparison: what it withstood, what broke it, its
//! cost.
//!
//! For: the first screen of an assessment of several rows, the same sentences in every format. Not
//! for: the tables behind it, which `assessment` and `fates` arrange.

use std::collections::BTreeMap;

use lockstorm_scenarios::Promise;

use crate::fates::{Column, Fate, FateKind, Fates};
use crate::grid::{ACQUIRE, ROUND_TRIPS};
use crate::model::Answer;
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
    /// Its sentences, in order.
    pub(crate) sentences: Vec<String>,
}

/// The standing of each column of a comparison; none where there is only one, and no hunt tells
/// more of it than the table does.
pub(crate) fn standings<'a>(fates: &Fates<'a>) -> Vec<Standing<'a>> {
    let first = match fates.columns.as_slice() {
        [first, _, ..] => first,
        [only] if only.hunt.is_some() => only,
        _ => return Vec::new(),
    };
    let standing = |(at, column): (usize, &Column<'a>)| {
        let rows = fates.rows();
        let own: Vec<(&str, &Fate)> = rows.map(|row| (row.hazard, &row.fates[at])).collect();
        let mut sentences = vec![withstood(&own)];
        sentences.extend(broken(&own));
        sentences.extend(unavailable(&own));
        sentences.extend(column.hunt.iter().flat_map(|hunt| hunt.sentences()));
        sentences.extend(cost(column, first));
        Standing {
            lock: column.lock,
            topology: column.topology,
            sentences,
        }
    };
    fates.columns.iter().enumerate().map(standing).collect()
}

/// Counts the situations by what became of the lock.
fn withstood(own: &[(&str, &Fate)]) -> String {
    let of_kind = |kind| own.iter().filter(|(_, fate)| fate.kind == kind).count();
    let tested = own.len() - of_kind(FateKind::NotTested);
    let and = |kind, words: &str| match of_kind(kind) {
        0 => String::new(),
        number => format!(", {words} in {number}"),
    };
    format!(
        "Withstood {} of {}{}{}",
        of_kind(FateKind::Withstood) + of_kind(FateKind::Unavailable),
        words::count(tested as u64, "situation"),
        and(
            FateKind::Overran,
            "a client overran its lease, which no lease prevents,"
        ),
        and(FateKind::Open, "undecided"),
    )
}

/// Way in which a lock failed, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Failure {
    /// It broke a promise that it makes.
    Broke(Promise),
    /// It would break one that it does not make.
    Unpromised(Promise),
    /// No lock of its kind prevents it.
    ByNature,
}

impl Failure {
    fn words(self) -> String {
        match self {
            Self::Broke(promise) => format!("Broke {}", promise.name()),
            Self::Unpromised(promise) => {
                format!("Does not promise {}, and failed it", promise.name())
            }
            Self::ByNature => "Failed as any lock of its kind does".to_owned(),
        }
    }
}

/// For each way in which the lock failed, the situations that needed the fewest faults for it.
fn broken(own: &[(&str, &Fate)]) -> Vec<String> {
    let mut fewest: BTreeMap<Failure, BTreeMap<usize, Vec<&str>>> = BTreeMap::new();
    let failed = own
        .iter()
        .filter(|(_, fate)| fate.kind == FateKind::LockFailed);
    for (hazard, fate) in failed {
        for failure in failures(fate) {
            let by_faults = fewest.entry(failure).or_default();
            by_faults.entry(fate.faults).or_default().push(hazard);
        }
    }
    let sentence = |(failure, by_faults): (Failure, BTreeMap<usize, Vec<&str>>)| {
        let (faults, hazards) = by_faults.into_iter().next()?;
        let with = match faults {
            0 => "without any fault".to_owned(),
            some => format!("with {}", words::count(some as u64, "fault")),
        };
        Some(format!("{} {with}: {}", failure.words(), named(&hazards)))
    };
    fewest.into_iter().filter_map(sentence).collect()
}

fn failures(fate: &Fate) -> Vec<Failure> {
    let Some(run) = fate.run else {
        return Vec::new();
    };
    let outcomes = run.record.outcomes().into_iter();
    let broken = outcomes.filter(|one| one.seen == Answer::Broken);
    let broken = broken.map(|one| {
        if one.is_promised {
            Failure::Broke(one.promise)
        } else {
            Failure::Unpromised(one.promise)
        }
    });
    let broken: Vec<Failure> = broken.collect();
    if broken.is_empty() {
        vec![Failure::ByNature]
    } else {
        broken
    }
}

/// Names some situations, and counts the others.
fn named(hazards: &[&str]) -> String {
    let shown: Vec<&str> = hazards.iter().take(NAMED_MAX).copied().collect();
    let others = match hazards.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        others => format!(" and {others} more"),
    };
    format!("{}{others}", shown.join("; "))
}

/// The longest time for which the lock could not be had.
fn unavailable(own: &[(&str, &Fate)]) -> Option<String> {
    let longest = |fate: &Fate| fate.run?.record.analysis.availability.map(|at| at.longest);
    let away = own
        .iter()
        .filter(|(_, fate)| fate.kind == FateKind::Unavailable);
    let worst = away.max_by_key(|(_, fate)| longest(fate))?;
    let (hazard, fate) = worst;
    Some(format!("Unavailable for up to {}: {hazard}", fate.detail))
}

/// The figures of a column, each beside that of the first.
fn cost(column: &Column, first: &Column) -> Option<String> {
    let is_first = (column.lock, column.topology) == (first.lock, first.topology);
    let figure = |at: usize, before: &str, after: &str| {
        let value = column.price.figures[at].value.as_ref()?;
        let amount = column.price.figures[at].amount?;
        let base = first.price.figures[at].amount;
        let base = base.filter(|base| !is_first && *base > 0.0);
        let times = base.map_or_else(String::new, |base| format!(" ({:.1} times)", amount / base));
        Some(format!("{before}{value}{after}{times}"))
    };
    let figures = [
        figure(ACQUIRE, "half of the grants within ", ""),
        figure(ROUND_TRIPS, "", " round trips a cycle"),
    ];
    let figures: Vec<String> = figures.into_iter().flatten().collect();
    (!figures.is_empty()).then(|| format!("Cost: {}", figures.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn each_row_says_what_it_withstood_what_broke_it_and_its_cost() {
        let suite = sample::assessment();
        let told: Vec<String> = standings(&Fates::new(&suite))
            .iter()
            .map(|one| {
                format!(
                    "{} on {}: {}",
                    one.lock,
                    one.topology,
                    one.sentences.join(". ")
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
        suite.hunts.clear();
        assert_eq!(standings(&Fates::new(&suite)), []);
    }
}
