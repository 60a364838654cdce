//! One look at a digest: every answer that does not depend on the run as a whole.
//!
//! For: what can be added up over the parts of a long history. Not for: verdicts, which need the
//! sum.

use std::sync::OnceLock;

use crate::availability::availability;
use crate::case::{Case, Finding, Ruling, Tested};
use crate::coverage::{Tries, coverage};
use crate::digest::Digest;
use crate::faults::{faults, window};
use crate::history::Nanos;
use crate::hold::Hold;
use crate::holds::holds_by;
use crate::options::Options;
use crate::parallel;
use crate::property::rule;
use crate::sum::Known;
use crate::verdict::{Availability, Coverage, FaultSummary, Property, Witness};
use crate::witness::witness;

/// A digest with all that was derived from it before any property is judged.
pub(crate) struct Exhibit<'a> {
    digest: &'a Digest,
    options: &'a Options,
    holds: Vec<Hold>,
    faults: Vec<FaultSummary>,
    coverage: Coverage,
    availability: Availability,
}

/// What was found in a digest.
pub(crate) struct Examination {
    pub(crate) faults: Vec<FaultSummary>,
    pub(crate) coverage: Coverage,
    pub(crate) availability: Availability,
    /// Whether an acquire is known to have been granted.
    pub(crate) is_granted: bool,
    /// Of the properties that were asked for.
    pub(crate) answers: Vec<(Property, Answer)>,
}

/// The answer of one property.
pub(crate) struct Answer {
    pub(crate) engine: &'static str,
    pub(crate) has_matter: bool,
    pub(crate) tested: Tested,
    pub(crate) count: u64,
    /// How many of the violations lie inside each fault.
    pub(crate) by_fault: Vec<u64>,
    /// The first violations, by time.
    pub(crate) told: Vec<(Mark, Witness)>,
    /// Whether there are no more.
    pub(crate) is_all: bool,
    /// Whether each of them stood up to its replay.
    pub(crate) stands: bool,
}

/// By what a violation is known again in another look at its operations: when it began, and the
/// events that sent them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Mark {
    start: Nanos,
    events: Vec<u64>,
}

impl<'a> Exhibit<'a> {
    /// Stretches without a grant are known that ended by the times in `since`, one of each key.
    pub(crate) fn new(digest: &'a Digest, options: &'a Options, since: &[Nanos]) -> Self {
        let threads = options.threads(digest.operations.len());
        let (holds, tries) = parallel::both(
            threads,
            || holds_by(threads, digest, options.drift(&digest.header)),
            || Tries::of(digest),
        );
        let faults = faults(digest);
        let coverage = coverage(threads, digest, &tries, &holds, &faults);
        let asked = options.only.as_ref();
        let availability = if asked.is_none_or(|only| only.contains(&Property::Availability)) {
            availability(digest, &holds, Nanos::MAX, since).0
        } else {
            Availability::default()
        };
        Self {
            digest,
            options,
            holds,
            faults,
            coverage,
            availability,
        }
    }

    pub(crate) fn case(&self) -> Case<'_> {
        Case {
            digest: self.digest,
            holds: &self.holds,
            faults: &self.faults,
            coverage: &self.coverage,
            options: self.options,
            by_owner: OnceLock::new(),
            proofs: OnceLock::new(),
            standings: OnceLock::new(),
        }
    }
}

/// Every property that was asked for. What is known is counted, and not told of.
pub(crate) fn examine(exhibit: &Exhibit, known: &Known) -> Examination {
    let case = exhibit.case();
    let options = exhibit.options;
    let wanted = |property: &Property| {
        let only = options.only.as_ref();
        only.is_none_or(|only| only.contains(property))
    };
    let wanted: Vec<Property> = Property::ALL.into_iter().filter(wanted).collect();
    let threads = options.threads(exhibit.digest.operations.len());
    let answers = parallel::map(
        threads,
        &wanted,
        || (),
        |(), &property| answer(&case, property, known),
    );
    Examination {
        faults: exhibit.faults.clone(),
        coverage: exhibit.coverage.clone(),
        availability: exhibit.availability,
        is_granted: exhibit.holds.iter().any(|hold| !hold.core.is_empty()),
        answers: wanted.into_iter().zip(answers).collect(),
    }
}

fn answer(case: &Case, property: Property, known: &Known) -> Answer {
    let ruling = rule(property).judge(case);
    let known = known.get(&property).filter(|known| !known.is_empty());
    let is_new =
        |finding: &&Finding| known.is_none_or(|known| !known.contains(&mark(case, finding)));
    let told = ruling.findings.iter().filter(is_new);
    let told: Vec<&Finding> = told.take(case.options.witnesses_max).collect();
    let broken = told
        .iter()
        .find(|finding| !rule(finding.property).stands_alone(case, finding));
    debug_assert!(
        broken.is_none(),
        "the witness does not stand alone: {broken:?}"
    );
    let stands = broken.is_none();
    let is_all = told.len() < case.options.witnesses_max;
    let shown = told.into_iter().filter(|_| stands);
    Answer {
        is_all,
        engine: ruling.engine,
        has_matter: ruling.has_matter,
        count: ruling.count,
        by_fault: by_fault(case, &ruling),
        told: shown
            .map(|finding| (mark(case, finding), witness(case, finding)))
            .collect(),
        stands,
        tested: ruling.tested,
    }
}

/// How many of the violations lie inside each fault.
fn by_fault(case: &Case, ruling: &Ruling) -> Vec<u64> {
    let inside = |fault| {
        let window = window(fault)?;
        let findings = ruling.findings.iter();
        let inside = findings.filter(|finding| window.touches(finding.interval));
        Some(inside.count() as u64)
    };
    case.faults
        .iter()
        .map(|fault| inside(fault).unwrap_or(0))
        .collect()
}

fn mark(case: &Case, finding: &Finding) -> Mark {
    let acquires = finding.holds.iter().map(|&at| case.holds[at].acquire);
    let operations = acquires.chain(finding.operations.iter().copied());
    Mark {
        start: finding.interval.start,
        events: operations
            .map(|id| case.digest.operation(id).invoke)
            .collect(),
    }
}
