//! Processes that go by a name and not by a number.

use std::collections::HashMap;

use super::event::{Event, Kind, Name, Process};

/// Those that go by a name are numbered from here: higher than any process that a run has.
const FIRST: u64 = 1 << 48;

/// The number under which each name goes on.
///
/// A name is a thread or a host of others, which goes on after a call whose end it did not learn.
/// It does so under a new number then, and as the same owner.
#[derive(Debug, Default)]
pub(super) struct Processes {
    numbers: HashMap<Name, u64>,
    taken: u64,
}

impl Processes {
    /// Makes `event` one of the process with this name, which is its owner unless it names one.
    pub(super) fn assign(&mut self, event: &mut Event, name: Name) {
        let mut next = || {
            self.taken += 1;
            FIRST + self.taken - 1
        };
        let number = *self
            .numbers
            .entry(Name::clone(&name))
            .or_insert_with(&mut next);
        event.process = Process::Client(number);
        if event.kind == Kind::Info {
            self.numbers.insert(Name::clone(&name), next());
        }
        if matches!(event.kind, Kind::Invoke | Kind::Note) {
            event.value.owner.get_or_insert(name);
        }
    }
}
