//! Asks a sentinel every second who the primary is, whatever the client does meanwhile.
//!
//! Source: Redisson 3.10.6, 3.17.0 and 4.7.0, `SentinelConnectionManager.scheduleChangeCheck` with
//! the default of `scanInterval`. None of the three subscribes to `+switch-master`.
//! For: clients like Redisson's, which do not ask when a connection is lost only.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::sleep;

use super::dialer::Dialer;
use super::route::Sentinels;
use super::sentinels::{Finder, Named};

/// Pause between an answer and the next question.
const SCAN_INTERVAL: Duration = Duration::from_secs(1);

/// The last change that was seen, and the task that looks for changes; dropping it ends the task.
pub struct SentinelScan {
    seen: Arc<Mutex<Option<Named>>>,
    _task: JoinSet<()>,
}

impl SentinelScan {
    /// Begins to ask.
    pub fn start(dialer: &Dialer, sentinels: &Sentinels) -> Self {
        let seen = Arc::default();
        let finder = Finder::new(dialer.clone(), sentinels.clone());
        let mut task = JoinSet::new();
        task.spawn(scan(finder, Arc::clone(&seen)));
        Self { seen, _task: task }
    }

    /// The last change since this was asked for before.
    pub fn take(&self) -> Option<Named> {
        let mut seen = self.seen.lock().expect("no holder of this lock panics");
        seen.take()
    }
}

/// Asks one sentinel after the other, and keeps an answer that differs from the one before.
async fn scan(mut finder: Finder, seen: Arc<Mutex<Option<Named>>>) {
    let mut last = None;
    loop {
        if let Ok(named) = finder.ask_any().await {
            finder.ask_another_first();
            if last != Some(named.address) {
                last = Some(named.address);
                *seen.lock().expect("no holder of this lock panics") = Some(named);
            }
        }
        sleep(SCAN_INTERVAL).await;
    }
}
