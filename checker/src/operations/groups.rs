//! Items in groups that are numbered from zero, in two arrays whatever the number of groups.
//!
//! For: finding what belongs to a key or an owner without looking at the rest of a long history.
//! Within a group the items keep their order.

/// Items by group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Groups<T> {
    /// Position in `items` at which each group ends.
    ends: Vec<u32>,
    items: Vec<T>,
}

impl<T> Default for Groups<T> {
    fn default() -> Self {
        Self {
            ends: Vec::new(),
            items: Vec::new(),
        }
    }
}

impl<T: Copy> Groups<T> {
    /// Sorts `items` into `count` groups, in linear time.
    pub(crate) fn new(items: Vec<T>, count: usize, group: impl Fn(T) -> u32) -> Self {
        let total = u32::try_from(items.len()).expect("four billion events do not fit in memory");
        if count <= 1 {
            return Self {
                ends: vec![total; count],
                items,
            };
        }
        let mut places = vec![0_u32; count];
        for &item in &items {
            places[group(item) as usize] += 1;
        }
        let mut start = 0;
        for place in &mut places {
            (*place, start) = (start, start + *place);
        }
        let mut sorted = items.clone();
        for &item in &items {
            let place = &mut places[group(item) as usize];
            sorted[*place as usize] = item;
            *place += 1;
        }
        Self {
            ends: places,
            items: sorted,
        }
    }

    /// The items of a group; none of a group that does not exist.
    pub(crate) fn of(&self, group: u32) -> &[T] {
        let group = group as usize;
        let Some(&end) = self.ends.get(group) else {
            return &[];
        };
        let start = if group == 0 { 0 } else { self.ends[group - 1] };
        &self.items[start as usize..end as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_keep_their_order_within_their_group() {
        let groups = Groups::new(vec![21, 10, 20, 11, 32], 5, |item: u32| item / 10);
        assert_eq!(groups.of(0), [0; 0]);
        assert_eq!(groups.of(1), [10, 11]);
        assert_eq!(groups.of(2), [21, 20]);
        assert_eq!(groups.of(3), [32]);
        assert_eq!(groups.of(4), [0; 0]);
        assert_eq!(groups.of(5), [0; 0]);
    }

    #[test]
    fn one_group_holds_all_and_no_group_holds_none() {
        assert_eq!(Groups::new(vec![3, 1], 1, |_| 0).of(0), [3, 1]);
        assert_eq!(Groups::<u32>::new(Vec::new(), 0, |_| 0).of(0), [0; 0]);
    }
}
