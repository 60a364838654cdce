//! Rules on what a client is: what a task can do and a process cannot, and the other way round.

use super::findings::Findings;
use crate::draft::Draft;
use crate::model::{ClientKind, FaultSpec, Lock};

/// Clients of a storm that are processes, at most: each costs the machine some milliseconds to
/// start and some megabytes to keep.
const PROCESSES_MAX: u32 = 200;

/// Judges what the clients are asked for, as what they are.
pub(crate) fn judge(draft: &Draft, findings: &mut Findings<'_>) {
    let asked = draft.clients.as_ref();
    let asked = asked.is_some_and(|clients| clients.kind == ClientKind::Process);
    let foreign = draft.lock.as_ref().is_some_and(Lock::is_foreign);
    if let Some(lock) = draft
        .lock
        .as_ref()
        .filter(|lock| lock.renew_every().is_none())
    {
        for (fault, path) in faults(draft) {
            judge_stall(fault, &path, lock, findings);
        }
    }
    if !foreign {
        judge_identity(draft, findings);
    }
    if !asked && !foreign {
        for (fault, path) in faults(draft) {
            judge_clock(fault, &path, findings);
        }
        return;
    }
    if let Some(clients) = &draft.clients
        && draft.storm.is_some()
        && clients.count > PROCESSES_MAX
    {
        let message = format!("{} clients are too many processes", clients.count);
        let help = format!("1 to {PROCESSES_MAX}; tasks may be more");
        findings.value("clients.count", message, &help);
    }
    if let Some(lock) = draft.lock.as_ref().filter(|lock| lock.threads() > 1) {
        let message = "clients that are processes cannot share an instance";
        let help = "leave it out, or take clients that are tasks";
        let path = format!("lock.{}.threads", lock.kind().name());
        findings.value(&path, message, help);
    }
    for (fault, path) in faults(draft) {
        judge_kill(fault, &path, findings);
    }
}

/// All faults, each with its path.
fn faults(draft: &Draft) -> Vec<(&FaultSpec, String)> {
    let steps = draft.steps.iter().enumerate().filter_map(|(n, step)| {
        let fault = step.as_ref()?.fault()?;
        Some((fault, format!("step.{n}.{}", fault.kind())))
    });
    let entries = draft.nemesis.iter().enumerate().filter_map(|(n, entry)| {
        let fault = &entry.as_ref()?.fault;
        Some((fault, format!("nemesis.{n}.fault.{}", fault.kind())))
    });
    steps.chain(entries).collect()
}

/// Ours make names of their own.
fn judge_identity(draft: &Draft, findings: &mut Findings<'_>) {
    let clients = draft.clients.as_ref();
    if draft.lock.is_some() && clients.is_some_and(|clients| clients.identity.is_some()) {
        let message = "only the library of an adapter can be told a name for its owners";
        findings.value("clients.identity", message, "leave it out");
    }
}

/// Where nothing is renewed, there is no watchdog.
fn judge_stall(fault: &FaultSpec, path: &str, lock: &Lock, findings: &mut Findings<'_>) {
    if matches!(
        fault,
        FaultSpec::StallWatchdog(_) | FaultSpec::KillThread(_)
    ) {
        let message = format!("lock.{} as it is here renews nothing", lock.kind().name());
        let help = "take a lock that renews: `renew-every`, or a Redisson lock without a lease";
        findings.key(path, message, help);
    }
}

/// A task looks at the same clock as the harness, which stamps the history.
fn judge_clock(fault: &FaultSpec, path: &str, findings: &mut Findings<'_>) {
    if fault.needs_shim_in_clients() {
        let message = "a client that is a task has no clock of its own";
        let help = "add clients.kind = \"process\"";
        findings.value(&format!("{path}.client"), message, help);
    }
}

/// Nobody but the process itself knows how many commands it was answered, and to die of that it
/// would have to be told to.
fn judge_kill(fault: &FaultSpec, path: &str, findings: &mut Findings<'_>) {
    if let FaultSpec::KillClient(kill) = fault
        && kill.after_commands.is_some()
    {
        let message = "the commands of a process cannot be counted from outside";
        let help = "leave it out to kill it at once, or take clients that are tasks";
        findings.value(&format!("{path}.after-commands"), message, help);
    }
}
