//! The steps of a grant or a renewal that came too late.

use super::deed::asking;
use super::teller::Teller;
use crate::history::Nanos;
use crate::operations::{Action, Interval};
use crate::text;
use crate::verdict::StepKind;

impl Teller<'_> {
    /// Tells when the grant or renewal was asked for, and what the answer was; a grant is told by
    /// its hold, if it has one.
    pub(crate) fn arrival(&mut self) {
        let Some(id) = self.finding().operation() else {
            return;
        };
        let operation = self.case.digest.operation(id);
        let owner = text::name(self.case.digest.owner(operation.owner));
        let is_renewal = operation.action == Action::Renew;
        let lease = operation.lease.filter(|_| !operation.is_void);
        let lease = lease.map(|lease| format!(" for {}", text::length(lease)));
        let lease = lease.unwrap_or_default();
        let what = if is_renewal { "to renew" } else { "for" };
        let asks = asking(operation, &owner);
        let text = format!("{asks} asked {what} {}{lease}", self.lock);
        self.push(operation.asked(), owner, StepKind::Command, text, id);
        let name = self.case.digest.owner(operation.owner);
        let end = operation.answered().unwrap_or(Nanos::MAX);
        self.last_reply(name, Interval::new(operation.asked(), end));
        if is_renewal || self.finding().holds.is_empty() {
            self.deed(id);
        }
    }
}
