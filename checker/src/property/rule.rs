//! Trait that every property implements: how it is judged, and how a violation of it is told.

use crate::case::{Case, Finding, Ruling, Run, vacuity};
use crate::history::Nanos;
use crate::operations::Interval;
use crate::story::Teller;
use crate::text;

/// The rule of one property: finds violations, and puts each into words that stand up alone.
pub(crate) trait Rule: Sync {
    /// Every violation of the property, and whether it was put to the test.
    fn judge(&self, case: &Case) -> Ruling;

    /// Says what is violated, in one sentence without a full stop. `interval` is the one shown,
    /// which ends with the history at the latest.
    fn claim(&self, case: &Case, finding: &Finding, interval: Interval) -> String;

    /// Names the kind of violation, of the several that this property may have, for the signature
    /// of the witness.
    fn kind(&self, _case: &Case, _finding: &Finding) -> Option<&'static str> {
        None
    }

    /// Tells what led to the violation, beyond the holds of the finding and the faults.
    fn narrate(&self, teller: &mut Teller, interval: Interval);

    /// Returns the time at which the contradiction is plain; what came later explains nothing.
    fn contradiction_at(&self, interval: Interval) -> Nanos {
        interval.end
    }

    /// Returns the time from which on the story tells of servers and faults, where that is before
    /// the first hold and the first operation of the finding.
    fn told_since(&self, _case: &Case, _finding: &Finding, interval: Interval) -> Nanos {
        interval.start
    }

    /// Returns the reason why the run as a whole may not have put the property to the test, if
    /// there is one.
    fn vacuity_reason(&self, run: &Run) -> Option<String> {
        vacuity::of_faults(run)
    }

    /// Returns what there is to say beyond the verdict where nothing is violated, in one sentence.
    fn remark(&self, _run: &Run) -> Option<String> {
        None
    }

    /// Returns what decides when a violation came about; faults of another time have no part in it.
    fn blame_window(&self) -> BlameWindow;

    /// Returns the kind of faults that can bring a violation about.
    fn causes(&self) -> Causes;

    /// Tells whether the property can be judged by times that are widened by as much as clocks may
    /// be off. Where it cannot, a violation seen under such clocks is unknown.
    fn survives_clock_error(&self) -> bool;

    /// Returns the notes on which a verdict may rest, beside those of the owners themselves.
    fn rests_on(&self) -> &'static [Evidence] {
        &[]
    }

    /// Tells whether the finding still shows a violation when only its own operations are left of
    /// the history: a second way to the same accusation, by which every witness is tested before it
    /// is reported.
    fn verify_witness(&self, case: &Case, finding: &Finding) -> bool;
}

/// The owners of the holds of a finding, in its order.
pub(crate) fn owners(case: &Case, finding: &Finding) -> Vec<String> {
    let owner = |&at: &usize| text::name(case.digest.owner(case.holds[at].owner));
    finding.holds.iter().map(owner).collect()
}

/// How to find the interval in which a violation was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlameWindow {
    /// It is the interval that is shown.
    Shown,
    /// From when the operation was sent to the end of what is shown.
    SinceSent,
    /// From when the service last knew of the first hold to the end of what is shown.
    SinceKnown,
    /// From when the service last knew of the first hold to the beginning of the second; of one
    /// hold alone, to the end of what is shown.
    BetweenHolds,
    /// From when the service last knew of the first hold to the beginning of the second; of one
    /// hold alone, to the beginning of what is shown: from there on its owner knew.
    UntilToldOrHeld,
    /// From the hold, or the operation that ended it, to the beginning of what is shown.
    UntilSeen,
}

/// Faults that can bring a violation about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Causes {
    /// Those of any kind.
    Any,
    /// Those that touch the client of the first hold.
    FirstHolder,
    /// Those that can make the service lose a lock.
    Forgetting,
    /// Those of servers and links, and those of the client that failed.
    OwnOrServers,
}

/// Notes of a history on which a verdict may rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// Commands that servers were sent for the lock while the operation was under way.
    Commands,
    /// Views: what servers were seen to have of the lock.
    Views,
    /// The failure of a client.
    Failure,
    /// Signs that an owner went on as holder, and its release.
    SignsOfLife,
    /// The final phase, and what became of the faults.
    FinalPhase,
    /// The last event of the history: nothing came after it.
    End,
}
