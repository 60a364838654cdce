//! Appends and their fate: each must be seen as often as it was made.
//!
//! An append that was acknowledged before the last read was sent must be in it. Whatever a read
//! shows more often than it may have been appended by then took effect twice; what was there before
//! anybody appended it does not count.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::case::Case;
use crate::history::Nanos;
use crate::operations::{Access, Digest, Operation};

use super::usage::{Usage, Use};
use super::value::{elements, written_value};

/// Damage to a list.
#[derive(Debug, Default)]
pub(crate) struct ListDamage {
    /// Acknowledged appends, each with the last read, which does not show it.
    pub(crate) lost: Vec<(Use, Use)>,
    /// Appends, each with the first read that shows its value too often.
    pub(crate) doubled: Vec<(Use, Use)>,
}

/// The damage to a resource that is only appended to and read.
pub(crate) fn appends(case: &Case, usage: &Usage) -> ListDamage {
    let resets = |used: &Use| matches!(used.access, Access::Write | Access::Cas);
    if usage.uses.iter().any(resets) {
        return ListDamage::default();
    }
    let mut made: BTreeMap<String, Vec<Use>> = BTreeMap::new();
    for append in usage.uses.iter().filter(|used| used.is_write()) {
        let value = written_value(case.digest, case.digest.operation(append.id));
        if let Some(value) = value {
            made.entry(value).or_default().push(*append);
        }
    }
    let is_read = |used: &&Use| used.access == Access::Read && used.done.is_some();
    let mut reads: Vec<Use> = usage.uses.iter().filter(is_read).copied().collect();
    let last = reads.iter().rev().find_map(|read| {
        let list = list(case.digest, case.digest.operation(read.id))?;
        Some((*read, list))
    });
    reads.sort_by_key(|read| (read.done, read.id));
    ListDamage {
        lost: last.map_or_else(Vec::new, |(read, list)| lost(case, &made, read, &list)),
        doubled: doubled(case, &made, &reads),
    }
}

/// How often a read shows the value of an append.
pub(crate) fn shown(digest: &Digest, read: &Operation, append: &Operation) -> Option<usize> {
    let value = written_value(digest, append)?;
    let list = list(digest, read)?;
    Some(list.iter().filter(|element| **element == value).count())
}

/// Returns the list that a read shows, if it is one.
pub(super) fn list(digest: &Digest, read: &Operation) -> Option<Vec<String>> {
    let replied = digest.detail(read)?.replied?;
    elements(digest.value(replied))
}

fn lost(
    case: &Case,
    made: &BTreeMap<String, Vec<Use>>,
    read: Use,
    list: &[String],
) -> Vec<(Use, Use)> {
    let sent = case.digest.operation(read.id).invoked;
    let seen = tally(list);
    let mut missing = Vec::new();
    for (value, appends) in made {
        let certain = appends
            .iter()
            .filter(|append| append.done.is_some_and(|done| done < sent));
        let seen = seen.get(value).copied().unwrap_or(0);
        missing.extend(certain.skip(seen).map(|append| (*append, read)));
    }
    missing
}

fn doubled(case: &Case, made: &BTreeMap<String, Vec<Use>>, reads: &[Use]) -> Vec<(Use, Use)> {
    let mut before: HashMap<String, usize> = HashMap::new();
    let mut told: HashSet<String> = HashSet::new();
    // Who reads a list again and again mostly finds what was there before: once is enough.
    let mut known = HashSet::new();
    let mut doubled = Vec::new();
    for &read in reads {
        let operation = case.digest.operation(read.id);
        let replied = case
            .digest
            .detail(operation)
            .and_then(|detail| detail.replied);
        let Some(list) = list(case.digest, operation).filter(|_| known.insert(replied)) else {
            continue;
        };
        let by_then = |append: &Use| {
            let invoked = case.digest.operation(append.id).invoked;
            invoked <= read.done.unwrap_or(Nanos::MAX)
        };
        for (value, seen) in tally(&list) {
            let Some(appends) = made.get(value) else {
                continue;
            };
            let by_then = appends.partition_point(by_then);
            let Some(&newest) = appends[..by_then].last() else {
                let start = before.entry(value.clone()).or_default();
                *start = seen.max(*start);
                continue;
            };
            let may = by_then + before.get(value).copied().unwrap_or(0);
            if seen > may && told.insert(value.clone()) {
                doubled.push((newest, read));
            }
        }
    }
    doubled
}

/// How often each value is in a list, in a fixed order.
fn tally(list: &[String]) -> BTreeMap<&String, usize> {
    let mut tally = BTreeMap::new();
    for value in list {
        *tally.entry(value).or_default() += 1;
    }
    tally
}
