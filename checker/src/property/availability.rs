//! Availability: how long a lock could not be had while somebody wanted it and nobody held it.
//!
//! It is a measure, and becomes a verdict only by a bound that the history or the caller names: it
//! is violated by a stretch without a grant that is longer. Without a bound the figures are told,
//! and nothing is judged. Only a run with faults and contention puts it to the test.

use super::replay;
use super::rule::{BlameWindow, Causes, Evidence, Rule};
use crate::case::{Case, Finding, Ruling, Run, Tested, availability, keep_first, stalled};
use crate::operations::Interval;
use crate::story::Teller;
use crate::text;
use crate::verdict::Property;

const ENGINE: &str = "gap-scan";

/// The rule of this property.
pub(super) struct Availability;

impl Rule for Availability {
    fn judge(&self, case: &Case) -> Ruling {
        judge(case)
    }

    fn claim(&self, case: &Case, finding: &Finding, interval: Interval) -> String {
        let lock = text::lock(case.digest.key(finding.key));
        let length = text::length(interval.length());
        format!(
            "nobody was granted {lock} for {length}, though it was asked for and nobody is known \
             to have held it"
        )
    }

    fn narrate(&self, teller: &mut Teller, _interval: Interval) {
        teller.outage();
    }

    fn remark(&self, run: &Run) -> Option<String> {
        Some(run.availability.sentence())
    }

    fn vacuity_reason(&self, _run: &Run) -> Option<String> {
        None
    }

    fn verify_witness(&self, case: &Case, finding: &Finding) -> bool {
        replay::outage(case, finding)
    }

    fn blame_window(&self) -> BlameWindow {
        BlameWindow::Shown
    }

    fn causes(&self) -> Causes {
        Causes::Any
    }

    fn survives_clock_error(&self) -> bool {
        true
    }

    fn rests_on(&self) -> &'static [Evidence] {
        &[Evidence::End]
    }
}

/// Without a bound there is nothing to violate, and so nothing to clear of it either.
fn measured() -> Ruling {
    Ruling {
        engine: ENGINE,
        has_matter: false,
        count: 0,
        findings: Vec::new(),
        tested: Tested::No("it is measured, and judged only by a bound: none was named".to_owned()),
    }
}

fn judge(case: &Case) -> Ruling {
    let coverage = case.coverage;
    let has_matter = !case.faults.is_empty() && coverage.contended > 0 && coverage.granted > 0;
    let Some(bound) = case.options.availability_gap_max(&case.digest.header) else {
        return measured();
    };
    let missed = stalled(case.digest);
    let outages = |missed: &[Interval]| availability(case.digest, case.holds, bound, missed).1;
    let found = outages(&missed);
    let is_missed = found.is_empty() && !missed.is_empty() && !outages(&[]).is_empty();
    let findings = found.into_iter().map(|outage| Finding {
        property: Property::Availability,
        key: outage.key,
        holds: Vec::new(),
        operations: vec![outage.attempt],
        interval: outage.interval,
        certain: true,
    });
    let mut findings: Vec<Finding> = findings.collect();
    let count = findings.len() as u64;
    keep_first(&mut findings);
    let reason = if is_missed {
        "the harness stood still while a lock may have been out of reach for too long"
    } else {
        "there was no fault, no grant, or nobody who asked for a held lock"
    };
    Ruling {
        engine: ENGINE,
        has_matter: has_matter || count > 0,
        count,
        findings,
        tested: if has_matter && !is_missed {
            Tested::Yes
        } else {
            Tested::No(reason.to_owned())
        },
    }
}
