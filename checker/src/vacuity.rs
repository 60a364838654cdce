//! When a history could not have shown a violation: never valid by vacuity.
//!
//! Each rule answers with the reason, one sentence for a reader of the report.

use crate::case::Case;
use crate::history::FaultPhase;
use crate::text;
use crate::verdict::FaultSummary;

/// Why no two holders could have been seen at once.
pub(crate) fn of_exclusion(case: &Case) -> Option<String> {
    let coverage = case.coverage;
    if coverage.events == 0 {
        return Some("the history holds no event".to_owned());
    }
    if !case.holds.iter().any(|hold| !hold.core.is_empty()) {
        return Some("no acquire is known to have been granted".to_owned());
    }
    if coverage.contended == 0 {
        return Some("no acquire was tried while another owner held the lock".to_owned());
    }
    of_faults(case)
}

/// Why the faults of the run have not put the lock to the test.
pub(crate) fn of_faults(case: &Case) -> Option<String> {
    if let Some(reason) = case.faults.iter().find_map(unobserved) {
        return Some(reason);
    }
    if !case.faults.is_empty() && case.coverage.granted_under_fault == 0 {
        return Some("no lock was held while a fault was active".to_owned());
    }
    None
}

fn unobserved(fault: &FaultSummary) -> Option<String> {
    if fault.at(FaultPhase::Observed).is_some() {
        return None;
    }
    let done = match fault.at(FaultPhase::Injected) {
        Some(_) => "was injected, but its effect was never observed",
        None => "was asked for, but never injected",
    };
    Some(format!("fault {} {done}", text::fault(fault)))
}
