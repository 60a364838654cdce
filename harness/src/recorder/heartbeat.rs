//! A beat by which the harness notices that it stood still itself: stopped by a signal, suspended
//! with its machine, or starved by other programs.
//!
//! For: a note in the history, so that no lock is accused of what the harness did not see in time.

use std::time::Duration;

use lockstorm_checker::history::StallNote;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::event_sink::EventSink;

/// Pause between two beats.
const BEAT: Duration = Duration::from_millis(50);
/// A beat that comes so late is a stall.
const STALL: Duration = Duration::from_millis(500);

/// Beats until it is stopped; dropping it ends it too.
pub struct Heartbeat {
    task: JoinHandle<()>,
}

impl Heartbeat {
    /// Begins.
    pub fn start(sink: EventSink) -> Self {
        let task = tokio::spawn(beat(sink));
        Self { task }
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn beat(sink: EventSink) {
    loop {
        let since = sink.clock().now();
        sleep(BEAT).await;
        let took = sink.clock().now() - since;
        if Duration::from_nanos(took.0) > STALL {
            sink.stall(StallNote { since }).await;
        }
    }
}
