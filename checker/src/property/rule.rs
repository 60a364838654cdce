//! What every property must know about itself.

use crate::case::{Case, Finding, Ruling, Run, vacuity};
use crate::history::Nanos;
use crate::operations::Interval;
use crate::story::Teller;
use crate::text;

/// The rule of one property: finds violations, and puts each into words that stand up alone.
pub(crate) trait Rule: Sync {
    /// Every violation of the property, and whether it was put to the test.
    fn judge(&self, case: &Case) -> Ruling;

    /// What is violated, in one sentence without a stop. `interval` is the one shown, which ends
    /// with the history at the latest.
    fn claim(&self, case: &Case, finding: &Finding, interval: Interval) -> String;

    /// Which of several faults of this property it is, for the signature of the witness.
    fn kind(&self, _case: &Case, _finding: &Finding) -> Option<&'static str> {
        None
    }

    /// Tells what led to the violation, beyond the holds of the finding and the faults.
    fn tell(&self, teller: &mut Teller, interval: Interval);

    /// When the contradiction is plain; what came later explains nothing.
    fn plain_at(&self, interval: Interval) -> Nanos {
        interval.end
    }

    /// Why the run as a whole may not have put the property to the test.
    fn weigh(&self, run: &Run) -> Option<String> {
        vacuity::of_faults(run)
    }

    /// What there is to say beyond the verdict where nothing is violated, in one sentence.
    fn remark(&self, _run: &Run) -> Option<String> {
        None
    }

    /// Whether the finding still shows a violation when nothing but its own operations is left of
    /// the history: the second way to the same accusation, on which every witness is tried before
    /// it is reported.
    fn stands_alone(&self, case: &Case, finding: &Finding) -> bool;
}

/// The owners of the holds of a finding, in its order.
pub(crate) fn owners(case: &Case, finding: &Finding) -> Vec<String> {
    let owner = |&at: &usize| text::name(case.digest.owner(case.holds[at].owner));
    finding.holds.iter().map(owner).collect()
}
