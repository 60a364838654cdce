//! Lengths of time in order, from which quantiles are read.
//!
//! Exact ones: what a table says is the latency of a call that is in the history.

/// Lengths of time in nanoseconds, in order; at least one.
pub(crate) struct Ordered(Vec<u64>);

impl Ordered {
    /// `None` of none at all.
    pub(crate) fn of(lengths: impl IntoIterator<Item = u64>) -> Option<Self> {
        let mut lengths: Vec<u64> = lengths.into_iter().collect();
        lengths.sort_unstable();
        (!lengths.is_empty()).then_some(Self(lengths))
    }

    /// The shortest that at least `share` of all do not exceed, with `share` from 0 to 1: the
    /// nearest rank.
    pub(crate) fn at(&self, share: f64) -> u64 {
        let rank = (share * self.0.len() as f64).ceil() as usize;
        self.0[rank.clamp(1, self.0.len()) - 1]
    }

    pub(crate) fn count(&self) -> u64 {
        self.0.len() as u64
    }

    pub(crate) fn least(&self) -> u64 {
        self.0[0]
    }

    pub(crate) fn most(&self) -> u64 {
        self.0[self.0.len() - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_a_length_that_occurred() {
        let ordered = Ordered::of([30, 10, 20, 40]).unwrap();
        let at = |share| ordered.at(share);
        assert_eq!([at(0.0), at(0.25), at(0.5)], [10, 10, 20]);
        assert_eq!([at(0.51), at(0.99), at(1.0)], [30, 40, 40]);
        assert_eq!(
            (ordered.count(), ordered.least(), ordered.most()),
            (4, 10, 40)
        );
    }

    #[test]
    fn of_nothing_there_is_no_quantile() {
        assert!(Ordered::of([]).is_none());
    }
}
