//! A logarithmic scale of lengths of time.

use super::axis::SMALL;
use super::drawing::{Anchor, Drawing, Stroke, TextStyle};
use super::ink::Ink;

/// The shortest length that is told apart, in nanoseconds: a clock of a client is no better.
const LEAST: u64 = 1_000;
/// The longest of all decades: a run of 31 years.
const HIGHEST: i32 = 18;

/// A logarithmic scale of whole decades of nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decades {
    low: i32,
    high: i32,
}

impl Decades {
    /// The decades from `least` to `most`, at least one.
    pub(super) fn covering(least: u64, most: u64) -> Self {
        let low = ((least.max(LEAST) as f64).log10().floor() as i32).min(HIGHEST - 1);
        let high = ((most.max(LEAST) as f64).log10().ceil() as i32).min(HIGHEST);
        Self {
            low,
            high: high.max(low + 1),
        }
    }

    /// How far up the scale `value` is, from 0 to 1.
    pub(super) fn share(self, value: u64) -> f64 {
        let value = (value.max(1) as f64).log10();
        let share = (value - f64::from(self.low)) / f64::from(self.high - self.low);
        share.clamp(0.0, 1.0)
    }

    /// Where `value` is between `top` and `bottom`.
    pub(super) fn y(self, value: u64, (top, bottom): (f64, f64)) -> f64 {
        bottom - self.share(value) * (bottom - top)
    }

    /// The lengths at which decades begin, and the end of the last.
    pub(super) fn ticks(self) -> impl Iterator<Item = u64> {
        let decades = self.low..=self.high;
        decades.map(|decade| 10_u64.pow(decade.clamp(0, HIGHEST).unsigned_abs()))
    }

    /// Grid lines from left to right with their names.
    pub(super) fn axis(self, drawing: &mut Drawing, (left, right): (f64, f64), span: (f64, f64)) {
        let style = TextStyle::new(SMALL, Ink::Muted).anchored(Anchor::End);
        for value in self.ticks() {
            let y = self.y(value, span);
            drawing.line((left, y), (right, y), Stroke::new(Ink::Grid, 1.0));
            drawing.text((left - 10.0, y + 4.0), decade_name(value), style);
        }
    }
}

/// `10 µs`, `1 ms`, `100 s`.
pub(super) fn decade_name(ns: u64) -> String {
    match ns {
        1_000_000_000.. => format!("{} s", ns / 1_000_000_000),
        1_000_000.. => format!("{} ms", ns / 1_000_000),
        _ => format!("{} µs", ns / 1_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decades_hold_all_that_they_cover_and_have_round_names() {
        let decades = Decades::covering(85_000, 1_619_000_000);
        let names: Vec<String> = decades.ticks().map(decade_name).collect();
        assert_eq!(
            names,
            ["10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s", "10 s"]
        );
        assert!((decades.y(10_000, (10.0, 70.0)) - 70.0).abs() < 1e-9);
        assert!((decades.y(1_000_000, (10.0, 70.0)) - 50.0).abs() < 1e-9);
    }

    #[test]
    fn no_length_is_beyond_the_scale() {
        for (least, most) in [(0, 0), (0, u64::MAX), (u64::MAX, u64::MAX)] {
            let decades = Decades::covering(least, most);
            assert!(decades.ticks().count() >= 2);
            assert!((0.0..=1.0).contains(&decades.share(most)));
        }
    }
}
