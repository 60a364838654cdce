//! Loss notice: a holder is not told within one lease that it has lost the lock.
//!
//! ```text
//! a   |--============floor~~~~~~~ceiling!!!!!!!!!!!!!!!!!!!!!!!!!!!!!|  told, or still at work
//!                                       <---- one lease ---->
//! ```
//!
//! It is a measure, and becomes a verdict only for a lock that promises to tell: without the
//! promise the figures are told, and nothing is judged. Who stands still cannot be told: a hold
//! counts only if its client could run since the loss. Whose link is cut can: its own clock says
//! that no renewal was answered for a whole lease.

use super::replay;
use super::rule::{BlameWindow, Causes, Evidence, Rule, owners};
use crate::case::{
    Case, Finding, Ruling, Run, Tested, active, is_shared, keep_first, touches_client,
};
use crate::history::{FaultClass, Nanos};
use crate::holds::{Hold, notice};
use crate::operations::Interval;
use crate::story::Teller;
use crate::text;
use crate::verdict::{FaultSummary, Property};

/// The name of the promise in a header.
const PROMISE: &str = "tells-of-loss";

/// The rule of this property.
pub(super) struct LossNotice;

impl Rule for LossNotice {
    fn judge(&self, case: &Case) -> Ruling {
        judge(case)
    }

    fn claim(&self, case: &Case, finding: &Finding, interval: Interval) -> String {
        let lock = text::lock(case.digest.key(finding.key));
        let owner = text::list(&owners(case, finding));
        let length = text::length(interval.length());
        format!("{owner} was not told that it had lost {lock} for {length}, longer than its lease")
    }

    fn narrate(&self, _teller: &mut Teller, _interval: Interval) {}

    fn vacuity_reason(&self, _run: &Run) -> Option<String> {
        // Every loss is a test of its own, under a fault or not.
        None
    }

    fn verify_witness(&self, case: &Case, finding: &Finding) -> bool {
        replay::untold(case, finding)
    }

    fn blame_window(&self) -> BlameWindow {
        BlameWindow::Shown
    }

    fn causes(&self) -> Causes {
        Causes::Any
    }

    /// Loss and notice are times of different processes, a lease apart: widened, they prove
    /// nothing.
    fn survives_clock_error(&self) -> bool {
        false
    }

    fn rests_on(&self) -> &'static [Evidence] {
        &[Evidence::SignsOfLife]
    }
}

fn judge(case: &Case) -> Ruling {
    let promises = &case.digest.header.promises;
    let is_promised = promises.iter().any(|promise| promise == PROMISE);
    let leased = |hold: &&Hold| hold.is_granted() && hold.is_leased();
    let has_matter = is_promised && case.holds.iter().any(|hold| leased(&hold));
    let mut findings: Vec<Finding> = if is_promised {
        let holds = (0..).zip(case.holds);
        holds
            .filter_map(|(at, hold)| finding(case, at, hold))
            .collect()
    } else {
        Vec::new()
    };
    let count = findings.len() as u64;
    keep_first(&mut findings);
    let mut holds = case.holds.iter();
    // Of one that was excused nobody knows whether it was told.
    let tells = |hold: &Hold| since_loss(case, hold).is_some() && !is_excused(case, hold);
    let is_lost = |hold: &Hold| tells(hold) || is_told_early(case, hold);
    let lost = is_promised && holds.any(is_lost);
    let tested = if !is_promised {
        Tested::No(format!(
            "it is measured, and judged only of a lock that promises '{PROMISE}'"
        ))
    } else if lost {
        Tested::Yes
    } else if case.holds.iter().any(|hold| is_excused(case, hold)) {
        let why = "the holder that lost the lock was kept from being told, or nobody saw it told";
        Tested::No(why.to_owned())
    } else {
        Tested::No("no holder lost the lock and went on".to_owned())
    };
    Ruling {
        engine: "hold-scan",
        has_matter,
        count,
        findings,
        tested,
    }
}

/// Tells whether a holder was told of a loss inside its lease, and another was granted the lock
/// before the holder gave it back: it was lost, only the servers know when, and told in time.
fn is_told_early(case: &Case, hold: &Hold) -> bool {
    let is_told = hold.is_granted() && hold.is_leased() && hold.told_lost < hold.core.end;
    let takes_over = |other: &Hold| {
        let since = other.core.start;
        let inside = hold.core.start < since && since < hold.core.end;
        let share = is_shared(hold) && is_shared(other);
        inside && other.owner != hold.owner && !share
    };
    let first = case.holds.partition_point(|other| other.key < hold.key);
    let of_key = case.holds[first..].iter();
    let mut of_key = of_key.take_while(|other| other.key == hold.key);
    is_told && case.permits() == 1 && of_key.any(takes_over)
}

/// From when every server has ended the lease of a hold, until its owner was told or gave it back.
fn since_loss(case: &Case, hold: &Hold) -> Option<Interval> {
    let (took, _) = notice(hold)?;
    let late = Nanos::from_millis(case.digest.header.ends_late_ms.unwrap_or_default());
    let lost = took.start + late;
    (lost < took.end).then(|| Interval::new(lost, took.end))
}

/// Tells whether a fault leaves its client running.
const fn is_of_the_network(fault: &FaultSummary) -> bool {
    matches!(fault.class, FaultClass::Cut | FaultClass::Packet)
}

/// The time for which a holder went on that was told too late, if it was.
fn late(case: &Case, hold: &Hold) -> Option<Interval> {
    let took = since_loss(case, hold)?;
    let lease = case.digest.operation(hold.acquire).lease?;
    (took.length() > lease && lease > Nanos(0)).then_some(took)
}

/// Tells whether a holder that was told too late could not be told before, or was not seen to be.
fn is_excused(case: &Case, hold: &Hold) -> bool {
    let Some(took) = late(case, hold) else {
        return false;
    };
    let client = case.digest.owners.name(hold.owner.0);
    let mut faults = active(case.faults, took).into_iter();
    faults.any(|fault| touches_client(fault, client) && !is_of_the_network(fault))
        || case.digest.asides.is_stalled(took.start, took.end)
}

fn finding(case: &Case, at: usize, hold: &Hold) -> Option<Finding> {
    let took = late(case, hold)?;
    (!is_excused(case, hold)).then(|| Finding {
        property: Property::LossNotice,
        key: hold.key,
        holds: vec![at],
        operations: Vec::new(),
        interval: took,
        certain: true,
    })
}
