//! The comparison: which lock on which topology did what under which hazard.
//!
//! One arrangement for the terminal, Markdown, HTML and the PNG; each of them only draws it.

mod price;

use lockstorm_checker::{Property, Verdict};
use lockstorm_scenarios::CaseLabels;

pub(crate) use self::price::{ACQUIRE, Figure, HEADINGS, Heading, Price, ROUND_TRIPS};
use crate::head::Sign;
use crate::model::{NotRun, Outcome, RunRecord, SuiteRecord, SuiteRun, run_verdict};
use crate::words;

/// Columns of hazards that can have their names above them in one line or two, and words in each
/// cell; of more, the names stand upright, and a cell has a sign and a figure.
const WORDY_MAX: usize = 9;

/// Rows are locks on topologies, columns are hazards, both in order of first appearance; the rows
/// of one lock stand together.
pub(crate) struct Grid<'a> {
    pub(crate) hazards: Vec<&'a str>,
    pub(crate) rows: Vec<Row<'a>>,
    /// The columns of costs of which anything is known, as indexes of [`HEADINGS`].
    pub(crate) costs: Vec<usize>,
}

/// One lock on one topology.
pub(crate) struct Row<'a> {
    pub(crate) lock: &'a str,
    pub(crate) topology: &'a str,
    /// One for each hazard.
    pub(crate) cells: Vec<Cell<'a>>,
    /// Cost of the lock there.
    pub(crate) price: Price,
}

/// Results of one combination.
pub(crate) enum Cell<'a> {
    /// It ran, once or more.
    Ran(Tally<'a>),
    /// It makes no sense; the reason says why.
    NotApplicable(&'a str),
    /// Nobody ran it.
    NotRun,
}

/// The runs of one cell.
pub(crate) struct Tally<'a> {
    pub(crate) runs: Vec<&'a SuiteRun>,
    /// The worst verdict of the runs, see [`run_verdict`].
    pub(crate) verdict: Verdict,
    /// Number of runs that were violated.
    pub(crate) violated: u64,
    /// The violated properties, in the order of reports.
    pub(crate) properties: Vec<Property>,
    /// True if an expectation that counts the runs of the cell is not met.
    misses_rate: bool,
}

impl<'a> Grid<'a> {
    /// Arranges the runs of a suite.
    pub(crate) fn new(suite: &'a SuiteRecord) -> Self {
        let labels = || {
            let ran = suite.runs.iter().map(|run| &run.record.labels);
            ran.chain(suite.not_run.iter().map(|not_run| &not_run.labels))
        };
        let mut hazards: Vec<&str> = Vec::new();
        let mut places: Vec<(&str, &str)> = Vec::new();
        for label in labels() {
            if !hazards.contains(&label.hazard.as_str()) {
                hazards.push(&label.hazard);
            }
            let place = (label.lock.as_str(), label.topology.as_str());
            if !places.contains(&place) {
                places.push(place);
            }
        }
        let first = |lock: &str| places.iter().position(|(other, _)| *other == lock);
        let mut ordered = places.clone();
        ordered.sort_by_key(|(lock, _)| first(lock));
        let row = |(lock, topology)| Row::of(suite, (lock, topology), &hazards);
        let mut rows: Vec<Row> = ordered.into_iter().map(row).collect();
        mark_missed_rates(suite, &mut rows);
        let is_known = |at: &usize| {
            let figures = rows.iter().map(|row| &row.price.figures[*at]);
            figures.into_iter().any(|figure| figure.value.is_some())
        };
        Self {
            costs: (0..HEADINGS.len()).filter(is_known).collect(),
            hazards,
            rows,
        }
    }

    /// Tells whether there are so many hazards that words in each cell would make it unreadable.
    pub(crate) fn is_dense(&self) -> bool {
        self.hazards.len() > WORDY_MAX
    }

    /// Tells whether anything is known of what the locks cost.
    pub(crate) fn has_prices(&self) -> bool {
        !self.costs.is_empty()
    }
}

/// Marks the cells of which an expectation that counts runs is not met.
fn mark_missed_rates(suite: &SuiteRecord, rows: &mut [Row]) {
    let rates = suite.rates();
    let missed: Vec<&CaseLabels> = rates
        .iter()
        .filter(|rate| rate.outcome() != Outcome::AsExpected)
        .map(|rate| rate.labels)
        .collect();
    for cell in rows.iter_mut().flat_map(|row| &mut row.cells) {
        if let Cell::Ran(tally) = cell {
            let mut records = tally.runs.iter().map(|run| &run.record);
            tally.misses_rate = records.any(|run| missed.contains(&&run.labels));
        }
    }
}

impl<'a> Row<'a> {
    fn of(suite: &'a SuiteRecord, place: (&'a str, &'a str), hazards: &[&'a str]) -> Self {
        let (lock, topology) = place;
        let cell = |hazard: &&str| Cell::of(suite, lock, topology, hazard);
        let cells: Vec<Cell> = hazards.iter().map(cell).collect();
        Self {
            lock,
            topology,
            price: Price::of(hazards, &cells),
            cells,
        }
    }
}

impl<'a> Cell<'a> {
    fn of(suite: &'a SuiteRecord, lock: &str, topology: &str, hazard: &str) -> Self {
        let here = |labels: &CaseLabels| {
            labels.lock == lock && labels.topology == topology && labels.hazard == hazard
        };
        let runs: Vec<&SuiteRun> = suite
            .runs
            .iter()
            .filter(|run| here(&run.record.labels))
            .collect();
        if !runs.is_empty() {
            return Self::Ran(Tally::of(runs));
        }
        let left_out = |not_run: &&NotRun| here(&not_run.labels) && !not_run.was_not_reached();
        suite
            .not_run
            .iter()
            .find(left_out)
            .map_or(Self::NotRun, |not_run| Self::NotApplicable(&not_run.reason))
    }

    /// The runs of the cell, if there are any.
    pub(crate) fn tally(&self) -> Option<&Tally<'a>> {
        match self {
            Self::Ran(tally) => Some(tally),
            Self::NotApplicable(_) | Self::NotRun => None,
        }
    }

    /// The cell's glyph.
    pub(crate) fn glyph(&self) -> char {
        match self {
            Self::Ran(tally) => Sign::from(tally.verdict).glyph(),
            Self::NotApplicable(_) | Self::NotRun => '·',
        }
    }

    /// The cell in two or three words, without the glyph.
    pub(crate) fn headline(&self) -> String {
        match self {
            Self::Ran(tally) => tally.headline(),
            Self::NotApplicable(_) => "n/a".to_owned(),
            Self::NotRun => "not run".to_owned(),
        }
    }

    /// Returns the line below the headline; may be empty.
    pub(crate) fn detail(&self) -> String {
        match self {
            Self::Ran(tally) => tally.detail(),
            Self::NotApplicable(_) | Self::NotRun => String::new(),
        }
    }

    /// Says in words what several runs allow one to say of the rate of violated ones.
    pub(crate) fn rate(&self) -> Option<String> {
        let tally = self.tally().filter(|tally| tally.runs.len() > 1)?;
        let (low, high) = tally.rate_interval();
        Some(format!("rate {low:.0}–{high:.0} %"))
    }

    /// Tells whether a run of the cell was not as its scenario expects, or not as many of them.
    pub(crate) fn is_unexpected(&self) -> bool {
        self.tally().is_some_and(|tally| {
            let mut runs = tally.runs.iter().map(|run| &run.record);
            let is_unlike =
                |run: &RunRecord| run.outcome != Outcome::AsExpected && !run.without_scenario;
            tally.misses_rate || runs.any(is_unlike)
        })
    }
}

impl<'a> Tally<'a> {
    /// The records of the runs.
    pub(crate) fn records(&self) -> Vec<&'a RunRecord> {
        self.runs.iter().map(|run| &run.record).collect()
    }

    /// How many of the runs were violated, as `k/n`.
    pub(crate) fn share(&self) -> String {
        format!("{}/{}", self.violated, self.runs.len())
    }

    fn of(runs: Vec<&'a SuiteRun>) -> Self {
        let verdicts: Vec<Verdict> = runs.iter().map(|run| run_verdict(&run.record)).collect();
        let is_violated = |property: &Property| {
            runs.iter().any(|run| {
                let judged = run.record.analysis.properties.get(property);
                judged.is_some_and(|judgement| judgement.verdict == Verdict::Violated)
            })
        };
        Self {
            verdict: verdicts
                .iter()
                .copied()
                .fold(Verdict::Valid, Verdict::merge),
            violated: verdicts
                .iter()
                .filter(|verdict| **verdict == Verdict::Violated)
                .count() as u64,
            properties: Property::ALL.into_iter().filter(is_violated).collect(),
            misses_rate: false,
            runs,
        }
    }

    fn headline(&self) -> String {
        let word = words::verdict(self.verdict);
        match self.verdict {
            Verdict::Violated => format!("{word} {}", self.share()),
            Verdict::Valid | Verdict::Unknown => word.to_owned(),
        }
    }

    fn detail(&self) -> String {
        match (self.properties.split_first(), self.runs.len()) {
            (Some((first, [])), _) => words::property(*first),
            (Some((first, others)), _) => {
                format!("{} +{}", words::property(*first), others.len())
            }
            (None, 1) => String::new(),
            (None, runs) => format!("in {runs} runs"),
        }
    }

    /// Wilson's 95 % interval of the share of violated runs, in per cent: what the repetitions
    /// allow one to say of the rate (E. B. Wilson, 1927).
    pub(crate) fn rate_interval(&self) -> (f64, f64) {
        const Z: f64 = 1.959_964;
        let n = self.runs.len() as f64;
        let share = self.violated as f64 / n;
        let spread = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
        let middle = share + Z * Z / (2.0 * n);
        let scale = 100.0 / (1.0 + Z * Z / n);
        let bound = |value: f64| (value * scale).clamp(0.0, 100.0);
        (bound(middle - spread), bound(middle + spread))
    }
}

#[cfg(test)]
mod tests {
    use lockstorm_scenarios::Expected;

    use super::*;
    use crate::model::ExpectationResult;
    use crate::sample;

    #[test]
    fn every_combination_has_its_cell() {
        let suite = sample::suite();
        let grid = Grid::new(&suite);
        assert_eq!(grid.hazards, ["control", "failover"]);
        let told: Vec<Vec<String>> = grid
            .rows
            .iter()
            .map(|row| row.cells.iter().map(Cell::headline).collect())
            .collect();
        assert_eq!(
            told,
            [
                ["no violation", "violated 2/2"],
                ["not run", "violated 1/1"],
                ["unknown", "n/a"],
            ]
        );
    }

    #[test]
    fn an_unexpected_cell_is_marked_and_an_expected_violation_is_not() {
        let suite = sample::suite();
        let grid = Grid::new(&suite);
        assert!(!grid.rows[0].cells[1].is_unexpected());
        assert!(grid.rows[1].cells[1].is_unexpected());
    }

    #[test]
    fn a_cell_whose_runs_are_violated_too_seldom_is_marked() {
        let mut suite = sample::suite();
        let is_marked = |suite: &SuiteRecord, expected: &str| {
            let mut suite = suite.clone();
            for run in &mut suite.runs {
                for result in &mut run.record.expectations {
                    result.expected = Expected::ViolatedIn(expected.parse().expect(expected));
                }
            }
            Grid::new(&suite).rows[0].cells[1].is_unexpected()
        };
        for run in &mut suite.runs {
            let lost = |result: &ExpectationResult| result.property == Property::LostLock;
            run.record.expectations.retain(lost);
        }
        assert!(!is_marked(&suite, "2.."));
        assert!(is_marked(&suite, "3.."));
    }

    #[test]
    fn a_cell_that_was_not_reached_is_not_called_inapplicable() {
        let mut suite = sample::suite();
        suite.not_run[0].reason = format!("{}: interrupted", NotRun::NOT_REACHED);
        let grid = Grid::new(&suite);
        assert!(matches!(grid.rows[2].cells[1], Cell::NotRun));
    }

    #[test]
    fn an_undecided_liveness_does_not_blur_the_safety_properties() {
        let mut run = sample::control_run();
        let undecided = lockstorm_checker::verdict::Judgement {
            verdict: Verdict::Unknown,
            ..Default::default()
        };
        run.analysis
            .properties
            .insert(Property::Liveness, undecided);
        run.analysis.verdict = Verdict::Unknown;
        assert_eq!(run_verdict(&run), Verdict::Valid);
    }

    #[test]
    fn a_run_that_was_stopped_is_unknown_unless_it_is_violated() {
        let mut run = sample::control_run();
        run.stopped = Some("interrupted".to_owned());
        assert_eq!(run_verdict(&run), Verdict::Unknown);
        let mut run = sample::failover_run();
        run.stopped = Some("interrupted".to_owned());
        assert_eq!(run_verdict(&run), Verdict::Violated);
    }

    #[test]
    fn a_run_in_which_nothing_was_judged_is_unknown() {
        let mut run = sample::control_run();
        run.analysis.properties.clear();
        assert_eq!(run_verdict(&run), Verdict::Unknown);
    }

    #[test]
    fn twenty_violations_in_twenty_runs_leave_a_rate_above_eighty_per_cent() {
        // 20 of 20: Wilson's interval is 83.9 % to 100 %.
        let run = SuiteRun {
            folder: String::new(),
            record: sample::failover_run(),
        };
        let tally = Tally::of(vec![&run; 20]);
        let (low, high) = tally.rate_interval();
        assert!((low - 83.9).abs() < 0.05, "{low}");
        assert!((high - 100.0).abs() < 1e-9, "{high}");
    }
}
