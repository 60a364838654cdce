//! Repeats: two holders looked for a value, did not find it, and both appended it.
//!
//! ```text
//! a   |--= read [] ========= append 7 =|
//! b        |--= read [] = append 7 =|        what was to happen once has happened twice
//! ```
//!
//! Holders that take turns see what those before them appended. A read that was sent after the
//! other's append was acknowledged and does not show it is no repeat: there the resource itself
//! answered wrongly, or lost the append.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap, HashSet};

use crate::case::Case;
use crate::operations::{Access, OpId};

use super::appends::list;
use super::updates::{Section, read_before};
use super::usage::{Usage, Use};
use super::value::written_value;

/// Pairs of sections that appended one value which neither had found, the one that was
/// acknowledged later last. A list that is also set may have lost a value in between.
pub(crate) fn repeats(case: &Case, usage: &Usage) -> Vec<[Section; 2]> {
    let resets = |used: &Use| matches!(used.access, Access::Write | Access::Cas);
    if usage.uses.iter().any(resets) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for mut sections in sections(case, usage).into_values() {
        sections.sort_by_key(|section| (section.write.done, section.write.id));
        let pairs = sections.windows(2).map(|pair| [pair[0], pair[1]]);
        found.extend(pairs.filter(|pair| is_repeat(case, pair)));
    }
    found
}

/// The first acknowledged append of each hold that had not found its value, by that value.
fn sections(case: &Case, usage: &Usage) -> BTreeMap<String, Vec<Section>> {
    let mut sections: BTreeMap<String, Vec<Section>> = BTreeMap::new();
    let mut looks: HashMap<usize, Look> = HashMap::new();
    for used in &usage.uses {
        let Some(hold) = used.hold else {
            continue;
        };
        match used.access {
            Access::Read => {
                looks.insert(hold, Look::of(*used));
            }
            Access::Append => {
                let Some(look) = looks.get(&hold) else {
                    continue;
                };
                let read = read_before(case, used, Some(look.read));
                let value = written_value(case.digest, case.digest.operation(used.id));
                let (Some(read), Some(value), Some(_)) = (read, value, used.done) else {
                    continue;
                };
                let taken = |one: &Section| one.write.hold == used.hold;
                if look.misses(case, &value)
                    && !sections
                        .get(&value)
                        .is_some_and(|all| all.iter().any(taken))
                {
                    let write = *used;
                    let sections = sections.entry(value).or_default();
                    sections.push(Section { read, write });
                }
            }
            Access::Write | Access::Cas => {}
        }
    }
    sections
}

/// The last read of a hold. Its list is taken apart when first needed, and once for all appends.
struct Look {
    read: Use,
    list: OnceCell<Option<HashSet<String>>>,
}

impl Look {
    const fn of(read: Use) -> Self {
        let list = OnceCell::new();
        Self { read, list }
    }

    /// Tells whether it certainly does not show `value`; what is no list shows nothing for certain.
    fn misses(&self, case: &Case, value: &str) -> bool {
        let list = self.list.get_or_init(|| {
            let list = list(case.digest, case.digest.operation(self.read.id))?;
            Some(list.into_iter().collect())
        });
        list.as_ref().is_some_and(|list| !list.contains(value))
    }
}

/// Tells whether the two belong to different owners, and the later one can have read before the
/// earlier append took effect.
fn is_repeat(case: &Case, [early, late]: &[Section; 2]) -> bool {
    let operation = |id: OpId| case.digest.operation(id);
    let append = operation(early.write.id);
    let others = append.owner != operation(late.write.id).owner;
    others && !append.precedes(operation(late.read))
}
