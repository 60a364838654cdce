//! The few sets of servers that the many grants of a history name.

use std::collections::HashMap;
use std::num::NonZeroU32;

use crate::history::Givers;
use crate::operations::GiversId;

/// A number for each distinct set.
#[derive(Debug, Default)]
pub(super) struct GiverNumbers {
    numbers: HashMap<Givers, GiversId>,
    all: Vec<Givers>,
}

impl GiverNumbers {
    /// The number of a set, which it gets now if it is new.
    pub(super) fn intern(&mut self, givers: &Givers) -> GiversId {
        if let Some(&known) = self.numbers.get(givers) {
            return known;
        }
        self.all.push(givers.clone());
        let number = u32::try_from(self.all.len()).ok().and_then(NonZeroU32::new);
        let id = GiversId(number.expect("four billion sets do not fit in memory"));
        self.numbers.insert(givers.clone(), id);
        id
    }

    /// The sets, in order of their numbers.
    pub(super) fn finish(self) -> Vec<Givers> {
        self.all
    }
}
