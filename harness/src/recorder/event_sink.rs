//! Writes events to `history.jsonl` while the run goes on.
//!
//! An event gets its index and its bytes where it happens, and is in the kernel's hands when
//! [`EventSink::record`] returns: an invocation before its request leaves, a completion before the
//! client does anything else. However the harness ends, nothing is lost that anybody acted on.
//! That costs no system call, for the end of the file is memory that is shared with the kernel; a
//! thread of its own makes room there ahead of what is written. (Passing the event through a
//! queue to be formatted elsewhere cost several times as much, in copies and in cache lines that
//! had to change cores.)
//!
//! After SIGKILL of the harness the file ends with the room that was left, in NUL bytes, and
//! perhaps with one torn line before it. Readers pass over both.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;

use lockstorm_checker::history::{
    Event, FaultNote, Function, Header, Kind, PhaseNote, Process, StallNote, Value, write_event,
    write_header,
};
use lockstorm_nemesis::NoteSink;
use tokio::sync::{Notify, oneshot};

use super::mapped::{Filler, PIECE, Piece, Room};
use crate::clock::RunClock;

/// Sink into which parts of a run put their events; cheap to clone.
#[derive(Clone)]
pub struct EventSink {
    shared: Arc<Shared>,
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

/// State that clients and the thread that makes room share.
struct Shared {
    state: Mutex<State>,
    /// Wakes the thread when there is little room left.
    scarce: Condvar,
    /// Wakes clients when there is room again.
    room: Notify,
}

/// Point that the history has got to.
struct State {
    output: Output,
    /// The line that is being written.
    line: Vec<u8>,
    /// Index of the next event.
    next: u64,
    /// Room that is to be ready.
    wanted: usize,
    /// The thread waits until room is scarce.
    idle: bool,
    /// Nothing more is written.
    ended: bool,
    /// Error after which there will be no more room.
    failure: Option<io::Error>,
    /// There was none for an event.
    lost: bool,
}

/// The file, as it is written.
enum Output {
    /// Through shared memory.
    Shared(Filler),
    /// One system call for each event, where the file system cannot share memory.
    Plain(File),
}

impl Recorder {
    /// Creates the file, writes its header and starts the thread that makes room in it.
    ///
    /// # Errors
    /// When the file cannot be created or written.
    pub fn start(path: &Path, header: &Header, clock: RunClock) -> Result<Self, RecordError> {
        Self::begin(path, header, clock, Room::can_be_shared).map_err(|source| RecordError {
            path: path.to_owned(),
            source,
        })
    }

    fn begin(
        path: &Path,
        header: &Header,
        clock: RunClock,
        can_be_shared: impl Fn(&File) -> bool,
    ) -> io::Result<Self> {
        let mut file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(path)?;
        let mut line = Vec::new();
        write_header(&mut line, header);
        let plain = !can_be_shared(&file);
        let mut room = Room::of(file.try_clone()?);
        let output = if plain {
            file.write_all(&line)?;
            Output::Plain(file)
        } else {
            let mut filler = Filler::default();
            while filler.room() < line.len() {
                filler.take(room.make()?);
            }
            filler.append(&line);
            Output::Shared(filler)
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                output,
                line,
                next: 0,
                wanted: PIECE,
                idle: false,
                ended: false,
                failure: None,
                lost: false,
            }),
            scarce: Condvar::new(),
            room: Notify::new(),
        });
        let (finished, done) = oneshot::channel();
        let served = shared.clone();
        thread::Builder::new()
            .name("recorder".to_owned())
            .spawn(move || {
                // The run may have ended without asking: then nobody waits for the answer.
                let _ = finished.send(served.serve(room));
            })?;
        Ok(Self {
            sink: EventSink { shared, clock },
            done,
            path: path.to_owned(),
        })
    }

    /// A handle for whoever has events to record.
    pub fn sink(&self) -> EventSink {
        self.sink.clone()
    }

    /// Ends the history and waits until every event recorded before is on disk; gives their
    /// number.
    ///
    /// # Errors
    /// When any of the events could not be written.
    pub async fn finish(mut self) -> Result<u64, RecordError> {
        self.sink.shared.end();
        (&mut self.done)
            .await
            .unwrap_or_else(|_| Err(io::Error::other("the recorder's thread has died")))
            .map_err(|source| RecordError {
                path: self.path.clone(),
                source,
            })
    }
}

impl Drop for Recorder {
    /// Leaves, if a run is given up, a history of what there was.
    fn drop(&mut self) {
        self.sink.shared.end();
    }
}

impl State {
    fn take(&mut self, made: io::Result<Piece>) {
        match (made, &mut self.output) {
            (Ok(piece), Output::Shared(filler)) => filler.take(piece),
            (Ok(_), Output::Plain(_)) => {}
            // What there is may be enough.
            (Err(error), _) => self.failure = Some(error),
        }
    }

    /// Ends the file after its last event; gives their number.
    fn close(&mut self, room: &Room) -> io::Result<u64> {
        match &mut self.output {
            Output::Shared(filler) => {
                let written = filler.written();
                *filler = Filler::default();
                room.trim(written)?;
            }
            Output::Plain(file) => file.sync_all()?,
        }
        match self.failure.take() {
            Some(error) if self.lost => Err(error),
            _ => Ok(self.next),
        }
    }

    /// Writes one event with the next index; `false` when there is no room for it yet.
    fn append(&mut self, event: &mut Event) -> bool {
        event.index = self.next;
        self.line.clear();
        write_event(&mut self.line, event);
        let written = match &mut self.output {
            Output::Shared(filler) if self.line.len() <= filler.room() => {
                filler.append(&self.line);
                true
            }
            Output::Shared(_) => {
                self.wanted = self.wanted.max(self.line.len());
                false
            }
            Output::Plain(file) => match file.write_all(&self.line) {
                Ok(()) => true,
                Err(error) => {
                    self.failure = Some(error);
                    false
                }
            },
        };
        if written {
            self.next += 1;
        } else if self.failure.is_some() {
            // The history is broken: `Recorder::finish` says so.
            self.lost = true;
            self.ended = true;
        }
        written || self.lost
    }

    fn is_scarce(&self) -> bool {
        let Output::Shared(filler) = &self.output else {
            return false;
        };
        self.failure.is_none() && filler.room() < self.wanted
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no holder of this lock panics")
    }

    /// Appends one event, unless there is no room; after the end, nothing.
    fn append(&self, event: &mut Event) -> bool {
        let mut state = self.state();
        let done = state.ended || state.append(event);
        if state.idle && state.is_scarce() {
            state.idle = false;
            self.scarce.notify_one();
        }
        done
    }

    fn end(&self) {
        self.state().ended = true;
        self.scarce.notify_one();
        self.room.notify_waiters();
    }

    /// Makes room until the history ends; gives the number of its events.
    fn serve(&self, mut room: Room) -> io::Result<u64> {
        let mut state = self.state();
        loop {
            if state.ended {
                return state.close(&room);
            }
            if state.is_scarce() {
                // Clients go on writing meanwhile.
                drop(state);
                let made = room.make();
                state = self.state();
                state.take(made);
                self.room.notify_waiters();
            } else {
                state.idle = true;
                state = self
                    .scarce
                    .wait(state)
                    .expect("no holder of this lock panics");
            }
        }
    }
}

impl EventSink {
    /// The clock of the run.
    pub fn clock(&self) -> RunClock {
        self.clock
    }

    /// Records an event, which gets its index here. The future is ready at once unless the disk
    /// has fallen far behind.
    pub async fn record(&self, mut event: Event) {
        loop {
            // Registered before the look, or room made in between would go unnoticed.
            let room = self.shared.room.notified();
            if self.shared.append(&mut event) {
                return;
            }
            room.await;
        }
    }

    /// Records a note of the nemesis on the phase of the run.
    pub async fn phase(&self, phase: PhaseNote) {
        let value = Value {
            phase: Some(Box::new(phase)),
            ..Value::default()
        };
        self.nemesis(Function::Phase, value).await;
    }

    /// The harness stood still until now.
    pub async fn stall(&self, note: StallNote) {
        let value = Value {
            stall: Some(Box::new(note)),
            ..Value::default()
        };
        self.nemesis(Function::Stall, value).await;
    }

    async fn nemesis(&self, function: Function, value: Value) {
        self.record(Event {
            index: 0,
            time: self.clock.now(),
            kind: Kind::Note,
            process: Process::Nemesis,
            function,
            key: "".into(),
            value,
            error: None,
            extra: None,
        })
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
        self.nemesis(Function::Fault, value).await;
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd as _;

    use lockstorm_checker::history::read_jsonl;
    use nix::fcntl::{FcntlArg, SealFlag, fcntl};
    use nix::sys::memfd::{MFdFlags, memfd_create};

    use super::*;

    async fn note(sink: &EventSink, key: &str) {
        sink.record(Event {
            index: 0,
            time: sink.clock().now(),
            kind: Kind::Note,
            process: Process::Client(0),
            function: Function::Alive,
            key: key.into(),
            value: Value::default(),
            error: None,
            extra: None,
        })
        .await;
    }

    async fn record(sink: &EventSink, process: u64) {
        for kind in [Kind::Invoke, Kind::Ok] {
            sink.record(Event {
                index: 0,
                time: sink.clock().now(),
                kind,
                process: Process::Client(process),
                function: Function::Acquire,
                key: "lock".into(),
                value: Value::default(),
                error: None,
                extra: None,
            })
            .await;
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn what_many_clients_record_at_once_is_read_back_whole_and_in_order() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let path = folder.path().join("history.jsonl");
        let recorder = Recorder::start(&path, &Header::new(), RunClock::start())
            .expect("the file can be created");
        let clients: Vec<_> = (0..8)
            .map(|client| {
                let sink = recorder.sink();
                tokio::spawn(async move {
                    for _ in 0..500 {
                        record(&sink, client).await;
                    }
                })
            })
            .collect();
        for client in clients {
            client.await.expect("no client panics");
        }
        let written = recorder.finish().await.expect("everything was written");
        assert_eq!(written, 8 * 500 * 2);
        let file = File::open(&path).expect("the file is there");
        let history = read_jsonl(io::BufReader::new(file), "history").expect("and is a history");
        assert_eq!(history.events.len() as u64, written);
        assert!(
            history.torn.is_none(),
            "nothing is torn, and no room is left over"
        );
    }

    /// Reads the file while the recorder still runs, without its leave: what a kill leaves.
    fn lines_of(path: &Path) -> Vec<String> {
        let bytes = std::fs::read(path).expect("the file is there");
        let used = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        let text = std::str::from_utf8(used).expect("events are text");
        text.lines().map(str::to_owned).collect()
    }

    #[tokio::test]
    async fn an_event_is_in_the_file_as_soon_as_it_is_recorded() {
        for shared in [true, false] {
            let folder = tempfile::tempdir().expect("a temporary folder can be made");
            let path = folder.path().join("history.jsonl");
            let recorder = Recorder::begin(&path, &Header::new(), RunClock::start(), |_| shared);
            let recorder = recorder.expect("the file can be created");
            for n in 0..20 {
                record(&recorder.sink(), n).await;
                let lines = lines_of(&path);
                assert_eq!(lines.len() as u64, 1 + 2 * (n + 1), "shared: {shared}");
            }
            recorder.finish().await.expect("everything was written");
            assert_eq!(lines_of(&path).len(), 41, "shared: {shared}");
        }
    }

    /// More than one piece, and a line that is longer than all the room there is.
    #[tokio::test]
    async fn lines_of_any_length_follow_each_other_without_a_gap() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let path = folder.path().join("history.jsonl");
        let recorder = Recorder::start(&path, &Header::new(), RunClock::start())
            .expect("the file can be created");
        let lengths = [10, PIECE / 2, PIECE - 300, 3 * PIECE, 1, 2 * PIECE];
        for length in lengths {
            note(&recorder.sink(), &"x".repeat(length)).await;
        }
        recorder.finish().await.expect("everything was written");
        let file = File::open(&path).expect("the file is there");
        let history = read_jsonl(io::BufReader::new(file), "history").expect("and is a history");
        let keys = history.events.iter().map(|event| event.key.len());
        assert_eq!(keys.collect::<Vec<_>>(), lengths);
        assert!(history.torn.is_none(), "nothing is left over");
    }

    /// Room cannot be made in a file that is sealed, as on a disk that is full.
    #[tokio::test]
    async fn a_disk_that_gets_full_on_the_way_is_an_error_and_nobody_hangs() {
        let sealed = memfd_create("history", MFdFlags::MFD_ALLOW_SEALING)
            .expect("the kernel gives memory as a file");
        let path = format!("/proc/self/fd/{}", sealed.as_raw_fd());
        let recorder = Recorder::start(Path::new(&path), &Header::new(), RunClock::start())
            .expect("there is room at first");
        let seal = FcntlArg::F_ADD_SEALS(SealFlag::F_SEAL_GROW);
        fcntl(&sealed, seal).expect("it can be sealed");
        for _ in 0..5 {
            note(&recorder.sink(), &"x".repeat(PIECE)).await;
        }
        let error = recorder
            .finish()
            .await
            .expect_err("not all has been written");
        assert!(error.to_string().contains("disk full"), "{error}");
    }

    /// A full disk: `/dev/full` takes no byte.
    #[test]
    fn a_history_that_cannot_be_written_is_an_error() {
        let path = Path::new("/dev/full");
        let Err(error) = Recorder::start(path, &Header::new(), RunClock::start()) else {
            panic!("not even the header can be written");
        };
        assert!(error.to_string().contains("disk full"), "{error}");
    }
}
