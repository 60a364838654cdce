//! Leftover: a server still has the token of an owner that does not hold, and believes in nothing.
//!
//! ```text
//! a   |--refused--|                          or failed, given up, released
//! n2  |---------- a's token, no expiry ----------------------
//! ```
//!
//! Two ways in which it does harm, each shown by servers that were asked what they know:
//! - the token has no expiry, so that it stays until somebody removes it (a member of a collection
//!   may have one of its own, of which the server knows nothing, and that of a session ends with
//!   the session);
//! - it has one, and somebody else was refused the lock more than one lease after the answer, and
//!   later than servers may end leases, with the token there before and after that try, and nobody
//!   else who can have held the lock.
//!
//! An owner believes in nothing once each of its tries on the lock was answered or given up, and
//! each of its holds was ended by an answered release. Only what primaries have counts, and after a
//! failover only what the server has that was promoted last: others may not have heard of it yet.
//!
//! A server may also have something there that names nobody, when nobody can have the lock: then
//! nothing is known.

use std::collections::HashSet;

use super::replay;
use super::rule::{BlameWindow, Causes, Evidence, Rule};
use crate::case::{
    Case, Finding, Ruling, Run, Sight, Tested, keep_first, sight, sights, unnamed, vacuity,
};
use crate::history::Nanos;
use crate::operations::{Action, Interval, OpId, Operation, Outcome};
use crate::story::Teller;
use crate::text;
use crate::verdict::Property;

/// Time in which a server notices that a connection has ended, on a busy machine.
const SESSION_ENDS_WITHIN: Nanos = Nanos::from_millis(1_000);

/// The rule of this property.
pub(super) struct Leftover;

impl Rule for Leftover {
    fn judge(&self, case: &Case) -> Ruling {
        judge(case)
    }

    fn claim(&self, case: &Case, finding: &Finding, _interval: Interval) -> String {
        claim(case, finding)
    }

    fn kind(&self, _case: &Case, finding: &Finding) -> Option<&'static str> {
        Some(if finding.operations.len() > 1 {
            "keeps others out"
        } else {
            "never expires"
        })
    }

    fn narrate(&self, teller: &mut Teller, _interval: Interval) {
        teller.leftover();
    }

    fn vacuity_reason(&self, run: &Run) -> Option<String> {
        // Who was refused under a fault may leave a token behind, and nobody need hold the lock.
        vacuity::of_calls(run)
    }

    fn verify_witness(&self, case: &Case, finding: &Finding) -> bool {
        replay::left(case, finding)
    }

    fn blame_window(&self) -> BlameWindow {
        BlameWindow::UntilSeen
    }

    fn causes(&self) -> Causes {
        Causes::Any
    }

    /// It rests on what was seen after an answer: clocks that are off tell nothing of it.
    fn survives_clock_error(&self) -> bool {
        false
    }

    fn rests_on(&self) -> &'static [Evidence] {
        &[Evidence::Views]
    }
}

fn judge(case: &Case) -> Ruling {
    let mut ruling = Ruling {
        engine: "view-scan",
        has_matter: false,
        count: 0,
        findings: Vec::new(),
        tested: Tested::Yes,
    };
    ruling.has_matter = is_looked_at(case);
    if !ruling.has_matter {
        let why = "no server was asked what it has after a try failed or a hold was given back";
        ruling.tested = Tested::No(why.to_owned());
        return ruling;
    }
    let sights = sights(case);
    let mut accused = HashSet::new();
    for (at, sight) in sights.iter().enumerate() {
        let Some(closing) = closing(case, sight) else {
            continue;
        };
        let node = sight.node;
        let stays = node.left_ms.is_none() && node.until.is_none() && node.content.is_none();
        let kept_out = if stays && !is_of_session(case, closing) {
            None
        } else {
            match kept_out(case, closing, sight, &sights[at + 1..]) {
                Some(id) => Some(id),
                None => continue,
            }
        };
        if accused.insert(closing) {
            ruling
                .findings
                .push(finding(case, closing, kept_out, sight));
        }
    }
    ruling.count = ruling.findings.len() as u64;
    keep_first(&mut ruling.findings);
    if let Some((view, node)) = unnamed(case).filter(|_| ruling.count == 0) {
        ruling.tested = Tested::No(format!(
            "{} had {} at {} when nobody can have held it, which says not whose it is",
            text::name(&node.node),
            text::prose(node.content.as_deref().unwrap_or("something")),
            text::lock(&view.key),
        ));
    }
    ruling
}

/// Tells whether the servers were asked when an owner believed in nothing.
fn is_looked_at(case: &Case) -> bool {
    let views = &case.digest.asides.views;
    let last = views.iter().filter_map(|view| view.note.since).max();
    let mut done = case
        .digest
        .operations
        .iter()
        .filter(|one| leaves_nothing(one));
    done.any(|one| one.completion.map(|end| end.time) < last)
}

/// Returns the last operation of the owner of a token before the servers were asked, if it believes
/// in nothing from then on until they had answered.
fn closing(case: &Case, sight: &Sight) -> Option<OpId> {
    let own = case.operations_of(sight.owner).iter().copied();
    let own = own.filter(|&id| case.digest.operation(id).key == sight.key);
    // Who asks again while the servers answer may have put there what they have.
    let (before, after): (Vec<OpId>, Vec<OpId>) =
        own.partition(|&id| case.digest.operation(id).invoked <= sight.view.time);
    let ended = |id: OpId| case.digest.operation(id).completion.map(|end| end.time);
    if !before
        .iter()
        .all(|&id| ended(id).is_some_and(|ended| ended < sight.since))
    {
        return None;
    }
    let last = before.iter().copied();
    let last = last.max_by_key(|&id| case.digest.operation(id).last_event())?;
    let operation = case.digest.operation(last);
    // Who had no answer may find out later that it holds, and give that back.
    let asks_in_vain = |&id: &OpId| {
        let later = case.digest.operation(id);
        later.action == Action::Acquire && later.outcome != Outcome::Ok
    };
    let gave_up = operation.outcome != Outcome::Unknown || after.iter().all(asks_in_vain);
    let is_clear = holds_nothing(case, &before) && gave_up && leaves_nothing(operation);
    is_clear.then_some(last)
}

/// Tells whether each grant was given back: a release that was sent before the answer is of
/// another.
fn holds_nothing(case: &Case, own: &[OpId]) -> bool {
    // Of one mode or one permit a refusal says nothing about the others.
    let is_single = !case.digest.has_two_modes() && case.permits() == 1;
    let own = own.iter().map(|&id| case.digest.operation(id));
    let turns = own.filter_map(|one| match (one.action, one.outcome) {
        (Action::Acquire, Outcome::Ok) => Some((one.last_event(), None)),
        (Action::Release, Outcome::Ok) => Some((one.invoke, Some(one.count))),
        (Action::Release, Outcome::NotOwner) if is_single => Some((one.invoke, Some(Some(0)))),
        (
            Action::Acquire | Action::Release | Action::Renew | Action::Resource(_) | Action::Other,
            _,
        ) => None,
    });
    let mut turns: Vec<_> = turns.collect();
    turns.sort_unstable();
    let held = turns
        .into_iter()
        .fold(0_u32, |held, (_, release)| match release {
            None => held + 1,
            Some(None) => held.saturating_sub(1),
            Some(Some(left)) => left,
        });
    held == 0
}

/// Tells whether an operation ends with its owner holding nothing, as far as the owner knows.
fn leaves_nothing(operation: &Operation) -> bool {
    let is_over = operation.completion.is_some();
    is_over
        && match (operation.action, operation.outcome) {
            (Action::Acquire, Outcome::Refused | Outcome::Failed | Outcome::Unknown)
            | (Action::Release, Outcome::NotOwner) => true,
            (Action::Release, Outcome::Ok) => operation.count.unwrap_or(0) == 0,
            (
                Action::Acquire
                | Action::Release
                | Action::Renew
                | Action::Resource(_)
                | Action::Other,
                _,
            ) => false,
        }
}

/// Somebody who was refused the lock more than one lease after that, with the token there
/// before and after, and nobody else who can have had it.
fn kept_out(case: &Case, closing: OpId, sight: &Sight, later: &[Sight]) -> Option<OpId> {
    let digest = case.digest;
    let drift = case.options.drift(&digest.header);
    let ended = digest.operation(closing).completion?.time;
    let lease = lease_of(case, closing)?;
    let late = Nanos::from_millis(digest.header.ends_late_ms.unwrap_or_default());
    let over = (ended + lease + drift.of(lease) + late).max(sight.view.time);
    let same = |other: &&Sight| {
        let (here, there) = ((sight.key, sight.owner), (other.key, other.owner));
        here == there && sight.node.node == other.node.node
    };
    let until = later.iter().filter(same).map(|other| other.since).max()?;
    // Who asks again may be the one whose token it is.
    let own = case.operations_of(sight.owner).iter();
    let mut own = own.map(|&id| digest.operation(id));
    if own.any(|one| one.key == sight.key && over_laps(one, sight.since, until)) {
        return None;
    }
    let tries = digest.operations_on(sight.key);
    let mut refused = tries.filter(|(_, one)| {
        let inside = one.invoked >= over && one.answered().is_some_and(|time| time <= until);
        one.outcome == Outcome::Refused && one.owner != sight.owner && inside
    });
    let found = refused.find(|(_, attempt)| {
        let took = Interval::new(attempt.invoked, attempt.answered().unwrap_or(until));
        let holds = case.holds.iter().filter(|hold| hold.key == sight.key);
        let mut others = holds.filter(|hold| hold.owner != sight.owner);
        !others.any(|hold| hold.possible().touches(took))
    });
    found.map(|(id, _)| id)
}

fn over_laps(operation: &Operation, since: Nanos, until: Nanos) -> bool {
    let ended = operation.completion.map_or(Nanos::MAX, |end| end.time);
    operation.invoked <= until && ended >= since
}

/// Tells whether the owner of a token asked for the lock as long as its session lasts.
fn is_of_session(case: &Case, closing: OpId) -> bool {
    let closing = case.digest.operation(closing);
    let own = case.operations_of(closing.owner).iter();
    let mut own = own.map(|&id| case.digest.operation(id));
    own.any(|one| one.key == closing.key && one.is_of_session)
}

/// The lease of a try, or of the hold that a release ended; of a session, the time in which its
/// server notices that it is over.
fn lease_of(case: &Case, closing: OpId) -> Option<Nanos> {
    if is_of_session(case, closing) {
        return Some(SESSION_ENDS_WITHIN);
    }
    let operation = case.digest.operation(closing);
    let lease = operation.lease.or_else(|| {
        let mut holds = case.holds.iter();
        let ended = holds.find(|hold| hold.release == Some(closing))?;
        case.digest.operation(ended.acquire).lease
    });
    lease.filter(|&lease| lease > Nanos(0))
}

fn finding(case: &Case, closing: OpId, kept_out: Option<OpId>, sight: &Sight) -> Finding {
    let ended = case.digest.operation(closing).completion;
    let since = ended.map_or(sight.since, |end| end.time);
    let hold = case
        .holds
        .iter()
        .position(|hold| hold.release == Some(closing));
    let refused = kept_out.and_then(|id| case.digest.operation(id).answered());
    Finding {
        property: Property::Leftover,
        key: sight.key,
        holds: hold.into_iter().collect(),
        operations: std::iter::once(closing).chain(kept_out).collect(),
        interval: Interval::new(since, refused.unwrap_or(sight.view.time)),
        certain: true,
    }
}

fn claim(case: &Case, finding: &Finding) -> String {
    let lock = text::lock(case.digest.key(finding.key));
    let closing = finding.operation().map(|id| case.digest.operation(id));
    let owner = closing.map_or_else(String::new, |closing| {
        text::name(case.digest.owner(closing.owner))
    });
    let after = closing.map_or_else(String::new, |closing| ended(&owner, closing));
    let node =
        sight(case, finding).map_or("a server".to_owned(), |(_, node)| text::name(&node.node));
    match finding.operations.get(1) {
        Some(&refused) => {
            let refused = case.digest.operation(refused);
            format!(
                "{node} still had the token of {owner} on {lock} more than one lease after \
                 {after}, and {} was refused the lock",
                text::name(case.digest.owner(refused.owner))
            )
        }
        None => {
            format!("{node} has the token of {owner} on {lock}, without an expiry, after {after}")
        }
    }
}

/// Says what the owner was told last.
fn ended(owner: &str, operation: &Operation) -> String {
    match (operation.action, operation.outcome) {
        (Action::Release, _) => "its release was answered".to_owned(),
        (_, Outcome::Refused) => format!("{owner} was refused"),
        (_, Outcome::Unknown) => format!("{owner} gave up its try"),
        (_, Outcome::Ok | Outcome::NotOwner | Outcome::Failed) => "its try failed".to_owned(),
    }
}
