//! A history as it may have been, where clocks are off: nothing that holds of it depends on them.
//!
//! ```text
//! recorded             |-----------|
//! widened          |-------------------|      sent earlier, answered later, by the clock's error
//! ```
//!
//! All times are then later by the largest error, so that none is before zero. A time of which only
//! the earlier end may be used stays where it was recorded.

use std::collections::HashMap;

use super::Digest;
use crate::clock_error::ClockError;
use crate::history::Nanos;
use crate::operations::{KeyId, OwnerId};

impl Digest {
    /// The digest in which each operation takes all the time that it may have taken.
    pub(crate) fn widened(&self, error: &ClockError) -> Self {
        let mut widened = self.clone();
        let most = error.max();
        for operation in &mut widened.operations {
            let owner = self.owners.name(operation.owner.0);
            let own = error.of_process(operation.process, owner);
            operation.invoked = operation.invoked + (most - own);
            if let Some(completion) = &mut operation.completion {
                completion.time = completion.time + most + own;
            }
        }
        // Now the order of events is not that of time.
        widened.is_in_time = false;
        widened.end = widened.end + most + most;
        if let Some(phase) = &mut widened.final_phase {
            phase.time = phase.time + most + most;
            phase.bound = phase.bound.map(|bound| bound + most + most);
        }
        widened.notices_after_grants();
        widened
    }

    /// Moves each notice of a lost lock to no earlier than the grants that its owner got before it,
    /// whatever the times say now.
    fn notices_after_grants(&mut self) {
        let mut granted: HashMap<(KeyId, OwnerId), Vec<(u64, Nanos)>> = HashMap::new();
        for operation in self.operations.iter().filter(|one| one.is_grant()) {
            if let Some(completion) = operation.completion {
                let place = (operation.key, operation.owner);
                let answer = (completion.index, completion.time);
                granted.entry(place).or_default().push(answer);
            }
        }
        for note in &mut self.lost {
            let answers = granted.get(&(note.key, note.owner));
            let before = answers.into_iter().flatten();
            let before = before.filter(|(index, _)| *index < note.event);
            let last = before.map(|&(_, time)| time).max();
            note.time = note.time.max(last.unwrap_or_default());
        }
    }
}
