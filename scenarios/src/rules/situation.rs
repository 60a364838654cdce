//! Rules on `[situation]`.

use super::findings::Findings;
use super::topology;
use crate::draft::Draft;
use crate::hits::names_hit;
use crate::model::{DurationSpec, Situation};

/// Parts of a file that say what one lock does, and so have no place in a situation.
const OF_ONE_LOCK: [&str; 4] = ["matrix", "applies-to", "expect", "expect-for"];

/// Judges what a situation tests, and the servers on which it does.
pub(super) fn judge(draft: &Draft, findings: &mut Findings<'_>) {
    let Some(situation) = &draft.situation else {
        return;
    };
    for part in OF_ONE_LOCK {
        if findings.has(part) {
            let message = format!("'{part}' has no meaning beside [situation]");
            let help = "a situation is for any lock: it says what it tests, and no lock's verdict";
            findings.key(part, message, help);
        }
    }
    if situation.tests.is_empty() {
        let help = "name the promises that a lock must keep here, such as [\"exclusive\"]";
        findings.value("situation.tests", "`tests` must name a promise", help);
    }
    if situation.lease == DurationSpec::default() {
        let message = "`lease` must be greater than 0";
        findings.value("situation.lease", message, "such as \"2s\"");
    }
    judge_hits(draft, situation, findings);
    judge_minority(situation, findings);
    judge_inherent(situation, findings);
    judge_servers(draft, situation, findings);
}

/// A number of servers belongs to a script that names them.
fn judge_hits(draft: &Draft, situation: &Situation, findings: &mut Findings<'_>) {
    if situation.hits.contains(&0) {
        let help = "such as [1, 2, 3]";
        findings.value("situation.hits", "`hits` must be greater than 0", help);
    }
    let named = draft.steps.iter().flatten().any(names_hit);
    if !situation.hits.is_empty() && !named && draft.steps_whole {
        let help = "name them, such as kill = { node = \"hit\" }";
        findings.value(
            "situation.hits",
            "no step names the servers that are hit",
            help,
        );
    }
}

/// Promises of a minority belong to a script that hits a number of servers.
fn judge_minority(situation: &Situation, findings: &mut Findings<'_>) {
    if situation.hits.is_empty() && !situation.tests_of_minority.is_empty() {
        let message = "`tests-of-minority` has no meaning without `hits`";
        let help = "say how many servers are hit, such as hits = [1, 2, 3]";
        findings.key("situation.tests-of-minority", message, help);
    }
}

fn judge_inherent(situation: &Situation, findings: &mut Findings<'_>) {
    for (property, reason) in &situation.inherent {
        let path = format!("situation.inherent.{property}");
        if situation.tests_by(*property) {
            let message = format!("`{property}` breaks a promise of `tests`, and is inherent too");
            let help = "either a lock can keep it here, or none can";
            findings.key(&path, message, help);
        }
        if reason.trim().is_empty() {
            let message = "the reason must not be empty";
            findings.value(&path, message, "say why no lock can prevent it");
        }
    }
}

fn judge_servers(draft: &Draft, situation: &Situation, findings: &mut Findings<'_>) {
    if situation.topologies.is_empty() && draft.topology.is_none() && !findings.has("topology") {
        let help = "name the servers on which the script means the same, such as [{ single = {} }]";
        findings.value("situation", "the situation has no `topologies`", help);
    }
    for (n, servers) in situation.topologies.iter().enumerate() {
        topology::judge(servers, &format!("situation.topologies.{n}"), findings);
    }
    if findings.has("topology") != findings.has("lock") {
        let help = "`lockstorm assess` puts locks and servers into it; to run it on one of each, \
                    name both";
        let message = "a situation has both a lock and servers, or neither";
        findings.key("situation", message, help);
    }
}
