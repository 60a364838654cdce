//! Progress: each call returns within its own bound, and the process of the client lives.
//!
//! ```text
//! a   |--acquire------------------------------ bound|  no answer: it hangs
//! b   |--acquire--|  granted ============ x          its process ended by itself: a crash
//! ```
//!
//! Both are noted by whoever drives the clients, and are findings about the library that a client
//! uses. A hang counts only where the servers could answer: no fault that keeps them from it was
//! active while the answer was waited for; or where the library itself has said that no call takes
//! longer, and nothing was done to the client.
//!
//! A crash counts inside a call or inside the lease of a hold; a client that ends in between harms
//! nobody, but what it would have done is not known: then the verdict is unknown. A client that was
//! killed is no finding.

use super::replay;
use super::rule::{BlameWindow, Causes, Evidence, Rule};
use crate::case::{
    Case, Finding, Ruling, Run, Tested, failure, faults, keep_first, touches_client,
};
use crate::history::{FailureKind, FaultClass, FaultTarget, Nanos};
use crate::holds::Hold;
use crate::operations::{FailureAside, Interval, OpId, OwnerId};
use crate::story::Teller;
use crate::text;
use crate::verdict::{FaultSummary, Property};

/// The rule of this property.
pub(super) struct Progress;

impl Rule for Progress {
    fn judge(&self, case: &Case) -> Ruling {
        judge(case)
    }

    fn claim(&self, case: &Case, finding: &Finding, _interval: Interval) -> String {
        claim(case, finding)
    }

    fn kind(&self, case: &Case, finding: &Finding) -> Option<&'static str> {
        Some(match failure(case, finding)?.note.kind {
            FailureKind::Hang => "hang",
            FailureKind::Crash => "crash",
        })
    }

    fn narrate(&self, teller: &mut Teller, _interval: Interval) {
        teller.failure();
    }

    fn vacuity_reason(&self, _run: &Run) -> Option<String> {
        // Every call is a test of its own, under a fault or not.
        None
    }

    fn verify_witness(&self, case: &Case, finding: &Finding) -> bool {
        replay::failed(case, finding)
    }

    fn blame_window(&self) -> BlameWindow {
        BlameWindow::Shown
    }

    fn causes(&self) -> Causes {
        Causes::OwnOrServers
    }

    fn survives_clock_error(&self) -> bool {
        true
    }

    fn rests_on(&self) -> &'static [Evidence] {
        &[Evidence::Failure]
    }
}

/// Weight of a failure.
enum Weight {
    /// It is a violation.
    Found(Finding),
    /// It is none, for this reason.
    Excused(String),
}

fn judge(case: &Case) -> Ruling {
    let failures = &case.digest.asides.failures;
    let is_watched = case.digest.header.notes_failures == Some(true);
    let (mut findings, mut excuse) = (Vec::new(), None);
    for failure in failures {
        match weight(case, failure) {
            Weight::Found(finding) => findings.push(finding),
            Weight::Excused(why) => excuse = excuse.or(Some(why)),
        }
    }
    let count = findings.len() as u64;
    keep_first(&mut findings);
    Ruling {
        engine: "note-scan",
        has_matter: !failures.is_empty() || is_watched && !case.digest.operations.is_empty(),
        count,
        findings,
        tested: match excuse {
            Some(why) => Tested::No(why),
            None if is_watched => Tested::Yes,
            None => Tested::No("the history does not say that failures were noted".to_owned()),
        },
    }
}

fn weight(case: &Case, failure: &FailureAside) -> Weight {
    if failure.note.kind == FailureKind::Hang && is_stalled(case, failure) {
        let still = "while the harness stood still";
        return Weight::Excused(format!("{} {still}", happened(failure)));
    }
    if let Some(fault) = silencing(case, failure) {
        let fault = faults::title(fault);
        return Weight::Excused(format!(
            "{} while fault {fault} was active",
            happened(failure)
        ));
    }
    let owner = case.digest.owners.find(&failure.owner).map(OwnerId);
    let call = owner.and_then(|owner| under_way(case, owner, failure));
    let held = owner.and_then(|owner| held(case, owner, failure.time));
    found(case, failure, call, held).map_or_else(
        || {
            let idle = "when it neither held a lock nor made a call";
            Weight::Excused(format!("{}, {idle}", happened(failure)))
        },
        Weight::Found,
    )
}

/// Tells whether the harness stood still while it waited for an answer.
fn is_stalled(case: &Case, failure: &FailureAside) -> bool {
    let since = failure.time - failure.note.waited();
    case.digest.asides.is_stalled(since, failure.time)
}

/// The fault that may be the cause of a hang.
fn silencing<'a>(case: &Case<'a>, failure: &FailureAside) -> Option<&'a FaultSummary> {
    if failure.note.kind == FailureKind::Crash {
        return None;
    }
    let waited = Interval::new(failure.time - failure.note.waited(), failure.time);
    let mut faults = case.faults.iter();
    faults.find(|fault| {
        let lasts = faults::window(fault).is_some_and(|window| window.touches(waited));
        let of_client = touches_client(fault, &failure.owner);
        let is_foreseen = failure.note.is_own_bound && !of_client;
        lasts && !is_foreseen && keeps_silent(fault, &failure.owner)
    })
}

/// Says what happened, as the beginning of a sentence.
fn happened(failure: &FailureAside) -> String {
    let who = text::name(&failure.owner);
    match failure.note.kind {
        FailureKind::Hang => format!("{who} did not answer"),
        FailureKind::Crash => {
            let status = failure.note.status.as_deref().map(text::prose);
            let status = status.map_or_else(String::new, |status| format!(" ({status})"));
            format!("the process of {who} ended by itself{status}")
        }
    }
}

/// The call of a client that was under way when it failed.
fn under_way(case: &Case, owner: OwnerId, failure: &FailureAside) -> Option<OpId> {
    let own = case.operations_of(owner).iter().copied();
    let mut open = own.filter(|&id| {
        let operation = case.digest.operation(id);
        let ended = operation.completion.map_or(u64::MAX, |end| end.index);
        operation.invoke < failure.event && failure.event < ended
    });
    open.next_back()
}

/// The hold inside whose lease a client failed.
fn held(case: &Case, owner: OwnerId, time: Nanos) -> Option<usize> {
    let holds = |hold: &Hold| {
        let held = hold.guaranteed();
        hold.owner == owner && hold.is_granted() && held.start <= time && time < held.end
    };
    case.holds.iter().position(holds)
}

/// Tells whether a fault may keep the servers from answering a client. What was lost or deleted
/// does not, and a connection that was closed can be opened again.
fn keeps_silent(fault: &FaultSummary, client: &str) -> bool {
    match fault.class {
        FaultClass::Data | FaultClass::Scripts | FaultClass::Promotion => false,
        FaultClass::Cut => !matches!(fault.target, FaultTarget::Connections { .. }),
        FaultClass::Death
        | FaultClass::Stall
        | FaultClass::Packet
        | FaultClass::Clock
        | FaultClass::Migration
        | FaultClass::Other => {
            let of_client = matches!(fault.target, FaultTarget::Client(_));
            !of_client || touches_client(fault, client)
        }
    }
}

fn found(
    case: &Case,
    failure: &FailureAside,
    call: Option<OpId>,
    inside: Option<usize>,
) -> Option<Finding> {
    let hold = inside.map(|at| &case.holds[at]);
    let operation = call.map(|id| case.digest.operation(id));
    let key = operation.map(|one| one.key).or(hold.map(|hold| hold.key))?;
    let since = operation.map(|one| one.invoked);
    let since = since.or(hold.map(|hold| hold.core.start))?;
    Some(Finding {
        property: Property::Progress,
        key,
        holds: inside.filter(|_| call.is_none()).into_iter().collect(),
        operations: call.into_iter().collect(),
        interval: Interval::new(since, failure.time),
        certain: true,
    })
}

fn claim(case: &Case, finding: &Finding) -> String {
    let lock = text::lock(case.digest.key(finding.key));
    let Some(failure) = failure(case, finding) else {
        return format!("a client of {lock} failed by itself");
    };
    let (is_call, during) = (
        finding.operation().is_some(),
        failure.note.during.as_deref(),
    );
    let call = during.map_or_else(
        || "its call".to_owned(),
        |call| format!("'{}'", text::name(call)),
    );
    let what = happened(failure);
    match failure.note.kind {
        FailureKind::Hang => {
            let bound = failure.note.bound.map(text::length);
            let bound = bound.unwrap_or_else(|| "its bound".to_owned());
            let excuse = if failure.note.is_own_bound {
                "the longest that a call takes by its library's own word"
            } else {
                "and nothing kept the servers from answering"
            };
            let waited = failure.note.waited.map(text::length);
            let waited = waited.map_or_else(String::new, |time| format!("; it was given {time}"));
            format!("{what} {call} on {lock} within {bound}, {excuse}{waited}")
        }
        FailureKind::Crash if is_call => format!("{what} in the call {call} on {lock}"),
        FailureKind::Crash => format!("{what} while it held {lock}"),
    }
}
