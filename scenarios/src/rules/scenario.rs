//! Rules on the file as a whole.

use super::findings::Findings;
use super::known_servers::KnownServers;
use super::names::NAME_BYTES_MAX;
use super::{
    answers, external, guarded_resource, lock, names, processes, script, situation, storm, threads,
    topology,
};
use crate::diagnostics::Mistake;
use crate::document::Places;
use crate::draft::{Draft, MatrixDraft};
use crate::hits::with_one_hit;
use crate::model::{Clients, DurationSpec, LockKind, Step, TopologyKind};

/// Clients, and keys, of one storm at most: thousands are cheap, more outgrow the machine.
pub(crate) const COUNT_MAX: u32 = 10_000;

/// Names that mean something in a folder of runs: the newest run, and several scenarios at once.
const RESERVED_NAMES: [&str; 2] = ["latest", "suite"];

/// Cells of a matrix at most, rows times columns: several times the largest shipped one.
const CELLS_MAX: usize = 10_000;

/// Parts of a file that a matrix with scenario files takes from those files.
const OWN_PARTS: [&str; 12] = [
    "applies-to",
    "expect",
    "expect-for",
    "guarded-resource",
    "trace",
    "clients",
    "checks",
    "step",
    "storm",
    "nemesis",
    "hazard",
    "situation",
];

/// Applies every rule to a scenario file.
pub(crate) fn judge(draft: &Draft, places: &Places) -> Vec<Mistake> {
    let mut findings = Findings::new(places);
    judge_name(draft, &mut findings);
    names::judge(draft, &mut findings);
    judge_expectations(draft, &mut findings);
    situation::judge(draft, &mut findings);
    answers::judge(draft, &mut findings);
    match &draft.matrix {
        Some(matrix) => judge_matrix(matrix, &mut findings),
        None if findings.has("matrix") => {}
        // It is for any lock, and judged for each when it is put in.
        None if draft.situation.is_some() && draft.lock.is_none() => {}
        None => judge_servers_and_lock(draft, &mut findings),
    }
    let filled_by_files = draft
        .matrix
        .as_ref()
        .is_some_and(|matrix| !matrix.scenarios.is_empty());
    if !filled_by_files {
        judge_presence(draft, &mut findings);
        judge_clients(draft, &mut findings);
        play_on_each(draft, &mut findings);
    }
    findings.into_mistakes()
}

/// Walks through the script or the storm, on each of the servers of a situation. A mistake that
/// shows on several of them is one.
fn play_on_each(draft: &Draft, findings: &mut Findings<'_>) {
    let topologies = draft.situation.iter().flat_map(|own| &own.topologies);
    let mut count = 0;
    for topology in topologies {
        count += 1;
        let step = |step: &Option<Step>| Some(with_one_hit(step.as_ref()?, topology));
        let on_these = Draft {
            topology: Some(topology.clone()),
            steps: draft.steps.iter().map(step).collect(),
            ..draft.clone()
        };
        play(&on_these, findings);
    }
    if count == 0 {
        play(draft, findings);
    } else {
        findings.unite();
    }
}

/// Applies the rules on lock, servers, steps and faults to what one cell is made of.
pub(crate) fn judge_cell(draft: &Draft, places: &Places) -> Vec<Mistake> {
    let mut findings = Findings::new(places);
    if let Some(topology) = &draft.topology {
        topology::judge(topology, "topology", &mut findings);
    }
    if let Some(lock) = &draft.lock {
        lock::judge(lock, "lock", &mut findings);
    }
    play(draft, &mut findings);
    findings.into_mistakes()
}

fn judge_name(draft: &Draft, findings: &mut Findings<'_>) {
    let Some(name) = &draft.name else { return };
    if name.len() > NAME_BYTES_MAX {
        let message = format!(
            "the name has {} bytes, and names have at most {NAME_BYTES_MAX}",
            name.len()
        );
        findings.value(
            "name",
            message,
            "it names a folder; say more in `description`",
        );
        return;
    }
    if RESERVED_NAMES.contains(&name.as_str()) {
        let message = format!("'{name}' is reserved, and no name for a scenario");
        let help = "in the folder of runs this name stands for something else: choose another";
        findings.value("name", message, help);
    }
    let words_are_good = name.split('-').all(|word| {
        !word.is_empty()
            && word
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
    });
    if !words_are_good {
        let message = format!("'{name}' is no name for a scenario");
        let help = "lower-case words joined by '-', such as 'amnesiac-restart': it names a folder";
        findings.value("name", message, help);
    }
}

fn judge_expectations(draft: &Draft, findings: &mut Findings<'_>) {
    for kind in draft.expect_for.keys() {
        let is_meant = |kinds: &Vec<LockKind>| kinds.contains(kind);
        if !draft.applies_to.as_ref().is_none_or(is_meant) {
            let path = format!("expect-for.{}", kind.name());
            let message = format!("applies-to leaves out {}", kind.name());
            findings.key(&path, message, "name it there, or expect nothing of it");
        }
    }
    let only = draft
        .checks
        .as_ref()
        .and_then(|checks| checks.only.as_ref());
    let Some(only) = only else { return };
    let of_some = draft.expect_for.iter().flat_map(|(kind, expect)| {
        let properties = expect.keys();
        properties.map(move |property| (format!("expect-for.{}", kind.name()), property))
    });
    let of_all = draft
        .expect
        .keys()
        .map(|property| ("expect".to_owned(), property));
    for (part, property) in of_all.chain(of_some) {
        if !only.contains(property) {
            findings.key(
                &format!("{part}.{property}"),
                format!("{property} is expected, but `checks.only` leaves it out"),
                "name it in `checks.only`, or expect nothing of it",
            );
        }
    }
}

fn judge_servers_and_lock(draft: &Draft, findings: &mut Findings<'_>) {
    for (part, example) in [
        ("topology", "topology.single = {}"),
        ("lock", "lock.token = { lease = \"2s\" }"),
    ] {
        if !findings.has(part) {
            let help = format!("add {example}");
            findings.value("", format!("the scenario has no '{part}'"), &help);
        }
    }
    let topology = draft.topology.as_ref();
    if let Some(topology) = topology {
        topology::judge(topology, "topology", findings);
    }
    let Some(lock) = &draft.lock else { return };
    lock::judge(lock, "lock", findings);
    if let Some(topology) = topology {
        lock::judge_support(lock, topology, "lock", findings);
    }
    let kind = lock.kind();
    if draft
        .applies_to
        .as_ref()
        .is_some_and(|kinds| !kinds.contains(&kind))
    {
        let message = format!(
            "applies-to leaves out {}, the lock of this file",
            kind.name()
        );
        findings.value("applies-to", message, "add it, or leave applies-to out");
    }
}

fn judge_matrix(matrix: &MatrixDraft, findings: &mut Findings<'_>) {
    let reason = "the lock and the topology of a cell come from the matrix";
    for part in ["topology", "lock"] {
        if !findings.has(part) {
            continue;
        }
        findings.key(
            part,
            format!("'{part}' has no meaning beside a matrix"),
            reason,
        );
    }
    let files = !matrix.scenarios.is_empty();
    for part in OWN_PARTS {
        if !files || !findings.has(part) {
            continue;
        }
        let message = format!("'{part}' has no meaning beside `matrix.scenarios`");
        findings.key(part, message, "each cell takes it from its scenario file");
    }
    if let Some(message) = too_large(matrix) {
        let help = "compare fewer at a time, in several files";
        findings.key("matrix", message, help);
        return;
    }
    for (n, topology) in matrix.topologies.iter().enumerate() {
        if let Some(topology) = topology {
            topology::judge(topology, &format!("matrix.topologies.{n}"), findings);
        }
    }
    let kinds: Option<Vec<TopologyKind>> = matrix
        .topologies
        .iter()
        .map(|topology| topology.as_ref().map(crate::Topology::alike))
        .collect();
    for (n, entry) in matrix.locks.iter().enumerate() {
        let Some(entry) = entry else { continue };
        let path = format!("matrix.locks.{n}");
        lock::judge(entry, &path, findings);
        let kind = entry.kind();
        // Unless all topologies are known, a missing one may be the right one.
        if kinds
            .as_ref()
            .is_some_and(|kinds| !kinds.iter().any(|&on| kind.supports(on)))
        {
            let message = format!(
                "{} works on none of the topologies of the matrix",
                kind.name()
            );
            findings.value(
                &path,
                message,
                "add a topology that it is made for, or take it out",
            );
        }
    }
    for (list, empty) in [
        ("matrix.locks", matrix.locks.is_empty()),
        ("matrix.topologies", matrix.topologies.is_empty()),
    ] {
        if empty && findings.has(list) {
            findings.value(
                list,
                format!("{list} is empty"),
                "a matrix needs at least one",
            );
        }
    }
}

/// Says that a matrix has more cells than a comparison can have.
fn too_large(matrix: &MatrixDraft) -> Option<String> {
    let (locks, topologies) = (matrix.locks.len(), matrix.topologies.len());
    let columns = matrix.scenarios.len().max(1);
    let cells = locks.saturating_mul(topologies).saturating_mul(columns);
    (cells > CELLS_MAX).then(|| {
        format!(
            "the matrix has {cells} cells ({locks} locks on {topologies} topologies, {columns} \
             columns), and a comparison has at most {CELLS_MAX}"
        )
    })
}

fn judge_presence(draft: &Draft, findings: &mut Findings<'_>) {
    match (findings.has("step"), findings.has("storm")) {
        (true, true) => findings.key(
            "storm",
            "a scenario has either steps or a storm, not both",
            "put the storm into a file of its own",
        ),
        (false, false) => findings.value(
            "",
            "the scenario does nothing: it has neither steps nor a storm",
            "add [[step]] tables, or a [storm]",
        ),
        (true, false) if draft.steps.is_empty() => {
            findings.value("step", "the script is empty", "add [[step]] tables");
        }
        (true, false) | (false, true) => {}
    }
    if findings.has("nemesis") && !findings.has("storm") {
        let help = "in a litmus, faults are steps; else add storm.duration";
        findings.key("nemesis", "a nemesis needs a storm", help);
    }
}

fn judge_clients(draft: &Draft, findings: &mut Findings<'_>) {
    let Some(clients) = &draft.clients else {
        return;
    };
    let Clients {
        count,
        keys,
        reply_timeout,
        ..
    } = clients;
    for (name, value) in [("count", *count), ("keys", *keys)] {
        if value == 0 || value > COUNT_MAX {
            let message = format!("{value} is no possible number of {}", noun(name));
            findings.value(
                &format!("clients.{name}"),
                message,
                &format!("1 to {COUNT_MAX}"),
            );
        }
    }
    if *reply_timeout == DurationSpec::default() {
        let help = "500ms is the default; far above a round trip";
        findings.value(
            "clients.reply-timeout",
            "`reply-timeout` must be greater than 0",
            help,
        );
    }
    if clients.every == Some(DurationSpec::default()) {
        let message = "`every` must be greater than 0";
        findings.value("clients.every", message, "such as \"1s\"");
    }
}

fn noun(count: &str) -> &str {
    if count == "count" { "clients" } else { count }
}

/// Walks through the script or the storm.
fn play(draft: &Draft, findings: &mut Findings<'_>) {
    if let Some(lock) = &draft.lock {
        lock::judge_use(lock, draft, findings);
        threads::judge_use(lock, draft, findings);
    }
    guarded_resource::judge(draft, findings);
    processes::judge(draft, findings);
    external::judge_use(draft, findings);
    let topology = draft.topology.as_ref();
    let servers = topology
        .filter(|topology| topology::is_possible(topology))
        .map(KnownServers::new);
    script::judge(draft, servers.as_ref(), findings);
    storm::judge(draft, servers.as_ref(), findings);
}
