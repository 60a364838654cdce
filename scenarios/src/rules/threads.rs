//! Rules on clients that are threads of one Redisson instance.
//!
//! A process is stopped, killed or cut off as a whole. A thread that dies alone would leave behind
//! a watchdog that goes on for it, and a thread that stands still one that does not: the nemesis
//! stops a client together with all that works for it, which is true only of one that is alone.

use super::findings::Findings;
use super::script::acquire_of;
use super::storm::names;
use crate::draft::Draft;
use crate::model::{Lock, LockKind, Named, Role};

const HELP: &str = "leave `threads` out of the lock, and each client is an instance of its own";

/// Judges how many threads there are to an instance of the lock at `path`.
pub(crate) fn judge(lock: &Lock, path: &str, findings: &mut Findings<'_>) {
    let path = format!("{path}.threads");
    let kind = lock.kind();
    if lock.threads() == 0 {
        let help = "take 1 or more; 1 makes each client an instance of its own";
        findings.value(&path, "an instance has no threads", help);
    } else if lock.threads() > 1 && matches!(kind, LockKind::RedissonMulti | LockKind::RedissonRed)
    {
        let message = format!(
            "clients of {} have an instance for each master, and share none",
            kind.name()
        );
        findings.value(&path, message, "leave it out");
    }
}

/// Judges the faults that strike one client, where clients share an instance.
pub(crate) fn judge_use(lock: &Lock, draft: &Draft, findings: &mut Findings<'_>) {
    if lock.threads() <= 1 {
        return;
    }
    let clients = clients(draft);
    let steps = draft.steps.iter().enumerate().filter_map(|(n, step)| {
        let fault = step.as_ref()?.fault()?;
        Some((format!("step.{n}.{}", fault.kind()), fault))
    });
    let entries = draft.nemesis.iter().enumerate().filter_map(|(n, entry)| {
        let fault = &entry.as_ref()?.fault;
        Some((format!("nemesis.{n}.fault.{}", fault.kind()), fault))
    });
    for (path, fault) in steps.chain(entries) {
        for Named {
            parameter,
            role,
            name,
        } in fault.names()
        {
            let strikes_one = match role {
                Role::Client => true,
                Role::Place => clients.iter().any(|client| client == name),
                Role::Node | Role::Key => false,
            };
            if strikes_one {
                let path = format!("{path}.{parameter}");
                let message =
                    format!("'{name}' is a thread of an instance, which nothing strikes alone");
                findings.value(&path, message, HELP);
            }
        }
    }
}

/// The clients of the script or the storm.
fn clients(draft: &Draft) -> Vec<String> {
    let acquires = draft.steps.iter().flatten().filter_map(acquire_of);
    let of_script = acquires.map(|acquire| acquire.client.clone());
    let count = draft.clients.as_ref().map_or(0, |clients| clients.count);
    let of_storm = draft.storm.iter().flat_map(|_| names("c", count));
    of_script.chain(of_storm).collect()
}
