//! Where a client's connections write down which server it turns to.

use async_trait::async_trait;
use lockstorm_checker::history::{Event, Function, Kind, Name, Process, RouteNote, Value};

use crate::recorder::EventSink;

/// Takes the notes of one client.
#[async_trait]
pub trait Trail: Send + Sync {
    /// From here on the client's commands go where the note says.
    async fn routed(&self, note: RouteNote);
}

/// Writes nothing down: for measurements, and tests that have no history.
pub struct NoTrail;

#[async_trait]
impl Trail for NoTrail {
    async fn routed(&self, _: RouteNote) {}
}

/// Writes into the history of a run.
pub struct Recorded {
    /// Where events go.
    pub sink: EventSink,
    /// Name of the client.
    pub owner: Name,
    /// Its first process: a note belongs to no operation.
    pub process: u64,
}

#[async_trait]
impl Trail for Recorded {
    async fn routed(&self, note: RouteNote) {
        let value = Value {
            owner: Some(self.owner.clone()),
            route: Some(Box::new(note)),
            ..Value::default()
        };
        self.sink
            .record(Event {
                index: 0,
                time: self.sink.clock().now(),
                kind: Kind::Note,
                process: Process::Client(self.process),
                function: Function::Routed,
                key: "".into(),
                value,
                error: None,
                extra: None,
            })
            .await;
    }
}
