//! Outlet of answers and notes, with all that tasks of the library share with the session.

use std::fmt::{self, Debug, Formatter};
use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

use serde::Serialize;

use crate::ledger::Ledger;
use crate::moment::{Heard, Moment};
use crate::renewal::Renewals;
use crate::wire::Note;

/// Outlet of all lines: each goes out whole.
pub(crate) struct Outlet {
    lines: Mutex<Box<dyn Write + Send>>,
    ledger: Mutex<Ledger>,
    renewals: Mutex<Renewals>,
    /// The last request that was read.
    heard: Mutex<Option<Heard>>,
}

impl Outlet {
    pub(crate) fn new(output: impl Write + Send + 'static) -> Self {
        Self {
            lines: Mutex::new(Box::new(output)),
            ledger: Mutex::default(),
            renewals: Mutex::default(),
            heard: Mutex::default(),
        }
    }

    /// Writes one line.
    pub(crate) fn write(&self, message: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        let mut lines = locked(&self.lines);
        lines.write_all(&line)?;
        lines.flush()
    }

    /// Writes a note. Where nobody listens any more, the next answer shows it.
    pub(crate) fn note(&self, note: &Note<'_>) {
        let _ = self.write(note);
    }

    pub(crate) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        locked(&self.ledger)
    }

    pub(crate) fn renewals(&self) -> MutexGuard<'_, Renewals> {
        locked(&self.renewals)
    }

    /// Keeps in mind when the line of a request was read.
    pub(crate) fn hear(&self, id: u64, at: Instant) {
        *locked(&self.heard) = Some(Heard { id, at });
    }

    /// Present moment; none where no request was read before it.
    pub(crate) fn now(&self) -> Option<Moment> {
        let now = Instant::now();
        let heard = *locked(&self.heard);
        heard?.moment(now)
    }
}

impl Debug for Outlet {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Outlet").finish_non_exhaustive()
    }
}

fn locked<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no holder of this lock panics")
}
