//! Names told once: texts on one side, small numbers on the other.
//!
//! For: keeping a million operations small and comparing owners at the cost of an integer. Not
//! for: ordering; numbers follow the order of first sight.

use std::borrow::Cow;
use std::collections::HashMap;

use super::event::Name;
use crate::inert::short;

/// A table of distinct names.
#[derive(Clone, Debug, Default)]
pub struct Names {
    by_text: HashMap<Name, u32>,
    by_id: Vec<Name>,
    /// The last name seen with each [`mark`]: the names of a history come again and again, and to
    /// compare a text costs a fraction of hashing it.
    recent: Vec<u32>,
    /// How the names are shown that are too long to be shown as they are.
    shown: HashMap<u32, Name>,
}

/// Names that are found without hashing: four kilobytes of numbers, enough for all the clients and
/// most of the keys of a large run.
const RECENT: usize = 1024;

impl Names {
    /// The number of `text`, which it gets now if it is new.
    pub fn intern(&mut self, text: &str) -> u32 {
        self.number(text, || text.into())
    }

    /// The number of a name that is shared already, without copying its text.
    pub fn intern_name(&mut self, name: &Name) -> u32 {
        self.number(name, || Name::clone(name))
    }

    /// The one shared copy of `text`.
    pub fn share(&mut self, text: &str) -> Name {
        let id = self.intern(text);
        Name::clone(self.name(id))
    }

    fn number(&mut self, text: &str, name: impl FnOnce() -> Name) -> u32 {
        let mark = mark(text);
        if let Some(&id) = self.recent.get(mark)
            && self
                .by_id
                .get(id as usize)
                .is_some_and(|name| **name == *text)
        {
            return id;
        }
        let id = match self.by_text.get(text) {
            Some(&id) => id,
            None => self.insert(name()),
        };
        self.recent.resize(RECENT, 0);
        self.recent[mark] = id;
        id
    }

    fn insert(&mut self, name: Name) -> u32 {
        let id = u32::try_from(self.by_id.len()).expect("four billion names do not fit in memory");
        if let Cow::Owned(short) = short(&name) {
            self.shown.insert(id, short.into());
        }
        self.by_id.push(Name::clone(&name));
        self.by_text.insert(name, id);
        id
    }

    /// The shared text of a number that this table gave out.
    pub fn name(&self, id: u32) -> &Name {
        &self.by_id[id as usize]
    }

    /// The text of a number as people are shown it: [short].
    pub fn shown(&self, id: u32) -> &Name {
        self.shown.get(&id).unwrap_or_else(|| self.name(id))
    }

    /// The number of `text`, if it has one.
    pub fn find(&self, text: &str) -> Option<u32> {
        self.by_text.get(text).copied()
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Tells whether there is none.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }
}

/// A place among the recent names: told from the last letters, in which names differ. Texts made to
/// share one place only lose what the place would save.
fn mark(text: &str) -> usize {
    let spread =
        |mark: u64, &letter: &u8| (mark ^ u64::from(letter)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mark = text.as_bytes().iter().rev().take(8).fold(0, spread);
    (mark >> 32) as usize % RECENT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_number_and_its_text_is_stored_once() {
        let mut names = Names::default();
        let first = names.intern("a");
        let other = names.intern("b");
        assert_eq!(first, names.intern_name(&"a".into()));
        assert_ne!(first, other);
        assert_eq!(&**names.name(other), "b");
        assert_eq!(names.len(), 2);
    }

    #[test]
    fn a_huge_name_is_kept_whole_and_shown_short() {
        let mut names = Names::default();
        let huge = "k".repeat(2_000_000);
        let (first, other) = (names.intern(&huge), names.intern(&format!("{huge}2")));
        assert_eq!(**names.name(first), huge);
        assert_eq!(names.find(&huge), Some(first));
        assert!(names.shown(first).len() < 200, "{}", names.shown(first));
        assert_ne!(names.shown(first), names.shown(other));
        let plain = names.intern("orders");
        assert_eq!(&**names.shown(plain), "orders");
    }
}
