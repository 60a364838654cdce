//! Runs that were made apart, put side by side.

use crate::model::{RESULTS_VERSION, RunRecord, SuiteRecord, SuiteRun};

/// A suite of stored runs, for `lockstorm report` with several folders.
///
/// `runs` are folders, relative to the folder of the suite or absolute, with their records.
pub fn combine(runs: Vec<(String, RunRecord)>) -> SuiteRecord {
    let records = || runs.iter().map(|(_, record)| record);
    let mut names: Vec<&str> = records().map(|run| run.scenario.as_str()).collect();
    names.dedup();
    let name = match names.as_slice() {
        [one] => (*one).to_owned(),
        _ => "comparison".to_owned(),
    };
    let reruns: Vec<&str> = records().map(|run| run.rerun.as_str()).collect();
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
        rerun: reruns.join(" && "),
        not_run: Vec::new(),
        runs: runs
            .into_iter()
            .map(|(folder, record)| SuiteRun { folder, record })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Outcome;
    use crate::sample;

    #[test]
    fn runs_made_apart_become_one_comparison_with_the_worst_outcome() {
        let suite = combine(vec![
            ("a".to_owned(), sample::failover_run()),
            ("b".to_owned(), sample::vacuous_run()),
        ]);
        assert_eq!(suite.name, "comparison");
        assert_eq!(suite.outcome(), Outcome::Unknown);
        assert_eq!(suite.runs[1].folder, "b");
    }
}
