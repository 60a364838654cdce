//! The steps of clients that turned to another server, or to the same again.

use std::collections::BTreeSet;

use super::teller::{Change, Draft, Teller};
use crate::operations::Interval;
use crate::text;
use crate::verdict::StepKind;

/// Turns told of in one story, the last ones: who keeps losing a connection says nothing new.
const ROUTES_MAX: usize = 12;

impl Teller<'_> {
    /// The turns of the clients that the story tells of so far.
    pub(crate) fn routes(&mut self, scene: Interval) {
        let actors: BTreeSet<&str> = self.drafts.iter().map(|draft| &*draft.actor).collect();
        let inside = |time| scene.start <= time && time <= self.until;
        let routes = self.case.digest.asides.routes.iter();
        let told = routes.filter(|route| inside(route.time));
        let told = told.map(|route| (text::name(&route.owner), route));
        let mut drafts: Vec<Draft> = told
            .filter(|(owner, _)| actors.contains(owner.as_str()))
            .map(|(owner, route)| {
                let note = &route.note;
                let (to, why) = (text::name(&note.to), text::prose(&note.why));
                let text = match note.from.as_deref() {
                    Some(from) if *from != *note.to => {
                        format!("{owner} turned from {} to {to}: {why}", text::name(from))
                    }
                    Some(_) | None => format!("{owner} connected to {to} again: {why}"),
                };
                Draft {
                    time: route.time,
                    actor: owner,
                    kind: StepKind::Route,
                    text,
                    certain: true,
                    evidence: vec![route.event],
                    change: Change::None,
                }
            })
            .collect();
        let early = drafts.len().saturating_sub(ROUTES_MAX);
        self.drafts.extend(drafts.drain(early..));
    }
}
