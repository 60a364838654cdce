//! Fate of each lock in each situation of an assessment: like beside like.
//!
//! For: the comparison of locks on their servers, situation by situation, those with the same
//! number of faults together, and the same words for it in page, picture, Markdown and terminal.
//! Not for: promises, which `assessment` gathers; what happened counts here whether it was promised
//! or not.

use lockstorm_checker::history::{FaultTarget, Name};
use lockstorm_checker::{Nanos, Property};
use lockstorm_scenarios::Promise;

use crate::assessment::kind;
use crate::grid::{Cell, Grid, Price};
use crate::model::{Answer, Endured, HuntSummary, NotRun, RunRecord, SuiteRecord, SuiteRun};
use crate::words;

/// Time without a grant from which a lock counts as unavailable: what is shorter nobody notices who
/// waits for a lock.
const UNAVAILABLE_MIN: Nanos = Nanos::from_millis(500);

/// The table: situations down, locks on their servers across.
pub(crate) struct Fates<'a> {
    /// Locks on their servers, in the order in which they ran.
    pub(crate) columns: Vec<Column<'a>>,
    /// The smallest number of faults that break each promise, where a lock was hunted.
    pub(crate) endurance: Vec<EnduranceRow>,
    /// Situations with as many faults, the fewest first, storms last.
    pub(crate) groups: Vec<Group<'a>>,
}

/// A promise, and what each lock endures before it is broken.
pub(crate) struct EnduranceRow {
    pub(crate) promise: Promise,
    /// One for each column.
    pub(crate) cells: Vec<Option<Endured>>,
}

/// A lock on servers of one kind.
pub(crate) struct Column<'a> {
    pub(crate) lock: &'a str,
    /// The servers in most of its situations.
    pub(crate) topology: &'a str,
    /// Cost of the lock there.
    pub(crate) price: Price,
    /// The hunt for the fewest faults that break it, if there was one.
    pub(crate) hunt: Option<&'a HuntSummary>,
}

/// Situations with the same number of faults.
pub(crate) struct Group<'a> {
    pub(crate) title: String,
    pub(crate) rows: Vec<Row<'a>>,
}

/// One situation.
pub(crate) struct Row<'a> {
    pub(crate) hazard: &'a str,
    /// One for each column.
    pub(crate) fates: Vec<Fate<'a>>,
}

/// Outcome of a situation for a lock.
pub(crate) struct Fate<'a> {
    pub(crate) kind: FateKind,
    /// Words beside the kind: promises that were broken, for how long it could not be had, or the
    /// reason why nothing can be told; may be empty.
    pub(crate) detail: String,
    /// Number of faults in the run that shows it.
    pub(crate) faults: usize,
    /// The run that shows it.
    pub(crate) run: Option<&'a SuiteRun>,
    /// Of several runs, in how many it went so, and how many there were.
    pub(crate) share: Option<(usize, usize)>,
}

/// Fate of a lock in one word, the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FateKind {
    /// Nobody put it to the test.
    NotTested,
    /// The run could not tell.
    Open,
    /// Nothing happened that should not.
    Withstood,
    /// Nobody could have it for a while.
    Unavailable,
    /// A client went on after its lease: no lease prevents that.
    Overran,
    /// It let two hold it at once, or broke another promise.
    LockFailed,
}

impl FateKind {
    /// All that a legend names, the worst first.
    pub(crate) const ALL: [Self; 6] = [
        Self::LockFailed,
        Self::Overran,
        Self::Unavailable,
        Self::Withstood,
        Self::Open,
        Self::NotTested,
    ];

    /// The words of reports.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::LockFailed => "lock failed",
            Self::Overran => "client overran",
            Self::Unavailable => "unavailable",
            Self::Withstood => "withstood",
            Self::Open => "could not tell",
            Self::NotTested => "not tested",
        }
    }

    /// Meaning, for a legend.
    pub(crate) const fn meaning(self) -> &'static str {
        match self {
            Self::LockFailed => "the lock failed its users",
            Self::Overran => "a client overran its lease, which no lease prevents",
            Self::Unavailable => "nobody could have it for so long",
            Self::Withstood => "withstood in these runs",
            Self::Open => "could not tell",
            Self::NotTested => "not tested",
        }
    }

    /// Glyph beside the words.
    pub(crate) const fn glyph(self) -> char {
        match self {
            Self::LockFailed => '✗',
            Self::Overran => '◐',
            Self::Unavailable => '◌',
            Self::Withstood => '✓',
            Self::Open => '?',
            Self::NotTested => '·',
        }
    }
}

impl<'a> Fates<'a> {
    /// Arranges the runs of an assessment.
    pub(crate) fn new(suite: &'a SuiteRecord) -> Self {
        let columns = columns(suite);
        let mut hazards: Vec<&str> = Vec::new();
        for run in &suite.runs {
            let hazard = run.record.labels.hazard.as_str();
            if !hazards.contains(&hazard) {
                hazards.push(hazard);
            }
        }
        let mut groups: Vec<(Weight, Group)> = Vec::new();
        for hazard in hazards {
            let of_column = |column: &Column<'a>| Fate::of(suite, column, hazard);
            let fates: Vec<Fate> = columns.iter().map(of_column).collect();
            let weight = weight(&fates);
            let row = Row { hazard, fates };
            match groups.iter_mut().find(|(known, _)| *known == weight) {
                Some((_, group)) => group.rows.push(row),
                None => groups.push((
                    weight,
                    Group {
                        title: title(weight),
                        rows: vec![row],
                    },
                )),
            }
        }
        groups.sort_by_key(|(weight, _)| *weight);
        Self {
            endurance: endurance(&columns),
            columns,
            groups: groups.into_iter().map(|(_, group)| group).collect(),
        }
    }

    /// All situations, in order.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &Row<'a>> {
        self.groups.iter().flat_map(|group| &group.rows)
    }
}

/// The promises of which a hunt has told, in the order of reports.
fn endurance(columns: &[Column]) -> Vec<EnduranceRow> {
    let of_column = |column: &Column, promise| {
        let mut promises = column.hunt?.promises.iter();
        promises.find(|one| one.promise == promise).cloned()
    };
    let rows = Promise::ALL.into_iter().map(|promise| EnduranceRow {
        promise,
        cells: columns
            .iter()
            .map(|column| of_column(column, promise))
            .collect(),
    });
    rows.filter(|row| row.cells.iter().any(Option::is_some))
        .collect()
}

/// Number of faults of a situation, or that it is a storm of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    Faults(usize),
    Storm,
}

fn title(weight: Weight) -> String {
    match weight {
        Weight::Faults(0) => "No fault".to_owned(),
        Weight::Faults(1) => "One fault".to_owned(),
        Weight::Faults(many) => format!("{many} faults"),
        Weight::Storm => "Storms: load, and faults at random".to_owned(),
    }
}

/// The weight of a situation: its locks may need different faults, and the fewest count.
fn weight(fates: &[Fate]) -> Weight {
    let ran = fates.iter().filter(|fate| fate.run.is_some());
    let is_storm = |run: &SuiteRun| run.record.situation.as_ref().is_some_and(|s| s.is_storm);
    if ran.clone().any(|fate| fate.run.is_some_and(is_storm)) {
        return Weight::Storm;
    }
    Weight::Faults(ran.map(|fate| fate.faults).min().unwrap_or_default())
}

/// The locks on their servers, servers of one kind in one column.
fn columns(suite: &SuiteRecord) -> Vec<Column<'_>> {
    let grid = Grid::new(suite);
    let ran = |row: &crate::grid::Row| {
        let cells = row.cells.iter();
        cells.filter(|cell| matches!(cell, Cell::Ran(_))).count()
    };
    let mut columns: Vec<(usize, Column)> = Vec::new();
    for row in grid.rows {
        let count = ran(&row);
        let column = Column {
            lock: row.lock,
            topology: row.topology,
            price: row.price,
            hunt: hunt_of(suite, (row.lock, row.topology)),
        };
        let is_same = |(_, known): &&mut (usize, Column)| {
            (known.lock, kind(known.topology)) == (column.lock, kind(column.topology))
        };
        match columns.iter_mut().find(is_same) {
            Some(known) if known.0 < count => *known = (count, column),
            Some(_) => {}
            None => columns.push((count, column)),
        }
    }
    columns.retain(|(count, _)| *count > 0);
    columns.into_iter().map(|(_, column)| column).collect()
}

/// The hunt for a lock on servers of a kind.
fn hunt_of<'a>(suite: &'a SuiteRecord, (lock, topology): (&str, &str)) -> Option<&'a HuntSummary> {
    let mut hunts = suite.hunts.iter();
    hunts.find(|hunt| (hunt.lock.as_str(), kind(&hunt.topology)) == (lock, kind(topology)))
}

impl Column<'_> {
    /// Tells whether something ran, or would have run, in this column.
    fn has(&self, lock: &str, topology: &str) -> bool {
        (self.lock, kind(self.topology)) == (lock, kind(topology))
    }
}

impl<'a> Fate<'a> {
    fn of(suite: &'a SuiteRecord, column: &Column, hazard: &str) -> Self {
        let here = |run: &&SuiteRun| {
            let labels = &run.record.labels;
            labels.hazard == hazard && column.has(&labels.lock, &labels.topology)
        };
        let runs: Vec<Self> = suite.runs.iter().filter(here).map(of_run).collect();
        let number = runs.len();
        let Some(worst) = runs.iter().map(|fate| fate.kind).max() else {
            return not_tested(suite, column, hazard);
        };
        let count = runs.iter().filter(|fate| fate.kind == worst).count();
        let mut of_worst = runs.into_iter().filter(|fate| fate.kind == worst);
        let shown = of_worst.next().expect("one of them is the worst");
        Self {
            share: (number > 1).then_some((count, number)),
            ..shown
        }
    }

    /// Its words, with how long and how often, and without the detail.
    pub(crate) fn headline(&self) -> String {
        let words = self.kind.words();
        match self.share {
            Some((count, number)) if count < number => format!("{words} {count} of {number}"),
            Some(_) | None => words.to_owned(),
        }
    }
}

/// The fate of a lock in one run.
fn of_run(run: &SuiteRun) -> Fate<'_> {
    let record = &run.record;
    let (kind, detail) = told(record);
    Fate {
        kind,
        detail,
        faults: faults(record),
        run: Some(run),
        share: None,
    }
}

fn told(record: &RunRecord) -> (FateKind, String) {
    let failures = failures(record);
    if !failures.is_empty() {
        return (FateKind::LockFailed, failures.join(", "));
    }
    let mut inherent = record.inherent().into_iter();
    if inherent.any(|(property, _)| is_overrun(property)) {
        return (FateKind::Overran, String::new());
    }
    if let Some(reason) = &record.stopped {
        return (FateKind::Open, reason.clone());
    }
    let longest = record.analysis.availability.map(|figures| figures.longest);
    if let Some(longest) = longest.filter(|longest| *longest >= UNAVAILABLE_MIN) {
        return (FateKind::Unavailable, words::length(longest.0));
    }
    // The first promise that it tests is what the situation is about.
    match record.outcomes().into_iter().next() {
        Some(first) if first.seen == Answer::Kept => (FateKind::Withstood, String::new()),
        first => {
            let reason = first.and_then(|first| first.reason);
            (FateKind::Open, reason.unwrap_or_default())
        }
    }
}

/// Tells whether it is a client that goes on after its lease: what it then does to the resource is
/// its own.
fn is_overrun(property: Property) -> bool {
    matches!(property, Property::LeaseOverrun | Property::GuardedResource)
}

/// Promises that were broken, made or not, and what no lock of the kind prevents but for a client
/// that overran.
fn failures(record: &RunRecord) -> Vec<String> {
    let broken = record.outcomes().into_iter();
    let broken = broken.filter(|one| one.seen == Answer::Broken);
    let promises = broken.map(|one| {
        let name = one.promise.name();
        if one.is_promised {
            name.to_owned()
        } else {
            format!("{name}, not promised")
        }
    });
    let inherent = record.inherent().into_iter();
    let inherent = inherent.filter(|(property, _)| !is_overrun(*property));
    let inherent = inherent.map(|(property, _)| format!("{}, inherent", words::property(property)));
    promises.chain(inherent).collect()
}

fn not_tested<'a>(suite: &'a SuiteRecord, column: &Column, hazard: &str) -> Fate<'a> {
    let here = |not_run: &&NotRun| {
        let labels = &not_run.labels;
        labels.hazard == hazard && column.has(&labels.lock, &labels.topology)
    };
    let reason = suite.not_run.iter().find(here);
    Fate {
        kind: FateKind::NotTested,
        detail: reason.map_or_else(String::new, |not_run| not_run.reason.clone()),
        faults: 0,
        run: None,
        share: None,
    }
}

/// Number of faults in a run: both directions of a link that is cut are one.
pub(crate) fn faults(record: &RunRecord) -> usize {
    let mut places: Vec<(&str, FaultTarget)> = Vec::new();
    let mut count = 0;
    for fault in &record.analysis.faults {
        if let FaultTarget::Link { from, to } = &fault.target {
            let place = (fault.kind.as_str(), both_ways(from, to));
            if places.contains(&place) {
                continue;
            }
            places.push(place);
        }
        count += 1;
    }
    count
}

/// A link, whichever way it goes.
fn both_ways(from: &[Name], to: &[Name]) -> FaultTarget {
    let (from, to) = if from <= to { (from, to) } else { (to, from) };
    FaultTarget::Link {
        from: from.to_vec(),
        to: to.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::sample;

    fn told_of(suite: &SuiteRecord) -> Vec<String> {
        let fates = Fates::new(suite);
        let columns = fates
            .columns
            .iter()
            .map(|column| format!("{} on {}", column.lock, column.topology));
        let rows = fates.groups.iter().flat_map(|group| {
            group.rows.iter().map(|row| {
                let cell = |fate: &Fate| format!("{} ({})", fate.headline(), fate.detail);
                let cells: Vec<String> = row.fates.iter().map(cell).collect();
                format!("{} · {}: {}", group.title, row.hazard, cells.join(" | "))
            })
        });
        columns.chain(rows).collect()
    }

    #[test]
    fn situations_with_as_many_faults_stand_together_and_each_lock_has_its_fate() {
        insta::assert_snapshot!(told_of(&sample::assessment()).join("\n"));
    }

    #[test]
    fn a_client_that_overran_is_no_failure_of_the_lock() {
        let mut run = sample::failover_run();
        let judged = run.analysis.properties.remove(&Property::MutualExclusion);
        run.analysis.properties.clear();
        let judged = judged.expect("it is violated");
        run.analysis
            .properties
            .insert(Property::LeaseOverrun, judged);
        let reason = "no lease prevents it".to_owned();
        run.situation = Some(crate::model::Tested {
            inherent: BTreeMap::from([(Property::LeaseOverrun, reason)]),
            ..crate::model::Tested::default()
        });
        assert_eq!(told(&run).0, FateKind::Overran);
    }

    #[test]
    fn both_directions_of_a_cut_are_one_fault() {
        let mut run = sample::failover_run();
        let cut = run.analysis.faults[0].clone();
        let number = faults(&run);
        let FaultTarget::Link { from, to } = cut.target.clone() else {
            panic!("{:?}", cut.target);
        };
        let mut back = cut;
        back.target = FaultTarget::Link { from: to, to: from };
        run.analysis.faults.push(back);
        assert_eq!(faults(&run), number);
    }

    #[test]
    fn every_kind_has_words_and_a_glyph_of_its_own() {
        let glyphs: std::collections::BTreeSet<char> =
            FateKind::ALL.into_iter().map(FateKind::glyph).collect();
        assert_eq!(glyphs.len(), FateKind::ALL.len());
    }
}
