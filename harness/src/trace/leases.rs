//! Leases that servers end because their time is over, as they count them themselves.
//!
//! For: showing which server ended a hold, where one counts. Not for: verdicts; nor does a count
//! say which lease it was.

use std::sync::Arc;
use std::time::Duration;

use lockstorm_checker::Nanos;
use lockstorm_checker::history::{Event, ExpiredNote, Function, Kind, Process, Value};
use lockstorm_nemesis::{ProcessState, process_state};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::recorder::EventSink;
use crate::server::{Node, Servers};

/// Interval at which a server is asked: what it tells beside the count is long.
const ASK_EVERY: Duration = Duration::from_millis(200);

/// Asks all servers again and again how many leases they have ended; dropping it ends that.
pub struct LeaseWatch {
    tasks: JoinSet<()>,
}

/// Count of one server when it was last asked.
struct Count {
    leases: u64,
    at: Nanos,
}

impl LeaseWatch {
    /// Begins. Servers that count no leases, or are none of ours, are not asked again.
    pub async fn start(servers: &Arc<Servers>, sink: &EventSink) -> Self {
        let mut tasks = JoinSet::new();
        let ours = servers.nodes().iter().filter(|_| servers.are_ours());
        for (at, node) in ours.enumerate() {
            if let Ok(Some(leases)) = node.server().ended_leases().await {
                let count = Count {
                    leases,
                    at: sink.clock().now(),
                };
                tasks.spawn(follow(servers.clone(), at, count, sink.clone()));
            }
        }
        Self { tasks }
    }

    /// Asks no more.
    pub async fn stop(mut self) {
        self.tasks.shutdown().await;
    }
}

/// Follows the count of server number `at`.
async fn follow(servers: Arc<Servers>, at: usize, mut count: Count, sink: EventSink) {
    let node = &servers.nodes()[at];
    loop {
        sleep(ASK_EVERY).await;
        match node.pid().map(process_state) {
            // It ends nothing until it runs again.
            Some(ProcessState::Stopped) => count.at = sink.clock().now(),
            // It counts from the start again.
            Some(ProcessState::Gone) | None => {
                count = Count {
                    leases: 0,
                    at: sink.clock().now(),
                }
            }
            Some(ProcessState::Alive) => {
                if let Ok(Some(leases)) = node.server().ended_leases().await {
                    count.take(leases, node, &sink).await;
                }
            }
        }
    }
}

impl Count {
    /// Notes by how many leases the count has risen.
    async fn take(&mut self, leases: u64, node: &Node, sink: &EventSink) {
        // A server that was started again between two looks counts from the start.
        let more = leases.checked_sub(self.leases).unwrap_or(leases);
        let since = std::mem::replace(&mut self.at, sink.clock().now());
        self.leases = leases;
        if more == 0 {
            return;
        }
        let expired = ExpiredNote {
            node: node.name.as_str().into(),
            leases: more,
            since,
        };
        sink.record(Event {
            index: 0,
            time: self.at,
            kind: Kind::Note,
            process: Process::Nemesis,
            function: Function::Expired,
            key: "".into(),
            value: Value {
                expired: Some(Box::new(expired)),
                ..Value::default()
            },
            error: None,
            extra: None,
        })
        .await;
    }
}
