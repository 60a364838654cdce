//! The renewals of a hold, as far as its lease rests on them.

use super::teller::Teller;
use crate::history::Nanos;
use crate::holds::Hold;
use crate::operations::{Action, Lease, OpId, Outcome};
use crate::verdict::{Property, StepKind};

/// Operation that makes a lease reach further than all before it: until when, as which renewal, and
/// its id.
type Reach = (Nanos, u32, OpId);

impl Teller<'_> {
    /// The renewals without which the lease would not reach from one operation of its owner to the
    /// next, and to its end: a grant after the lease would be a hold of its own.
    pub(super) fn renewals(&mut self, hold: &Hold) {
        for (_, number, id) in self.chain(hold) {
            let digest = self.case.digest;
            let operation = digest.operation(id);
            if operation.action == Action::Acquire {
                self.deed(id);
                continue;
            }
            let (owner, good_until) = (self.owner(hold), self.good_until(id));
            let what = format!("{} (renewal {number}), {good_until}", self.lock);
            let text = if operation.by_harness {
                format!("the harness renewed for {owner} {what}")
            } else {
                format!("{owner} renewed {what}")
            };
            let time = operation.answered().unwrap_or(self.until).min(self.until);
            self.push(time, owner, StepKind::Renew, text, id);
        }
    }

    fn chain(&self, hold: &Hold) -> Vec<Reach> {
        let digest = self.case.digest;
        let granting = digest.operation(hold.proof.unwrap_or(hold.acquire));
        let mut steps = self.case.operations_of(hold.owner).to_vec();
        steps.retain(|&id| {
            let operation = digest.operation(id);
            let rests = matches!(
                operation.action,
                Action::Acquire | Action::Renew | Action::Release
            );
            let inside = operation.invoked < hold.core.end && operation.invoked <= self.until;
            let own = operation.key == hold.key && self.case.concerns(operation, hold);
            let done = own && operation.outcome == Outcome::Ok;
            rests && done && inside && granting.precedes(operation)
        });
        steps.sort_by_key(|&id| digest.operation(id).effective_at());
        // Further grants have steps of their own where the story counts them.
        let is_counted = hold.partial.is_some() || self.finding.property == Property::Reentrancy;
        let mut reach = self.floor(hold, hold.acquire);
        if let Some(proof) = hold.proof.filter(|_| granting.action == Action::Renew) {
            reach = reach.max(self.floor(hold, proof));
        }
        let (mut chain, mut count) = (Vec::new(), 0);
        let mut longest: Option<Reach> = None;
        for id in steps {
            let operation = digest.operation(id);
            if operation.answered() > Some(reach)
                && let Some(before) = longest.take()
            {
                reach = before.0;
                chain.push(before);
            }
            let floor = self.floor(hold, id);
            let is_told = is_counted && operation.action == Action::Acquire;
            count += u32::from(operation.action == Action::Renew);
            let extends = operation.action != Action::Release && floor > reach;
            if extends && is_told {
                reach = floor;
            } else if extends {
                longest = longest.max(Some((floor, count, id)));
            }
        }
        chain.extend(longest.filter(|longest| longest.0 > reach));
        chain
    }

    /// Until when an acquire or a renewal of a hold keeps its lease at the least.
    fn floor(&self, hold: &Hold, id: OpId) -> Nanos {
        let operation = self.case.digest.operation(id);
        let asked_for = self.case.digest.operation(hold.acquire).lease;
        let renewed = asked_for.filter(|_| operation.action == Action::Renew);
        let drift = self.case.options.drift(&self.case.digest.header);
        let sent = operation.asked();
        Lease::granted(sent, sent, operation.lease.or(renewed), drift).floor
    }
}
