//! Configurations of which none covers another.

use std::hash::Hash;

use super::bits::Bits;
use super::configuration::Configuration;
use super::hasher::FastMap;

/// Up to so many it is faster to look at each than to keep a table.
const LINEAR_MAX: usize = 16;
/// End of a chain of entries with equal hash.
const NONE: u32 = u32::MAX;

struct Entry<S> {
    configuration: Configuration<S>,
    hash: u64,
    next: u32,
    is_covered: bool,
}

/// A set of configurations, less those that another covers.
pub(super) struct Antichain<S> {
    entries: Vec<Entry<S>>,
    /// The last entry of each hash; empty while there are few entries.
    heads: FastMap<u64, u32>,
    /// Configurations offered and comparisons of two, since they were last asked for.
    work: u64,
}

impl<S> Default for Antichain<S> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            heads: FastMap::default(),
            work: 0,
        }
    }
}

impl<S: Clone + Eq + Hash> Antichain<S> {
    /// Bytes that an entry takes, without what its state and its set have elsewhere.
    pub(super) const ENTRY_BYTES: usize = size_of::<Entry<S>>() + size_of::<(u64, u32)>();

    /// Adds a configuration unless one covers it, and drops those that it covers. Tells whether it
    /// was added: it is then the last.
    pub(super) fn insert(&mut self, configuration: Configuration<S>, required: &Bits) -> bool {
        self.work += 1;
        let hash = configuration.hash(required);
        if self.entries.len() < LINEAR_MAX {
            for entry in &mut self.entries {
                self.work += u64::from(entry.hash == hash);
                if entry.hash == hash && covers(entry, &configuration, required) {
                    return false;
                }
            }
        } else {
            self.index();
            let mut at = self.heads.get(&hash).copied().unwrap_or(NONE);
            while at != NONE {
                self.work += 1;
                let entry = &mut self.entries[at as usize];
                if covers(entry, &configuration, required) {
                    return false;
                }
                at = entry.next;
            }
        }
        let at = self.entries.len() as u32;
        let next = if self.heads.is_empty() {
            NONE
        } else {
            self.heads.insert(hash, at).unwrap_or(NONE)
        };
        self.entries.push(Entry {
            configuration,
            hash,
            next,
            is_covered: false,
        });
        true
    }

    /// Makes the table, once there are many.
    fn index(&mut self) {
        if !self.heads.is_empty() {
            return;
        }
        for (at, entry) in (0..).zip(&mut self.entries) {
            entry.next = self.heads.insert(entry.hash, at).unwrap_or(NONE);
        }
    }

    /// The configuration of this place, unless it was covered meanwhile.
    pub(super) fn get(&self, at: usize) -> Option<&Configuration<S>> {
        let entry = &self.entries[at];
        (!entry.is_covered).then_some(&entry.configuration)
    }

    /// Places, covered ones included.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The configurations offered and the comparisons made since the last time it was asked.
    pub(super) fn take_work(&mut self) -> u64 {
        std::mem::take(&mut self.work)
    }

    /// Moves all configurations out.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Configuration<S>> + '_ {
        self.heads.clear();
        let live = self.entries.drain(..).filter(|entry| !entry.is_covered);
        live.map(|entry| entry.configuration)
    }

    pub(super) fn clear(&mut self) {
        self.heads.clear();
        self.entries.clear();
    }
}

/// Tells whether an entry covers a new configuration; marks the entry if it is the other way round.
fn covers<S: Clone + Eq + Hash>(
    entry: &mut Entry<S>,
    new: &Configuration<S>,
    required: &Bits,
) -> bool {
    if entry.is_covered {
        return false;
    }
    if entry.configuration.covers(new, required) {
        return true;
    }
    entry.is_covered = new.covers(&entry.configuration, required);
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configuration(state: u32, done: &[usize]) -> Configuration<u32> {
        let mut bits = Bits::default();
        for &slot in done {
            bits.insert(slot);
        }
        Configuration { done: bits, state }
    }

    #[test]
    fn only_the_smallest_sets_of_optional_calls_are_kept_for_each_state() {
        let mut required = Bits::default();
        required.insert(0);
        for many in [0, 40] {
            let mut chain = Antichain::default();
            for state in 100..100 + many {
                assert!(chain.insert(configuration(state, &[]), &required));
            }
            assert!(chain.insert(configuration(1, &[0, 5, 6]), &required));
            assert!(
                !chain.insert(configuration(1, &[0, 5, 6, 7]), &required),
                "covered"
            );
            assert!(
                chain.insert(configuration(1, &[5, 6]), &required),
                "another call is due"
            );
            assert!(
                chain.insert(configuration(1, &[0, 6]), &required),
                "covers the first"
            );
            assert!(
                chain.insert(configuration(1, &[0, 7]), &required),
                "neither covers"
            );
            assert_eq!(chain.drain().count() as u32, many + 3);
        }
    }
}
