//! One situation with one lock on one kind of servers, run with ours and with the real Redisson.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;

use lockstorm_scenarios::{
    Adapter, Case, DurationSpec, Era, Loaded, Lock, LockKind, Step, TopologyKind, Workload,
    load_str, put_into, to_toml, typed_lock,
};
use serde_json::Value as Json;

use crate::interop::kit::version;
use crate::support::situations::{all_shipped, shipped};
use crate::support::{root, run_scenario, stderr, stdout};

/// Our locks that the adapter has, each with its word for it.
const LOCKS: [(LockKind, &str); 9] = [
    (LockKind::Redisson, "lock"),
    (LockKind::RedissonSpin, "spin"),
    (LockKind::RedissonFair, "fair"),
    (LockKind::RedissonFenced, "fenced"),
    (LockKind::RedissonRw, "rw"),
    (LockKind::RedissonMulti, "multi"),
    (LockKind::RedissonRed, "red"),
    (LockKind::RedissonSemaphore, "semaphore"),
    (LockKind::RedissonPermits, "permits"),
];

/// One situation with a lock of ours.
pub struct Pair {
    pub case: Case,
    era: Era,
    /// How many servers the situation hits, where it is about a number of them.
    hits: Option<u32>,
}

/// Comparison of what clients were told by both.
pub enum Told {
    Alike,
    /// By which of the answers they differ: ours, then the real one's.
    Otherwise(String),
    /// The situation is not for adapters.
    Refused(String),
    /// One of the runs said nothing, and why.
    Nothing(String),
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Alike => f.write_str("alike"),
            Self::Otherwise(how) => f.write_str(how),
            Self::Refused(why) => write!(f, "not for adapters: {why}"),
            Self::Nothing(why) => write!(f, "a run said nothing: {why}"),
        }
    }
}

/// Each of our locks in each era in this situation, on all its servers.
pub fn of_situation(name: &str) -> Vec<Pair> {
    of_loaded(&shipped(name))
}

fn of_loaded(loaded: &Loaded) -> Vec<Pair> {
    let situation = loaded
        .scenario
        .situation
        .clone()
        .expect("it is a situation");
    let mut pairs = Vec::new();
    for (kind, era) in LOCKS.iter().flat_map(|&(kind, _)| eras_of(kind)) {
        let typed = if kind.eras().is_empty() {
            kind.name().to_owned()
        } else {
            format!("{}={{era=\"{}\"}}", kind.name(), era.name())
        };
        let lock = typed_lock(&typed).expect("it is one of ours");
        for topology in &situation.topologies {
            for hits in situation.numbers_hit() {
                let Ok(mut case) = put_into(loaded, &lock, topology, &[], hits) else {
                    continue;
                };
                let Some(workload) = up_to_a_renewal_by_hand(case.workload) else {
                    continue;
                };
                case.workload = workload;
                pairs.push(Pair { case, era, hits });
            }
        }
    }
    pairs
}

/// Eras of a lock of ours; the newest for one that imitates no other.
fn eras_of(kind: LockKind) -> impl Iterator<Item = (LockKind, Era)> {
    let newest = kind.eras().is_empty().then(Era::default);
    let eras = kind.eras().iter().copied().chain(newest);
    eras.map(move |era| (kind, era))
}

/// Cuts a script off where Redisson cannot follow: it has no call by which its user renews a lease.
fn up_to_a_renewal_by_hand(workload: Workload) -> Option<Workload> {
    let Workload::Litmus(mut steps) = workload else {
        return None;
    };
    let renewal = steps.iter().position(|step| matches!(step, Step::Renew(_)));
    steps.truncate(renewal.unwrap_or(steps.len()));
    Some(Workload::Litmus(steps))
}

/// Each of our locks in each era in every situation.
pub fn of_every_situation() -> Vec<Pair> {
    let mut pairs: Vec<_> = all_shipped()
        .flat_map(|loaded| of_loaded(&loaded))
        .collect();
    // First the locks that take the most to imitate.
    pairs.sort_by_key(|pair| pair.case.topology.kind() != TopologyKind::Independent);
    pairs
}

impl Pair {
    /// Which pair it is.
    pub fn title(&self) -> String {
        let hits = self.hits.map(|hits| format!(" ({hits})"));
        format!(
            "{}{} · {} {} · {}",
            self.case.name,
            hits.unwrap_or_default(),
            self.case.lock.kind().name(),
            self.era.name(),
            self.case.topology.kind().name()
        )
    }

    /// Tells whether its servers need nobody's vote to be ready.
    pub const fn starts_at_once(&self) -> bool {
        matches!(
            self.case.topology.kind(),
            TopologyKind::Single | TopologyKind::Independent
        )
    }

    /// Which Redisson.
    pub const fn era_name(&self) -> &'static str {
        self.era.name()
    }

    /// Puts the real Redisson into the case.
    fn real(&self) -> Option<Case> {
        let kind = self.case.lock.kind();
        let (_, word) = LOCKS.iter().find(|(ours, _)| *ours == kind)?;
        let (lease, is_kept) = lease_of(&self.case.lock);
        let mut command = vec![
            root()
                .join("adapters/java/redisson/run")
                .display()
                .to_string(),
            version(self.era).to_owned(),
            (*word).to_owned(),
        ];
        if is_kept {
            command.push("watchdog".to_owned());
        }
        if self.era.asks_replicas() && self.case.lock.sync() == Some(lockstorm_scenarios::Sync::Off)
        {
            command.push("unsynced".to_owned());
        }
        let lock = Lock::Adapter(Adapter {
            name: format!("real-{}", kind.name()),
            command,
            expires: lease.is_some(),
            lease: lease.unwrap_or(DurationSpec::from_secs(10)),
            renew_every: None,
            // It tries dead masters again, one after the other.
            answers_within: Some(DurationSpec::from_secs(60)),
            node_timeout: None,
            permits: self.case.lock.permits(),
            denies: Vec::new(),
            promises: Vec::new(),
        });
        Some(Case {
            lock,
            ..self.case.clone()
        })
    }

    /// Runs both.
    pub fn run(&self) -> Told {
        let Some(real) = self.real() else {
            return Told::Refused("the adapter has no such lock".to_owned());
        };
        let real = to_toml(&real.to_scenario());
        if let Err(error) = load_str(&real, "real", &[]) {
            return Told::Refused(error.to_string());
        }
        let ours = answers(&self.case, &to_toml(&self.case.to_scenario()));
        let real = answers(&self.case, &real);
        match (ours, real) {
            (Err(why), _) | (_, Err(why)) => Told::Nothing(why),
            (Ok(ours), Ok(real)) if ours == real => Told::Alike,
            (Ok(ours), Ok(real)) => Told::Otherwise(format!("ours {ours}, the real one {real}")),
        }
    }
}

/// The time to live of its grants if they end, and whether a watchdog keeps them.
fn lease_of(lock: &Lock) -> (Option<DurationSpec>, bool) {
    match lock {
        Lock::Redisson(spec)
        | Lock::RedissonSpin(spec)
        | Lock::RedissonFenced(spec)
        | Lock::RedissonRw(spec)
        | Lock::RedissonMulti(spec)
        | Lock::RedissonRed(spec) => (Some(spec.time_to_live()), spec.lease.is_none()),
        Lock::RedissonFair(spec) => {
            let lease = spec.lease.unwrap_or(spec.watchdog);
            (Some(lease), spec.lease.is_none())
        }
        other => (other.lease(), false),
    }
}

/// Runs a scenario, twice if nobody was told anything: many virtual machines that start at once on
/// a busy machine may be too late for the run.
fn answers(case: &Case, scenario: &str) -> Result<String, String> {
    try_once(case, scenario).or_else(|_| try_once(case, scenario))
}

/// Runs a scenario; what each client was told, in order, and whether two held the lock. Of several
/// tries in a row by one client the last counts: ours are operations of their own, a real one is
/// one call. It fails where no client was told anything.
fn try_once(case: &Case, scenario: &str) -> Result<String, String> {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("scenario.toml");
    fs::write(&path, scenario).expect("the file can be written");
    let output = run_scenario(
        path.to_str().expect("temporary folders have plain names"),
        folder.path(),
        &[
            "--format", "json", "--report", "none", "--seed", "1", "--trace", "none",
        ],
    );
    let Ok(record) = serde_json::from_str::<Json>(&stdout(&output)) else {
        let said = stderr(&output);
        return Err(said.lines().last().unwrap_or_default().to_owned());
    };
    let mut results = record["expectations"].as_array().into_iter().flatten();
    // Whether all is well or nobody knows is a matter of how far the run came.
    let violated =
        |result: &Json| result["property"] == "mutual-exclusion" && result["actual"] == "violated";
    let held_by = if results.any(violated) {
        "two hold"
    } else {
        "one holds"
    };
    let mut told = told(&folder.path().join("latest/history.jsonl"));
    if told.is_empty() {
        return Err("no client was told anything".to_owned());
    }
    leave_out_the_end(&mut told, case);
    let said = format!("[{}], {held_by}", told.join(", "));
    if std::env::var_os("LOCKSTORM_KEEP").is_some() {
        super::say(&format!("{}: {said}", folder.keep().display()));
    }
    Ok(said)
}

fn told(history: &Path) -> Vec<String> {
    let text = fs::read_to_string(history).unwrap_or_default();
    let events: Vec<Json> = text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    let mut asked: Vec<(Json, String, String)> = Vec::new();
    let mut open: BTreeMap<u64, usize> = BTreeMap::new();
    for event in &events {
        if event["value"]["phase"]["name"] == "final" {
            break;
        }
        let (Some(process), Some(word)) = (event["process"].as_u64(), event["f"].as_str()) else {
            continue;
        };
        if !["acquire", "release"].contains(&word) {
            continue;
        }
        match event["type"].as_str() {
            Some("invoke") => {
                open.insert(process, asked.len());
                let who = event["value"]["owner"].as_str().unwrap_or_default();
                asked.push((
                    event["value"]["owner"].clone(),
                    format!("{who} {word}"),
                    "-".to_owned(),
                ));
            }
            Some(how @ ("ok" | "fail" | "info")) => {
                if let Some(at) = open.remove(&process) {
                    asked[at].2 = match (how, event["error"].as_str()) {
                        ("fail", Some(error @ ("refused" | "not-owner"))) => error.to_owned(),
                        ("info", Some("refused")) => "refused".to_owned(),
                        ("ok", _) => "ok".to_owned(),
                        _ => "error".to_owned(),
                    };
                }
            }
            _ => {}
        }
    }
    let mut told = Vec::new();
    for (at, (who, what, how)) in asked.iter().enumerate() {
        let next = asked[at + 1..].iter().find(|(next, ..)| next == who);
        let again = next.is_some_and(|(_, next, _)| next == what);
        if how == "ok" || !again || what.ends_with("release") {
            told.push(format!("{what} {how}"));
        }
    }
    // Who releases first at the end of a run that stopped early is a matter of luck.
    told.sort_by_key(|said| said.split(' ').next().map(str::to_owned));
    told
}

/// In the end whoever believes that it holds a lock gives it back; our clients know of what their
/// watchdogs were told, and the harness knows nothing of that of a real one. What is beyond the
/// releases of the script is left out.
fn leave_out_the_end(told: &mut Vec<String>, case: &Case) {
    let Workload::Litmus(steps) = &case.workload else {
        return;
    };
    let mut left: BTreeMap<&str, usize> = BTreeMap::new();
    for step in steps {
        if let Step::Release(release) = step {
            *left.entry(&*release.client).or_default() += 1;
        }
    }
    told.retain(|said| {
        let Some((client, _)) = said.split_once(" release ") else {
            return true;
        };
        let Some(left @ 1..) = left.get_mut(client) else {
            return false;
        };
        *left -= 1;
        true
    });
}
