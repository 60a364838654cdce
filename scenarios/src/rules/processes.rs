//! Rules on clients that are processes: what a task can do and they cannot.

use super::findings::Findings;
use crate::draft::Draft;
use crate::model::{ClientKind, FaultSpec, KillClient, Lock, Step};

/// Clients of a storm that are processes, at most: each costs the machine some milliseconds to
/// start and some megabytes to keep.
const PROCESSES_MAX: u32 = 200;

/// Judges the clients, if they are processes.
pub(crate) fn judge(draft: &Draft, findings: &mut Findings<'_>) {
    let asked = draft.clients.as_ref();
    let asked = asked.is_some_and(|clients| clients.kind == ClientKind::Process);
    let foreign = draft.lock.as_ref().is_some_and(Lock::is_foreign);
    if !asked && !foreign {
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
        let message = "a client that is a process shares its instance with nobody";
        let help = "leave it out, or take clients that are tasks";
        let path = format!("lock.{}.threads", lock.kind().name());
        findings.value(&path, message, help);
    }
    for (n, step) in draft.steps.iter().enumerate() {
        if let Some(FaultSpec::KillClient(kill)) = step.as_ref().and_then(Step::fault) {
            judge_kill(kill, &format!("step.{n}.kill-client"), findings);
        }
    }
    for (n, entry) in draft.nemesis.iter().enumerate() {
        if let Some(FaultSpec::KillClient(kill)) = entry.as_ref().map(|entry| &entry.fault) {
            judge_kill(kill, &format!("nemesis.{n}.fault.kill-client"), findings);
        }
    }
}

/// Nobody but the process itself knows how many commands it was answered, and to die of that it
/// would have to be told to.
fn judge_kill(kill: &KillClient, path: &str, findings: &mut Findings<'_>) {
    if kill.after_commands.is_some() {
        let message = "the commands of a process cannot be counted from outside";
        let help = "leave it out to kill it at once, or take clients that are tasks";
        findings.value(&format!("{path}.after-commands"), message, help);
    }
}
