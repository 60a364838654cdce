//! Meaning of a renewal or a release that names no mode.
//!
//! Many histories say the mode where a lock is acquired and nowhere else. Of an owner that so far
//! asked only to read, such an operation is a reader's; of one that asked for both, it is a
//! writer's that nobody can be sure of.

use std::collections::HashMap;

use crate::history::Mode;
use crate::operations::{Action, KeyId, Operation, OwnerId};

/// In which modes owners asked for locks. Made up to date when it is needed, so that a history
/// without readers, or with modes throughout, pays nothing for it.
#[derive(Debug, Default)]
pub(super) struct Modes {
    /// So many operations were looked at.
    taken: usize,
    asked: HashMap<(KeyId, OwnerId), Asked>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Asked {
    to_read: bool,
    to_write: bool,
}

impl Modes {
    /// The mode of what comes after `operations`, and whether nobody can tell.
    pub(super) fn of_unnamed(
        &mut self,
        operations: &[Operation],
        place: (KeyId, OwnerId),
    ) -> (Mode, bool) {
        let new = operations[self.taken..].iter();
        for acquire in new.filter(|one| one.action == Action::Acquire) {
            let asked = self.asked.entry((acquire.key, acquire.owner)).or_default();
            asked.to_read |= acquire.mode == Mode::Read;
            asked.to_write |= acquire.mode == Mode::Write;
        }
        self.taken = operations.len();
        let asked = self.asked.get(&place).copied().unwrap_or_default();
        match (asked.to_read, asked.to_write) {
            (true, false) => (Mode::Read, false),
            (is_reader, _) => (Mode::Write, is_reader),
        }
    }
}
