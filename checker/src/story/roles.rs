//! The steps of servers that became a primary, or a replica.

use super::teller::{Change, Draft, Teller};
use crate::operations::{Interval, RoleAside};
use crate::text;
use crate::verdict::StepKind;

/// Changes told of in one story, the last ones.
const ROLES_MAX: usize = 12;

impl Teller<'_> {
    /// Tells which roles servers took while the story lasts, and the last change of role, however
    /// early, of each server that granted the lock.
    pub(crate) fn roles(&mut self, scene: Interval) {
        let before = self.case.digest.asides.roles.iter();
        let before = before.filter(|role| role.time <= self.until);
        let givers = self.givers();
        let is_last = |role: &RoleAside| {
            let mut later = before.clone().filter(|other| other.event > role.event);
            givers.contains(&*role.note.node)
                && !later.any(|other| other.note.node == role.note.node)
        };
        let told = before.clone();
        let told = told.filter(|role| scene.start <= role.time || is_last(role));
        let mut drafts: Vec<Draft> = told
            .map(|role| {
                let (node, change) = (text::name(&role.note.node), &role.note);
                let (now, was) = (text::name(&change.role), text::name(&change.was));
                Draft {
                    time: role.time,
                    text: format!("{node} takes itself for a {now}; until now it was a {was}"),
                    actor: node,
                    kind: StepKind::Role,
                    certain: true,
                    evidence: vec![role.event],
                    change: Change::None,
                }
            })
            .collect();
        let early = drafts.len().saturating_sub(ROLES_MAX);
        self.drafts.extend(drafts.drain(early..));
    }
}
