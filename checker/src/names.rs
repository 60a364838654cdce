//! Names told once: texts on one side, small numbers on the other.
//!
//! For: keeping a million operations small and comparing owners at the cost of an integer. Not
//! for: ordering; numbers follow the order of first sight.

use std::collections::HashMap;

use crate::history::Name;

/// A table of distinct names.
#[derive(Clone, Debug, Default)]
pub struct Names {
    by_text: HashMap<Name, u32>,
    by_id: Vec<Name>,
}

impl Names {
    /// The number of `text`, which it gets now if it is new.
    pub fn intern(&mut self, text: &str) -> u32 {
        match self.by_text.get(text) {
            Some(&id) => id,
            None => self.insert(text.into()),
        }
    }

    /// The number of a name that is shared already, without copying its text.
    pub fn intern_name(&mut self, name: &Name) -> u32 {
        match self.by_text.get(name) {
            Some(&id) => id,
            None => self.insert(Name::clone(name)),
        }
    }

    fn insert(&mut self, name: Name) -> u32 {
        let id = u32::try_from(self.by_id.len()).expect("four billion names do not fit in memory");
        self.by_id.push(Name::clone(&name));
        self.by_text.insert(name, id);
        id
    }

    /// The shared text of a number that this table gave out.
    pub fn name(&self, id: u32) -> &Name {
        &self.by_id[id as usize]
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }
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
}
