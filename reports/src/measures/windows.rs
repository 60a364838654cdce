//! A run cut into windows of equal length, for what is counted or measured over time.

use lockstorm_checker::Nanos;

/// Windows that a run is cut into at most: enough to tell a fault of a second from one of two, and
/// few enough that some hundred calls fall into each.
const WINDOWS_MAX: u64 = 60;

/// Windows of a round length, which together are the whole run. The last takes in a remainder
/// that is shorter than half of one, for a rate of so little would tell nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Windows {
    length: u64,
    end: Nanos,
}

impl Windows {
    /// The windows of a run that ends at `end`.
    pub(crate) fn of(end: Nanos) -> Self {
        Self {
            length: round(end.0.div_ceil(WINDOWS_MAX).max(1)),
            end,
        }
    }

    /// Number of entries.
    pub(crate) fn count(&self) -> usize {
        let whole = self.end.0 / self.length;
        let rest = self.end.0 % self.length;
        (whole + u64::from(rest >= self.length.div_ceil(2))).max(1) as usize
    }

    /// Length of each but the last.
    pub(crate) fn length(&self) -> Nanos {
        Nanos(self.length)
    }

    /// The window that `at` lies in.
    pub(crate) fn at(&self, at: Nanos) -> usize {
        usize::try_from(at.0 / self.length)
            .unwrap_or(usize::MAX)
            .min(self.count() - 1)
    }

    /// From when to when a window lasts.
    pub(crate) fn span(&self, window: usize) -> (Nanos, Nanos) {
        let from = window as u64 * self.length;
        let to = if window + 1 == self.count() {
            self.end.0.max(from + 1)
        } else {
            from + self.length
        };
        (Nanos(from), Nanos(to))
    }
}

/// The next of 1, 2, 5, 10, 20, ... that is not below `length`.
fn round(length: u64) -> u64 {
    let power = 10_u64.pow(length.ilog10());
    let factor = [1, 2, 5]
        .into_iter()
        .find(|factor| factor * power >= length);
    factor.map_or_else(|| power.saturating_mul(10), |factor| factor * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(end_ms: u64) -> (usize, (Nanos, Nanos)) {
        let windows = Windows::of(Nanos::from_millis(end_ms));
        (windows.count(), windows.span(windows.count() - 1))
    }

    #[test]
    fn windows_have_round_lengths_and_the_last_ends_with_the_run() {
        let ms = Nanos::from_millis;
        assert_eq!(Windows::of(ms(3_700)).length(), ms(100));
        assert_eq!(spans(3_700), (37, (ms(3_600), ms(3_700))));
        assert_eq!(spans(3_740), (37, (ms(3_600), ms(3_740))), "a short rest");
        assert_eq!(spans(3_760), (38, (ms(3_700), ms(3_760))), "a long rest");
    }

    #[test]
    fn every_instant_lies_in_the_window_whose_span_it_is_in() {
        let windows = Windows::of(Nanos(12_345_678));
        for at in (0..=12_345_678).step_by(1_017) {
            let (from, to) = windows.span(windows.at(Nanos(at)));
            assert!(from.0 <= at && (at < to.0 || to.0 == 12_345_678));
        }
    }

    #[test]
    fn a_run_without_length_has_one_window_all_the_same() {
        let windows = Windows::of(Nanos(0));
        assert_eq!((windows.count(), windows.at(Nanos(5))), (1, 0));
        assert!(windows.span(0).1 > windows.span(0).0);
    }
}
