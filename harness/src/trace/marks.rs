//! Marks by which the servers know the clients: the random value of a token, the thread of a
//! Redisson instance.

use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;

use lockstorm_checker::history::Name;

/// Marks that are remembered, the latest ones: in a storm each try may have one of its own, and
/// what has been forgotten has long expired.
const MARKS_MAX: usize = 4096;

/// The marks of a run.
#[derive(Debug, Default)]
pub struct Marks {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// Owner of each; nobody where several clients have the same.
    owners: HashMap<String, Option<Name>>,
    /// From the oldest to the latest.
    order: VecDeque<String>,
}

impl Marks {
    /// Takes note that the servers know `owner` by `mark`.
    pub fn note(&self, mark: String, owner: &Name) {
        let mut known = self.known.lock().expect("no holder of this lock panics");
        if let Some(whose) = known.owners.get_mut(&mark) {
            if whose.as_ref().is_some_and(|whose| whose != owner) {
                *whose = None;
            }
            return;
        }
        if known.order.len() >= MARKS_MAX
            && let Some(oldest) = known.order.pop_front()
        {
            known.owners.remove(&oldest);
        }
        known.owners.insert(mark.clone(), Some(owner.clone()));
        known.order.push_back(mark);
    }

    /// Owner of a mark, as far as that is known. A writer of Redisson's is marked as one.
    pub fn owner(&self, mark: &str) -> Option<Name> {
        let mark = mark.strip_suffix(":write").unwrap_or(mark);
        let known = self.known.lock().expect("no holder of this lock panics");
        known.owners.get(mark).cloned().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_that_two_clients_have_is_nobodys() {
        let marks = Marks::default();
        marks.note("4f2a".to_owned(), &"a".into());
        marks.note("4f2a".to_owned(), &"a".into());
        assert_eq!(marks.owner("4f2a"), Some("a".into()));
        assert_eq!(marks.owner("4f2a:write"), Some("a".into()));
        marks.note("4f2a".to_owned(), &"b".into());
        assert_eq!(marks.owner("4f2a"), None);
        marks.note("4f2a".to_owned(), &"b".into());
        assert_eq!(
            marks.owner("4f2a"),
            None,
            "nor when one of them says it again"
        );
    }

    #[test]
    fn the_oldest_mark_makes_room_for_the_latest() {
        let marks = Marks::default();
        for n in 0..=MARKS_MAX {
            marks.note(n.to_string(), &"a".into());
        }
        assert_eq!(marks.owner("0"), None);
        assert!(marks.owner("1").is_some());
        assert!(marks.owner(&MARKS_MAX.to_string()).is_some());
    }
}
