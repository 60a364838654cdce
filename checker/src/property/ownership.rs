//! Ownership: nobody loses a lock by the release of another.
//!
//! ```text
//! a   |--=======floor~ceiling       |--release: done--|    a cannot be the owner any more
//! b                        |--=========================--|  and takes the lock from b
//! ```
//!
//! - **A lock taken away** is the violation: a release succeeds inside the guaranteed hold of
//!   another, who then loses the lock. The caller may have had something left of a lease that was
//!   running out, and the other may have lost the lock by something else, so this is a possible
//!   violation. Where the caller too had a guaranteed hold, two held at once; that is mutual
//!   exclusion and no matter of this property.
//! - **A foreign release** is a remark: it succeeds although nothing that its caller may have been
//!   granted can still be there, by the ledger of its own operations. Where nobody loses the lock,
//!   it changed nothing and harmed nobody, whatever it was answered.
//!
//! Where the history does not name the owners, another process may go on for one that is gone: such
//! a release, and every release of a key that was acquired by somebody unnamed, accuses nobody.

use std::collections::{HashMap, HashSet};

use super::rule::{BlameWindow, Causes, Rule};
use crate::case::{Case, FINDINGS_MAX, Finding, Ruling, Tested, is_shared, keep_first};
use crate::history::Nanos;
use crate::holds::Hold;
use crate::operations::{Action, Digest, Interval, KeyId, OpId, Operation, Outcome};
use crate::story::Teller;
use crate::text;
use crate::verdict::Property;

/// How many neighbours of a release in time are asked whether they held the lock. Where more hold
/// at once than that, mutual exclusion has more to say.
const NEIGHBOURS_MAX: usize = 8;

/// The rule of this property.
pub(super) struct Ownership;

impl Rule for Ownership {
    fn judge(&self, case: &Case) -> Ruling {
        judge(case)
    }

    fn claim(&self, case: &Case, finding: &Finding, _: Interval) -> String {
        claim(case, finding)
    }

    fn kind(&self, _: &Case, _: &Finding) -> Option<&'static str> {
        Some("taken away")
    }

    fn narrate(&self, teller: &mut Teller, _: Interval) {
        teller.foreign();
    }

    fn verify_witness(&self, case: &Case, finding: &Finding) -> bool {
        verify_witness(case, finding)
    }

    fn blame_window(&self) -> BlameWindow {
        BlameWindow::BetweenHolds
    }

    fn causes(&self) -> Causes {
        Causes::Forgetting
    }

    fn survives_clock_error(&self) -> bool {
        true
    }
}

fn judge(case: &Case) -> Ruling {
    let mut ruling = Ruling {
        engine: "ledger",
        has_matter: false,
        count: 0,
        findings: Vec::new(),
        tested: Tested::Yes,
    };
    let unnamed = acquired_by_nobody(case.digest);
    let holders = Holders::of(case);
    let mut harmless = 0;
    for standing in case.standings() {
        let operation = case.digest.operation(standing.op);
        let named = operation.is_named && !unnamed.contains(&operation.key);
        if operation.action != Action::Release || !named {
            continue;
        }
        let foreign = standing.most == 0;
        ruling.has_matter |= foreign;
        if operation.outcome != Outcome::Ok {
            continue;
        }
        let victim = holders.around(case, operation);
        ruling.has_matter |= victim.is_some();
        let taken = victim.and_then(|at| Some((at, holders.loss(case, at, standing.op)?)));
        let Some((victim, loss)) = taken else {
            harmless += u64::from(foreign && !operation.is_ownership_open);
            continue;
        };
        ruling.count += 1;
        if ruling.findings.len() < FINDINGS_MAX {
            let found = finding(case, standing.op, victim, loss);
            ruling.findings.push(found);
        }
    }
    keep_first(&mut ruling.findings);
    if !ruling.has_matter {
        let reason = "no release was tried by a named client that could not be the owner";
        ruling.tested = Tested::No(reason.to_owned());
    } else if harmless > 0 {
        ruling.tested = Tested::Remarked(remark(harmless));
    }
    ruling
}

/// Says what there is to say of releases that nobody lost a lock by.
fn remark(harmless: u64) -> String {
    let releases = match harmless {
        1 => "1 release was answered as done though its caller".to_owned(),
        _ => format!("{harmless} releases were answered as done though their callers"),
    };
    format!("{releases} could not be the owner; nobody lost the lock by that")
}

fn finding(case: &Case, id: OpId, victim: usize, loss: OpId) -> Finding {
    let release = case.digest.operation(id);
    // It is plain only when the loss shows.
    let shown = [id, loss].into_iter();
    let answers = shown.filter_map(|id| case.digest.operation(id).answered());
    let end = answers.max().unwrap_or(release.invoked);
    Finding {
        property: Property::Ownership,
        key: release.key,
        holds: vec![victim],
        operations: vec![id, loss],
        interval: Interval::new(release.invoked, end),
        certain: false,
    }
}

/// The keys that somebody may have been granted whom the history does not name.
fn acquired_by_nobody(digest: &Digest) -> HashSet<KeyId> {
    let nobody = |operation: &&Operation| {
        let granted = matches!(operation.outcome, Outcome::Ok | Outcome::Unknown);
        operation.action == Action::Acquire && granted && !operation.is_named
    };
    let acquires = digest.operations.iter().filter(nobody);
    acquires.map(|acquire| acquire.key).collect()
}

/// Owners that held the lock alone and for certain, and the owners of releases.
struct Holders {
    /// Positions of holds, by key and start.
    alone: Vec<usize>,
    by_release: HashMap<OpId, usize>,
}

impl Holders {
    fn of(case: &Case) -> Self {
        let mut alone: Vec<usize> = Vec::new();
        let mut by_release = HashMap::new();
        for (at, hold) in case.holds.iter().enumerate() {
            by_release.extend(hold.release.map(|release| (release, at)));
            let excludes = case.permits() == 1 && !is_shared(hold);
            if excludes && !hold.guaranteed().is_empty() {
                alone.push(at);
            }
        }
        alone.sort_by_key(|&at| (case.holds[at].key, case.holds[at].core.start));
        Self { alone, by_release }
    }

    /// The first of `alone` on `key` that began after `time`.
    fn after(&self, case: &Case, key: KeyId, time: Nanos) -> usize {
        self.alone.partition_point(|&at| {
            let hold = &case.holds[at];
            (hold.key, hold.core.start) <= (key, time)
        })
    }

    /// The hold of another in which `release` lies as a whole, while its caller had no hold that
    /// was guaranteed too.
    fn around(&self, case: &Case, release: &Operation) -> Option<usize> {
        let answered = release.answered()?;
        let before = &self.alone[..self.after(case, release.key, release.invoked)];
        let mut near = before.iter().rev().take(NEIGHBOURS_MAX).copied();
        near.find(|&at| {
            let hold = &case.holds[at];
            let other = hold.key == release.key && hold.owner != release.owner;
            let inside = hold.guaranteed();
            other && inside.start <= release.invoked && answered <= inside.end
        })
    }

    /// The hold of the caller that a partial release left it with.
    fn kept<'a>(&self, case: &Case<'a>, release: OpId) -> Option<&'a Hold> {
        let release = case.digest.operation(release);
        let before = &self.alone[..self.after(case, release.key, release.invoked)];
        let near = before.iter().rev().take(NEIGHBOURS_MAX);
        let mut near = near.map(|&at| &case.holds[at]);
        near.find(|hold| (hold.key, hold.owner) == (release.key, release.owner))
            .filter(|hold| release.invoked <= hold.core.end)
    }

    /// How the owner of a hold lost it by `release`: the operation that shows it.
    fn loss(&self, case: &Case, victim: usize, release: OpId) -> Option<OpId> {
        let hold = &case.holds[victim];
        let own = self.by_release.get(&release).map(|&at| &case.holds[at]);
        // Who gives back its reading may go on to write.
        let mut own = own.into_iter().chain(self.kept(case, release));
        if own.any(|own| own.guaranteed().overlaps(hold.guaranteed())) {
            return None;
        }
        let sent = case.digest.operation(release).invoked;
        let denied = hold.denial.filter(|&denial| {
            let answered = case.digest.operation(denial).answered();
            answered.is_some_and(|answered| answered > sent)
        });
        let next = || {
            let first = self.after(case, hold.key, sent);
            let later = self.alone[first..].iter().take(NEIGHBOURS_MAX);
            let taken = |other: &&Hold| {
                let over = (other.key, other.owner) != (hold.key, hold.owner);
                let fresh = other.is_fresh(case.digest);
                over && fresh && other.guaranteed().overlaps(hold.guaranteed())
            };
            let mut later = later.map(|&at| &case.holds[at]);
            let taken = later.find(|other| other.key == hold.key && taken(other));
            taken.map(|other| other.proof.unwrap_or(other.acquire))
        };
        denied.or_else(next)
    }
}

fn claim(case: &Case, finding: &Finding) -> String {
    let lock = text::lock(case.digest.key(finding.key));
    let Some(release) = finding.operation().map(|id| case.digest.operation(id)) else {
        return format!("{lock} was released by somebody who could not be its owner");
    };
    let caller = text::name(case.digest.owner(release.owner));
    let Some(victim) = finding.holds.first().map(|&at| &case.holds[at]) else {
        return format!("{caller} released {lock}, which another held");
    };
    let owner = text::name(case.digest.owner(victim.owner));
    let why = match finding.operation().and_then(|id| case.standing(id)) {
        Some(standing) if standing.most == 0 => {
            format!(", though {}", why_not_owner(case, release))
        }
        Some(_) | None => String::new(),
    };
    format!("{caller} released {lock} while {owner} held it{why}, and {owner} lost it")
}

fn why_not_owner(case: &Case, release: &Operation) -> String {
    let own = own_operations(case, release);
    let caller = text::name(case.digest.owner(release.owner));
    let acquire = own.iter().rposition(|operation| {
        let granted = matches!(operation.outcome, Outcome::Ok | Outcome::Unknown);
        operation.action == Action::Acquire && granted
    });
    let Some(acquire) = acquire else {
        return format!("{caller} had never been granted it");
    };
    let given_back = own[acquire..].iter().any(|operation| {
        let done = operation.action == Action::Release && operation.outcome == Outcome::Ok;
        done && operation.invoke != release.invoke
    });
    if given_back {
        format!("{caller} had given back all that it was granted")
    } else {
        format!("the lease of {caller} had certainly run out")
    }
}

/// Returns the operations of the caller of a release on the lock up to its answer.
fn own_operations(case: &Case, release: &Operation) -> Vec<Operation> {
    let end = release.answered().unwrap_or(Nanos::MAX);
    let own = |operation: &&Operation| {
        let place = (operation.key, operation.owner) == (release.key, release.owner);
        place && operation.invoked <= end
    };
    let operations = case.digest.operations.iter();
    operations.filter(own).copied().collect()
}

/// With nothing left but these operations: it still released inside the hold of another, who then
/// lost it.
fn verify_witness(case: &Case, finding: &Finding) -> bool {
    let Some(release) = finding.operation().map(|id| case.digest.operation(id)) else {
        return false;
    };
    let done = release.action == Action::Release && release.outcome == Outcome::Ok;
    let (Some(&at), Some(&loss)) = (finding.holds.first(), finding.operations.get(1)) else {
        return false;
    };
    let (victim, loss) = (&case.holds[at], case.digest.operation(loss));
    let inside = |time: Nanos| victim.core.start <= time && time <= victim.guaranteed().end;
    let shown = match loss.outcome {
        Outcome::NotOwner => loss.owner == victim.owner,
        Outcome::Ok => loss.owner != victim.owner,
        Outcome::Refused | Outcome::Failed | Outcome::Unknown => false,
    };
    done && victim.owner != release.owner
        && inside(release.invoked)
        && release.answered().is_some_and(inside)
        && shown
        && loss
            .answered()
            .is_some_and(|answered| answered > release.invoked)
}
