//! A digest with all that is derived from it before any property is judged.

use std::sync::OnceLock;

use crate::case::{Case, Finding, Tested, Tries, availability, coverage, faults, stalled};
use crate::history::Nanos;
use crate::holds::{Hold, holds_by, losses};
use crate::operations::Digest;
use crate::options::Options;
use crate::parallel;
use crate::property::rule;
use crate::verdict::{Availability, Coverage, FaultSummary, Losses, Property};

/// Calls `look` with the findings of one property in a digest, and the case in which they were
/// found.
pub(crate) fn with_findings<R>(
    digest: &Digest,
    options: &Options,
    property: Property,
    look: impl FnOnce(&Case, &[Finding]) -> R,
) -> R {
    let derived = Derived::new(digest, options);
    let case = derived.case();
    let ruling = rule(property).judge(&case);
    match ruling.tested {
        Tested::Never(_) => look(&case, &[]),
        Tested::Yes | Tested::No(_) | Tested::Remarked(_) => look(&case, &ruling.findings),
    }
}

/// A digest with all that is derived from it before any property is judged.
pub(crate) struct Derived<'a> {
    pub(crate) digest: &'a Digest,
    pub(crate) options: &'a Options,
    pub(crate) holds: Vec<Hold>,
    pub(crate) faults: Vec<FaultSummary>,
    pub(crate) coverage: Coverage,
    pub(crate) availability: Availability,
    pub(crate) losses: Option<Losses>,
}

impl<'a> Derived<'a> {
    pub(crate) fn new(digest: &'a Digest, options: &'a Options) -> Self {
        let threads = options.threads(digest.operations.len());
        let (holds, tries) = parallel::both(
            threads,
            || holds_by(threads, digest, options.drift(&digest.header)),
            || Tries::of(digest),
        );
        let faults = faults(digest);
        let coverage = coverage(threads, digest, &tries, &holds, &faults);
        let availability = if options.wants(Property::Availability) {
            availability(digest, &holds, Nanos::MAX, &stalled(digest)).0
        } else {
            Availability::default()
        };
        Self {
            losses: losses(digest, &holds),
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
