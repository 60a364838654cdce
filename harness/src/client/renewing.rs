//! Renewals of a client: those that it is told to send, the rounds of its watchdog, and what its
//! library sends without a word.

use lockstorm_checker::history::{Function, Kind, Mode, Name, Value};
use lockstorm_scenarios::LockOperation;
use tokio::time::sleep_until;

use super::session::{Reply, Session};
use crate::locks::{BatchRenewal as _, Grant, Lock as _, LockRequest, Outcome};
use crate::recorder::MAIN;

/// Reason why nobody knows of a library's renewals.
const UNSEEN: &str = "the library renews by itself, and does not say when";

impl Session {
    /// Extends the lease of `key`.
    pub async fn renew(&mut self, key: &Name, mode: Mode) -> Reply {
        if self.gate.pass().await.is_err() {
            return Reply::Killed;
        }
        let ask = LockRequest {
            mode,
            ..LockRequest::default()
        };
        let _under_way = self.begin(LockOperation::Renew);
        self.ask_renewal(MAIN, key, ask, false).await;
        let giving_up = self.giving_up();
        let outcome = giving_up.or(self.lock.renew(key, ask)).await;
        self.renewed(MAIN, key, ask, outcome).await
    }

    /// A round of the watchdog: extends the leases of all that the client holds, as many at once as
    /// the lock can. What turns out to be lost is held no more. A watchdog that is stalled lets the
    /// round go by.
    pub async fn renew_all(&mut self) -> Reply {
        if self.gate.pass().await.is_err() {
            return Reply::Killed;
        }
        let leases = self.holds.begin_round();
        if !self.gate.renewals_may_pass(leases.len() as u64) {
            return Reply::Done;
        }
        let _under_way = self.begin(LockOperation::Renew);
        for batch in leases.chunks(self.lock.renewal_batch()) {
            for (lane, (key, ask)) in (MAIN + 1..).zip(batch) {
                let by_harness = self.lacks_watchdog;
                self.ask_renewal(lane, key, *ask, by_harness).await;
            }
            let outcomes = self.lock.renew_batch(batch).await;
            let mut killed = false;
            for ((lane, (key, ask)), outcome) in (MAIN + 1..).zip(batch).zip(outcomes) {
                killed |= self.renewed(lane, key, *ask, outcome).await == Reply::Killed;
            }
            if killed {
                return Reply::Killed;
            }
        }
        Reply::Done
    }

    async fn ask_renewal(&mut self, lane: usize, key: &Name, ask: LockRequest, by_harness: bool) {
        let asked = Value {
            lease_ms: self.lease_ms,
            by_harness,
            ..self.value(ask)
        };
        self.record(lane, Kind::Invoke, Function::Renew, key, asked, None)
            .await;
    }

    async fn renewed(
        &mut self,
        lane: usize,
        key: &Name,
        ask: LockRequest,
        outcome: Outcome<Grant>,
    ) -> Reply {
        match outcome {
            Outcome::Denied => self.holds.gone(key, ask.mode),
            Outcome::Done(_) => self.note_reply(key).await,
            Outcome::Failed(_) | Outcome::Unknown(_) | Outcome::Killed => {}
        }
        self.complete(lane, Function::Renew, key, ask, outcome)
            .await
    }

    /// Records a renewal of any length and any time, of which nobody knows: it stands for all that
    /// the library may send without a word while `key` is held.
    pub(super) async fn expect_unseen_renewals(&mut self, key: &Name, ask: LockRequest) {
        let lane = MAIN + 1;
        let asked = Value {
            lease_ms: Some(0),
            ..self.value(ask)
        };
        self.record(lane, Kind::Invoke, Function::Renew, key, asked, None)
            .await;
        let outcome = Outcome::<Grant>::Unknown(UNSEEN.to_owned());
        self.complete(lane, Function::Renew, key, ask, outcome)
            .await;
    }

    /// Waits until a round of the watchdog is due; waits forever if none is. Nothing is lost when
    /// the future is dropped while it waits.
    pub async fn renewal_due(&self) {
        match self.holds.next_round() {
            Some(due) => sleep_until(due).await,
            None => std::future::pending().await,
        }
    }
}
