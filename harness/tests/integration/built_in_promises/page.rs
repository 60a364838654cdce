//! The page with what every built-in lock keeps and breaks: how it is written, and how it is read.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use lockstorm_reports::{Answer, SuiteRecord};
use lockstorm_scenarios::{LockKind, Promise};

const HEAD: &str = "\
# What the built-in locks promise, keep and break

Each of Lockstorm's own locks was put into every [situation](hazards.md) that fits it, on every
topology that it can have of those that Lockstorm starts, by `lockstorm assess`. A promise that was
kept was kept in every run that could tell, of which there are twenty at least. Where a lock does
not make a promise, the table says what would have broken it all the same. The situations know of no
lock. What a failover or a restart does to a lock (`survives-failover`, `survives-restart`) is put
to the test on servers of Redis alone.

This page is written by `make promises`, from real runs; `make test` repeats one run for each broken
promise. What only a storm broke needs some luck to be seen again.
";

/// A situation on some servers: as the page names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub hazard: String,
    pub situation: String,
    pub topology: String,
}

/// Fate of a promise of a lock.
#[derive(Clone, Debug, Default)]
pub struct Row {
    pub is_promised: bool,
    pub kept: Vec<Place>,
    pub broken: Vec<Place>,
}

impl Row {
    /// Tells whether it is promised, and nothing broke it.
    pub const fn is_kept(&self) -> bool {
        self.is_promised && self.broken.is_empty() && !self.kept.is_empty()
    }
}

/// The rows of each lock.
pub type Rows = BTreeMap<LockKind, BTreeMap<Promise, Row>>;

/// Adds an assessment of built-in locks.
pub fn add(rows: &mut Rows, suite: &SuiteRecord) {
    for run in &suite.runs {
        let run = &run.record;
        let kind = LockKind::ALL
            .into_iter()
            .find(|kind| kind.name() == run.labels.lock);
        let of_lock = rows
            .entry(kind.expect("the locks are our own"))
            .or_default();
        for outcome in run.outcomes() {
            let row: &mut Row = of_lock.entry(outcome.promise).or_default();
            row.is_promised = outcome.is_promised;
            let place = Place {
                hazard: run.labels.hazard.clone(),
                situation: run.scenario.clone(),
                topology: run.labels.topology.clone(),
            };
            match outcome.seen {
                Answer::Kept => row.kept.push(place),
                Answer::Broken => row.broken.push(place),
                Answer::CouldNotTell | Answer::NotPromised => {}
            }
        }
    }
}

/// The whole page: the sections of the locks in `rows`, and as they stand in `written` those of the
/// others.
pub fn page(rows: &Rows, written: &str) -> String {
    let mut page = HEAD.to_owned();
    for lock in LockKind::ALL {
        let old = || section(written, lock).unwrap_or_default().to_owned();
        let of_lock = rows.get(&lock).map(|promises| new_section(lock, promises));
        page.push_str(&of_lock.unwrap_or_else(old));
    }
    page
}

fn new_section(lock: LockKind, promises: &BTreeMap<Promise, Row>) -> String {
    let mut text = title(lock);
    put(&mut text, &format!("{}\n", lock.summary()));
    put(&mut text, "| promise | | in |");
    put(&mut text, "|---|---|---|");
    for (promise, row) in promises {
        let (name, word, by) = (promise.name(), word(row), by(row));
        put(&mut text, &format!("| {name} | {word} | {by} |"));
    }
    text
}

fn title(lock: LockKind) -> String {
    format!("\n## {}\n\n", lock.name())
}

/// The section of a lock on a page, if it has one.
fn section(page: &str, lock: LockKind) -> Option<&str> {
    let begin = page.find(&title(lock))?;
    let rest = &page[begin..];
    let end = rest[1..].find("\n## ").map_or(rest.len(), |end| end + 1);
    Some(&rest[..end])
}

const fn word(row: &Row) -> &'static str {
    match (row.is_promised, row.broken.is_empty(), row.kept.is_empty()) {
        (true, false, _) => "✗ broken",
        (true, true, true) => "? could not tell",
        (true, true, false) => "✓ kept",
        (false, false, _) => "· not promised, would be broken",
        (false, true, _) => "· not promised",
    }
}

/// Situations that broke it, or in how many runs it was kept.
fn by(row: &Row) -> String {
    if row.is_kept() {
        return format!("{} runs", row.kept.len());
    }
    places(row).map(cell).collect::<Vec<_>>().join("; ")
}

/// Situations that broke it, each once, on the first servers on which it did.
fn places(row: &Row) -> impl Iterator<Item = &Place> {
    let mut seen = std::collections::BTreeSet::new();
    row.broken
        .iter()
        .filter(move |place| seen.insert(&place.hazard))
}

fn cell(place: &Place) -> String {
    let Place {
        hazard,
        situation,
        topology,
    } = place;
    format!("[{hazard}](../scenarios/library/situations/{situation}.toml) on {topology}")
}

fn put(page: &mut String, line: &str) {
    writeln!(page, "{line}").expect("a string takes all");
}

/// Word of a page on each promise of each lock.
pub fn words(page: &str) -> BTreeMap<(String, String), String> {
    let mut words = BTreeMap::new();
    let mut lock = String::new();
    for line in page.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            title.clone_into(&mut lock);
        }
        if let [promise, word, _] = *cells(line) {
            words.insert((lock.clone(), promise.to_owned()), word.to_owned());
        }
    }
    words
}

/// The promises that a page calls kept, each with its lock and in how many runs.
pub fn kept(page: &str) -> Vec<(String, String, usize)> {
    let mut kept = Vec::new();
    let mut lock = String::new();
    for line in page.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            title.clone_into(&mut lock);
        }
        if let [promise, "✓ kept", by] = *cells(line) {
            let runs = by.strip_suffix(" runs").and_then(|runs| runs.parse().ok());
            kept.push((lock.clone(), promise.to_owned(), runs.unwrap_or_default()));
        }
    }
    kept
}

fn cells(line: &str) -> Vec<&str> {
    let row = line
        .strip_prefix("| ")
        .and_then(|row| row.strip_suffix(" |"));
    row.map_or_else(Vec::new, |row| row.split(" | ").collect())
}

/// The broken promises that the page names, of a lock that makes them or not, each with what broke
/// it.
pub fn broken(page: &str) -> Vec<(LockKind, Promise, Vec<Place>)> {
    let mut broken = Vec::new();
    let mut lock = None;
    for line in page.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            lock = LockKind::ALL.into_iter().find(|kind| kind.name() == title);
        }
        let [promise, _, by] = *cells(line) else {
            continue;
        };
        let mut known = Promise::ALL.into_iter();
        let promise = known.find(|known| known.name() == promise);
        let places: Vec<Place> = by.split("; ").filter_map(read_place).collect();
        if let (Some(lock), Some(promise), false) = (lock, promise, places.is_empty()) {
            broken.push((lock, promise, places));
        }
    }
    broken
}

/// Reads what [`cell`] has written.
fn read_place(text: &str) -> Option<Place> {
    let (hazard, rest) = text.strip_prefix('[')?.split_once("](")?;
    let (path, topology) = rest.split_once(") on ")?;
    let situation = path.rsplit('/').next()?.strip_suffix(".toml")?;
    Some(Place {
        hazard: hazard.to_owned(),
        situation: situation.to_owned(),
        topology: topology.trim().to_owned(),
    })
}
