//! Lost updates: two holders read one version of a value, and both wrote. They may be one: it reads
//! again what was there before its own write.
//!
//! ```text
//! a   |--= read 5 ========= write 6 =|
//! b        |--= read 5 = write 7 =|         one of the two was overwritten unseen
//! ```
//!
//! It is one version if nobody wrote the value (it was there from the start), or if it was written
//! once and can have come from nowhere else: an acknowledged write had replaced what was there from
//! the start before either read it.

use std::collections::{BTreeMap, HashMap};

use crate::case::Case;
use crate::operations::{Access, OpId};

use super::usage::{Usage, Use};
use super::value::{read_value, written_value};

/// Read of a holder, and its write upon it; both are the same for a compare-and-set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Section {
    pub(crate) read: OpId,
    pub(crate) write: Use,
}

/// Pairs of sections that read one version, the one that wrote later last.
pub(crate) fn lost_updates(case: &Case, usage: &Usage) -> Vec<[Section; 2]> {
    // An append leaves a value behind that its own text does not tell.
    if usage.uses.iter().any(|used| used.access == Access::Append) {
        return Vec::new();
    }
    let versions = Versions::of(case, usage);
    let mut found = Vec::new();
    for (value, sections) in sections(case, usage) {
        let mut sections: Vec<Section> = sections
            .into_iter()
            .filter(|section| versions.is_certain(case, &value, section.read))
            .collect();
        sections.sort_by_key(|section| (section.write.hold, section.write.done));
        // What one holder does at once is its own affair.
        sections.dedup_by(|late, early| {
            let (write, read) = (early.write.id, late.read);
            let in_order = case
                .digest
                .operation(write)
                .precedes(case.digest.operation(read));
            late.write.hold == early.write.hold && !in_order
        });
        sections.sort_by_key(|section| (section.write.done, section.write.id));
        let pairs = sections.windows(2).map(|pair| [pair[0], pair[1]]);
        found.extend(pairs);
    }
    found
}

/// The acknowledged sections of all holds, by the value that they read.
fn sections(case: &Case, usage: &Usage) -> BTreeMap<String, Vec<Section>> {
    let mut sections: BTreeMap<String, Vec<Section>> = BTreeMap::new();
    let mut last_read: HashMap<usize, Use> = HashMap::new();
    for used in &usage.uses {
        let Some(hold) = used.hold else {
            continue;
        };
        let read = match used.access {
            Access::Read => {
                last_read.insert(hold, *used);
                continue;
            }
            Access::Cas => Some(used.id),
            Access::Write | Access::Append => read_before(case, used, last_read.remove(&hold)),
        };
        let value = read.and_then(|id| read_value(case.digest, case.digest.operation(id)));
        if let (Some(read), Some(value), Some(_)) = (read, value, used.done) {
            let section = Section { read, write: *used };
            sections.entry(value).or_default().push(section);
        }
    }
    sections
}

/// The read on which a write builds: answered before the write was sent, under the same grant.
pub(super) fn read_before(case: &Case, write: &Use, read: Option<Use>) -> Option<OpId> {
    let id = read?.id;
    let read = case.digest.operation(id);
    let in_order = read.precedes(case.digest.operation(write.id));
    let acquire = write.acquired.map(|id| case.digest.operation(id));
    let is_granted = acquire.is_none_or(|acquire| acquire.precedes(read));
    (in_order && is_granted).then_some(id)
}

/// How often each value may have been written, and since when nothing is left of the start.
struct Versions {
    writers: HashMap<String, u32>,
    /// The writes whose answer came first.
    first: Vec<OpId>,
    /// True if every write says what it wrote.
    known: bool,
}

impl Versions {
    fn of(case: &Case, usage: &Usage) -> Self {
        let mut versions = Self {
            writers: HashMap::new(),
            first: Vec::new(),
            known: true,
        };
        let writes = || usage.uses.iter().filter(|used| used.is_write());
        let settled = writes().filter_map(|write| write.done).min();
        for write in writes() {
            if write.done.is_some() && write.done == settled {
                versions.first.push(write.id);
            }
            match written_value(case.digest, case.digest.operation(write.id)) {
                Some(value) => *versions.writers.entry(value).or_default() += 1,
                None => versions.known = false,
            }
        }
        versions
    }

    /// Tells whether all who read `value` like this read the same version of it.
    fn is_certain(&self, case: &Case, value: &str, read: OpId) -> bool {
        let read = case.digest.operation(read);
        let is_before = |&first: &OpId| case.digest.operation(first).precedes(read);
        let once = match self.writers.get(value) {
            None => true,
            Some(1) => self.first.iter().any(is_before),
            Some(_) => false,
        };
        self.known && once
    }
}
