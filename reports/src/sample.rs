//! Fixed records for tests: the failover story, a control, a comparison of both, and a record in
//! which every foreign text is hostile.

use std::collections::BTreeMap;

use lockstorm_checker::history::{FaultPhase, read_jsonl};
use lockstorm_checker::verdict::{
    Coverage, FaultStage, FaultSummary, Holder, Judgement, Step, StepKind, Witness,
};
use lockstorm_checker::{Analysis, Digest, Nanos, Property, Verdict};
use lockstorm_scenarios::{CaseLabels, Expected};

use crate::model::{
    Environment, ExpectationResult, Node, NotRun, Outcome, RESULTS_VERSION, RunRecord, SuiteRecord,
    SuiteRun,
};
use crate::trace::Trace;

/// Text that must stay inert wherever it appears.
pub(crate) const HOSTILE: &str = "</script><img src=x onerror=alert(1)>\u{1b}[2J|`*_\u{202e}]]>";

/// The history behind [`failover_run`].
pub(crate) const FAILOVER_HISTORY: &str = include_str!("../tests/failover.jsonl");

/// The scenario text behind [`failover_run`].
pub(crate) const FAILOVER_SCENARIO: &str = include_str!("../tests/failover.toml");

/// [`FAILOVER_HISTORY`] as pictures need it.
pub(crate) fn failover_trace() -> Trace {
    let history = read_jsonl(FAILOVER_HISTORY.as_bytes(), "failover.jsonl")
        .expect("the fixture is a history");
    Trace::of(&Digest::of(&history))
}

const fn us(micros: u64) -> Nanos {
    Nanos(micros * 1000)
}

fn fault(
    id: &str,
    kind: &str,
    target: &str,
    stages: &[(FaultPhase, u64, u64, &str)],
) -> FaultSummary {
    FaultSummary {
        id: id.to_owned(),
        kind: kind.to_owned(),
        target: target.to_owned(),
        stages: stages
            .iter()
            .map(|(phase, micros, event, evidence)| FaultStage {
                phase: *phase,
                time: us(*micros),
                event: *event,
                evidence: Some((*evidence).to_owned()).filter(|text| !text.is_empty()),
            })
            .collect(),
        operations: 3,
        violations: 1,
    }
}

fn failover_faults() -> Vec<FaultSummary> {
    use FaultPhase::{Healed, Injected, Observed, Requested};
    vec![
        fault(
            "F1",
            "cut",
            "primary→replica-1",
            &[
                (Requested, 500_000, 1, ""),
                (Injected, 500_200, 2, ""),
                (Observed, 520_000, 3, "1,204 bytes held back on the link"),
                (Healed, 3_110_000, 21, ""),
            ],
        ),
        fault(
            "F2",
            "kill",
            "primary",
            &[
                (Requested, 1_200_000, 8, ""),
                (Injected, 1_201_000, 9, ""),
                (
                    Observed,
                    1_205_000,
                    10,
                    "the process is gone and connections are refused",
                ),
                (Healed, 3_320_000, 22, ""),
            ],
        ),
        fault(
            "F3",
            "promote",
            "replica-1",
            &[
                (Requested, 1_400_000, 11, ""),
                (Injected, 1_404_000, 12, ""),
                (Observed, 1_410_000, 13, "ROLE answers master"),
            ],
        ),
    ]
}

fn holder(client: &str, acquire: u64, times: [u64; 3], lease: [u64; 2]) -> Holder {
    Holder {
        client: client.to_owned(),
        op_acquire: acquire,
        op_release: None,
        acquire_invoked: us(times[0]),
        granted: us(times[1]),
        release_invoked: Some(us(times[2])),
        token: None,
        lease_floor: Some(us(lease[0])),
        lease_ceiling: Some(us(lease[1])),
    }
}

fn step(n: u32, micros: u64, actor: &str, kind: StepKind, text: &str, evidence: &[u64]) -> Step {
    Step {
        n,
        t: us(micros),
        actor: actor.to_owned(),
        kind,
        text: text.to_owned(),
        before: None,
        after: None,
        certain: true,
        evidence: evidence.to_vec(),
    }
}

fn mutual_exclusion() -> Witness {
    let mut first = step(
        2,
        1_001_200,
        "a",
        StepKind::Grant,
        "a is granted 'orders' until 2.978 s",
        &[4, 5],
    );
    first.before = Some("nobody".to_owned());
    first.after = Some("a".to_owned());
    let mut second = step(
        5,
        1_522_000,
        "b",
        StepKind::Grant,
        "b is granted 'orders' until 3.498 s",
        &[14, 15],
    );
    second.before = Some("a".to_owned());
    second.after = Some("a, b".to_owned());
    let mut lost = step(
        4,
        1_404_000,
        "F3",
        StepKind::Fault,
        "F3 promotes replica-1, which presumably never received the key",
        &[12, 13],
    );
    lost.certain = false;
    Witness {
        property: Property::MutualExclusion,
        signature: "mutual-exclusion certain cut+kill+promote".to_owned(),
        lock_key: "orders".to_owned(),
        claim: "a and b both held 'orders' for 1.078 s, each inside its lease".to_owned(),
        interval: (us(1_522_000), us(2_600_000)),
        certain: true,
        holders: vec![
            holder(
                "a",
                4,
                [1_000_000, 1_001_200, 2_600_000],
                [2_978_000, 3_023_200],
            ),
            holder(
                "b",
                14,
                [1_520_000, 1_522_000, 3_000_000],
                [3_498_000, 3_544_000],
            ),
        ],
        faults_active: vec!["F1".to_owned(), "F2".to_owned(), "F3".to_owned()],
        story: vec![
            step(
                1,
                500_200,
                "F1",
                StepKind::Fault,
                "F1 cuts primary→replica-1",
                &[2, 3],
            ),
            first,
            step(
                3,
                1_201_000,
                "F2",
                StepKind::Fault,
                "F2 kills primary",
                &[9, 10],
            ),
            lost,
            second,
            step(
                6,
                1_522_000,
                "checker",
                StepKind::Contradiction,
                "a and b both hold 'orders' from 1.522 s to 2.600 s; a write lock has one holder",
                &[5, 15, 16],
            ),
        ],
    }
}

fn lost_lock() -> Witness {
    Witness {
        property: Property::LostLock,
        signature: "lost-lock certain cut+kill+promote".to_owned(),
        lock_key: "orders".to_owned(),
        claim: "a was told 'not owner' 377 ms before its lease ended".to_owned(),
        interval: (us(2_601_000), us(2_978_000)),
        certain: true,
        holders: vec![holder(
            "a",
            4,
            [1_000_000, 1_001_200, 2_600_000],
            [2_978_000, 3_023_200],
        )],
        faults_active: vec!["F1".to_owned(), "F2".to_owned(), "F3".to_owned()],
        story: vec![
            step(
                1,
                1_001_200,
                "a",
                StepKind::Grant,
                "a is granted 'orders' until 2.978 s",
                &[4, 5],
            ),
            step(
                2,
                2_601_000,
                "a",
                StepKind::Release,
                "a's release is answered 'not owner'",
                &[16, 17],
            ),
            step(
                3,
                2_601_000,
                "checker",
                StepKind::Contradiction,
                "the service dropped 'orders' before 2.978 s, when it was bound to keep it",
                &[5, 17],
            ),
        ],
    }
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

fn environment() -> Environment {
    Environment {
        lockstorm: "0.1.0".to_owned(),
        server: "redis 7.0.15 (jemalloc-5.2.1)".to_owned(),
        server_path: "/usr/bin/redis-server".to_owned(),
        system: "Linux 6.1.0".to_owned(),
        cores: 2,
        network: "fabric".to_owned(),
        round_trip_us: Some(128.4),
        round_trip_direct_us: Some(61.2),
        nodes: vec![
            Node {
                name: "primary".to_owned(),
                role: "primary".to_owned(),
                address: "127.18.4.1:7000".to_owned(),
            },
            Node {
                name: "replica-1".to_owned(),
                role: "replica".to_owned(),
                address: "127.18.4.2:7000".to_owned(),
            },
        ],
    }
}

/// The failover story: violated, as expected.
pub(crate) fn failover_run() -> RunRecord {
    let properties = BTreeMap::from([
        (
            Property::MutualExclusion,
            judged(Verdict::Violated, vec![mutual_exclusion()]),
        ),
        (
            Property::LostLock,
            judged(Verdict::Violated, vec![lost_lock()]),
        ),
        (Property::LeaseOverrun, judged(Verdict::Valid, Vec::new())),
    ]);
    let met = |property, expected: Expected, actual| ExpectationResult {
        property,
        expected,
        actual,
        met: expected.is_met_by(actual),
    };
    RunRecord {
        version: RESULTS_VERSION,
        scenario: "failover-loses-the-lock".to_owned(),
        description: "The primary dies after granting and before replicating.".to_owned(),
        labels: CaseLabels {
            lock: "token".to_owned(),
            topology: "replicated (1 replica)".to_owned(),
            hazard: "failover".to_owned(),
        },
        seed: 42,
        repetition: 0,
        started: "2026-11-21T09:00:00Z".to_owned(),
        duration_s: 4.2,
        outcome: Outcome::AsExpected,
        expectations: vec![
            met(
                Property::MutualExclusion,
                Expected::Violated,
                Verdict::Violated,
            ),
            met(Property::LostLock, Expected::Any, Verdict::Violated),
            met(Property::LeaseOverrun, Expected::Valid, Verdict::Valid),
        ],
        stopped: None,
        analysis: Analysis {
            verdict: Verdict::Violated,
            properties,
            coverage: Coverage {
                events: 27,
                operations: 8,
                keys: 1,
                owners: 3,
                granted: 3,
                refused: 2,
                indeterminate: 0,
                contended: 3,
                granted_under_fault: 2,
                expired: 0,
            },
            faults: failover_faults(),
        },
        environment: environment(),
        rerun: "lockstorm run scenarios/library/hazards/failover-loses-the-lock.toml --seed 42"
            .to_owned(),
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
        fault.target = hostile();
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
        ..suite()
    }
}
