//! Checks of what a lock does for its clients.

use std::collections::BTreeSet;
use std::time::Duration;

use lockstorm_checker::history::Ownership;
use lockstorm_scenarios::{Promise, System};
use tokio::time::{Instant, sleep};

use super::check::Finding;
use super::test_bed::{Peer, TestBed, reader, target, unexpected};
use crate::adapter::{Answer, Call, Can};

/// A lease that no check outlasts.
pub(super) const LONG: Duration = Duration::from_secs(60);
/// A lease whose end is waited for.
const SHORT: Duration = Duration::from_secs(1);
/// A lease that a watchdog keeps, and how often it does: often, for a busy machine.
const KEPT: Duration = Duration::from_secs(2);
const RENEW_EVERY: Duration = Duration::from_millis(250);
/// Longest time by which the end of a lease may show too early, by the clocks of the servers.
const EARLY_MAX: Duration = Duration::from_millis(50);
/// Longest time that a lock may still be refused after the end of its lease.
const LATE_MAX: Duration = Duration::from_secs(5);
/// Words for a lock that stays taken.
const REFUSED_LATE: &str = "refused long after the lease has ended";
/// The mistake that adapters make first, where a lease has another length than was asked for.
const UNIT: &str = "; is the lease handed on in the unit that the library takes?";
/// The mistake of adapters for locks that have no lease.
const SESSION: &str = ", for it goes with a session: answer 'unsupported' to an 'open' with \
    'lease_ms', or name 'always-renews' in 'can' of 'opened'";
/// Pause between two tries.
pub(super) const POLL: Duration = Duration::from_millis(20);
/// Grants whose tokens are compared.
const TOKENS: usize = 5;

pub(super) type Found = Result<Finding, String>;

pub(super) fn passed() -> Finding {
    Finding::Passed(String::new())
}

fn endless() -> Finding {
    Finding::NotClaimed("its locks have no lease".to_owned())
}

pub(super) async fn granted(peer: &Peer, key: &str) -> Result<Option<u64>, String> {
    match peer.acquire(key).await? {
        Answer::Granted { token, .. } => Ok(token),
        other => Err(unexpected("acquire of a free lock", &other)),
    }
}

pub(super) async fn released(peer: &Peer, key: &str) -> Result<(), String> {
    match peer.release(key).await? {
        Answer::Released { .. } => Ok(()),
        other => Err(unexpected("release by its holder", &other)),
    }
}

pub(super) async fn hello(bed: &mut TestBed) -> Found {
    let opened = bed.client(LONG).await;
    if let Some(text) = bed.unsupported() {
        let why = format!("it says that it cannot be on these servers: {text}");
        return Ok(Finding::NotClaimed(why));
    }
    Ok(Finding::Passed(opened?.name))
}

pub(super) async fn grants(bed: &mut TestBed) -> Found {
    let (peer, key) = (bed.client(LONG).await?, bed.key());
    granted(&peer, &key).await?;
    Ok(passed())
}

pub(super) async fn refuses(bed: &mut TestBed) -> Found {
    let (a, b) = (bed.client(LONG).await?, bed.client(LONG).await?);
    let key = bed.key();
    granted(&a, &key).await?;
    match b.acquire(&key).await? {
        Answer::Refused { .. } => Ok(passed()),
        other => Err(unexpected("acquire of a lock that another holds", &other)),
    }
}

pub(super) async fn alive(bed: &mut TestBed) -> Found {
    let (peer, key) = (bed.client(LONG).await?, bed.key());
    granted(&peer, &key).await?;
    let touch = Call::Touch { key: key.clone() };
    match peer.ask(touch).await? {
        Answer::Done => {}
        other => return Err(unexpected("touch", &other)),
    }
    match peer.ask(Call::Alive(target(&key))).await? {
        Answer::Held => Ok(passed()),
        other => Err(unexpected("alive of a held lock", &other)),
    }
}

pub(super) async fn releases(bed: &mut TestBed) -> Found {
    let (a, b) = (bed.client(LONG).await?, bed.client(LONG).await?);
    let key = bed.key();
    granted(&a, &key).await?;
    released(&a, &key).await?;
    granted(&b, &key).await?;
    Ok(passed())
}

pub(super) async fn not_owner(bed: &mut TestBed) -> Found {
    let (a, b) = (bed.client(LONG).await?, bed.client(LONG).await?);
    let key = bed.key();
    granted(&a, &key).await?;
    let found = match b.release(&key).await? {
        // A library may refuse it without asking a server.
        Answer::NotOwner | Answer::Failed { .. } => passed(),
        Answer::Released {
            ownership: Some(Ownership::Unknown),
            ..
        } => Finding::NotClaimed("its release does not tell whose the lock was".to_owned()),
        other => return Err(unexpected("release by who does not hold it", &other)),
    };
    released(&a, &key).await?;
    Ok(found)
}

fn has_silent_watchdog(can: &BTreeSet<Can>) -> bool {
    can.contains(&Can::SilentWatchdog) || can.contains(&Can::AlwaysRenews)
}

pub(super) async fn expires(bed: &mut TestBed) -> Found {
    let (a, b) = (bed.client(SHORT).await?, bed.client(SHORT).await?);
    if bed.is_endless() {
        return Ok(endless());
    }
    let key = bed.key();
    let asked = Instant::now();
    let is_of_session = match a.acquire(&key).await? {
        Answer::Granted { until, .. } => until.is_some(),
        other => return Err(unexpected("acquire of a free lock", &other)),
    };
    let granted_at = match until_granted(&b, &key, asked + SHORT + LATE_MAX).await {
        Err(_) if has_silent_watchdog(&a.opened.can) => {
            let why = "its own watchdog keeps it, whatever is asked";
            return Ok(Finding::NotClaimed(why.to_owned()));
        }
        Err(why) if why == REFUSED_LATE => {
            return Err(why + if is_of_session { SESSION } else { UNIT });
        }
        granted => granted?,
    };
    let held = granted_at - asked;
    if held + EARLY_MAX < SHORT {
        return Err(format!(
            "granted to another after {held:.3?} of a lease of {SHORT:?}{UNIT}"
        ));
    }
    match a.release(&key).await? {
        Answer::NotOwner
        | Answer::Failed { .. }
        | Answer::Released {
            ownership: Some(Ownership::Unknown),
            ..
        } => {}
        other => {
            return Err(unexpected(
                "release after the lease, of another's lock",
                &other,
            ));
        }
    }
    match b.release(&key).await? {
        Answer::Released { .. } => {}
        // The release before may have taken longer than the lease of b.
        Answer::NotOwner if granted_at.elapsed() >= SHORT => {}
        other => return Err(unexpected("release by its holder", &other)),
    }
    Ok(Finding::Passed(format!("after {held:.3?} of {SHORT:?}")))
}

/// Returns the time at which `peer` was granted `key`, which another holds.
async fn until_granted(peer: &Peer, key: &str, deadline: Instant) -> Result<Instant, String> {
    loop {
        match peer.acquire(key).await? {
            Answer::Granted { .. } => return Ok(Instant::now()),
            Answer::Refused { .. } if Instant::now() < deadline => sleep(POLL).await,
            Answer::Refused { .. } => {
                return Err(REFUSED_LATE.to_owned());
            }
            other => return Err(unexpected("acquire of a lock that another holds", &other)),
        }
    }
}

pub(super) async fn renews(bed: &mut TestBed) -> Found {
    let (a, b) = (bed.client(SHORT).await?, bed.client(SHORT).await?);
    if bed.is_endless() {
        return Ok(endless());
    }
    let key = bed.key();
    granted(&a, &key).await?;
    sleep(SHORT / 2).await;
    let asked = Instant::now();
    match a.ask(Call::Renew(target(&key))).await? {
        Answer::Renewed { .. } => {}
        Answer::Unsupported { text } => return Ok(Finding::NotClaimed(text)),
        // On a machine so busy that the lease has ended.
        Answer::NotOwner => return Ok(Finding::NotClaimed("the machine is too busy".to_owned())),
        other => return Err(unexpected("renew by its holder", &other)),
    }
    let held = until_granted(&b, &key, asked + SHORT + LATE_MAX).await? - asked;
    if held + EARLY_MAX < SHORT {
        return Err(format!(
            "granted to another {held:?} after a renewal for {SHORT:?}"
        ));
    }
    match a.ask(Call::Renew(target(&key))).await? {
        Answer::NotOwner | Answer::Failed { .. } => Ok(passed()),
        other => Err(unexpected("renew of another's lock", &other)),
    }
}

pub(super) async fn watches(bed: &mut TestBed) -> Found {
    let b = bed.client(KEPT).await?;
    if bed.is_endless() {
        return Ok(endless());
    }
    let a = bed.watching_client(KEPT, RENEW_EVERY).await?;
    let can = &a.opened.can;
    if has_silent_watchdog(can) {
        return Ok(Finding::NotClaimed(
            "its watchdog cannot be held up, as 'can' of 'opened' says".to_owned(),
        ));
    }
    if !can.contains(&Can::Watchdog) {
        return ends_unrenewed(bed, &a, &b).await;
    }
    let key = bed.key();
    let asked = Instant::now();
    granted(&a, &key).await?;
    while asked.elapsed() < 2 * KEPT {
        match b.acquire(&key).await? {
            Answer::Refused { .. } => sleep(POLL).await,
            Answer::Granted { .. } => {
                let held = asked.elapsed();
                return Err(format!("the lock went to another after {held:.3?}"));
            }
            other => return Err(unexpected("acquire of a lock that another holds", &other)),
        }
    }
    let stalled = Instant::now();
    a.gate.stall_watchdog(true);
    until_granted(&b, &key, stalled + KEPT + LATE_MAX).await?;
    match a.gate.renewals_missed() {
        0 => Err("the lock ended, and no renewal was announced meanwhile".to_owned()),
        skipped => Ok(Finding::Passed(format!("{skipped} skipped"))),
    }
}

/// Sees the lock of a client that is told to renew, and has no watchdog, end where nobody renews:
/// an adapter may take it without a lease by mistake.
async fn ends_unrenewed(bed: &mut TestBed, a: &Peer, b: &Peer) -> Found {
    let key = bed.key();
    let asked = Instant::now();
    granted(a, &key).await?;
    match until_granted(b, &key, asked + KEPT + LATE_MAX).await {
        Ok(_) => Ok(Finding::NotClaimed(
            "'can' of 'opened' does not name 'watchdog'".to_owned(),
        )),
        Err(why) => Err(format!(
            "'can' of 'opened' names no watchdog, and nobody renewed a lock of {KEPT:?}: {why}"
        )),
    }
}

pub(super) async fn tokens(bed: &mut TestBed) -> Found {
    let (a, b) = (bed.client(LONG).await?, bed.client(LONG).await?);
    if !a.opened.can.contains(&Can::Tokens) {
        return Ok(Finding::NotClaimed(
            "'can' of 'opened' does not name 'tokens'".to_owned(),
        ));
    }
    let key = bed.key();
    let mut last = None;
    for n in 0..TOKENS {
        let peer = if n % 2 == 0 { &a } else { &b };
        let token = granted(peer, &key).await?;
        if token.is_none() || token <= last {
            let show = |token: Option<u64>| token.map_or("none".to_owned(), |t| t.to_string());
            return Err(format!(
                "a grant came with token {}, the one before with {}",
                show(token),
                show(last)
            ));
        }
        last = token;
        released(peer, &key).await?;
    }
    Ok(passed())
}

pub(super) async fn two_keys(bed: &mut TestBed) -> Found {
    let (a, b) = (bed.client(LONG).await?, bed.client(LONG).await?);
    let (kept, given_back) = (bed.key(), bed.key());
    granted(&a, &kept).await?;
    granted(&a, &given_back).await?;
    released(&a, &given_back).await?;
    granted(&b, &given_back).await?;
    match b.acquire(&kept).await? {
        Answer::Refused { .. } => Ok(passed()),
        other => Err(unexpected("acquire of a lock that another holds", &other)),
    }
}

pub(super) async fn shares(bed: &mut TestBed) -> Found {
    let (a, b) = (bed.client(LONG).await?, bed.client(LONG).await?);
    let key = bed.key();
    match a.ask(Call::Acquire(reader(&key))).await? {
        Answer::Granted { .. } => {}
        Answer::Unsupported { text } => return Ok(Finding::NotClaimed(text)),
        other => return Err(unexpected("acquire of a free lock by a reader", &other)),
    }
    let claims = a.opened.promises.contains(&Promise::SharedReaders);
    match b.ask(Call::Acquire(reader(&key))).await? {
        Answer::Granted { .. } => {}
        Answer::Refused { .. } if !claims => {
            let why = "its readers keep each other out, and 'promises' of 'opened' does not name \
                       'shared-readers'";
            return Ok(Finding::NotClaimed(why.to_owned()));
        }
        other => return Err(unexpected("acquire by a second reader", &other)),
    }
    let writer = bed.client(LONG).await?;
    match writer.acquire(&key).await? {
        Answer::Refused { .. } => Ok(passed()),
        other => Err(unexpected(
            "acquire of a lock that two readers hold",
            &other,
        )),
    }
}

pub(super) async fn asks_again(bed: &mut TestBed) -> Found {
    let (peer, key) = (bed.client(LONG).await?, bed.key());
    granted(&peer, &key).await?;
    match peer.acquire(&key).await? {
        Answer::Granted { .. } => Ok(Finding::Passed("it is granted once more".to_owned())),
        Answer::Refused { .. } | Answer::Failed { .. } => {
            Ok(Finding::Passed("it is refused".to_owned()))
        }
        other => Err(unexpected("acquire by the holder", &other)),
    }
}

pub(super) async fn server_key(bed: &mut TestBed) -> Found {
    let (peer, key) = (bed.client(LONG).await?, bed.key());
    granted(&peer, &key).await?;
    let named = peer.opened.server_key.as_ref();
    let at = named.map_or_else(|| key.clone(), |named| named.replace("{key}", &key));
    if bed.is_there(&at).await {
        return Ok(Finding::Passed(at));
    }
    match named {
        Some(_) => Err(format!(
            "no server has the key '{at}' of a lock that is held"
        )),
        None => Ok(Finding::NotClaimed(unseen(bed.system()).to_owned())),
    }
}

/// Why scripts cannot look at a lock on servers of this system.
const fn unseen(system: System) -> &'static str {
    match system {
        System::Custom => "nobody knows how to ask a custom system for a key",
        System::Mariadb | System::Postgres => "scripts do not look into the tables of libraries",
        System::Redis | System::Etcd | System::Zookeeper => {
            "no server has a key of the lock's name, so scripts cannot look at it; name the key in \
             `server_key`"
        }
    }
}
