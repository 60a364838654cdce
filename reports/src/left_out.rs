//! Situations that a lock was not put into, by reason.
//!
//! For: assessments, which would otherwise pass over them in silence. Not for: cells whose turn
//! never came, which the outcome counts; nor for servers on which the lock cannot be at all.

use std::collections::{BTreeMap, BTreeSet};

use crate::assessment::kind;
use crate::model::{NotRun, SuiteRecord};

/// Situations of one reason that are named; the others are counted.
const NAMED_MAX: usize = 3;

/// Says of each reason, in a sentence, which situations the lock was not put into on the servers on
/// which it ran.
pub(crate) fn sentences(suite: &SuiteRecord, lock: &str) -> Vec<String> {
    let mut by_reason: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let ran = suite.runs.iter().map(|run| &run.record.labels);
    let ran = ran.filter(|labels| labels.lock == lock);
    let servers: BTreeSet<&str> = ran.map(|labels| kind(&labels.topology)).collect();
    let cells = suite
        .not_run
        .iter()
        .filter(|cell| cell.labels.lock == lock && servers.contains(kind(&cell.labels.topology)));
    for NotRun { labels, reason } in cells.filter(|cell| !cell.was_not_reached()) {
        by_reason.entry(reason).or_default().insert(&labels.hazard);
    }
    let sentences = by_reason.into_iter().map(|(reason, hazards)| {
        let named: Vec<String> = hazards
            .iter()
            .take(NAMED_MAX)
            .map(|hazard| format!("'{hazard}'"))
            .collect();
        let more = match hazards.len().saturating_sub(NAMED_MAX) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("not put into {}{more}: {reason}", named.join(", "))
    });
    sentences.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn each_reason_is_told_once_with_its_situations() {
        let mut suite = sample::suite();
        let cell = suite.not_run.remove(0);
        for hazard in ["d", "a", "c", "b", "a"] {
            let mut left_out = cell.clone();
            left_out.labels.hazard = hazard.to_owned();
            suite.not_run.push(left_out);
        }
        let mut waiting = cell.clone();
        waiting.reason = format!("{}: interrupted", NotRun::NOT_REACHED);
        suite.not_run.push(waiting);
        let mut elsewhere = cell.clone();
        elsewhere.labels.topology = "etcd (3 nodes)".to_owned();
        suite.not_run.push(elsewhere);
        let told = "not put into 'a', 'b', 'c' and 1 more: independent masters have no replica to \
                    promote";
        assert_eq!(sentences(&suite, &cell.labels.lock), [told]);
        assert_eq!(sentences(&suite, "another"), Vec::<String>::new());
    }
}
