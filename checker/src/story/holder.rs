//! The steps of one hold: grant, renewal, end of the lease, notice, release.

use super::teller::{Change, Draft, Teller};
use crate::holds::Hold;
use crate::operations::{Action, Lease, Loss, LostNote, OpId, Outcome};
use crate::text;
use crate::verdict::StepKind;

impl Teller<'_> {
    pub(crate) fn hold(&mut self, hold: &Hold) {
        self.grant(hold);
        self.renewals(hold);
        self.expiry(hold);
        self.notice(hold);
        self.reentries(hold);
        if hold.release != self.finding.operation() {
            self.release(hold);
        }
    }

    pub(crate) fn grant(&mut self, hold: &Hold) {
        let owner = self.owner(hold);
        let mut evidence = self.events(hold.acquire);
        let text = if let Some(proof) = hold.proof {
            evidence.extend(self.events(proof));
            let seen = match self.case.digest.operation(proof).action {
                Action::Renew => "its renewal was granted",
                Action::Release => "its release was granted",
                Action::Acquire | Action::Resource(_) | Action::Other => "its token was in use",
            };
            format!(
                "{owner} holds {}: its acquire had no clear answer, but {seen}",
                self.lock
            )
        } else {
            let token = hold.token.map(|token| format!(" with token {token}"));
            let token = token.unwrap_or_default();
            format!(
                "{owner} was granted {}{}{token}, {}",
                self.lock,
                text::by(
                    self.case
                        .digest
                        .givers(self.case.digest.operation(hold.acquire))
                ),
                self.good_until(hold.acquire)
            )
        };
        self.drafts.push(Draft {
            time: hold.core.start,
            actor: owner,
            kind: StepKind::Grant,
            text,
            certain: hold.proof.is_none(),
            evidence,
            change: if hold.is_good_on_arrival(self.case.digest) {
                Change::Gains
            } else {
                Change::None
            },
        });
    }

    /// Says until when the lease that this acquire or renewal got is good.
    pub(crate) fn good_until(&self, id: OpId) -> String {
        let operation = self.case.digest.operation(id);
        let drift = self.case.options.drift(&self.case.digest.header);
        match (operation.lease, operation.answered()) {
            _ if operation.is_of_session => "for as long as its session lasts".to_owned(),
            (Some(length), Some(answered)) => {
                let lease = Lease::granted(operation.asked(), answered, Some(length), drift);
                format!("its lease good until {}", text::instant(lease.floor))
            }
            (None, _) | (_, None) => "without a lease of its own".to_owned(),
        }
    }

    fn expiry(&mut self, hold: &Hold) {
        let owner = self.owner(hold);
        let (what, may_be_over) = if self.case.digest.operation(hold.acquire).is_of_session {
            ("session", "may have ended at any time from here on")
        } else {
            ("lease", "may have run out from here on")
        };
        let ends = [
            (hold.lease.floor, may_be_over, Change::None),
            (hold.lease.ceiling, "has certainly run out", Change::Loses),
        ];
        for (end, is_over, change) in ends {
            let time = end.max(hold.core.start);
            if time <= self.until && time < hold.core.end {
                self.drafts.push(Draft {
                    time,
                    actor: owner.clone(),
                    kind: StepKind::Expire,
                    text: format!("the {what} of {owner} on {} {is_over}", self.lock),
                    certain: false,
                    evidence: self.events(hold.acquire),
                    change,
                });
            }
        }
    }

    /// The notice that a client lost the lock.
    fn notice(&mut self, hold: &Hold) {
        let Some(time) =
            Some(hold.told_lost).filter(|&told| told <= self.until && told < crate::Nanos::MAX)
        else {
            return;
        };
        let notes = &self.case.digest.lost;
        let same =
            |note: &&LostNote| (note.key, note.owner, note.time) == (hold.key, hold.owner, time);
        if let Some(note) = notes.iter().find(same) {
            let owner = self.owner(hold);
            self.drafts.push(Draft {
                time,
                text: match note.loss {
                    Loss::Told => format!("{owner} was told that it lost {}", self.lock),
                    Loss::Suspended => format!(
                        "{owner} was told that nobody knows whether it holds {}",
                        self.lock
                    ),
                    Loss::Ended => {
                        format!(
                            "the session of {owner}, by which it held {}, ended",
                            self.lock
                        )
                    }
                },
                actor: owner,
                kind: StepKind::Expire,
                certain: true,
                evidence: vec![note.event],
                change: Change::Loses,
            });
        }
    }

    fn release(&mut self, hold: &Hold) {
        let Some(id) = hold.release else {
            return;
        };
        let release = self.case.digest.operation(id);
        if release.invoked > self.until {
            return;
        }
        let (owner, lock) = (self.owner(hold), &self.lock);
        let text = match release.outcome {
            Outcome::Ok => format!("{owner} released {lock}"),
            Outcome::NotOwner => {
                format!("{owner} released {lock}, and was told that it does not hold it")
            }
            Outcome::Refused | Outcome::Failed => {
                format!("{owner} tried to release {lock}, and failed")
            }
            Outcome::Unknown => format!("{owner} sent its release of {lock}, without an answer"),
        };
        self.push(release.invoked, owner, StepKind::Release, text, id);
    }
}
