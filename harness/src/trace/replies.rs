//! Notes when a server last replied to a client that has been granted a lock, or has renewed it.
//!
//! For: saying from when on a lease can count at the latest, where the servers do not say by their
//! MONITOR when they did what they were asked for. The network knows it before anything delays or
//! drops the reply, whatever the servers speak.

use std::sync::Arc;

use lockstorm_checker::history::{CommandNote, Event, Function, Kind, Name, Process, Value};

use crate::recorder::EventSink;
use crate::server::Servers;

/// The replies to the clients of one run.
#[derive(Clone)]
pub struct Replies {
    servers: Arc<Servers>,
    sink: EventSink,
}

impl Replies {
    /// Those of `servers`, noted in `sink`.
    pub fn new(servers: Arc<Servers>, sink: EventSink) -> Self {
        Self { servers, sink }
    }

    /// Notes when a server last replied to `client`, which has been granted or has renewed `key`.
    /// By then the servers had done what they were asked for.
    pub async fn note(&self, client: &Name, key: &Name) {
        let Some((node, replied)) = self.servers.last_reply(client) else {
            return;
        };
        let reply = CommandNote {
            node: node.into(),
            from: Some(client.clone()),
            text: "a reply".into(),
            is_reply: true,
        };
        let event = Event {
            index: 0,
            time: self.sink.clock().at(replied),
            kind: Kind::Note,
            process: Process::Nemesis,
            function: Function::Command,
            key: key.clone(),
            value: Value {
                command: Some(Box::new(reply)),
                ..Value::default()
            },
            error: None,
            extra: None,
        };
        self.sink.record(event).await;
    }
}
