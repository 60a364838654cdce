//! Cost of a lock where nothing is broken, to stand beside what it withstands.
//!
//! For: the columns of costs in a comparison, the same in every format. Not for: measuring, which
//! `cost` and the checker do.

use lockstorm_checker::{Nanos, Verdict};

use super::{Cell, Tally};
use crate::model::{Cost, RunRecord};
use crate::words;

/// The label of hazards that are none.
const NO_FAULT: &str = "no fault";

/// A column of costs.
pub(crate) struct Heading {
    /// Title above it.
    pub(crate) name: &'static str,
    /// Meaning, in a sentence.
    pub(crate) meaning: &'static str,
}

/// The columns, in order.
pub(crate) const HEADINGS: [Heading; 5] = [
    Heading {
        name: "acquire p50",
        meaning: "half of the grants came within this time of the call, waiting included; like \
                  all that follows, in runs without a fault",
    },
    Heading {
        name: "acquire p99",
        meaning: "99 in a hundred grants came within this time of the call",
    },
    Heading {
        name: "cycles/s",
        meaning: "cycles of acquire and release that all clients together did in a second",
    },
    Heading {
        name: "round trips",
        meaning: "requests that clients waited for, in each cycle of acquire and release; to \
                  several servers at once, each counts",
    },
    Heading {
        name: "longest gap",
        meaning: "longest time in which a lock was wanted, and neither held nor granted; below it \
                  the worst of all situations",
    },
];

/// Places of some columns.
pub(crate) const ACQUIRE: usize = 0;
pub(crate) const ROUND_TRIPS: usize = 3;

/// Grants from which a latency can be compared with another.
const GRANTS_MIN: u64 = 100;

/// One figure, with what it rests on.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Figure {
    /// The figure with its unit; absent where it was not measured.
    pub(crate) value: Option<String>,
    /// The figure as a number, where it rests on enough to be compared with others.
    pub(crate) amount: Option<f64>,
    /// Line below it; may be empty.
    pub(crate) below: String,
}

impl Figure {
    /// The figure, or the sign that there is none.
    pub(crate) fn text(&self) -> &str {
        self.value.as_deref().unwrap_or("–")
    }
}

/// The costs of one row of a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Price {
    /// As many as there are [`HEADINGS`].
    pub(crate) figures: [Figure; HEADINGS.len()],
}

impl Price {
    /// The costs of a row, given the hazards of its cells.
    pub(crate) fn of(hazards: &[&str], cells: &[Cell]) -> Self {
        let columns = || hazards.iter().copied().zip(cells);
        let controls = columns().filter_map(|(hazard, cell)| control(hazard, cell));
        // Of several columns without a fault, the one in which most was done says most.
        let control = controls.max_by_key(|tally| cycles(&tally.records()).0);
        let runs = control.map_or_else(Vec::new, Tally::records);
        let [half, most] = latencies(&runs);
        Self {
            figures: [
                half,
                most,
                pace(&runs),
                round_trips(&runs),
                gap(&runs, columns()),
            ],
        }
    }

    /// Tells whether there is any figure at all.
    pub(crate) fn is_known(&self) -> bool {
        self.figures.iter().any(|figure| figure.value.is_some())
    }
}

/// The runs of a cell, if nothing was broken in any and nothing went wrong.
fn control<'a>(hazard: &str, cell: &'a Cell<'a>) -> Option<&'a Tally<'a>> {
    let tally = cell.tally()?;
    let is_whole = |run: &&RunRecord| run.analysis.faults.is_empty() && run.stopped.is_none();
    let is_control = hazard.starts_with(NO_FAULT) || tally.verdict != Verdict::Violated;
    (is_control && tally.records().iter().all(is_whole)).then_some(tally)
}

/// Number of cycles that the runs did, and how long they took for it.
fn cycles(runs: &[&RunRecord]) -> (u64, Nanos) {
    let counted = runs.iter().filter_map(|run| run.analysis.coverage.cycles);
    counted.fold((0, Nanos(0)), |(count, took), cycles| {
        (count + cycles.count, took + cycles.took())
    })
}

/// The two latencies: of several runs, the middle one.
fn latencies(runs: &[&RunRecord]) -> [Figure; 2] {
    let costs = || runs.iter().filter_map(|run| run.cost);
    let grants: u64 = costs().map(|cost| cost.grants).sum();
    let figure = |of: fn(Cost) -> Option<Nanos>, below: String| {
        let value = middle(costs().filter_map(of).collect());
        Figure {
            below: if value.is_some() {
                below
            } else {
                String::new()
            },
            amount: value.map(|at| at.0 as f64).filter(|_| grants >= GRANTS_MIN),
            value: value.map(|at| words::length(at.0)),
        }
    };
    [
        figure(|cost| cost.acquire_p50, format!("of {grants}")),
        figure(|cost| cost.acquire_p99, String::new()),
    ]
}

/// The middle one; of an even number, the upper of the two in the middle.
fn middle(mut values: Vec<Nanos>) -> Option<Nanos> {
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}

fn pace(runs: &[&RunRecord]) -> Figure {
    let (count, took) = cycles(runs);
    let is_pace = count >= words::CYCLES_MIN && took > Nanos(0);
    Figure {
        value: is_pace.then(|| format!("{:.0}", count as f64 / took.as_secs_f64())),
        amount: None,
        below: String::new(),
    }
}

fn round_trips(runs: &[&RunRecord]) -> Figure {
    let counted = |run: &&&RunRecord| run.cost.is_some_and(|cost| cost.round_trips.is_some());
    let runs: Vec<&RunRecord> = runs.iter().filter(counted).copied().collect();
    let costs = runs.iter().filter_map(|run| run.cost);
    let sum: u64 = costs.filter_map(|cost| cost.round_trips).sum();
    let (count, _) = cycles(&runs);
    Figure {
        value: (count > 0).then(|| format!("{:.1}", sum as f64 / count as f64)),
        amount: (count > 0).then(|| sum as f64 / count as f64),
        below: String::new(),
    }
}

/// The longest time without a grant without a fault, and below it the worst under any, where that
/// is longer: scripts with a fault are short, and their short gaps say nothing beside a storm.
fn gap<'a>(runs: &[&RunRecord], columns: impl Iterator<Item = (&'a str, &'a Cell<'a>)>) -> Figure {
    let longest = |runs: &[&RunRecord]| {
        let known = runs.iter().filter_map(|run| run.analysis.availability);
        known.map(|figures| figures.longest).max()
    };
    let broken = columns.filter_map(|(hazard, cell)| {
        let runs = cell.tally()?.records();
        let had_fault = runs.iter().any(|run| !run.analysis.faults.is_empty());
        let longest = longest(&runs).filter(|_| had_fault)?;
        Some((longest, hazard))
    });
    let without = longest(runs);
    let longer = broken.filter(|(at, _)| without.is_none_or(|without| *at > without));
    let worst = longer.reduce(|a, b| if b.0 > a.0 { b } else { a });
    Figure {
        value: without.map(|at| words::length(at.0)),
        amount: None,
        below: worst.map_or_else(String::new, |(at, hazard)| {
            format!("worst {}: {hazard}", words::length(at.0))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Grid;
    use crate::model::SuiteRecord;
    use crate::sample;

    /// The figures of each row, with what stands below them.
    fn told(suite: &SuiteRecord) -> Vec<Vec<String>> {
        let figure = |figure: &Figure| format!("{} {}", figure.text(), figure.below);
        let figures = |price: &Price| price.figures.iter().map(figure).collect();
        let grid = Grid::new(suite);
        let rows = grid.rows.iter();
        rows.map(|row| figures(&row.price)).collect()
    }

    #[test]
    fn the_price_of_a_row_is_that_of_its_runs_without_a_fault() {
        let rows = told(&sample::suite());
        assert_eq!(
            rows[0],
            [
                "312 µs of 20010",
                "1.9 ms ",
                "8000 ",
                "2.0 ",
                "400 µs worst 520.9 ms: failover"
            ]
        );
    }

    #[test]
    fn a_row_without_a_control_has_no_price() {
        let rows = told(&sample::suite());
        assert_eq!(rows[1], ["– ", "– ", "– ", "– ", "– "]);
    }

    #[test]
    fn a_run_that_was_violated_or_broken_is_no_control_unless_nothing_was_broken_on_purpose() {
        let mut suite = sample::suite();
        suite.runs[0].record.analysis.verdict = Verdict::Violated;
        assert_eq!(told(&suite)[0][0], "– ", "a broken lock may be cheap");
        suite.runs[0].record.labels.hazard = NO_FAULT.to_owned();
        assert_eq!(told(&suite)[0][0], "312 µs of 20010", "yet it has a price");
    }

    #[test]
    fn what_was_stored_before_there_were_costs_has_those_that_the_checker_counts() {
        let mut suite = sample::suite();
        suite.runs[0].record.cost = None;
        assert_eq!(told(&suite)[0][..4], ["– ", "– ", "8000 ", "– "]);
    }

    #[test]
    fn of_several_runs_the_middle_one_is_told() {
        let mut suite = sample::suite();
        for us in [100, 900] {
            let mut run = suite.runs[0].clone();
            run.record.cost = Some(Cost {
                acquire_p50: Some(Nanos(us * 1000)),
                grants: 1,
                ..Cost::default()
            });
            suite.runs.push(run);
        }
        let row = &told(&suite)[0];
        assert_eq!(row[0], "312 µs of 20012");
        assert_eq!(row[3], "2.0 ", "who was not counted for does not count");
    }
}
