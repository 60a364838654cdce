//! Reading in one thread, taking in another: for histories too long to wait for either.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{Scope, scope};

use super::event::Event;
use super::header::Header;
use super::sink::EventSink;

/// Events that go from one thread to the other at once. A history of fewer events stays in one
/// thread, which is sooner done than a second one is started.
const BATCH: usize = 2_048;
/// Batches under way, which bounds the memory that a slow sink costs.
const BATCHES_MAX: usize = 16;

/// Calls `read` with a sink that hands its events on to `sink`, in another thread once they are
/// many. When this returns, `sink` has taken all of them.
pub(super) fn relayed<S: EventSink, T>(
    sink: &mut S,
    read: impl FnOnce(&mut Relay<'_, '_, S>) -> T,
) -> T {
    scope(|scope| {
        let mut relay = Relay {
            scope,
            sink: Some(sink),
            batch: Vec::new(),
            sender: None,
        };
        let result = read(&mut relay);
        relay.finish();
        result
    })
}

/// Sink that collects events, and passes them on to the true sink batch by batch.
pub(super) struct Relay<'scope, 'env, S> {
    scope: &'scope Scope<'scope, 'env>,
    /// The true sink, until the other thread has it.
    sink: Option<&'env mut S>,
    batch: Vec<Event>,
    /// The way to the other thread, once there is one.
    sender: Option<SyncSender<Vec<Event>>>,
}

impl<S: EventSink> EventSink for Relay<'_, '_, S> {
    fn header(&mut self, header: Header) {
        let sink = self.sink.as_mut();
        sink.expect("a header comes before any event")
            .header(header);
    }

    fn event(&mut self, event: Event) {
        self.batch.push(event);
        if self.batch.len() == BATCH {
            self.send();
        }
    }
}

impl<S: EventSink> Relay<'_, '_, S> {
    /// Sends the batch to the other thread, which the first batch starts.
    fn send(&mut self) {
        let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
        if let Some(sink) = self.sink.take() {
            let (sender, receiver) = sync_channel::<Vec<Event>>(BATCHES_MAX);
            self.sender = Some(sender);
            self.scope.spawn(move || {
                for event in receiver.into_iter().flatten() {
                    sink.event(event);
                }
            });
        }
        if let Some(sender) = &self.sender {
            // It fails only where the sink has panicked; the end of the scope says so.
            let _ = sender.send(batch);
        }
    }

    /// Passes the last events on.
    fn finish(mut self) {
        match self.sink.take() {
            Some(sink) => self.batch.into_iter().for_each(|event| sink.event(event)),
            None => self.send(),
        }
    }
}
