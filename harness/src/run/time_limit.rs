//! The time that a run may take.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::workload::Stopped;

/// An end for one run, which comes with the user's or when its time is over.
pub struct TimeLimit {
    /// Cancelled when the run is to end.
    pub token: CancellationToken,
    limit: Option<Duration>,
    is_over: Arc<AtomicBool>,
    timer: Option<JoinHandle<()>>,
}

impl TimeLimit {
    /// Starts to count.
    pub fn start(limit: Option<Duration>, interrupt: &CancellationToken) -> Self {
        let token = interrupt.child_token();
        let is_over = Arc::new(AtomicBool::new(false));
        let timer = limit.map(|limit| {
            let (token, is_over) = (token.clone(), Arc::clone(&is_over));
            tokio::spawn(async move {
                tokio::time::sleep(limit).await;
                is_over.store(true, Ordering::Relaxed);
                token.cancel();
            })
        });
        Self {
            token,
            limit,
            is_over,
            timer,
        }
    }

    /// The reason why a run stopped, which is its time where that was over. An answer that came
    /// before and broke something stands.
    pub fn told(&self, stopped: Option<Stopped>) -> Option<Stopped> {
        let mut stopped = stopped?;
        let is_over = self.is_over.load(Ordering::Relaxed);
        let was_answered = stopped.is_unmet || stopped.breaks.is_some();
        if let Some(limit) = self.limit.filter(|_| is_over && !was_answered) {
            stopped.why = format!("it took longer than {limit:?}, see --timeout");
        }
        Some(stopped)
    }
}

impl Drop for TimeLimit {
    fn drop(&mut self) {
        if let Some(timer) = &self.timer {
            timer.abort();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_answer_that_broke_something_is_not_lost_to_the_limit() {
        let limit = TimeLimit::start(Some(Duration::ZERO), &CancellationToken::new());
        limit.token.cancelled().await;
        let told = limit.told(Some(Stopped::new("interrupted".to_owned())));
        assert!(told.is_some_and(|stopped| stopped.why.contains("--timeout")));
        let answered = Stopped {
            is_unmet: true,
            step: Some(1),
            ..Stopped::new("expected granted, got refused".to_owned())
        };
        assert_eq!(limit.told(Some(answered.clone())), Some(answered));
        assert_eq!(limit.told(None), None);
    }
}
