//! The operations that a hold rests on, and how long it is shown to last.

use super::parts::Case;
use crate::history::Nanos;
use crate::holds::Hold;
use crate::operations::{Action, Interval, OpId};

impl Case<'_> {
    /// An interval as people see it: what never ended, ends with the history.
    pub(crate) fn shown(&self, interval: Interval) -> Interval {
        if interval.end < Nanos::MAX {
            return interval;
        }
        Interval::new(interval.start, self.digest.end.max(interval.start))
    }

    /// The operations that a hold rests on, in order of invocation: its acquire, what its owner did
    /// on the lock while it lasted (from the proof on, where it has one), its release. A grant that
    /// was answered while it lasted is one of them though it was asked for before.
    pub(crate) fn operations_of_hold(&self, hold: &Hold) -> Vec<OpId> {
        let effective_at = |id: OpId| self.digest.operation(id).effective_at();
        let first = hold.proof.unwrap_or(hold.acquire);
        let granted = effective_at(first);
        let last = hold.release.or(hold.denial);
        // What proves a later hold of the same owner, and all that follows, belongs to that one.
        let mut proof = self.proof_after(hold, first);
        while let Some(early) = proof.filter(|&id| effective_at(id) <= granted) {
            proof = self.proof_after(hold, early);
        }
        let proof = proof.map(effective_at);
        let own = self.operations_of(hold.owner).iter().copied();
        own.filter(|&id| {
            let operation = self.digest.operation(id);
            let at = operation.effective_at();
            let extends = matches!(operation.action, Action::Acquire | Action::Renew);
            let inside = granted <= at
                && match last {
                    // A renewal that was sent before the release may be answered after it.
                    Some(last) => {
                        let sent = self.digest.operation(last).invoked;
                        let is_renewal = operation.action == Action::Renew;
                        at <= effective_at(last) || is_renewal && operation.invoked < sent
                    }
                    None => proof.is_none_or(|proof| at < proof),
                };
            let ended = hold.anew.filter(|_| operation.action == Action::Release);
            let marks = [Some(hold.acquire), hold.proof, hold.release, ended].contains(&Some(id));
            // Who asks for the other mode may give up this one.
            let bears = operation.action == Action::Acquire || self.concerns(operation, hold);
            operation.key == hold.key && (marks || inside && extends && bears)
        })
        .collect()
    }
}
