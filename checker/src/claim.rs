//! The claim of a witness: what is violated, in one sentence.

use crate::case::{Case, Finding};
use crate::history::Nanos;
use crate::hold::Hold;
use crate::interval::Interval;
use crate::operation::Outcome;
use crate::text;
use crate::verdict::Property;

/// The sentence, without a stop. `interval` is the one shown, which ends with the history.
pub(crate) fn claim(case: &Case, finding: &Finding, interval: Interval) -> String {
    match finding.property {
        Property::MutualExclusion => both_held(case, finding, interval),
        Property::LostLock => lost(case, finding, interval),
        Property::LeaseOverrun => overran(case, finding, interval),
        Property::Liveness => stuck(case, finding, interval),
    }
}

/// The owners of the holds of a finding, in its order.
pub(crate) fn owners(case: &Case, finding: &Finding) -> Vec<String> {
    let owner = |&at: &usize| text::name(case.digest.owner(case.holds[at].owner));
    finding.holds.iter().map(owner).collect()
}

fn both_held(case: &Case, finding: &Finding, interval: Interval) -> String {
    let owners = owners(case, finding);
    let lock = text::lock(case.digest.key(finding.key));
    let holds = || finding.holds.iter().map(|&at| &case.holds[at]);
    let inside = if holds().any(Hold::is_leased) {
        " inside their leases"
    } else {
        ""
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

fn overran(case: &Case, finding: &Finding, interval: Interval) -> String {
    let lock = text::lock(case.digest.key(finding.key));
    let owners = owners(case, finding);
    let ran_out = if finding.certain {
        "had certainly run out"
    } else {
        "may have run out"
    };
    let other = owners.last().map_or("another", String::as_str);
    format!(
        "{} acted as holder of {lock} after its lease {ran_out}, while {other} held it, for {}",
        owners[0],
        text::length(interval.length()),
    )
}

fn stuck(case: &Case, finding: &Finding, interval: Interval) -> String {
    let lock = text::lock(case.digest.key(finding.key));
    let free = text::length(interval.length());
    let waiting = finding.operation.map(|id| case.digest.operation(id));
    let in_final_phase = case
        .digest
        .final_phase
        .is_some_and(|phase| phase.time == interval.start);
    match waiting {
        Some(waiting) if !in_final_phase => {
            let owner = text::name(case.digest.owner(waiting.owner));
            let end = if waiting.outcome == Outcome::Refused {
                "was refused"
            } else {
                "was never answered"
            };
            format!("{owner} waited for {lock} and {end}, though it was free for {free}")
        }
        Some(_) | None => {
            format!(
                "{lock} could not be had for {free}, with every fault healed and nobody at work"
            )
        }
    }
}
