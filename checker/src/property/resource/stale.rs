//! Writes of a holder whose lock had gone on to another, which had written already.
//!
//! ```text
//! a   |--=====  pauses ...                 =====|-w-|     accepted after that of b
//! b                 |--=====|-w-|===|
//! ```

use crate::case::Case;
use crate::history::Nanos;
use crate::operations::OwnerId;

use super::usage::{Usage, Use};

/// Each stale write with a write of a later holder that had been answered before it was sent. Who
/// may have been granted the lock again, or was granted a renewal, since the later holder asked for
/// it, is not stale.
pub(crate) fn stale_writes(case: &Case, usage: &Usage) -> Vec<(Use, Use)> {
    let held = |used: &&Use| used.is_write() && used.done.is_some() && used.hold.is_some();
    let writes: Vec<Use> = usage.uses.iter().filter(held).copied().collect();
    let mut earlier: Vec<Use> = writes.clone();
    earlier.sort_by_key(|write| write.done);
    let mut earlier = earlier.into_iter().peekable();
    let mut latest = Latest::default();
    let mut found = Vec::new();
    for write in writes {
        let sent = case.digest.operation(write.id).invoked;
        while let Some(before) = earlier.next_if(|before| before.done < Some(sent)) {
            latest.add(case, before);
        }
        let owner = case.digest.operation(write.id).owner;
        if let Some((asked, other)) = latest.of_another(owner)
            && asked > write.renewed
        {
            found.push((write, other));
        }
    }
    found
}

/// The write of the holder that asked last, and that of the last who is not its owner.
#[derive(Default)]
struct Latest {
    first: Option<(Nanos, OwnerId, Use)>,
    other: Option<(Nanos, OwnerId, Use)>,
}

impl Latest {
    fn add(&mut self, case: &Case, write: Use) {
        let Some(at) = write.hold else {
            return;
        };
        let hold = &case.holds[at];
        let new = (hold.hull.start, hold.owner, write);
        let later =
            |than: &Option<(Nanos, OwnerId, Use)>| than.as_ref().is_none_or(|than| new.0 > than.0);
        if self.first.is_some_and(|first| first.1 == new.1) {
            if later(&self.first) {
                self.first = Some(new);
            }
        } else if later(&self.first) {
            self.other = self.first.replace(new);
        } else if later(&self.other) {
            self.other = Some(new);
        }
    }

    fn of_another(&self, owner: OwnerId) -> Option<(Nanos, Use)> {
        let mut both = [self.first, self.other].into_iter().flatten();
        both.find(|latest| latest.1 != owner)
            .map(|latest| (latest.0, latest.2))
    }
}
