//! Lost lock: a holder is told inside its lease that it does not hold the lock.
//!
//! ```text
//! a   |--================|          granted at "|", a lease that may not end before "floor"
//!                     renew: "not owner"    floor
//! ```
//!
//! No second holder is needed: the service dropped a lock that it had promised to keep. Accused is
//! only a refusal that nothing else can explain: the operation was sent after the grant, answered
//! before the floor, and no other release of the owner was under way. Of a library that may ask
//! again by itself, a release that met a fault of its connection or of a server that stood still
//! may have freed the lock with its first request, and been denied with its second.

use super::replay;
use super::rule::{BlameWindow, Causes, Rule, owners};
use crate::case::{Case, Finding, Ruling, Tested, active, keep_first, touches_client};
use crate::history::{FaultClass, Nanos};
use crate::holds::Hold;
use crate::operations::{Action, Interval, Operation, Outcome};
use crate::story::Teller;
use crate::text;
use crate::verdict::{FaultSummary, Property};

/// The rule of this property.
pub(super) struct LostLock;

impl Rule for LostLock {
    fn judge(&self, case: &Case) -> Ruling {
        judge(case)
    }

    fn claim(&self, case: &Case, finding: &Finding, interval: Interval) -> String {
        lost(case, finding, interval)
    }

    fn narrate(&self, teller: &mut Teller, interval: Interval) {
        teller.foreign_release(interval.start);
        teller.late_release(interval.start);
        teller.denial();
    }

    fn contradiction_at(&self, interval: Interval) -> Nanos {
        interval.start
    }

    fn verify_witness(&self, case: &Case, finding: &Finding) -> bool {
        replay::denial(case, finding)
    }

    fn blame_window(&self) -> BlameWindow {
        BlameWindow::UntilToldOrHeld
    }

    fn causes(&self) -> Causes {
        Causes::Forgetting
    }

    fn survives_clock_error(&self) -> bool {
        true
    }
}

fn judge(case: &Case) -> Ruling {
    let mut findings: Vec<Finding> = case
        .holds
        .iter()
        .enumerate()
        .filter_map(|(at, hold)| finding(case, at, hold))
        .collect();
    let count = findings.len() as u64;
    keep_first(&mut findings);
    Ruling {
        engine: "hold-scan",
        has_matter: case.digest.operations.iter().any(is_answer),
        count,
        findings,
        tested: tested(case),
    }
}

fn lost(case: &Case, finding: &Finding, interval: Interval) -> String {
    let lock = text::lock(case.digest.key(finding.key));
    let owner = text::list(&owners(case, finding));
    let left = if finding.interval.end == Nanos::MAX {
        "although it had no lease that could run out".to_owned()
    } else {
        format!(
            "{} before its lease could run out",
            text::length(interval.length())
        )
    };
    format!("the service told {owner} that it does not hold {lock}, {left}")
}

fn finding(case: &Case, at: usize, hold: &Hold) -> Option<Finding> {
    let denial = hold.denial?;
    let denied = case.digest.operation(denial);
    let answered = denied.answered()?;
    if may_be_an_echo(case, denied, answered) {
        return None;
    }
    Some(Finding {
        property: Property::LostLock,
        key: hold.key,
        holds: vec![at],
        operations: vec![denial],
        interval: Interval::new(answered, hold.lease.floor),
        certain: true,
    })
}

/// Tells whether a denied release may have been sent twice, and freed the lock the first time.
fn may_be_an_echo(case: &Case, denied: &Operation, answered: Nanos) -> bool {
    let asks_again = case.digest.header.asks_once != Some(true);
    let owner = case.digest.owners.name(denied.owner.0);
    let loses_replies = |fault: &&FaultSummary| match fault.class {
        FaultClass::Cut | FaultClass::Packet => touches_client(fault, owner),
        FaultClass::Stall => fault.target.node().is_some(),
        FaultClass::Death
        | FaultClass::Clock
        | FaultClass::Data
        | FaultClass::Scripts
        | FaultClass::Promotion
        | FaultClass::Migration
        | FaultClass::Other => false,
    };
    let under_way = Interval::new(denied.invoked, answered);
    asks_again
        && denied.action == Action::Release
        && active(case.faults, under_way).iter().any(loses_replies)
}

fn tested(case: &Case) -> Tested {
    let is_tested = |hold: &Hold| {
        let release = hold.release.map(|id| case.digest.operation(id));
        let inside = release
            .filter(|release| is_answer(release))
            .and_then(Operation::answered)
            .is_some_and(|answered| answered < hold.lease.floor);
        hold.is_granted() && (inside || hold.renewals > 0)
    };
    if case.holds.iter().any(is_tested) {
        Tested::Yes
    } else {
        Tested::No("no renewal or release was answered inside the lease of its hold".to_owned())
    }
}

/// Tells whether the server said who holds.
fn is_answer(operation: &Operation) -> bool {
    let asks = matches!(operation.action, Action::Renew | Action::Release);
    asks && matches!(operation.outcome, Outcome::Ok | Outcome::NotOwner)
}
