//! What the page of a large run costs: `cargo bench --bench report`.
//!
//! Method: the simulated storm of the checker's benchmark, a million operations of fifty clients
//! on a hundred keys, is judged and stored as a run. Its page is written and opened in Chromium,
//! each five times; then the reader zooms and pans, and the page says how long each redraw took.
//! Printed are medians, and of the redraws the slowest too.

#[path = "../../tests/browser/driver/mod.rs"]
#[expect(dead_code, unused_imports, reason = "the tests of pages use all of it")]
mod driver;
#[path = "../../../checker/benches/sweep/storm.rs"]
mod storm;

use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Write as _};
use std::path::Path;
use std::time::Instant;

use lockstorm_checker::history::{Header, read_jsonl, write_event, write_header};
use lockstorm_checker::{Digest, Options, check_digest};
use lockstorm_reports::{Extent, Format, Formats, read_run, render_run, write_run};

use crate::driver::{Key, Page};
use crate::storm::Storm;

/// An odd number, so that one of them is the median.
const ROUNDS: usize = 5;
/// What a reader does to the timeline, over and over: nearer, aside, and back.
const MOVES: [Key; 8] = [
    Key::Letter('+'),
    Key::Letter('+'),
    Key::Right,
    Key::Letter('+'),
    Key::Right,
    Key::Letter('-'),
    Key::Left,
    Key::Letter('0'),
];
const STORM: Storm = Storm {
    operations: 1_000_000,
    clients: 50,
    keys: 100,
};

fn main() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    store(folder.path());
    let formats = Formats::from([Format::Html]);
    let seconds = median((0..ROUNDS).map(|_| {
        let start = Instant::now();
        render_run(folder.path(), &formats, &Extent::default()).expect("the page can be written");
        start.elapsed().as_secs_f64()
    }));
    let page = folder.path().join("report.html");
    let bytes = fs::metadata(&page).expect("it was written").len();
    println!("operations    bytes  written s");
    println!("{:>10}  {bytes:>7}  {seconds:>9.2}", STORM.operations);
    if let Some(ready) = (0..ROUNDS)
        .map(|_| ready(&page))
        .collect::<Option<Vec<_>>>()
    {
        let redraws = redraws(&page);
        println!("ready s  redraw ms  slowest");
        println!(
            "{:>7.2}  {:>9.1}  {:>7.1}",
            median(ready.into_iter()) / 1e3,
            median(redraws.iter().copied()),
            redraws.iter().copied().fold(0.0, f64::max)
        );
    }
}

/// The storm as a run folder holds it: history and record.
fn store(folder: &Path) {
    let history = folder.join("history.jsonl");
    let file = File::create(&history).expect("the history can be created");
    let mut out = BufWriter::new(file);
    let mut line = Vec::new();
    write_header(&mut line, &Header::new());
    STORM.events(|event| {
        write_event(&mut line, &event);
        out.write_all(&line).expect("the history can be written");
        line.clear();
    });
    out.flush().expect("the history can be written");

    let file = File::open(&history).expect("it was written");
    let read = read_jsonl(BufReader::new(file), "storm").expect("what was written can be read");
    let record = include_str!("../../tests/failover/results.json");
    fs::write(folder.join("results.json"), record).expect("a record can be written");
    let mut run = read_run(folder).expect("the fixture is a record");
    "storm".clone_into(&mut run.scenario);
    run.analysis = check_digest(&Digest::of(&read), &Options::default());
    write_run(folder, &run).expect("the record can be written");
}

/// Milliseconds from the opening of the page to the timeline that can be used; `None` without a
/// browser.
fn ready(file: &Path) -> Option<f64> {
    let page = open(file)?;
    Some(page.number("performance.getEntriesByName('timeline-ready')[0].startTime"))
}

fn open(file: &Path) -> Option<Page> {
    let page = Page::new()?;
    page.visit(file, "");
    page.wait_until("document.documentElement.dataset.timeline !== undefined");
    let state = page.text("document.documentElement.dataset.timeline");
    assert_eq!(state, "ready", "the timeline was drawn");
    Some(page)
}

/// Milliseconds of each redraw while the reader moves about.
fn redraws(file: &Path) -> Vec<f64> {
    // The page forgets its measures from time to time: that redraw is not counted.
    const LAST: &str = "(performance.getEntriesByName('timeline-redraw').at(-1)?.startTime ?? -1)";
    const LENGTH: &str = "(performance.getEntriesByName('timeline-redraw').at(-1)?.duration ?? -1)";
    let page = open(file).expect("it was opened before");
    page.evaluate("document.querySelector('#timeline-canvas').focus()");
    let mut redraws = Vec::new();
    for key in MOVES.iter().cycle().take(MOVES.len() * ROUNDS) {
        let before = page.number(LAST);
        page.press(*key);
        page.wait_until(&format!("{LAST} !== {before}"));
        redraws.extend(Some(page.number(LENGTH)).filter(|length| *length >= 0.0));
    }
    redraws
}

fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
