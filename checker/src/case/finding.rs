//! Findings: the answer of a property, before it is put into words.

use crate::operations::{Interval, KeyId, OpId};
use crate::verdict::Property;

/// One violation, before it is put into words.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    pub(crate) property: Property,
    pub(crate) key: KeyId,
    /// Positions of the holds involved; for a lease overrun the stale one first.
    pub(crate) holds: Vec<usize>,
    /// The operations that show it, where it is not the holds alone.
    pub(crate) operations: Vec<OpId>,
    pub(crate) interval: Interval,
    pub(crate) certain: bool,
}

impl Finding {
    /// The operation that shows it, where there is one.
    pub(crate) fn operation(&self) -> Option<OpId> {
        self.operations.first().copied()
    }
}

/// The answer of a property.
pub(crate) struct Ruling {
    /// Name of the algorithm that decided.
    pub(crate) engine: &'static str,
    /// `true` if the history contains anything for the property to judge.
    pub(crate) has_matter: bool,
    /// All violations.
    pub(crate) count: u64,
    /// The first of them, by time.
    pub(crate) findings: Vec<Finding>,
    pub(crate) tested: Tested,
}

/// Answer to whether the property was put to the test, by what its rule looks at; what the run must
/// show besides is for `Rule::weigh`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tested {
    Yes,
    /// It was, and there is this to say where nothing is violated.
    Remarked(String),
    /// Reason why there may be no violation although the lock is bad.
    No(String),
    /// Reason why the history cannot be judged at all, however it goes on.
    Never(String),
}

/// Maximum number of violations that are listed with their intervals, for the count of each fault.
/// Ten thousand findings take some megabytes; those beyond are only counted as a whole.
pub(crate) const FINDINGS_MAX: usize = 10_000;

/// Puts findings of all keys in order of time, and keeps the first of them.
pub(crate) fn keep_first(findings: &mut Vec<Finding>) {
    findings.sort_by_key(|finding| (finding.interval.start, finding.key));
    findings.truncate(FINDINGS_MAX);
}

/// Variant of [`keep_first`] for findings that are still being gathered: it acts seldom enough to
/// cost nothing, and often enough to keep them few.
pub(crate) fn keep_few(findings: &mut Vec<Finding>) {
    if findings.len() > 2 * FINDINGS_MAX {
        keep_first(findings);
    }
}
