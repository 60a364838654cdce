//! Rules on the options of a lock.

use super::findings::Findings;
use crate::model::{Lock, Span, TopologyKind};

/// What an EXPIRE can say: it counts whole seconds.
const EXPIRE_UNIT_MS: u64 = 1000;

/// Judges the lock at `path`.
pub(crate) fn judge(lock: &Lock, path: &str, findings: &mut Findings<'_>) {
    let path = format!("{path}.{}", lock.kind().name());
    if lock.permits() == 0 {
        let help = "take 1 or more; a semaphore without permits is never granted";
        findings.value(&format!("{path}.permits"), "there are no permits", help);
    }
    let Some(lease) = lock.lease() else {
        return;
    };
    if lease.as_millis() == 0 {
        let help = "PX counts milliseconds; take 1ms or more, such as \"2s\"";
        findings.value(
            &format!("{path}.{}", names_lease(lock)),
            "the lease is zero",
            help,
        );
        return;
    }
    match lock {
        Lock::Token(token) | Lock::TokenFenced(token) => {
            judge_renewal(token.renew_every, lease, &path, findings);
        }
        Lock::TokenWait(token) => {
            judge_renewal(token.renew_every, lease, &path, findings);
            if token.replicas == 0 {
                let help = "take 1 or more, or the lock `token`";
                findings.value(
                    &format!("{path}.replicas"),
                    "no replica is waited for",
                    help,
                );
            }
        }
        Lock::PlainDel(_)
        | Lock::Redisson(_)
        | Lock::RedissonSpin(_)
        | Lock::RedissonFenced(_)
        | Lock::RedissonFair(_)
        | Lock::RedissonRw(_)
        | Lock::RedissonMulti(_)
        | Lock::RedissonRed(_)
        | Lock::RedissonSemaphore(_)
        | Lock::RedissonPermits(_) => {}
        Lock::Setnx(setnx) => {
            judge_renewal(setnx.renew_every, lease, &path, findings);
            if !lease.as_millis().is_multiple_of(EXPIRE_UNIT_MS) {
                let message = format!("a lease of {lease} is no whole number of seconds");
                let help = "EXPIRE knows no smaller unit; take \"1s\" or \"2s\"";
                findings.value(&format!("{path}.lease"), message, help);
            }
        }
        Lock::Redlock(redlock) => {
            judge_renewal(redlock.renew_every, lease, &path, findings);
            let timeout = redlock.node_timeout;
            let path = format!("{path}.node-timeout");
            if timeout == Span::default() {
                let help = "take a few times a round trip, such as \"50ms\"";
                findings.value(&path, "no node can answer within no time", help);
            } else if timeout >= lease {
                let message = format!("a node may take {timeout}, the lease is {lease}");
                let help = "keep the node-timeout far below the lease, or no grant is ever valid";
                findings.value(&path, message, help);
            }
        }
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

fn judge_renewal(every: Option<Span>, lease: Span, path: &str, findings: &mut Findings<'_>) {
    let Some(every) = every else {
        return;
    };
    let path = &format!("{path}.renew-every");
    if every == Span::default() {
        let help = "a third of the lease is usual; leave it out for no renewal";
        findings.value(path, "the lease is renewed without a pause", help);
    } else if every >= lease {
        let message = format!("renewed every {every}, a lease of {lease} has ended before");
        findings.value(path, message, "a third of the lease is usual");
    }
}

/// Judges whether the lock at `path` suits servers of this shape.
pub(crate) fn judge_support(
    lock: &Lock,
    topology: TopologyKind,
    path: &str,
    findings: &mut Findings<'_>,
) {
    let kind = lock.kind();
    if !kind.supports(topology) {
        let names: Vec<&str> = TopologyKind::ALL
            .into_iter()
            .filter(|topology| kind.supports(*topology))
            .map(TopologyKind::name)
            .collect();
        findings.key(
            &format!("{path}.{}", kind.name()),
            format!(
                "{} does not work on {} servers",
                kind.name(),
                topology.name()
            ),
            &format!("it is made for: {}", names.join(", ")),
        );
    }
}
