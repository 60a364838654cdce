//! Writes events to `history.jsonl` while the run goes on.
//!
//! All events pass one bounded channel, in the order of which they get their index. The writer
//! thread takes what is there, formats it into one buffer and hands it to the kernel at once:
//! after SIGKILL of the harness the file ends with the last batch, at most one line of it torn.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use lockstorm_checker::history::{
    Event, FaultNote, Function, Header, Kind, Name, PhaseNote, Process, Value,
};
use lockstorm_nemesis::NoteSink;
use tokio::sync::{mpsc, oneshot};

use crate::clock::RunClock;

/// Events on their way to the file. A full channel makes clients wait; it never drops.
const EVENTS_IN_FLIGHT_MAX: usize = 1 << 16;
/// Events formatted into one write.
const BATCH_MAX: usize = 1 << 12;
/// Least time between two writes. Waking the writer for each event would cost the clients more
/// than all the rest of the recording; this is what a crash of the harness can lose at the most.
const BATCH_EVERY: Duration = Duration::from_millis(1);

/// Where parts of a run put their events; cheap to clone.
#[derive(Clone)]
pub struct EventSink {
    /// `None` ends the history.
    sender: mpsc::Sender<Option<Event>>,
    clock: RunClock,
}

/// The recorder of one run.
pub struct Recorder {
    sink: EventSink,
    done: oneshot::Receiver<io::Result<u64>>,
    path: PathBuf,
}

/// The history could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the history to '{path}': {source}; is the disk full?")]
pub struct RecordError {
    path: PathBuf,
    source: io::Error,
}

impl Recorder {
    /// Creates the file, writes its header and starts the writer.
    ///
    /// # Errors
    /// When the file cannot be created or written.
    pub fn start(path: &Path, header: &Header, clock: RunClock) -> Result<Self, RecordError> {
        let fail = |source| RecordError {
            path: path.to_owned(),
            source,
        };
        let mut file = File::create(path).map_err(fail)?;
        let mut line = Vec::new();
        lockstorm_checker::history::write_header(&mut line, header);
        file.write_all(&line).map_err(fail)?;
        let (sender, receiver) = mpsc::channel(EVENTS_IN_FLIGHT_MAX);
        let (finished, done) = oneshot::channel();
        thread::Builder::new()
            .name("recorder".to_owned())
            .spawn(move || {
                // The run may have ended without asking: then nobody waits for the answer.
                let _ = finished.send(write_all(receiver, file));
            })
            .map_err(fail)?;
        Ok(Self {
            sink: EventSink { sender, clock },
            done,
            path: path.to_owned(),
        })
    }

    /// A handle for whoever has events to record.
    pub fn sink(&self) -> EventSink {
        self.sink.clone()
    }

    /// Ends the history and waits until every event sent before is on disk; gives their number.
    ///
    /// # Errors
    /// When any of the events could not be written.
    pub async fn finish(self) -> Result<u64, RecordError> {
        let Self { sink, done, path } = self;
        // If the writer has died there is nobody to tell: its answer says why.
        let _ = sink.sender.send(None).await;
        done.await
            .unwrap_or_else(|_| Err(io::Error::other("the recorder's thread has died")))
            .map_err(|source| RecordError { path, source })
    }
}

/// Writes events until the history is ended.
fn write_all(mut receiver: mpsc::Receiver<Option<Event>>, mut file: File) -> io::Result<u64> {
    let mut batch = Vec::with_capacity(BATCH_MAX);
    let mut buffer = Vec::new();
    let mut index = 0;
    let mut ended = false;
    while !ended && receiver.blocking_recv_many(&mut batch, BATCH_MAX) > 0 {
        let written = batch.len();
        for event in batch.drain(..) {
            let Some(mut event) = event else {
                ended = true;
                break;
            };
            event.index = index;
            index += 1;
            lockstorm_checker::history::write_event(&mut buffer, &event);
        }
        file.write_all(&buffer)?;
        buffer.clear();
        // A full batch means that more is waiting.
        if !ended && written < BATCH_MAX {
            thread::park_timeout(BATCH_EVERY);
        }
    }
    file.sync_all()?;
    Ok(index)
}

impl EventSink {
    /// The clock of the run.
    pub fn clock(&self) -> RunClock {
        self.clock
    }

    /// Records an event that happens now.
    pub async fn record(
        &self,
        process: Process,
        kind: Kind,
        function: Function,
        key: Name,
        value: Value,
        error: Option<Name>,
    ) {
        let event = Event {
            index: 0,
            time: self.clock.now(),
            kind,
            process,
            function,
            key,
            value,
            error,
            extra: None,
        };
        // The recorder outlives its sinks; if its thread died, `finish` reports it.
        let _ = self.sender.send(Some(event)).await;
    }

    /// Records a note of the nemesis on the phase of the run.
    pub async fn phase(&self, phase: PhaseNote) {
        let value = Value {
            phase: Some(Box::new(phase)),
            ..Value::default()
        };
        self.record(
            Process::Nemesis,
            Kind::Note,
            Function::Phase,
            "".into(),
            value,
            None,
        )
        .await;
    }
}

#[async_trait::async_trait]
impl NoteSink for EventSink {
    async fn note(&self, note: FaultNote) {
        let value = Value {
            fault: Some(Box::new(note)),
            ..Value::default()
        };
        self.record(
            Process::Nemesis,
            Kind::Note,
            Function::Fault,
            "".into(),
            value,
            None,
        )
        .await;
    }
}
