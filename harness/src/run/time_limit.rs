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

    /// The reason why a run stopped, which is its time where that was over.
    pub fn told(&self, stopped: Option<Stopped>) -> Option<Stopped> {
        match (stopped, self.limit) {
            (Some(_), Some(limit)) if self.is_over.load(Ordering::Relaxed) => Some(Stopped::new(
                format!("it took longer than {limit:?}, see --timeout"),
            )),
            (stopped, _) => stopped,
        }
    }
}

impl Drop for TimeLimit {
    fn drop(&mut self) {
        if let Some(timer) = &self.timer {
            timer.abort();
        }
    }
}
