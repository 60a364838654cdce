//! Sets of small numbers, without allocation up to 128.

/// A set of slots. Sets are equal if their members are.
#[derive(Clone, Debug, Default)]
pub(super) struct Bits {
    low: u128,
    /// From 128 on, 64 a word; missing words are empty.
    high: Vec<u64>,
}

const LOW: usize = 128;

impl Bits {
    pub(super) fn contains(&self, at: usize) -> bool {
        if at < LOW {
            return self.low >> at & 1 == 1;
        }
        let (word, bit) = place(at);
        self.word(word) >> bit & 1 == 1
    }

    pub(super) fn insert(&mut self, at: usize) {
        if at < LOW {
            self.low |= 1 << at;
            return;
        }
        let (word, bit) = place(at);
        if self.high.len() <= word {
            self.high.resize(word + 1, 0);
        }
        self.high[word] |= 1 << bit;
    }

    pub(super) fn remove(&mut self, at: usize) {
        if at < LOW {
            self.low &= !(1 << at);
            return;
        }
        let (word, bit) = place(at);
        if let Some(word) = self.high.get_mut(word) {
            *word &= !(1 << bit);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.low == 0 && self.high.iter().all(|&word| word == 0)
    }

    pub(super) fn add_all(&mut self, other: &Self) {
        self.low |= other.low;
        if self.high.len() < other.high.len() {
            self.high.resize(other.high.len(), 0);
        }
        for (word, more) in self.high.iter_mut().zip(&other.high) {
            *word |= more;
        }
    }

    pub(super) fn remove_all(&mut self, other: &Self) {
        self.low &= !other.low;
        for (word, less) in self.high.iter_mut().zip(&other.high) {
            *word &= !less;
        }
    }

    pub(super) fn keep_all(&mut self, other: &Self) {
        self.low &= other.low;
        for (at, word) in self.high.iter_mut().enumerate() {
            *word &= other.word(at);
        }
    }

    pub(super) fn meets(&self, other: &Self) -> bool {
        let common = |(a, b): (&u64, &u64)| a & b != 0;
        self.low & other.low != 0 || self.high.iter().zip(&other.high).any(common)
    }

    /// Tells whether both sets have the same members among those of `mask`.
    pub(super) fn equals_within(&self, other: &Self, mask: &Self) -> bool {
        let words = self.high.len().max(other.high.len());
        (self.low ^ other.low) & mask.low == 0
            && (0..words).all(|at| (self.word(at) ^ other.word(at)) & mask.word(at) == 0)
    }

    /// Tells whether all members that are not of `mask` are members of `other`.
    pub(super) fn is_within_beyond(&self, other: &Self, mask: &Self) -> bool {
        let mut high = self.high.iter().enumerate();
        self.low & !other.low & !mask.low == 0
            && high.all(|(at, word)| word & !other.word(at) & !mask.word(at) == 0)
    }

    /// Feeds the members among those of `mask` to a hash, each set in one way.
    pub(super) fn hash_within(&self, mask: &Self, mut feed: impl FnMut(u64)) {
        let low = self.low & mask.low;
        feed(low as u64);
        feed((low >> 64) as u64);
        for (at, word) in (0..).zip(&self.high) {
            let word = word & mask.word(at);
            if word != 0 {
                feed(at as u64);
                feed(word);
            }
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let low = ones([self.low as u64, (self.low >> 64) as u64].into_iter(), 0);
        low.chain(ones(self.high.iter().copied(), LOW))
    }

    /// Bytes beyond the set itself.
    pub(super) fn heap_bytes(&self) -> usize {
        self.high.capacity() * size_of::<u64>()
    }

    fn word(&self, at: usize) -> u64 {
        self.high.get(at).copied().unwrap_or(0)
    }
}

fn place(at: usize) -> (usize, usize) {
    ((at - LOW) / 64, (at - LOW) % 64)
}

fn ones(words: impl Iterator<Item = u64>, base: usize) -> impl Iterator<Item = usize> {
    words.enumerate().flat_map(move |(at, word)| {
        let rest = |word: &u64| Some(word & (word - 1)).filter(|&rest| rest != 0);
        std::iter::successors(Some(word).filter(|&word| word != 0), rest)
            .map(move |word| base + at * 64 + word.trailing_zeros() as usize)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(members: &[usize]) -> Bits {
        let mut bits = Bits::default();
        for &member in members {
            bits.insert(member);
        }
        bits
    }

    #[test]
    fn members_come_back_in_order_on_both_sides_of_the_spill() {
        let members = [0, 5, 63, 64, 127, 128, 191, 192, 700];
        let mut bits = set(&members);
        assert_eq!(bits.iter().collect::<Vec<_>>(), members);
        for member in members {
            assert!(bits.contains(member));
            bits.remove(member);
            assert!(!bits.contains(member));
        }
        assert!(bits.is_empty() && !bits.contains(100_000));
    }

    #[test]
    fn sets_are_compared_by_their_members_and_not_by_their_length() {
        let (mut long, short, mask) = (set(&[1, 300]), set(&[1]), set(&[1, 2, 300]));
        assert!(!long.equals_within(&short, &mask) && long.equals_within(&short, &set(&[1])));
        assert!(short.is_within_beyond(&long, &set(&[])));
        assert!(!long.is_within_beyond(&short, &set(&[])));
        assert!(long.is_within_beyond(&short, &set(&[300])));
        long.remove(300);
        assert!(long.equals_within(&short, &mask) && short.equals_within(&long, &mask));
        let fed = |bits: &Bits| {
            let mut words = Vec::new();
            bits.hash_within(&mask, |word| words.push(word));
            words
        };
        assert_eq!(fed(&long), fed(&short));
    }

    #[test]
    fn whole_sets_are_joined_cut_and_taken_away() {
        let mut bits = set(&[1, 200]);
        bits.add_all(&set(&[2, 900]));
        assert_eq!(bits.iter().collect::<Vec<_>>(), [1, 2, 200, 900]);
        bits.remove_all(&set(&[2, 200]));
        bits.keep_all(&set(&[1, 2]));
        assert_eq!(bits.iter().collect::<Vec<_>>(), [1]);
        assert!(bits.meets(&set(&[1])) && !bits.meets(&set(&[900])));
    }
}
