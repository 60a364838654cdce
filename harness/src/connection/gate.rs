//! The gate that each of a client's commands passes twice: before it is sent, and before its
//! reply is seen. Closing it is SIGSTOP for a client that is a task. Its watchdog has a bar of its
//! own, which only renewals pass.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU64, Ordering};

use lockstorm_nemesis::ClientState;
use tokio::sync::Notify;

const RUNNING: u8 = 0;
const PAUSED: u8 = 1;
const DEAD: u8 = 2;
/// Reason why nobody knows the outcome of an operation whose client died.
pub const CLIENT_KILLED: &str = "client killed";
/// Reason why nobody knows the outcome of an operation that was given up.
pub const CANCELLED: &str = "cancelled by its caller";

/// No death is foreseen.
const NEVER: i64 = i64::MAX;

/// Stops, releases or kills one client.
#[derive(Debug)]
pub struct Gate {
    state: AtomicU8,
    /// Commands sent.
    commands: AtomicU64,
    /// Channels subscribed to, whose confirmations were waited for.
    subscriptions: AtomicU64,
    /// Replies that the client may still see before it dies.
    replies_left: AtomicI64,
    /// `true` while its watchdog stands still; then the number of renewals that were not sent for
    /// that reason.
    watchdog_stalled: AtomicBool,
    renewals_missed: AtomicU64,
    renewals_sent: AtomicU64,
    /// `true` if its thread is dead, while its watchdog lives.
    thread_is_dead: AtomicBool,
    /// `true` if it gave no answer, for which it is killed.
    has_hung: AtomicBool,
    /// Number of the order under way, and of the last order that was given up.
    order: AtomicU64,
    cancelled: AtomicU64,
    changed: Notify,
}

/// The client is dead: whatever it was doing ends here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Killed;

impl Default for Gate {
    fn default() -> Self {
        Self {
            state: AtomicU8::new(RUNNING),
            commands: AtomicU64::new(0),
            subscriptions: AtomicU64::new(0),
            replies_left: AtomicI64::new(NEVER),
            watchdog_stalled: AtomicBool::new(false),
            renewals_missed: AtomicU64::new(0),
            renewals_sent: AtomicU64::new(0),
            thread_is_dead: AtomicBool::new(false),
            has_hung: AtomicBool::new(false),
            order: AtomicU64::new(1),
            cancelled: AtomicU64::new(0),
            changed: Notify::new(),
        }
    }
}

impl Gate {
    /// Waits while the client is paused.
    ///
    /// # Errors
    /// [`Killed`] when the client is dead.
    pub async fn pass(&self) -> Result<(), Killed> {
        loop {
            // Registered before the state is read, or a change in between would go unnoticed.
            let changed = self.changed.notified();
            match self.state.load(Ordering::Acquire) {
                RUNNING => return Ok(()),
                PAUSED => changed.await,
                _ => return Err(Killed),
            }
        }
    }

    /// Waits until the client is dead.
    pub async fn death(&self) -> Killed {
        loop {
            let changed = self.changed.notified();
            if self.state.load(Ordering::Acquire) == DEAD {
                return Killed;
            }
            changed.await;
        }
    }

    /// The client has carried out an order. They are counted from 1, as they were given.
    pub fn end_order(&self) {
        self.order.fetch_add(1, Ordering::AcqRel);
    }

    /// Gives up the order of this number, if it is under way or is still to come.
    pub fn cancel_order(&self, number: u64) {
        self.cancelled.store(number, Ordering::Release);
        self.changed.notify_waiters();
    }

    /// Tells whether the order under way was given up.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Acquire) >= self.order.load(Ordering::Acquire)
    }

    /// Waits until the order under way is given up.
    pub async fn cancellation(&self) {
        loop {
            let changed = self.changed.notified();
            if self.is_cancelled() {
                return;
            }
            changed.await;
        }
    }

    /// Counts a command that is about to be sent.
    pub fn count_command(&self) {
        self.commands.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a reply; the last one that a client may see whose death is scheduled kills it.
    pub fn count_reply(&self) {
        if self.replies_left.load(Ordering::Acquire) != NEVER
            && self.replies_left.fetch_sub(1, Ordering::AcqRel) <= 1
        {
            self.kill();
        }
    }

    /// Commands sent so far.
    pub fn commands(&self) -> u64 {
        self.commands.load(Ordering::Relaxed)
    }

    /// Counts a subscription that is about to be sent.
    pub fn count_subscription(&self) {
        self.subscriptions.fetch_add(1, Ordering::Relaxed);
    }

    /// Requests so far whose replies the client waited for.
    pub fn round_trips(&self) -> u64 {
        self.commands() + self.subscriptions.load(Ordering::Relaxed)
    }

    /// Stalls the client's watchdog, or lets it go on.
    pub fn stall_watchdog(&self, stalled: bool) {
        self.watchdog_stalled.store(stalled, Ordering::Release);
    }

    /// Tells whether the client's watchdog is stalled.
    pub fn watchdog_is_stalled(&self) -> bool {
        self.watchdog_stalled.load(Ordering::Acquire)
    }

    /// The watchdog is about to send so many renewals: whether it may. They are counted.
    pub fn renewals_may_pass(&self, due: u64) -> bool {
        let stalled = self.watchdog_is_stalled();
        let count = if stalled {
            &self.renewals_missed
        } else {
            &self.renewals_sent
        };
        count.fetch_add(due, Ordering::Relaxed);
        !stalled
    }

    /// Renewals that the watchdog has sent so far.
    pub fn renewals_sent(&self) -> u64 {
        self.renewals_sent.load(Ordering::Relaxed)
    }

    /// The client does nothing more; its watchdog goes on.
    pub fn kill_thread(&self) {
        self.thread_is_dead.store(true, Ordering::Release);
    }

    /// Tells whether only the client's watchdog lives.
    pub fn thread_is_dead(&self) -> bool {
        self.thread_is_dead.load(Ordering::Acquire)
    }

    /// Renewals that were due and not sent so far.
    pub fn renewals_missed(&self) -> u64 {
        self.renewals_missed.load(Ordering::Relaxed)
    }

    /// Returns the state of the client.
    pub fn state(&self) -> ClientState {
        match self.state.load(Ordering::Acquire) {
            PAUSED => ClientState::Paused,
            DEAD => ClientState::Dead,
            _ if self.replies_left.load(Ordering::Acquire) != NEVER => ClientState::DeathScheduled,
            _ => ClientState::Running,
        }
    }

    /// Stops the client, unless it is dead.
    pub fn pause(&self) {
        self.change(RUNNING, PAUSED);
    }

    /// Lets a paused client go on.
    pub fn resume(&self) {
        self.change(PAUSED, RUNNING);
    }

    /// Kills the client.
    pub fn kill(&self) {
        self.state.store(DEAD, Ordering::Release);
        self.changed.notify_waiters();
    }

    /// The client gives no answer: whoever finds that out kills it.
    pub fn hang(&self) {
        self.has_hung.store(true, Ordering::Release);
    }

    /// Tells whether the client gave no answer.
    pub fn has_hung(&self) -> bool {
        self.has_hung.load(Ordering::Acquire)
    }

    /// Kills the client when `replies` further commands were answered.
    pub fn kill_after(&self, replies: u32) {
        self.replies_left
            .store(i64::from(replies), Ordering::Release);
    }

    fn change(&self, from: u8, to: u8) {
        // Fails where there is nothing to change.
        let _ = self
            .state
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire);
        self.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[tokio::test]
    async fn a_paused_client_goes_on_only_when_resumed() {
        let gate = Arc::new(Gate::default());
        gate.pause();
        let waiting = tokio::spawn({
            let gate = gate.clone();
            async move { gate.pass().await }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished(), "a paused client must not pass");
        gate.resume();
        assert_eq!(waiting.await.expect("the task does not panic"), Ok(()));
    }

    #[tokio::test]
    async fn a_client_due_to_die_dies_with_the_reply_that_was_foretold() {
        let gate = Gate::default();
        gate.kill_after(2);
        gate.count_reply();
        assert_eq!(gate.state(), ClientState::DeathScheduled);
        gate.count_reply();
        assert_eq!(gate.pass().await, Err(Killed));
    }

    #[tokio::test]
    async fn a_dead_client_is_neither_paused_nor_resumed() {
        let gate = Gate::default();
        gate.kill();
        gate.pause();
        gate.resume();
        assert_eq!(gate.state(), ClientState::Dead);
    }
}
