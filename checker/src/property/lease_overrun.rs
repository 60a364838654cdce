//! Lease overrun: a client acts as holder after its lease, while another holds.
//!
//! ```text
//! a   |--==========floor~~~~ceiling!!!!!|      "=" inside the lease, "~" it may have run out,
//! b                         |--=========|      "!" it has certainly run out
//!                              <------->
//! ```
//!
//! An overrun is a violation whether it is certain or not: both acted as holders, and the first
//! one was not entitled to count on the lock any more. `certain` tells on which side of the
//! ceiling it lies; an overlap that reaches beyond the ceiling is certain.
//!
//! Who lets a lease run out and sends no release may have left long before: where nothing shows
//! that it acted on, that is remarked and accuses nobody.

use super::replay;
use super::rule::{BlameWindow, Causes, Evidence, Rule, owners};
use crate::case::{
    Case, FINDINGS_MAX, Finding, Ruling, Run, Tested, is_shared, keep_few, keep_first, vacuity,
};
use crate::engine::sweep::{Side, Span, sweep};
use crate::holds::Hold;
use crate::operations::Interval;
use crate::story::Teller;
use crate::text;
use crate::verdict::Property;

/// The rule of this property.
pub(super) struct LeaseOverrun;

impl Rule for LeaseOverrun {
    fn judge(&self, case: &Case) -> Ruling {
        judge(case)
    }

    fn claim(&self, case: &Case, finding: &Finding, interval: Interval) -> String {
        overran(case, finding, interval)
    }

    fn narrate(&self, teller: &mut Teller, interval: Interval) {
        teller.foreign_release(interval.start);
        teller.last_refusal(interval.start);
    }

    fn vacuity_reason(&self, run: &Run) -> Option<String> {
        vacuity::of_exclusion(run)
    }

    fn verify_witness(&self, case: &Case, finding: &Finding) -> bool {
        replay::holders(case, finding, replay::Guaranteed::Second)
    }

    fn blame_window(&self) -> BlameWindow {
        BlameWindow::SinceKnown
    }

    fn causes(&self) -> Causes {
        Causes::FirstHolder
    }

    fn survives_clock_error(&self) -> bool {
        true
    }

    fn rests_on(&self) -> &'static [Evidence] {
        &[Evidence::SignsOfLife]
    }
}

fn judge(case: &Case) -> Ruling {
    let mut ruling = Ruling {
        engine: "core-sweep",
        has_matter: case
            .holds
            .iter()
            .any(|hold| hold.is_granted() && hold.is_leased()),
        count: 0,
        findings: Vec::new(),
        tested: Tested::Yes,
    };
    if !ruling.has_matter {
        ruling.tested = Tested::No("no lock was granted with a lease".to_owned());
        return ruling;
    }
    // Holders of a semaphore do not exclude each other, and no fault of a pair is theirs alone.
    if case.permits() > 1 {
        ruling.has_matter = false;
        ruling.tested =
            Tested::Never("the overrun of a lock with several permits is not judged".to_owned());
        return ruling;
    }
    for group in case.keys() {
        let holds = &case.holds[group.clone()];
        if holds.iter().all(|hold| hold.overrun().is_empty()) {
            continue;
        }
        let conflicts = sweep(&mut spans(holds, Hold::overrun), FINDINGS_MAX);
        ruling.count += conflicts.count;
        let pairs = conflicts.first.into_iter().map(stale_first);
        let findings =
            pairs.map(|(stale, holder)| finding(case, group.start + stale, group.start + holder));
        let mut findings: Vec<Finding> = findings.collect();
        // Where each of two overran the other, the one whose lease was over first comes first.
        findings.sort_by_key(|found| {
            let late = &case.holds[found.holds[0]];
            (found.interval.start, late.lease.floor)
        });
        ruling.findings.extend(findings);
        keep_few(&mut ruling.findings);
    }
    keep_first(&mut ruling.findings);
    if let Some(remark) = unrecorded(case).filter(|_| ruling.count == 0) {
        ruling.tested = Tested::Remarked(remark);
    }
    ruling
}

/// Names an owner that may have acted as holder after its lease, while another held, as far as the
/// history says.
fn unrecorded(case: &Case) -> Option<String> {
    let may_overrun = |hold: &Hold| {
        let alive = case.digest.alive[hold.owner.0 as usize];
        let acting = hold.acting.max(alive);
        Hold { acting, ..*hold }.overrun()
    };
    case.keys().find_map(|group| {
        let holds = &case.holds[group];
        let ends_untold = |hold: &Hold| may_overrun(hold) != hold.overrun();
        if !holds.iter().any(ends_untold) {
            return None;
        }
        let first = sweep(&mut spans(holds, may_overrun), 1).first;
        let (late, _) = stale_first(*first.first()?);
        let late = &holds[late];
        Some(format!(
            "{} sent no release of {} that it held until {}: how long it went on after its lease \
             is not recorded",
            case.digest.owner(late.owner),
            text::lock(case.digest.key(late.key)),
            text::instant(late.lease.floor),
        ))
    })
}

fn overran(case: &Case, finding: &Finding, interval: Interval) -> String {
    let lock = text::lock(case.digest.key(finding.key));
    let owners = owners(case, finding);
    let late = case.digest.operation(case.holds[finding.holds[0]].acquire);
    let ran_out = match (late.is_of_session, finding.certain) {
        (true, _) => "session may have ended",
        (false, true) => "lease had certainly run out",
        (false, false) => "lease may have run out",
    };
    let other = owners.last().map_or("another", String::as_str);
    format!(
        "{} took itself for the holder of {lock} after its {ran_out}, while {other} held it, for \
         {}",
        owners[0],
        text::length(interval.length()),
    )
}

/// Every hold takes part twice: with its overrun on the left and its belief on the right.
fn spans(holds: &[Hold], overrun: impl Fn(&Hold) -> Interval) -> Vec<Span> {
    let sides = |(position, hold): (u32, &Hold)| {
        [(Side::Left, overrun(hold)), (Side::Right, hold.belief())].map(|(side, interval)| Span {
            interval,
            owner: hold.owner,
            shared: is_shared(hold),
            side,
            tag: 2 * position + u32::from(side == Side::Right),
        })
    };
    (0..).zip(holds).flat_map(sides).collect()
}

/// The positions of the stale hold and of the other one, from their tags.
fn stale_first((one, other): (u32, u32)) -> (usize, usize) {
    let (left, right) = if one % 2 == 0 {
        (one, other)
    } else {
        (other, one)
    };
    (left as usize / 2, right as usize / 2)
}

fn finding(case: &Case, stale: usize, holder: usize) -> Finding {
    let late = &case.holds[stale];
    let interval = late.overrun().intersect(case.holds[holder].belief());
    Finding {
        property: Property::LeaseOverrun,
        key: late.key,
        holds: vec![stale, holder],
        operations: Vec::new(),
        interval,
        certain: interval.end > late.lease.ceiling,
    }
}
