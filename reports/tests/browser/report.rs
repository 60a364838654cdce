//! Reports to open: stored runs, rendered into a folder that lasts as long as the test.

use std::fs;
use std::path::{Path, PathBuf};

use lockstorm_reports::{
    Extent, Format, Formats, NotRun, Outcome, RESULTS_VERSION, RunRecord, SuiteRecord, SuiteRun,
    read_run, render_run, render_suite, write_index, write_suite,
};
use serde_json::json;
use tempfile::TempDir;

use crate::driver::Page;

/// The failover story, as the harness leaves a run.
pub const RESULTS: &str = include_str!("../failover/results.json");
pub const HISTORY: &str = include_str!("../failover/history.jsonl");
pub const SCENARIO: &str = include_str!("../failover/scenario.toml");

/// A rendered run or suite.
pub struct Report {
    pub file: PathBuf,
    _folder: TempDir,
}

impl Report {
    /// A run from its three files.
    pub fn of_run(results: &str, history: &str, scenario: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        store_run(folder.path(), results, history, scenario);
        render_run(
            folder.path(),
            &Formats::from([Format::Html]),
            &Extent::default(),
        )
        .expect("the run can be rendered");
        Self::in_folder(folder)
    }

    /// The failover story.
    pub fn of_failover() -> Self {
        Self::of_run(RESULTS, HISTORY, SCENARIO)
    }

    /// The failover story as expected and not as expected, and a cell without a run.
    pub fn of_suite() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let mut runs = Vec::new();
        for (name, topology) in [("one", "replicated (1 replica)"), ("two", "single")] {
            let place = folder.path().join(name);
            store_run(&place, RESULTS, HISTORY, SCENARIO);
            let mut record = read_run(&place).expect("it was stored");
            topology.clone_into(&mut record.labels.topology);
            if name == "two" {
                record.outcome = Outcome::Unexpected;
                record.expectations[0].met = false;
            }
            runs.push((name, record));
        }
        write_suite(folder.path(), &suite(runs)).expect("it can be stored");
        let html = Formats::from([Format::Html]);
        render_suite(folder.path(), &html).expect("the suite can be rendered");
        Self::in_folder(folder)
    }

    /// The list of a folder of runs: each a place below the folder and the text of its record.
    pub fn of_list(runs: &[(&str, String)]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        for (place, results) in runs {
            store_run(&folder.path().join(place), results, HISTORY, SCENARIO);
        }
        let file = write_index(folder.path()).expect("the list can be written");
        Self {
            file,
            _folder: folder,
        }
    }

    fn in_folder(folder: TempDir) -> Self {
        Self {
            file: folder.path().join("report.html"),
            _folder: folder,
        }
    }

    /// The page as a reader finds it who opens the file; `None` where there is no browser.
    pub fn open(&self) -> Option<Page> {
        let page = Page::new()?;
        page.visit(&self.file, "");
        Some(page)
    }

    /// Fails unless the page was quiet: nothing to complain of, and no request but for itself.
    pub fn was_quiet(&self, page: &Page) {
        // Whatever the last deed has set off has run once the page has been painted again.
        page.picture([0.0, 0.0, 1.0, 1.0]);
        assert_eq!(page.complaints(), Vec::<String>::new());
        let only = format!("file://{}", self.file.display());
        for request in page.requests() {
            assert_eq!(request.split('#').next(), Some(only.as_str()));
        }
    }
}

fn store_run(folder: &Path, results: &str, history: &str, scenario: &str) {
    fs::create_dir_all(folder).expect("a folder can be made");
    for (name, text) in [
        ("results.json", results),
        ("history.jsonl", history),
        ("scenario.toml", scenario),
    ] {
        fs::write(folder.join(name), text).expect("a file can be written");
    }
}

/// Read, not built: a field that comes later has its default.
fn suite(runs: Vec<(&str, RunRecord)>) -> SuiteRecord {
    let mut left_out = runs[0].1.labels.clone();
    "redlock".clone_into(&mut left_out.lock);
    let mut suite: SuiteRecord = serde_json::from_value(json!({
        "version": RESULTS_VERSION,
        "name": "two-topologies",
        "description": "The same lock on two topologies.",
        "seed": 42,
        "started": "2026-11-21T09:00:00Z",
        "duration_s": 8.4,
        "runs": [],
        "not_run": [],
        "rerun": "lockstorm run two-topologies.toml --seed 42",
    }))
    .expect("it has all that a suite must have");
    suite.not_run.push(NotRun {
        labels: left_out,
        reason: "independent masters have no replica to promote".to_owned(),
    });
    suite
        .runs
        .extend(runs.into_iter().map(|(folder, record)| SuiteRun {
            folder: folder.to_owned(),
            record,
        }));
    suite
}
