//! Tells whether events follow each other as those of single-threaded processes do.
//!
//! For: refusing a history that contradicts itself, at the line where it does. Not for: judging
//! the lock; a history in good order may show the worst of locks.

use std::collections::HashMap;

use super::event::{Event, Function, Kind, Name, Nanos, Process};

/// Follows a history event by event.
#[derive(Debug, Default)]
pub(crate) struct Order {
    index_next: u64,
    processes: HashMap<u64, State>,
}

/// Knowledge of one process.
#[derive(Debug)]
struct State {
    time: Nanos,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    Idle,
    Pending(Function, Name),
    /// An operation of it is indeterminate: whatever it did next would be concurrent to it.
    Ended,
}

/// Reason why an event cannot stand where it stands, and what puts it right.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Disorder {
    pub(crate) reason: String,
    pub(crate) remedy: &'static str,
}

impl Order {
    /// The index of an event that names none: its position.
    pub(crate) fn index_next(&self) -> u64 {
        self.index_next
    }

    /// Takes the next event.
    ///
    /// # Errors
    /// When no single-threaded process can have produced it at this place.
    pub(crate) fn push(&mut self, event: &Event) -> Result<(), Disorder> {
        if event.index < self.index_next {
            return Err(Disorder {
                reason: format!("index {} comes after a higher or equal one", event.index),
                remedy: "sort the events by index and give each its own",
            });
        }
        if event.index == u64::MAX {
            return Err(Disorder {
                reason: format!("index {} is too large", event.index),
                remedy: "number the events by their position",
            });
        }
        self.index_next = event.index + 1;
        match (event.process, event.kind) {
            (Process::Nemesis, _) | (Process::Client(_), Kind::Note) => Ok(()),
            (Process::Client(process), Kind::Invoke) => self.invoke(process, event),
            (Process::Client(process), Kind::Ok | Kind::Fail | Kind::Info) => {
                self.complete(process, event)
            }
        }
    }

    fn invoke(&mut self, process: u64, event: &Event) -> Result<(), Disorder> {
        let state = self.processes.entry(process).or_insert(State {
            time: event.time,
            stage: Stage::Idle,
        });
        state.reach(process, event.time)?;
        match &state.stage {
            Stage::Idle => {
                let key = Name::clone(&event.key);
                state.stage = Stage::Pending(event.function.clone(), key);
                Ok(())
            }
            Stage::Pending(function, _) => Err(Disorder {
                reason: format!(
                    "process {process} invokes {} while its {} is pending",
                    event.function.as_str(),
                    function.as_str(),
                ),
                remedy: "complete the operation first, or give each thread its own process",
            }),
            Stage::Ended => Err(Disorder {
                reason: format!("process {process} invokes again after an info"),
                remedy: "let the client go on under a new process id",
            }),
        }
    }

    fn complete(&mut self, process: u64, event: &Event) -> Result<(), Disorder> {
        let pending = self.processes.get_mut(&process).and_then(|state| {
            match std::mem::replace(&mut state.stage, Stage::Idle) {
                Stage::Pending(function, key) => Some((state, function, key)),
                Stage::Idle | Stage::Ended => None,
            }
        });
        let Some((state, function, key)) = pending else {
            return Err(Disorder {
                reason: format!("process {process} completes an operation that it did not invoke"),
                remedy: "write the invoke event before its completion",
            });
        };
        state.reach(process, event.time)?;
        if event.kind == Kind::Info {
            state.stage = Stage::Ended;
        }
        let other_key = !event.key.is_empty() && event.key != key;
        if event.function == function && !other_key {
            return Ok(());
        }
        Err(Disorder {
            reason: format!(
                "process {process} completes {} of {:?}, but has invoked {} of {key:?}",
                event.function.as_str(),
                &*event.key,
                function.as_str(),
            ),
            remedy: "repeat function and key of the invocation in its completion",
        })
    }
}

impl State {
    /// Moves the clock of `process` to `time`.
    fn reach(&mut self, process: u64, time: Nanos) -> Result<(), Disorder> {
        if time < self.time {
            return Err(Disorder {
                reason: format!(
                    "time runs backwards in process {process}: {} ns after {} ns",
                    time.0, self.time.0
                ),
                remedy: "stamp the events of a process with one monotonic clock",
            });
        }
        self.time = time;
        Ok(())
    }
}
