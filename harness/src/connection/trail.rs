//! Trail in which a client's connections write down which server it turns to.

use async_trait::async_trait;
use lockstorm_checker::history::{
    Event, FailureNote, Function, Kind, Name, Process, RouteNote, Value,
};

use crate::recorder::EventSink;

/// Takes the notes of one client.
#[async_trait]
pub trait Trail: Send + Sync {
    /// From here on the client's commands go where the note says.
    async fn routed(&self, note: RouteNote);
    /// The client has failed by itself, and takes no further part.
    async fn failed(&self, note: FailureNote);
}

/// Writes nothing down: for measurements, and tests that have no history.
pub struct NoTrail;

#[async_trait]
impl Trail for NoTrail {
    async fn routed(&self, _: RouteNote) {}
    async fn failed(&self, _: FailureNote) {}
}

/// Writes into the history of a run.
pub struct Recorded {
    /// Sink that events go to.
    pub sink: EventSink,
    /// Name of the client.
    pub owner: Name,
    /// Its first process: a note belongs to no operation.
    pub process: u64,
}

#[async_trait]
impl Trail for Recorded {
    async fn routed(&self, note: RouteNote) {
        let route = Some(Box::new(note));
        let value = Value {
            route,
            ..Value::default()
        };
        self.note(Function::Routed, value).await;
    }

    async fn failed(&self, note: FailureNote) {
        let failure = Some(Box::new(note));
        let value = Value {
            failure,
            ..Value::default()
        };
        self.note(Function::Failure, value).await;
    }
}

impl Recorded {
    async fn note(&self, function: Function, value: Value) {
        let owner = Some(self.owner.clone());
        self.sink
            .record(Event {
                index: 0,
                time: self.sink.clock().now(),
                kind: Kind::Note,
                process: Process::Client(self.process),
                function,
                key: "".into(),
                value: Value { owner, ..value },
                error: None,
                extra: None,
            })
            .await;
    }
}
