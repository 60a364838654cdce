//! Cost of the page of a large run: `cargo bench --bench report`.
//!
//! Method: the simulated storm of the checker's benchmark, a million operations of fifty clients
//! on a hundred keys, with five violations in it, is judged and stored as a run. Its history is
//! read, its page is written with all that is read for it, and the page is opened in Chromium, each
//! five times; then the reader zooms and pans, and the page says how long each redraw took. Printed
//! are medians, and of the redraws the slowest too. *Read* is the text of the history, some 250 MB,
//! to its holds; *written* is what is left of both: from holds to a page on the disk.

#[path = "../../tests/browser/driver/mod.rs"]
#[expect(dead_code, unused_imports, reason = "the tests of pages use all of it")]
mod driver;
mod stored;
#[path = "../../../checker/benches/sweep/storm.rs"]
mod storm;

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use lockstorm_checker::{Drift, holds};
use lockstorm_reports::{Extent, Format, Formats, render_run};

use crate::driver::{Key, Page};
use crate::storm::Storm;

/// An odd number, so that one of them is the median.
const ROUNDS: usize = 5;
/// Keys that a reader presses on the timeline, over and over: nearer, aside, and back.
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
/// Script that lets the browser come to rest.
const REST: &str = "new Promise((done) => setTimeout(done, 1000))";
const STORM: Storm = Storm {
    operations: 1_000_000,
    clients: 50,
    keys: 100,
};

fn main() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    stored::store(folder.path(), STORM);
    let read = median((0..ROUNDS).map(|_| {
        seconds(|| {
            let digest = stored::read_history(folder.path());
            black_box(holds(&digest, Drift::of_header(&digest.header)));
        })
    }));
    let formats = Formats::from([Format::Html]);
    let whole = median((0..ROUNDS).map(|_| {
        seconds(|| {
            let rendered = render_run(folder.path(), &formats, &Extent::default());
            rendered.expect("the page can be written");
        })
    }));
    let page = folder.path().join("report.html");
    let bytes = fs::metadata(&page).expect("it was written").len();
    let written = whole - read;
    println!("operations    bytes  read s  written s  both s");
    println!(
        "{:>10}  {bytes:>7}  {read:>6.2}  {written:>9.2}  {whole:>6.2}",
        STORM.operations
    );
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

/// Milliseconds from the opening of the page to the timeline that can be used; `None` without a
/// browser.
fn ready(file: &Path) -> Option<f64> {
    let page = open(file)?;
    Some(page.number("performance.getEntriesByName('timeline-ready')[0].startTime"))
}

/// Opens the page in a browser that runs already, as a reader's does, and that has done with the
/// page before: to close one of a million operations takes a while too.
fn open(file: &Path) -> Option<Page> {
    let page = Page::new()?;
    let empty = file.with_file_name("empty.html");
    fs::write(&empty, "<!doctype html><title>empty</title>").expect("it can be written");
    page.visit(&empty, "");
    page.evaluate(REST);
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

fn seconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
