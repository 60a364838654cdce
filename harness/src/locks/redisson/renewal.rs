//! How an instance keeps what it holds: one script for many locks.

use std::collections::BTreeMap;
use std::time::Duration;

use lockstorm_checker::history::Name;
use redis::{Cmd, Value};

use super::instance::{Instance, eval};
use crate::connection::{CallError, slot_of};
use crate::locks::lock::{Grant, LockRequest, Outcome};

const RENEW: &str = include_str!("scripts/renew.lua");

impl Instance {
    /// Keeps one lock.
    pub async fn keep(&mut self, key: &str, lease: Duration) -> Outcome<Grant> {
        let command = keep_script(self, &[key], lease, self.holder());
        kept(self.call_of_watchdog(&command).await, lease)
    }

    /// Keeps several locks; gives an outcome for each, in order.
    pub async fn keep_all(
        &mut self,
        leases: &[(Name, LockRequest)],
        lease: Duration,
    ) -> Vec<Outcome<Grant>> {
        let mut outcomes = vec![None; leases.len()];
        for group in self.together(leases) {
            let keys: Vec<&str> = group.iter().map(|&n| &*leases[n].0).collect();
            let command = keep_script(self, &keys, lease, self.holder());
            let kept = match self.call_of_watchdog(&command).await {
                Ok(Value::Array(each)) if each.len() == keys.len() => {
                    each.into_iter().map(|kept| judged(&kept, lease)).collect()
                }
                Ok(odd) => vec![Outcome::odd(&odd); keys.len()],
                Err(error) => vec![error.into(); keys.len()],
            };
            for (n, kept) in group.into_iter().zip(kept) {
                outcomes[n] = Some(kept);
            }
        }
        let all = outcomes.into_iter();
        all.map(|kept| kept.expect("each lease is in a group"))
            .collect()
    }

    /// The numbers of the leases that one script can keep: all, or in a Cluster those of a slot.
    fn together(&self, leases: &[(Name, LockRequest)]) -> Vec<Vec<usize>> {
        if !self.is_sharded() {
            return vec![(0..leases.len()).collect()];
        }
        let mut groups: BTreeMap<u16, Vec<usize>> = BTreeMap::new();
        for (n, (key, _)) in leases.iter().enumerate() {
            groups.entry(slot_of(key.as_bytes())).or_default().push(n);
        }
        groups.into_values().collect()
    }
}

/// Keeps those of the locks that `holder` has.
pub fn keep_script(instance: &Instance, keys: &[&str], lease: Duration, holder: &str) -> Cmd {
    let mut command = eval(instance.script(RENEW), keys);
    command.arg(lease.as_millis() as u64);
    for _ in keys {
        command.arg(holder);
    }
    command
}

/// The outcome of the renewal of one lock: one number, alone or in a list.
pub fn kept(reply: Result<Value, CallError>, lease: Duration) -> Outcome<Grant> {
    match reply {
        Ok(Value::Array(list)) if list.len() == 1 => judged(&list[0], lease),
        Ok(reply) => judged(&reply, lease),
        Err(error) => error.into(),
    }
}

/// 1 = kept, 0 = not held any more.
fn judged(reply: &Value, lease: Duration) -> Outcome<Grant> {
    match reply {
        Value::Int(1) => Outcome::Done(Grant::of(lease)),
        Value::Int(0) => Outcome::Denied,
        odd => Outcome::odd(odd),
    }
}
