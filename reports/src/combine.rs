//! Runs that were made apart, put side by side.

use std::fmt::Write as _;

use crate::encode::Record;
use crate::model::{HuntSummary, NotRun, RESULTS_VERSION, SuiteRecord, SuiteRun};

/// Commands that are joined into one; more are nobody's to read.
const RERUNS_MAX: usize = 4;

/// A suite of stored runs and suites, for `lockstorm report` with several folders.
///
/// Each part comes with its folder, relative to that of the new suite or absolute.
pub fn combine(parts: Vec<(String, Record)>) -> SuiteRecord {
    let mut runs: Vec<SuiteRun> = Vec::new();
    let mut not_run: Vec<NotRun> = Vec::new();
    let mut reruns = Vec::new();
    let mut hunts = Vec::new();
    for (folder, record) in parts {
        match record {
            Record::Run(record) => {
                reruns.push(record.rerun.clone());
                runs.push(SuiteRun {
                    folder,
                    record: *record,
                });
            }
            Record::Suite(suite) => {
                reruns.push(suite.rerun);
                not_run.extend(suite.not_run);
                hunts.extend(suite.hunts.into_iter().map(|hunt| HuntSummary {
                    folder: format!("{folder}/{}", hunt.folder),
                    ..hunt
                }));
                runs.extend(suite.runs.into_iter().map(|run| SuiteRun {
                    folder: format!("{folder}/{}", run.folder),
                    record: run.record,
                }));
            }
        }
    }
    let records = || runs.iter().map(|run| &run.record);
    let mut names: Vec<&str> = records().map(|run| run.scenario.as_str()).collect();
    names.dedup();
    let name = match names.as_slice() {
        [one] => (*one).to_owned(),
        _ => "comparison".to_owned(),
    };
    SuiteRecord {
        version: RESULTS_VERSION,
        name,
        description: String::new(),
        seed: records().next().map_or(0, |run| run.seed),
        // RFC 3339 in UTC sorts as text.
        started: records()
            .map(|run| run.started.clone())
            .min()
            .unwrap_or_default(),
        duration_s: records().map(|run| run.duration_s).sum(),
        rerun: rerun(&reruns),
        changed: None,
        hunts,
        not_run,
        runs,
    }
}

/// One command for all parts; of many the first, and a word on the others, which a shell skips.
fn rerun(reruns: &[String]) -> String {
    let told = reruns.len().min(RERUNS_MAX);
    let mut text = reruns[..told].join(" && ");
    if told < reruns.len() {
        let more = reruns.len() - told;
        let _ = write!(text, " # and {more} more: each run's report has its own");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Outcome;
    use crate::sample;

    #[test]
    fn runs_made_apart_become_one_comparison_with_the_worst_outcome() {
        let suite = combine(vec![
            (
                "a".to_owned(),
                Record::Run(Box::new(sample::failover_run())),
            ),
            ("b".to_owned(), Record::Run(Box::new(sample::vacuous_run()))),
        ]);
        assert_eq!(suite.name, "comparison");
        assert_eq!(suite.outcome(), Outcome::Unknown);
        assert_eq!(suite.runs[1].folder, "b");
    }

    #[test]
    fn a_suite_brings_its_cells_its_gaps_and_its_one_command() {
        let whole = sample::suite();
        let suite = combine(vec![(
            "../x".to_owned(),
            Record::Suite(Box::new(whole.clone())),
        )]);
        assert_eq!(
            suite.runs[0].folder,
            format!("../x/{}", whole.runs[0].folder)
        );
        assert_eq!(suite.not_run, whole.not_run);
        assert_eq!(suite.rerun, whole.rerun);
    }

    #[test]
    fn the_command_of_many_parts_names_the_first_and_counts_the_rest() {
        let part = || Record::Run(Box::new(sample::control_run()));
        let all = (0..9).map(|n| (n.to_string(), part())).collect();
        let rerun = combine(all).rerun;
        assert_eq!(rerun.matches("lockstorm run").count(), RERUNS_MAX);
        assert!(rerun.contains(" # and 5 more"), "{rerun}");
    }
}
