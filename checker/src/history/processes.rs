//! Processes that go by a name and not by a number.

use std::collections::HashMap;

use super::event::{Event, Kind, Name, Process};
use super::near::{NEMESIS, nearest};

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

/// Name that is nearly the one of the nemesis.
#[derive(Debug)]
pub(super) struct Misnamed(pub(super) Name);

impl Processes {
    /// Makes `event` one of the process with this name, which is its owner unless it names one.
    ///
    /// # Errors
    /// When the name is nearly that of the nemesis, whose notes are not those of a client.
    pub(super) fn assign(&mut self, event: &mut Event, name: Name) -> Result<(), Misnamed> {
        let number = match self.numbers.get(&name) {
            Some(&number) => number,
            None if nearest(&name, &[(NEMESIS, &[])]).is_some() => return Err(Misnamed(name)),
            None => self.renumber(&name),
        };
        event.process = Process::Client(number);
        if event.kind == Kind::Info {
            self.renumber(&name);
        }
        if matches!(event.kind, Kind::Invoke | Kind::Note) {
            event.value.owner.get_or_insert(name);
        }
        Ok(())
    }

    fn renumber(&mut self, name: &Name) -> u64 {
        let number = FIRST + self.taken;
        self.taken += 1;
        self.numbers.insert(Name::clone(name), number);
        number
    }
}
