//! Storms with one known cause each: the right fault is blamed, and no remedy is wrong.
//!
//! Each storm is a script in which one thing, known beforehand, makes a lock fail, among faults
//! that are harmless by construction: of other clients and keys, at other times, or shown by a
//! refusal to have left the lock alone. A dozen in each run of the tests, or as many as
//! `LOCKSTORM_ROUNDS` says; `make storms` tries five hundred.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::support::{have_server, run_scenario, stderr};
use lockstorm_checker::Property;
use lockstorm_checker::verdict::Witness;
use lockstorm_reports::{Record, RunRecord, read_record, remedies};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Runs at once: they mostly wait for servers to start.
const AT_ONCE: &str = "6";

fn rounds() -> usize {
    let named = std::env::var("LOCKSTORM_ROUNDS").ok();
    named.map_or(12, |rounds| {
        rounds.parse().expect("LOCKSTORM_ROUNDS is a number")
    })
}

/// One known cause.
struct Cause {
    name: &'static str,
    topology: &'static str,
    locks: &'static [&'static str],
    /// Steps that make ready, before the first grant.
    before: &'static [&'static str],
    /// From the first grant on.
    grant: &'static [&'static str],
    /// Steps that make the lock fail.
    strike: &'static [&'static str],
    after: &'static [&'static str],
    /// True if the faults of `before` are part of the cause.
    begins_before: bool,
    property: Property,
    /// How the sentences of the remedies begin that are right here.
    remedies: &'static [&'static str],
    /// Topology and lock of the script once the remedy is applied.
    remedied: Option<(&'static str, &'static str)>,
}

const SINGLE: &str = "topology.single = { persistence = \"none\" }";
const SINGLE_SYNCED: &str = "topology.single = { persistence = \"aof-always\" }";
const REPLICATED: &str = "topology.replicated = { replicas = 1 }";
const FIVE: &str = "topology.independent = { nodes = 5 }";

const TOKENS: &[&str] = &[
    "lock.token = { lease = \"5s\" }",
    "lock.token-fenced = { lease = \"5s\" }",
    "lock.redisson = { lease = \"5s\" }",
    "lock.redisson-fenced = { lease = \"5s\" }",
];
const SIMPLE_TOKENS: &[&str] = &[
    "lock.token = { lease = \"5s\" }",
    "lock.token-fenced = { lease = \"5s\" }",
];
const SHORT_TOKENS: &[&str] = &[
    "lock.token = { lease = \"1s\" }",
    "lock.token-fenced = { lease = \"1s\" }",
];
const REDLOCKS: &[&str] = &["lock.redlock = { lease = \"20s\", node-timeout = \"200ms\" }"];

const ONE_HOLDS: &[&str] = &[
    r#"acquire = { client = "a", expect = "granted" }"#,
    r#"acquire = { client = "b", expect = "refused" }"#,
];
const TWO_HOLD: &[&str] = &[
    r#"acquire = { client = "b" }"#,
    r#"work = { client = "b", for = "100ms" }"#,
];

/// The connection of b has died with the server.
const TWO_HOLD_ANEW: &[&str] = &[
    r#"acquire = { client = "b" }"#,
    r#"acquire = { client = "b" }"#,
    r#"work = { client = "b", for = "100ms" }"#,
];

const FENCING: &str = "A check of the fencing token";
const SYNC: &str = "A disk that is synced";
const NO_EVICTION: &str = "A server that refuses writes when its memory is full";
const WAIT: &str = "Waiting for";
const COMPARING: &str = "A release that compares the owner";
const WATCHDOG: &str = "A watchdog";

#[expect(clippy::too_many_lines, reason = "it is a table")]
fn causes() -> Vec<Cause> {
    let plain = Cause {
        name: "deleted key",
        topology: SINGLE,
        locks: TOKENS,
        before: &[],
        grant: ONE_HOLDS,
        strike: &[r#"delete-key = { key = "lock" }"#],
        after: TWO_HOLD,
        begins_before: false,
        property: Property::MutualExclusion,
        remedies: &[FENCING],
        remedied: None,
    };
    vec![
        Cause {
            name: "deleted key",
            ..plain
        },
        Cause {
            name: "deleted key, synced disk",
            topology: SINGLE_SYNCED,
            ..plain
        },
        Cause {
            name: "deleted key, replicated",
            topology: REPLICATED,
            ..plain
        },
        Cause {
            name: "deleted keys of a majority",
            topology: FIVE,
            locks: REDLOCKS,
            strike: &[
                r#"delete-key = { key = "lock", node = "n1" }"#,
                r#"delete-key = { key = "lock", node = "n2" }"#,
                r#"delete-key = { key = "lock", node = "n3" }"#,
            ],
            ..plain
        },
        Cause {
            name: "flushed server",
            strike: &[r#"flush-all = { node = "primary" }"#],
            ..plain
        },
        Cause {
            name: "evicted key",
            strike: &[r#"evict = { key = "lock", node = "primary" }"#],
            remedies: &[FENCING, NO_EVICTION],
            ..plain
        },
        Cause {
            name: "restart without persistence",
            strike: &[r#"restart = { node = "primary" }"#],
            after: TWO_HOLD_ANEW,
            remedies: &[FENCING, SYNC],
            remedied: Some((SINGLE_SYNCED, TOKENS[0])),
            ..plain
        },
        Cause {
            name: "restart of one of three that voted",
            topology: FIVE,
            locks: REDLOCKS,
            before: &[r#"kill = { node = "n4" }"#, r#"kill = { node = "n5" }"#],
            grant: &[
                r#"acquire = { client = "a", expect = "granted" }"#,
                r#"restart = { node = "n4", memory = "lost" }"#,
                r#"restart = { node = "n5", memory = "lost" }"#,
            ],
            strike: &[r#"restart = { node = "n3" }"#],
            remedies: &[SYNC],
            ..plain
        },
        Cause {
            name: "clock ahead",
            strike: &[r#"clock = { node = "primary", forward = "6s" }"#],
            ..plain
        },
        Cause {
            name: "failover before the replica knew",
            topology: REPLICATED,
            locks: SIMPLE_TOKENS,
            before: &[r#"cut = { from = "primary", to = "replicas" }"#],
            begins_before: true,
            strike: &[
                r#"kill = { node = "primary" }"#,
                r#"promote = { node = "replica-1" }"#,
            ],
            remedies: &[FENCING, WAIT],
            remedied: Some((
                REPLICATED,
                "lock.token-wait = { lease = \"5s\", sync-timeout = \"100ms\" }",
            )),
            ..plain
        },
        Cause {
            name: "pause beyond the lease",
            locks: SHORT_TOKENS,
            strike: &[
                r#"pause-client = { client = "a" }"#,
                r#"await = { key-gone = "lock", within = "10s" }"#,
            ],
            after: &[
                r#"acquire = { client = "b", expect = "granted" }"#,
                r#"work = { client = "b", for = "200ms" }"#,
                r#"heal = { fault = "pause-client", client = "a" }"#,
                r#"release = { client = "a" }"#,
                r#"release = { client = "b" }"#,
            ],
            property: Property::LeaseOverrun,
            ..plain
        },
        Cause {
            name: "work longer than the lease",
            locks: SHORT_TOKENS,
            strike: &[r#"work = { client = "a", for = "1500ms" }"#],
            after: &[
                r#"acquire = { client = "b" }"#,
                r#"work = { client = "b", for = "100ms" }"#,
                r#"release = { client = "a" }"#,
                r#"release = { client = "b" }"#,
            ],
            property: Property::LeaseOverrun,
            remedies: &[FENCING, WATCHDOG],
            remedied: Some((
                SINGLE,
                "lock.token = { lease = \"1s\", renew-every = \"300ms\" }",
            )),
            ..plain
        },
        Cause {
            name: "release of another's lock",
            locks: &["lock.plain-del = { lease = \"5s\" }"],
            strike: &[r#"release = { client = "b" }"#],
            after: &[
                r#"acquire = { client = "d" }"#,
                r#"work = { client = "d", for = "100ms" }"#,
            ],
            remedies: &[COMPARING],
            remedied: Some((SINGLE, TOKENS[0])),
            ..plain
        },
    ]
}

/// Clients that have no part in it.
const OTHERS: &[&str] = &[
    r#"acquire = { client = "c", key = "other" }"#,
    r#"acquire = { client = "e", key = "another" }"#,
];

/// Harmless before the first grant.
const EARLY: &[&[&str]] = &[
    &[
        r#"pause-client = { client = "c" }"#,
        r#"heal = { fault = "pause-client", client = "c" }"#,
    ],
    &[
        r#"pause = { node = "NODE" }"#,
        r#"heal = { fault = "pause", node = "NODE" }"#,
    ],
];

/// Harmless as a refusal shows that the lock is still there.
const SURVIVED: &[&[&str]] = &[&[
    r#"pause = { node = "NODE" }"#,
    r#"heal = { fault = "pause", node = "NODE" }"#,
    r#"acquire = { client = "d", expect = "refused" }"#,
]];

/// Harmless while a holds: of others, or without an effect on keys.
const MEANWHILE: &[&[&str]] = &[
    &[r#"delete-key = { key = "other" }"#],
    &[r#"pause-client = { client = "c" }"#],
    &[r#"kill-connections = { node = "NODE", client = "c" }"#],
];

/// Harmless as it is too late.
const LATE: &[&[&str]] = &[
    &[r#"pause-client = { client = "e" }"#],
    &[r#"pause-client = { client = "b" }"#],
];

/// Steps that end a fault, or inject none.
const NO_FAULTS: [&str; 5] = ["acquire", "release", "work", "await", "heal"];

/// A script with the numbers of the faults that are its cause.
struct Script {
    steps: Vec<String>,
    faults: u32,
    causes: Vec<String>,
}

impl Script {
    fn new() -> Self {
        Self {
            steps: Vec::new(),
            faults: 0,
            causes: Vec::new(),
        }
    }

    fn take(&mut self, steps: &[&str], node: &str, is_cause: bool) {
        for step in steps {
            let word = step.split(' ').next().unwrap_or_default();
            if !NO_FAULTS.contains(&word) {
                self.faults += 1;
                let id = format!("F{}", self.faults);
                self.causes.extend(Some(id).filter(|_| is_cause));
            }
            self.steps.push(step.replace("NODE", node));
        }
    }

    fn of(cause: &Cause, rng: &mut ChaCha8Rng) -> Self {
        let mut script = Self::new();
        let node = if cause.topology == FIVE {
            "n1"
        } else {
            "primary"
        };
        script.take(OTHERS, node, false);
        let mut maybe = |script: &mut Self, share: f64, faults: &[&[&str]]| {
            if rng.random_bool(share) {
                let chosen = faults.choose(rng).expect("there are some");
                script.take(chosen, node, false);
            }
        };
        maybe(&mut script, 0.7, EARLY);
        script.take(cause.before, node, cause.begins_before);
        script.take(cause.grant, node, false);
        // Of a quorum a refusal shows nothing, and a pause of the holder's server takes its time.
        let can_show = node == "primary" && cause.property == Property::MutualExclusion;
        maybe(&mut script, if can_show { 0.5 } else { 0.0 }, SURVIVED);
        maybe(&mut script, 0.6, MEANWHILE);
        script.take(cause.strike, node, true);
        script.take(cause.after, node, false);
        maybe(&mut script, 0.4, LATE);
        script
    }

    fn write(&self, path: &Path, (topology, lock): (&str, &str)) {
        let name = path.file_stem().and_then(|stem| stem.to_str());
        let mut text = format!("name = \"{}\"\n", name.expect("it has a name"));
        // Nothing is expected: the answers are looked at here.
        let any: Vec<String> = Property::ALL
            .iter()
            .filter(|&&property| property != Property::Model)
            .map(|property| format!("{property} = \"any\""))
            .collect();
        let _ = writeln!(
            text,
            "expect = {{ {} }}\n{topology}\n{lock}",
            any.join(", ")
        );
        for step in &self.steps {
            let _ = writeln!(text, "\n[[step]]\n{step}");
        }
        fs::write(path, text).expect("a scenario can be written");
    }
}

/// Counts, and complaints about what was wrong.
#[derive(Debug, Default)]
struct Tally {
    violations: u64,
    /// Where the cause is among the blamed, and where it is alone there.
    named: u64,
    alone: u64,
    remedies: BTreeMap<&'static str, u64>,
    wrong: Vec<String>,
    misnamed: Vec<String>,
}

impl Tally {
    fn take(&mut self, cause: &Cause, script: &Script, run: &RunRecord) {
        let label = format!("{}, {}, {:?}", cause.name, run.labels.lock, script.steps);
        let judgement = run.analysis.properties.get(&cause.property);
        let witness = judgement.and_then(|judgement| judgement.witnesses.first());
        let Some(witness) = witness else {
            self.misnamed
                .push(format!("not violated: {label}, {:?}", run.stopped));
            return;
        };
        self.violations += 1;
        let blamed = &witness.blamed;
        let is_cause = |id: &String| script.causes.contains(id);
        let is_named = script.causes.is_empty() || blamed.iter().any(is_cause);
        let is_alone = is_named && blamed.iter().all(is_cause);
        self.named += u64::from(is_named);
        self.alone += u64::from(is_alone);
        if !is_alone {
            let wanted = &script.causes;
            self.misnamed
                .push(format!("{blamed:?} for {wanted:?}: {label}"));
        }
        self.weigh(cause, run, &label);
        self.praise(cause, run, witness);
    }

    /// Every remedy, whatever it is told for, must be one that is right here.
    fn weigh(&mut self, cause: &Cause, run: &RunRecord, label: &str) {
        let judged = run.analysis.properties.values();
        for witness in judged.flat_map(|judgement| &judgement.witnesses) {
            for sentence in remedies(run, witness) {
                if !cause
                    .remedies
                    .iter()
                    .any(|right| sentence.starts_with(right))
                {
                    let property = witness.property;
                    self.wrong.push(format!("{property}: {sentence} {label}"));
                }
            }
        }
    }

    fn praise(&mut self, cause: &Cause, run: &RunRecord, witness: &Witness) {
        for sentence in remedies(run, witness) {
            let right = cause
                .remedies
                .iter()
                .find(|right| sentence.starts_with(**right));
            if let Some(right) = right {
                *self.remedies.entry(right).or_default() += 1;
            }
        }
    }
}

/// Runs the scenarios of a folder, and reads what is recorded of each, by name.
fn run_all(folder: &Path) -> BTreeMap<String, RunRecord> {
    let files = fs::read_dir(folder).expect("the folder can be listed");
    let mut files: Vec<String> = files
        .map(|file| file.expect("it can be listed").path().display().to_string())
        .collect();
    files.sort();
    let out = tempfile::tempdir().expect("a temporary folder can be made");
    let (first, others) = files.split_first().expect("there are scenarios");
    let others = others.iter().map(String::as_str);
    let how = ["--jobs", AT_ONCE, "--report", "none"];
    let more: Vec<&str> = others.chain(how).collect();
    let output = run_scenario(first, out.path(), &more);
    let cells = fs::read_dir(out.path().join("latest/cells"));
    let cells = cells.unwrap_or_else(|_| panic!("{}", stderr(&output)));
    let records = cells.filter_map(|cell| {
        let folder = cell.expect("it can be listed").path();
        match read_record(&folder).ok()? {
            Record::Run(run) => Some((run.scenario.clone(), *run)),
            Record::Suite(_) => None,
        }
    });
    records.collect()
}

#[test]
fn the_right_fault_is_blamed_and_no_remedy_is_wrong() {
    if !have_server() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let causes = causes();
    let mut scripts = BTreeMap::new();
    for seed in 0..rounds() {
        let mut rng = ChaCha8Rng::seed_from_u64(seed as u64);
        let cause = &causes[seed % causes.len()];
        let script = Script::of(cause, &mut rng);
        let lock = cause.locks.choose(&mut rng).expect("there is a lock");
        let name = format!("storm-{seed}");
        script.write(
            &folder.path().join(format!("{name}.toml")),
            (cause.topology, lock),
        );
        scripts.insert(name, (cause, script));
    }
    let runs = run_all(folder.path());
    let mut tally = Tally::default();
    for (name, (cause, script)) in &scripts {
        match runs.get(name) {
            Some(run) => tally.take(cause, script, run),
            None => tally.misnamed.push(format!("not run: {}", cause.name)),
        }
    }
    println!(
        "{} storms, {} violations: the cause is blamed in {}, alone in {}; {} wrong remedies; \
         right ones: {:?}\n{}\n{}",
        scripts.len(),
        tally.violations,
        tally.named,
        tally.alone,
        tally.wrong.len(),
        tally.remedies,
        tally.wrong.join("\n"),
        tally.misnamed.join("\n")
    );
    let enough = |share: u64| 100 * share >= 99 * tally.violations;
    assert!(tally.wrong.is_empty());
    assert!(enough(tally.named) && enough(tally.alone));
    assert!(100 * tally.violations >= 95 * scripts.len() as u64);
}

/// A remedy that a setting can apply is right if the same script is not violated with it.
#[test]
fn a_remedy_that_is_applied_prevents_the_violation() {
    if !have_server() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let causes = causes();
    let mut properties = BTreeMap::new();
    for (number, cause) in causes.iter().enumerate() {
        let Some(remedied) = cause.remedied else {
            continue;
        };
        let mut script = Script::new();
        let all = [cause.before, cause.grant, cause.strike, cause.after].concat();
        let unmet: Vec<String> = all
            .iter()
            .map(|step| {
                step.replace(", expect = \"granted\"", "")
                    .replace(", expect = \"refused\"", "")
            })
            .collect();
        let unmet: Vec<&str> = unmet.iter().map(String::as_str).collect();
        script.take(&unmet, "primary", false);
        let name = format!("remedied-{number}");
        script.write(&folder.path().join(format!("{name}.toml")), remedied);
        properties.insert(name, (cause.name, cause.property));
    }
    let runs = run_all(folder.path());
    assert_eq!(runs.len(), properties.len());
    for (name, (cause, property)) in properties {
        let run = &runs[&name];
        assert_eq!(run.stopped, None, "{cause}");
        let judgement = run.analysis.properties.get(&property);
        assert_eq!(
            judgement.map_or(0, |judgement| judgement.count),
            0,
            "{cause}"
        );
    }
}
