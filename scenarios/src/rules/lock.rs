//! Rules on the options of a lock.

use lockstorm_checker::history::Mode;

use super::findings::Findings;
use super::threads;
use crate::draft::Draft;
use crate::model::{DurationSpec, Lock, LockKind, Mutant, Step, Sync, Topology, TopologyKind};

/// All of a share.
const PERCENT: u32 = 100;
const READERS_HELP: &str = "leave it out, or take `redisson-rw`";

/// Judges the lock at `path`.
pub(crate) fn judge(lock: &Lock, path: &str, findings: &mut Findings<'_>) {
    let path = format!("{path}.{}", lock.kind().name());
    judge_mutant(lock, &path, findings);
    threads::judge(lock, &path, findings);
    if lock.permits() == 0 {
        let help = "a semaphore without permits is never granted";
        findings.value(
            &format!("{path}.permits"),
            "`permits` must be greater than 0",
            help,
        );
    }
    judge_era(lock, &path, findings);
    if lock.lease() == Some(DurationSpec::default()) {
        let help = "PX counts milliseconds: take more, such as \"2s\"";
        findings.value(
            &format!("{path}.{}", names_lease(lock)),
            "the lease must be at least 1ms",
            help,
        );
        return;
    }
    for mistake in lock.mistakes() {
        let path = format!("{path}.{}", mistake.option);
        findings.value(&path, mistake.message, mistake.help);
    }
    if let Some(lease) = lock.lease()
        && findings.has(&format!("{path}.renew-every"))
    {
        judge_renewal(lock.renew_every(), lease, &path, findings);
    }
}

/// Judges whether the Redisson that is named had the lock, and the option.
fn judge_era(lock: &Lock, path: &str, findings: &mut Findings<'_>) {
    let Some(era) = lock.era() else {
        return;
    };
    let eras = lock.kind().eras();
    if !eras.contains(&era) {
        let known: Vec<&str> = eras.iter().map(|era| era.name()).collect();
        let message = format!("Redisson {} has no {}", era.name(), lock.kind().name());
        let help = format!("leave it out, or take one of: {}", known.join(", "));
        findings.value(&format!("{path}.era"), message, &help);
    }
    let asks = findings.has(&format!("{path}.sync")) && lock.sync() != Some(Sync::Off);
    if asks && !era.asks_replicas() {
        let message = format!("Redisson {} asks no replica", era.name());
        let help = "leave it out, or take era = \"3.17\" or \"4.7\"";
        findings.value(&format!("{path}.sync"), message, help);
    }
}

/// A mistake is made in the code of one lock, and cannot be made in that of another.
fn judge_mutant(lock: &Lock, path: &str, findings: &mut Findings<'_>) {
    let kind = lock.kind();
    let Some(mutant) = lock.mutant().filter(|mutant| mutant.lock() != kind) else {
        return;
    };
    let message = format!(
        "'{}' is made from {} and not from {}",
        mutant.name(),
        mutant.lock().name(),
        kind.name()
    );
    findings.value(&format!("{path}.mutant"), message, &mutants_help(kind));
}

fn mutants_help(kind: LockKind) -> String {
    let names: Vec<_> = Mutant::of(kind).map(Mutant::name).collect();
    if names.is_empty() {
        format!("leave it out; no mutant is made from {}", kind.name())
    } else {
        format!("take one of {}", names.join(", "))
    }
}

/// The option that says how long a grant lives.
fn names_lease(lock: &Lock) -> &'static str {
    if lock.renew_every().is_some() && lock.kind().name().starts_with("redisson") {
        "watchdog"
    } else {
        "lease"
    }
}

fn judge_renewal(
    every: Option<DurationSpec>,
    lease: DurationSpec,
    path: &str,
    findings: &mut Findings<'_>,
) {
    let Some(every) = every else {
        return;
    };
    let path = &format!("{path}.renew-every");
    if every == DurationSpec::default() {
        let help = "a third of the lease is usual; leave it out for no renewal";
        findings.value(path, "the lease is renewed without a pause", help);
    } else if every >= lease {
        let message = format!("renewed every {every}, a lease of {lease} has ended before");
        findings.value(path, message, "a third of the lease is usual");
    }
}

/// Judges whether clients ask for the lock in ways that it knows. Another lock would take a reader
/// for a writer, and be accused of refusing it.
pub(crate) fn judge_use(lock: &Lock, draft: &Draft, findings: &mut Findings<'_>) {
    let kind = lock.kind();
    let no_readers = || format!("{} knows no readers", kind.name());
    let read_percent = draft
        .clients
        .as_ref()
        .map_or(0, |clients| clients.read_percent);
    if read_percent > PERCENT {
        let message = format!("{read_percent} percent is more than all");
        findings.value("clients.read-percent", message, "take 0 to 100");
    } else if read_percent > 0 && !lock.knows_readers() {
        findings.value("clients.read-percent", no_readers(), READERS_HELP);
    }
    for (n, step) in draft.steps.iter().enumerate() {
        let Some((mode, permits)) = step.as_ref().and_then(asked) else {
            continue;
        };
        let path = |option: &str| {
            let step = step.as_ref().map_or("", Step::kind);
            format!("step.{n}.{step}.{option}")
        };
        if mode == Mode::Read && !lock.knows_readers() {
            findings.value(&path("mode"), no_readers(), READERS_HELP);
        }
        if permits != 1 && !lock.is_semaphore() {
            let message = format!("{} knows no permits", kind.name());
            findings.value(
                &path("permits"),
                message,
                "leave it out, or take a semaphore",
            );
        } else if permits == 0 || permits > lock.permits() {
            let message = format!("{permits} of {} permits can never be had", lock.permits());
            findings.value(
                &path("permits"),
                message,
                "take 1 or more, as many as there are",
            );
        }
    }
}

/// How a step asks for the lock, or gives it back.
fn asked(step: &Step) -> Option<(Mode, u32)> {
    if let Step::Acquire(acquire) = step {
        Some((acquire.mode, acquire.permits))
    } else if let Step::Release(release) = step {
        Some((release.mode, release.permits))
    } else if let Step::Renew(renew) = step {
        Some((renew.mode, 1))
    } else {
        None
    }
}

/// Judges whether the lock at `path` suits servers of this shape.
pub(crate) fn judge_support(
    lock: &Lock,
    topology: &Topology,
    path: &str,
    findings: &mut Findings<'_>,
) {
    let kind = lock.kind();
    if !kind.supports(topology.alike()) {
        let names: Vec<&str> = TopologyKind::ALL
            .into_iter()
            .filter(|topology| kind.supports(*topology))
            .map(TopologyKind::name)
            .collect();
        let why = match topology.kind() {
            TopologyKind::External => "one of them, or several masters; ",
            TopologyKind::Cluster => "a Cluster keeps a key on one shard only; ",
            TopologyKind::Single
            | TopologyKind::Replicated
            | TopologyKind::Sentinel
            | TopologyKind::Independent
            | TopologyKind::Etcd
            | TopologyKind::Zookeeper
            | TopologyKind::Mariadb
            | TopologyKind::Postgres
            | TopologyKind::Custom => "",
        };
        findings.key(
            &format!("{path}.{}", kind.name()),
            format!(
                "{} does not work on {} servers",
                kind.name(),
                topology.kind().name()
            ),
            &format!("{why}it is made for: {}", names.join(", ")),
        );
    }
}
