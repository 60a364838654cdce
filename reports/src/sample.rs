//! Fixed records for tests: the failover story, a control, a comparison of both, and a record in
//! which every foreign text is hostile.

use std::collections::BTreeMap;

use lockstorm_checker::history::{
    FaultPhase, FaultTarget, VERSION, read_jsonl, write_event, write_header,
};
use lockstorm_checker::verdict::{
    Availability, Cycles, FaultStage, FaultSummary, Judgement, Witness,
};
use lockstorm_checker::{Digest, Nanos, Property, Verdict};
use lockstorm_scenarios::{CaseLabels, Expected, Promise};

use crate::closeup::CloseUp;
use crate::model::{
    Cost, Endured, HuntSummary, NotRun, Outcome, RESULTS_VERSION, RunRecord, Size, SuiteRecord,
    SuiteRun, Tested,
};
use crate::recorded::{History, Recorded};
use crate::trace::Trace;

/// Text that must stay inert wherever it appears.
pub(crate) const HOSTILE: &str = "</script><img src=x onerror=alert(1)>\u{1b}[2J|`*_\u{202e}]]>";

/// The history behind [`failover_run`].
pub(crate) const FAILOVER_HISTORY: &str = include_str!("../tests/failover/history.jsonl");

/// The scenario text behind [`failover_run`].
pub(crate) const FAILOVER_SCENARIO: &str = include_str!("../tests/failover/scenario.toml");

/// [`FAILOVER_HISTORY`], which is of version 1, as this version writes it.
pub(crate) fn rewritten_failover_history() -> String {
    let read = read_jsonl(FAILOVER_HISTORY.as_bytes(), "failover.jsonl");
    let mut history = read.expect("the fixture is a history");
    history.header.version = VERSION;
    let mut text = Vec::new();
    write_header(&mut text, &history.header);
    for event in &history.events {
        write_event(&mut text, event);
    }
    String::from_utf8(text).expect("JSON is text")
}

/// Returns the digest that the checker makes of [`FAILOVER_HISTORY`].
pub(crate) fn failover_digest() -> Digest {
    let history = read_jsonl(FAILOVER_HISTORY.as_bytes(), "failover.jsonl")
        .expect("the fixture is a history");
    Digest::of(&history)
}

/// [`FAILOVER_HISTORY`] with its holds.
pub(crate) fn failover_recorded() -> Recorded {
    Recorded::of(failover_digest())
}

/// [`FAILOVER_HISTORY`] as a page needs it.
pub(crate) fn failover() -> History {
    failover_recorded().history(&failover_run())
}

/// [`FAILOVER_HISTORY`] as pictures need it.
pub(crate) fn failover_trace() -> Trace {
    failover().trace
}

/// [`FAILOVER_HISTORY`] as the cards of [`failover_run`] need it.
pub(crate) fn failover_closeup() -> CloseUp {
    failover().close
}

fn judged(verdict: Verdict, witnesses: Vec<Witness>) -> Judgement {
    Judgement {
        verdict,
        reason: None,
        engine: "sweep".to_owned(),
        count: witnesses.len() as u64,
        witnesses,
    }
}

/// The failover story: violated, as expected. A stored run of version 1, which therefore stays
/// readable.
pub(crate) fn failover_run() -> RunRecord {
    let stored = serde_json::from_str(include_str!("../tests/failover/results.json"));
    let mut run: RunRecord = stored.expect("the fixture is a stored run");
    run.version = RESULTS_VERSION;
    run
}

/// A fault without stages, its target as version 1 writes it.
pub(crate) fn fault(id: &str, kind: &str, target: &str) -> FaultSummary {
    let written = serde_json::json!({
        "id": id, "kind": kind, "target": target,
        "stages": [], "operations": 0, "violations": 0,
    });
    serde_json::from_value(written).expect("it is a summary of version 1")
}

/// Makes another fault of it, with the same stages.
pub(crate) fn turn(fault: &mut FaultSummary, kind: &str, target: &str) {
    let stages = std::mem::take(&mut fault.stages);
    *fault = FaultSummary {
        stages,
        ..self::fault(&fault.id, kind, target)
    };
}

/// A server's clock that jumps and then goes too fast, and a client's that was behind for longer
/// than anybody looked at it.
pub(crate) fn clock_faults() -> Vec<FaultSummary> {
    let stage = |phase, ms, offset_ms: Option<i64>| FaultStage {
        phase,
        time: Nanos::from_millis(ms),
        event: ms,
        evidence: None,
        offset_ns: offset_ms.map(|ms| ms * 1_000_000),
        lost: None,
    };
    let fault = |id: &str, target: &str, stages| FaultSummary {
        stages,
        ..self::fault(id, "clock", target)
    };
    let (injected, observed) = (FaultPhase::Injected, FaultPhase::Observed);
    let jump = vec![
        stage(injected, 1_000, None),
        stage(observed, 1_010, Some(6_000)),
        stage(FaultPhase::Healed, 3_000, Some(6_000)),
    ];
    let fast = vec![
        stage(injected, 5_000, None),
        stage(observed, 5_010, Some(90)),
        stage(FaultPhase::Healed, 5_100, Some(900)),
    ];
    let client = vec![
        stage(injected, 2_000, None),
        stage(observed, 4_000, Some(-2_000)),
    ];
    vec![
        fault("F1", "primary", jump),
        fault("F2", "c1", client),
        fault("F3", "primary", fast),
    ]
}

/// Nobody was granted a lock for so long, which was wanted.
fn without_grant(longest_us: u64) -> Availability {
    let longest = Nanos(longest_us * 1000);
    Availability {
        wanted: Nanos::from_millis(2500),
        without_grant: longest,
        longest,
    }
}

/// A run without faults and without violation.
pub(crate) fn control_run() -> RunRecord {
    let mut run = failover_run();
    run.scenario = "control".to_owned();
    run.description = "No fault at all.".to_owned();
    run.labels.hazard = "control".to_owned();
    run.analysis.verdict = Verdict::Valid;
    run.analysis.faults.clear();
    run.analysis.coverage.cycles = Some(Cycles {
        count: 20_000,
        since: Nanos(0),
        until: Nanos::from_millis(2500),
    });
    run.analysis.availability = Some(without_grant(400));
    run.cost = Some(Cost {
        grants: 20_010,
        acquire_p50: Some(Nanos(312_000)),
        acquire_p99: Some(Nanos(1_900_000)),
        round_trips: Some(40_400),
    });
    for judgement in run.analysis.properties.values_mut() {
        *judgement = judged(Verdict::Valid, Vec::new());
    }
    for result in &mut run.expectations {
        result.expected = Expected::Valid;
        result.actual = Verdict::Valid;
        result.met = true;
    }
    run.rerun = "lockstorm run scenarios/library/hazards/control.toml --seed 42".to_owned();
    run
}

/// A run that could not have shown anything, which the scenario did not expect.
pub(crate) fn vacuous_run() -> RunRecord {
    let mut run = control_run();
    run.labels.lock = "redlock".to_owned();
    run.labels.topology = "independent (5 nodes)".to_owned();
    run.outcome = Outcome::Unknown;
    run.analysis.verdict = Verdict::Unknown;
    let judgement = run
        .analysis
        .properties
        .get_mut(&Property::MutualExclusion)
        .expect("the control judges mutual exclusion");
    judgement.verdict = Verdict::Unknown;
    judgement.reason = Some("no acquire was contended".to_owned());
    run.expectations[0].actual = Verdict::Unknown;
    run.expectations[0].met = false;
    run
}

/// An assessment: one promise broken, one kept, one not made, one that could not be told.
pub(crate) fn assessment() -> SuiteRecord {
    let mut suite = suite();
    suite.name = "assess".to_owned();
    suite.description = "Assessment of token, redlock.".to_owned();
    let tests = [
        Promise::Exclusive,
        Promise::Obtainable,
        Promise::SurvivesFailover,
    ];
    for run in &mut suite.runs {
        let is_redlock = run.record.labels.lock == "redlock";
        let makes = |promise: &Promise| *promise != Promise::SurvivesFailover || is_redlock;
        let overrun = "Only the resource can stop it, by a fencing token.";
        run.record.situation = Some(Tested {
            tests: tests.to_vec(),
            promised: tests.iter().copied().filter(makes).collect(),
            inherent: BTreeMap::from([(Property::LostLock, overrun.to_owned())]),
            ..Tested::default()
        });
        run.record.outcome = run.record.due_outcome();
    }
    suite.hunts = vec![hunt()];
    suite
}

/// A hunt for one of its locks: one promise broken, one not made, one kept under every fault.
fn hunt() -> HuntSummary {
    let endured = |promise, broken_with: Option<usize>| Endured {
        promise,
        is_promised: promise != Promise::SurvivesFailover,
        broken_with,
        broken_by: broken_with.map(|_| "delay the reply to SET of a's acquire".to_owned()),
        withstood: broken_with.is_none().then_some(1),
        inherent_with: None,
        inherent_by: None,
    };
    let size = |faults, tried| Size {
        faults,
        all: tried,
        tried,
        told: tried,
        impossible: 0,
    };
    HuntSummary {
        lock: "token".to_owned(),
        topology: "replicated (2 nodes)".to_owned(),
        folder: "hunt".to_owned(),
        sizes: vec![size(0, 3), size(1, 303)],
        promises: vec![
            endured(Promise::OwnRelease, Some(1)),
            Endured {
                inherent_with: Some(1),
                inherent_by: Some("pause a at its SET".to_owned()),
                ..endured(Promise::Exclusive, None)
            },
            endured(Promise::SurvivesFailover, Some(2)),
        ],
    }
}

/// A comparison of two locks under two hazards.
pub(crate) fn suite() -> SuiteRecord {
    let mut unexpected = failover_run();
    unexpected.labels.topology = "single".to_owned();
    unexpected.expectations[0].expected = Expected::Valid;
    unexpected.expectations[0].met = false;
    unexpected.outcome = Outcome::Unexpected;
    let mut again = failover_run();
    again.repetition = 1;
    again.seed = 43;
    again.analysis.availability = Some(without_grant(520_900));
    let runs = [
        ("control-token-replicated", control_run()),
        ("failover-token-replicated-0", failover_run()),
        ("failover-token-replicated-1", again),
        ("failover-token-single", unexpected),
        ("control-redlock", vacuous_run()),
    ];
    SuiteRecord {
        version: RESULTS_VERSION,
        name: "single-vs-redlock".to_owned(),
        description: "A lock on one node, on a replicated pair, and on five masters.".to_owned(),
        seed: 42,
        started: "2026-11-21T09:00:00Z".to_owned(),
        duration_s: 31.5,
        runs: runs
            .into_iter()
            .map(|(folder, record)| SuiteRun {
                folder: format!("cells/{folder}"),
                record,
            })
            .collect(),
        not_run: vec![NotRun {
            labels: CaseLabels {
                lock: "redlock".to_owned(),
                topology: "independent (5 nodes)".to_owned(),
                hazard: "failover".to_owned(),
            },
            reason: "independent masters have no replica to promote".to_owned(),
        }],
        rerun: "lockstorm run scenarios/library/compare/single-vs-redlock.toml --seed 42"
            .to_owned(),
        changed: None,
        hunts: Vec::new(),
    }
}

/// The failover run with [`HOSTILE`] in every text that comes from outside.
pub(crate) fn hostile_run() -> RunRecord {
    let mut run = failover_run();
    let hostile = || HOSTILE.to_owned();
    run.scenario = hostile();
    run.description = hostile();
    run.labels = CaseLabels {
        lock: hostile(),
        topology: hostile(),
        hazard: hostile(),
    };
    run.started = hostile();
    run.stopped = Some(hostile());
    run.rerun = hostile();
    run.environment.server = hostile();
    run.environment.nodes[0].name = hostile();
    for fault in &mut run.analysis.faults {
        fault.target = FaultTarget::Words(HOSTILE.into());
        fault.kind = hostile();
        fault.stages[0].evidence = Some(hostile());
    }
    for judgement in run.analysis.properties.values_mut() {
        judgement.reason = Some(hostile());
        for witness in &mut judgement.witnesses {
            witness.lock_key = hostile();
            witness.claim = hostile();
            witness.signature = hostile();
            witness.holders[0].client = hostile();
            for step in &mut witness.story {
                step.text = hostile();
                step.actor = hostile();
                step.after = Some(hostile());
            }
        }
    }
    run
}

fn hostile_hunt() -> HuntSummary {
    let mut hunt = hunt();
    let hostile = || HOSTILE.to_owned();
    hunt.lock = hostile();
    hunt.topology = hostile();
    hunt.folder = format!("javascript:alert(1)/{HOSTILE}");
    for one in &mut hunt.promises {
        one.broken_by = one.broken_by.as_ref().map(|_| hostile());
        one.inherent_by = one.inherent_by.as_ref().map(|_| hostile());
    }
    hunt
}

/// A suite made of [`hostile_run`].
pub(crate) fn hostile_suite() -> SuiteRecord {
    let record = hostile_run();
    SuiteRecord {
        name: HOSTILE.to_owned(),
        description: HOSTILE.to_owned(),
        runs: vec![SuiteRun {
            folder: format!("javascript:alert(1)/{HOSTILE}"),
            record: record.clone(),
        }],
        not_run: vec![NotRun {
            labels: record.labels.clone(),
            reason: HOSTILE.to_owned(),
        }],
        hunts: vec![hostile_hunt()],
        ..suite()
    }
}
