//! Giving up what a client has under way.

use std::sync::Arc;

use crate::connection::{CANCELLED, Gate};
use crate::locks::Outcome;

/// The way in which a client gives up what it has under way: a task drops it in the middle, as the
/// future of a library would be dropped; a program is told, and answers.
pub(super) struct GivingUp {
    pub(super) gate: Arc<Gate>,
    pub(super) is_program: bool,
}

impl GivingUp {
    /// Outcome of a call, unless it is given up before: then nobody knows.
    pub(super) async fn or<T>(&self, call: impl Future<Output = Outcome<T>>) -> Outcome<T> {
        let given_up = || Outcome::Unknown(CANCELLED.to_owned());
        self.unless_given_up(call).await.unwrap_or_else(given_up)
    }

    /// Result of a call, or `None` where it was given up before.
    pub(super) async fn unless_given_up<T>(&self, call: impl Future<Output = T>) -> Option<T> {
        if self.is_program {
            return Some(call.await);
        }
        tokio::select! {
            biased;
            result = call => Some(result),
            () = self.gate.cancellation() => None,
        }
    }
}
