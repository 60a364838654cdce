//! Mutual exclusion: two guaranteed holds of distinct owners have a stretch of time in common.
//!
//! ```text
//! a   |--=============--|          a and b held at once, each told so by the service
//! b          |--=============--|   and each inside its lease: the service broke its promise
//!               <---->
//! ```
//!
//! Readers share; of a semaphore, more permits must be out than it has. What a client does after
//! its lease is not counted here: see the lease overrun.

use super::replay;
use super::rule::{BlameWindow, Causes, Rule, owners};
use crate::case::{
    Case, FINDINGS_MAX, Finding, Ruling, Run, Tested, is_shared, keep_few, keep_first, vacuity,
};
use crate::engine::depth::{Loan, excess};
use crate::engine::sweep::{Side, Span, sweep};
use crate::history::Nanos;
use crate::holds::Hold;
use crate::operations::{Action, Interval, Lease, Operation, Outcome};
use crate::story::Teller;
use crate::text;
use crate::verdict::Property;

/// The rule of this property.
pub(super) struct MutualExclusion;

impl Rule for MutualExclusion {
    fn judge(&self, case: &Case) -> Ruling {
        judge(case)
    }

    fn claim(&self, case: &Case, finding: &Finding, interval: Interval) -> String {
        both_held(case, finding, interval)
    }

    fn narrate(&self, teller: &mut Teller, interval: Interval) {
        teller.foreign_release(interval.start);
        teller.late_release(interval.start);
        teller.last_refusal(interval.start);
    }

    fn vacuity_reason(&self, run: &Run) -> Option<String> {
        vacuity::of_exclusion(run)
    }

    fn verify_witness(&self, case: &Case, finding: &Finding) -> bool {
        replay::holders(case, finding, replay::Guaranteed::Both)
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
        engine: "core-sweep",
        has_matter: true,
        count: 0,
        findings: Vec::new(),
        tested: Tested::Yes,
    };
    if let Some(reason) = unknown_permits(case) {
        ruling.tested = Tested::Never(reason);
        return ruling;
    }
    for group in case.keys() {
        let (count, sets) = match case.permits() {
            1 => pairs(&case.holds[group.clone()]),
            permits => crowds(&case.holds[group.clone()], permits),
        };
        ruling.count += count;
        for set in sets {
            let holds: Vec<usize> = set.iter().map(|&at| group.start + at as usize).collect();
            ruling.findings.push(finding(case, holds));
        }
        keep_few(&mut ruling.findings);
    }
    keep_first(&mut ruling.findings);
    ruling
}

fn both_held(case: &Case, finding: &Finding, interval: Interval) -> String {
    let owners = owners(case, finding);
    let lock = text::lock(case.digest.key(finding.key));
    let holds = || finding.holds.iter().map(|&at| &case.holds[at]);
    let inside = if let Some(bridge) = holds().find_map(|hold| bridge(case, hold, interval.start)) {
        bridge
    } else if holds().any(Hold::is_leased) {
        " inside their leases".to_owned()
    } else {
        String::new()
    };
    let time = if finding.interval.end == Nanos::MAX {
        format!(
            "from {} to the end of the history",
            text::instant(interval.start)
        )
    } else {
        format!("for {}", text::length(interval.length()))
    };
    let together = if owners.len() == 2 { "both" } else { "all" };
    let who = format!("{} {together}", text::list(&owners));
    if case.permits() == 1 {
        return format!("{who} held {lock} {time}{inside}");
    }
    let permits: u64 = holds().map(|hold| u64::from(hold.permits)).sum();
    format!(
        "{who} held {lock} {time}{inside}: {permits} permits of {}",
        case.permits()
    )
}

/// Says that the lease of a hold was over at this time, where a later renewal was granted as if it
/// had gone on: by that word it was held in between, too.
fn bridge(case: &Case, hold: &Hold, at: Nanos) -> Option<String> {
    if hold.renewals == 0 {
        return None;
    }
    let drift = case.options.drift(&case.digest.header);
    let asked_for = case.digest.operation(hold.acquire).lease;
    let of_hold = case.operations_of_hold(hold).into_iter();
    let granted = of_hold.map(|id| case.digest.operation(id)).filter(|own| {
        own.outcome == Outcome::Ok && matches!(own.action, Action::Acquire | Action::Renew)
    });
    let (before, after): (Vec<_>, Vec<_>) = granted.partition(|own| own.invoked <= at);
    let floor = |own: &&Operation| {
        Lease::granted(own.asked(), own.asked(), own.lease.or(asked_for), drift).floor
    };
    let ended = before.iter().map(floor).max()?;
    let renewal = after.into_iter().map(|own| own.invoked).min()?;
    (ended < at).then(|| {
        format!(
            "; the lease of {} had ended at {}, but its renewal at {} was granted as if it had \
             gone on",
            text::name(case.digest.owner(hold.owner)),
            text::instant(ended),
            text::instant(renewal)
        )
    })
}

/// A lock with several permits looks like a violated mutex to who does not know how many.
pub(super) fn unknown_permits(case: &Case) -> Option<String> {
    let asks = case.digest.header.permits.is_none() && case.digest.names_permits();
    asks.then(|| {
        "acquires ask for several permits, and the header does not say how many the lock has"
            .to_owned()
    })
}

fn pairs(holds: &[Hold]) -> (u64, Vec<Vec<u32>>) {
    if are_apart(holds) {
        return (0, Vec::new());
    }
    let mut spans = (0..).zip(holds).map(|(tag, hold)| Span {
        interval: hold.guaranteed(),
        owner: hold.owner,
        shared: is_shared(hold),
        side: Side::Peer,
        tag,
    });
    let conflicts = sweep(&mut spans.by_ref().collect(), FINDINGS_MAX);
    let sets = conflicts
        .first
        .iter()
        .map(|&(first, other)| vec![first, other]);
    (conflicts.count, sets.collect())
}

/// Tells whether each hold begins after all before it have ended: the common case, for which the
/// sweep and what it needs can be spared.
fn are_apart(holds: &[Hold]) -> bool {
    let mut end = crate::Nanos(0);
    let mut guaranteed = holds.iter().map(Hold::guaranteed);
    guaranteed.all(|hold| {
        let apart = hold.is_empty() || hold.start >= end;
        if !hold.is_empty() {
            end = hold.end;
        }
        apart
    })
}

fn crowds(holds: &[Hold], permits: u32) -> (u64, Vec<Vec<u32>>) {
    let loans = (0..).zip(holds).map(|(tag, hold)| Loan {
        interval: hold.guaranteed(),
        permits: hold.permits,
        tag,
    });
    let excess = excess(&mut loans.collect(), permits, FINDINGS_MAX);
    (excess.count, excess.first)
}

fn finding(case: &Case, mut holds: Vec<usize>) -> Finding {
    holds.sort_by_key(|&at| (case.holds[at].core.start, at));
    let all = Interval::new(crate::Nanos(0), crate::Nanos::MAX);
    let interval = holds.iter().fold(all, |common, &at| {
        common.intersect(case.holds[at].guaranteed())
    });
    Finding {
        property: Property::MutualExclusion,
        key: case.holds[holds[0]].key,
        holds,
        operations: Vec::new(),
        interval,
        certain: true,
    }
}
