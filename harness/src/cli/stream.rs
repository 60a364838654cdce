//! The progress of runs as JSON lines on standard output, for programs that follow along.
//!
//! ```text
//! {"v":1,"event":"began","seed":42,"folder":"runs/x/…","runs":2}
//! {"v":1,"event":"run-began","lock":"token","topology":"single","hazard":"amnesia",…}
//! {"v":1,"event":"said","text":"token · single · amnesia: begins"}
//! {"v":1,"event":"run-ended","lock":"token",…,"verdict":"violated","outcome":"as-expected",…}
//! {"v":1,"event":"ended","outcome":"as-expected","exit_code":0,"files":["runs/x/…/report.html"]}
//! ```
//!
//! For: watching. Not for: results; the folder of each run holds its `results.json`. Readers skip
//! events and fields that they do not know; `v` grows when one that is known means something else.

use std::path::{Path, PathBuf};

use lockstorm_reports::{Outcome, RunRecord};
use lockstorm_scenarios::CaseLabels;
use serde::Serialize;

use crate::output;
use crate::plan::Job;
use crate::progress::Progress;

/// Version of the lines.
const VERSION: u32 = 1;

/// One line.
#[derive(Debug, Serialize)]
struct Line<'a> {
    v: u32,
    #[serde(flatten)]
    event: Event<'a>,
}

/// Event that the stream tells of.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event<'a> {
    /// The whole begins.
    Began {
        /// Seed of every choice.
        seed: u64,
        /// Folder in which everything is stored.
        folder: &'a Path,
        /// Number of runs to do.
        runs: usize,
    },
    /// A run begins.
    RunBegan {
        /// Name of the scenario.
        scenario: &'a str,
        /// Lock under test.
        lock: &'a str,
        /// Servers.
        topology: &'a str,
        /// Column of a comparison.
        hazard: &'a str,
        /// Seed of the run.
        seed: u64,
        /// Number of the repetition, from 0.
        repetition: u32,
    },
    /// Progress in words; what they say is not fixed.
    Said {
        /// The words.
        text: &'a str,
    },
    /// A run has ended.
    RunEnded {
        /// Name of the scenario.
        scenario: &'a str,
        /// Lock under test.
        lock: &'a str,
        /// Servers.
        topology: &'a str,
        /// Column of a comparison.
        hazard: &'a str,
        /// Seed of the run.
        seed: u64,
        /// Number of the repetition, from 0.
        repetition: u32,
        /// The worst verdict of its properties.
        verdict: lockstorm_checker::Verdict,
        /// Against the expectation.
        outcome: Outcome,
        /// Reason why it stopped before its end, if it did.
        #[serde(skip_serializing_if = "Option::is_none")]
        stopped: Option<&'a str>,
        /// In seconds.
        duration_s: f64,
        /// Folder of its record and its history.
        folder: &'a Path,
    },
    /// Everything has ended, and the reports are written.
    Ended {
        /// The worst of the runs.
        outcome: Outcome,
        /// Exit code with which this program is going to end.
        exit_code: u8,
        /// The reports.
        files: &'a [PathBuf],
    },
}

/// Writes one event.
pub fn tell(event: Event) {
    let line = Line { v: VERSION, event };
    let text = serde_json::to_string(&line).expect("events have string keys only");
    // Nobody reads it any more when the pipe is closed; the run is worth finishing all the same.
    let _ = output::json(&text);
}

/// Tells all progress.
pub struct Stream;

impl Progress for Stream {
    fn say(&self, text: &str) {
        tell(Event::Said { text });
    }

    /// Does nothing, for `stored` has told what the summary says in words.
    fn end(&self, _summary: &str) {}

    fn begun(&self, job: &Job) {
        let CaseLabels {
            lock,
            topology,
            hazard,
        } = &job.case.labels;
        tell(Event::RunBegan {
            scenario: &job.case.name,
            lock,
            topology,
            hazard,
            seed: job.seed.0,
            repetition: job.repetition,
        });
    }

    fn stored(&self, record: &RunRecord, folder: &Path) {
        let CaseLabels {
            lock,
            topology,
            hazard,
        } = &record.labels;
        tell(Event::RunEnded {
            scenario: &record.scenario,
            lock,
            topology,
            hazard,
            seed: record.seed,
            repetition: record.repetition,
            verdict: record.analysis.verdict,
            outcome: record.outcome,
            stopped: record.stopped.as_deref(),
            duration_s: record.duration_s,
            folder,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_its_version_first_and_its_event_second() {
        let event = Event::Began {
            seed: 42,
            folder: Path::new("runs/x"),
            runs: 2,
        };
        let line = serde_json::to_string(&Line { v: VERSION, event });
        assert_eq!(
            line.expect("events have string keys only"),
            r#"{"v":1,"event":"began","seed":42,"folder":"runs/x","runs":2}"#
        );
    }
}
