//! Scales and their ticks, and the parts that all plots over time share.

use lockstorm_checker::Nanos;

use super::drawing::{Anchor, Area, Drawing, Fill, Mark, Stroke, TextStyle};
use super::font;
use super::ink::Ink;

/// Width of every picture, in CSS pixels.
pub(super) const WIDTH: f64 = 960.0;
/// Size of words on axes and in legends.
pub(super) const SMALL: f64 = 12.0;
/// Ticks that an axis has at most.
const TICKS_MAX: f64 = 9.0;

/// A stretch of time laid over a stretch of the picture.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimeScale {
    pub(super) window: (Nanos, Nanos),
    pub(super) left: f64,
    pub(super) right: f64,
}

impl TimeScale {
    /// Where an instant is drawn; instants outside the window at its edges.
    pub(super) fn x(&self, at: Nanos) -> f64 {
        let (from, to) = self.window;
        let length = (to - from).0.max(1) as f64;
        let share = (at - from).0 as f64 / length;
        self.left + share.min(1.0) * (self.right - self.left)
    }

    /// Tells whether any of `[from, to]` lies inside the window.
    pub(super) fn shows(&self, from: Nanos, to: Nanos) -> bool {
        from <= self.window.1 && to >= self.window.0
    }

    /// Instants of round seconds with their names.
    pub(super) fn ticks(&self) -> Vec<(f64, String)> {
        let (from, to) = (self.window.0.as_secs_f64(), self.window.1.as_secs_f64());
        let step = round_step((to - from) / TICKS_MAX);
        let digits = (-step.log10().floor()).max(0.0) as usize;
        let mut ticks = Vec::new();
        let mut n = (from / step).ceil();
        while n * step <= to {
            let at = Nanos((n * step * 1e9).round() as u64);
            ticks.push((self.x(at), format!("{:.digits$} s", n * step)));
            n += 1.0;
        }
        ticks
    }
}

/// The next of 1, 2, 5, 10, 20, ... that is not below `step`.
pub(super) fn round_step(step: f64) -> f64 {
    let power = 10_f64.powf(step.max(1e-9).log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|candidate| *candidate >= step * 0.999)
        .unwrap_or(10.0 * power)
}

/// Grid lines and names of the time axis below `bottom`.
pub(super) fn time_axis(drawing: &mut Drawing, scale: &TimeScale, top: f64, bottom: f64) {
    let style = TextStyle::new(SMALL, Ink::Muted).anchored(Anchor::Middle);
    for (x, name) in scale.ticks() {
        drawing.line((x, top), (x, bottom), Stroke::new(Ink::Grid, 1.0));
        drawing.text((x, bottom + 16.0), name, style);
    }
    let axis = Stroke::new(Ink::Muted, 1.0);
    drawing.line((scale.left, bottom), (scale.right, bottom), axis);
}

/// Sign that a legend shows before its words.
#[derive(Clone, Copy)]
pub(super) enum Key {
    Area(Fill),
    Line(Stroke),
    Mark(Mark, Ink),
}

/// A row of keys with their words, from the left, going on below where the row is full.
pub(super) fn legend(drawing: &mut Drawing, entries: &[(Key, &str)], (left, top): (f64, f64)) {
    let (mut x, mut y) = (left, top);
    for (key, words) in entries {
        let width = 26.0 + font::width_in_page(words, SMALL, false) + 12.0;
        if x + width > drawing.width && x > left {
            x = left;
            y += 20.0;
        }
        let middle = y - 4.0;
        match key {
            Key::Area(fill) => {
                drawing.area(Area::between((x, x + 20.0), middle - 6.0, 12.0), *fill);
            }
            Key::Line(stroke) => drawing.line((x, middle), (x + 20.0, middle), *stroke),
            Key::Mark(mark, ink) => drawing.mark((x + 10.0, middle), 5.0, *mark, *ink, None),
        }
        drawing.text((x + 26.0, y), *words, TextStyle::new(SMALL, Ink::Muted));
        x += width;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCALE: TimeScale = TimeScale {
        window: (Nanos(900_000_000), Nanos(3_100_000_000)),
        left: 100.0,
        right: 900.0,
    };

    #[test]
    fn ticks_stand_at_round_times_inside_the_window() {
        let ticks = SCALE.ticks();
        let names: Vec<&str> = ticks.iter().map(|(_, name)| name.as_str()).collect();
        assert_eq!(names, ["1.0 s", "1.5 s", "2.0 s", "2.5 s", "3.0 s"]);
        assert!(ticks.iter().all(|(x, _)| (100.0..=900.0).contains(x)));
    }

    #[test]
    fn what_never_ends_is_drawn_to_the_edge_of_the_window() {
        assert!((SCALE.x(Nanos::MAX) - 900.0).abs() < 1e-9);
        assert!((SCALE.x(Nanos(0)) - 100.0).abs() < 1e-9);
    }

    #[test]
    fn a_window_of_no_length_is_no_division_by_zero() {
        let scale = TimeScale {
            window: (Nanos(5), Nanos(5)),
            ..SCALE
        };
        assert!(scale.x(Nanos(5)).is_finite());
        assert!(scale.ticks().len() < 20);
    }
}
