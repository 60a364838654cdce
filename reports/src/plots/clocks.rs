//! How far clocks were off over the time of a run, a panel for each clock that was faulted.
//!
//! A solid line joins what was measured: where the effect was seen, and at the end of the fault.
//! Before the first look at it a clock was off by what that look showed, as far as anybody can
//! tell, and the line is dashed.

use lockstorm_checker::Nanos;
use lockstorm_checker::verdict::FaultSummary;

use super::axis::{SMALL, round_step};
use super::drawing::{Anchor, Mark, Stroke, TextStyle};
use super::frame::{Frame, Room};
use super::ink::Ink;
use super::latency::Points;
use crate::measures::{Clock, Stretch};
use crate::words;

/// Height of a panel.
const PANEL: f64 = 96.0;
/// Clocks that are drawn; more panels do not fit on a screen.
const CLOCKS_MAX: usize = 8;
/// Ticks of a panel at most.
const TICKS_MAX: f64 = 4.0;
/// Room for the first and last line inside a panel, as a share of its height.
const MARGIN: f64 = 0.08;

/// The picture; `None` for a run in which nobody measured a clock.
pub(crate) fn clocks(clocks: &[Clock], end: Nanos, faults: &[FaultSummary]) -> Option<Points> {
    let measured = clocks
        .iter()
        .filter(|clock| clock.offsets().next().is_some());
    let measured: Vec<&Clock> = measured.collect();
    let shown = &measured[..measured.len().min(CLOCKS_MAX)];
    if shown.is_empty() {
        return None;
    }
    let names: Vec<&str> = shown.iter().map(|clock| clock.name).collect();
    let label = format!("How far clocks were off over the run: {}", names.join(", "));
    let room = Room {
        panels: &vec![PANEL; shown.len()],
        right: 18.0,
        foot: 0.0,
    };
    let mut frame = Frame::new(label, end, faults, &room);
    for clock in shown {
        let farthest = clock.offsets().max_by_key(|offset| offset.unsigned_abs());
        let beside = format!(
            "at the most {}",
            words::offset(farthest.unwrap_or_default())
        );
        let span = frame.panel(PANEL, clock.name, &beside);
        panel(&mut frame, clock, end, span);
    }
    let note = (shown.len() < measured.len()).then(|| {
        format!(
            "Showing only the first {CLOCKS_MAX} of {} clocks.",
            measured.len()
        )
    });
    Some(Points {
        drawing: frame.drawing,
        note,
    })
}

/// A linear scale of offsets, which has the right time in it.
struct Offsets {
    low: f64,
    high: f64,
    span: (f64, f64),
}

impl Offsets {
    fn y(&self, seconds: f64) -> f64 {
        let (top, bottom) = self.span;
        bottom - (seconds - self.low) / (self.high - self.low) * (bottom - top)
    }
}

fn seconds(offset_ns: i64) -> f64 {
    offset_ns as f64 / 1e9
}

/// Grid lines with their names; the right time is drawn stronger.
fn axis(frame: &mut Frame, clock: &Clock, span: (f64, f64)) -> Offsets {
    let reach = |best: fn(f64, f64) -> f64| clock.offsets().map(seconds).fold(0.0, best);
    let (low, high) = (reach(f64::min), reach(f64::max));
    let step = round_step((high - low) / TICKS_MAX);
    let margin = (high - low).max(step) * MARGIN;
    let offsets = Offsets {
        low: low - margin,
        high: high + margin,
        span,
    };
    let (left, right) = frame.sides();
    let style = TextStyle::new(SMALL, Ink::Muted).anchored(Anchor::End);
    let digits = (-step.log10().floor()).max(0.0) as usize;
    let ticks = (low / step).ceil() as i32..=(high / step).floor() as i32;
    for tick in ticks {
        let y = offsets.y(f64::from(tick) * step);
        let stroke = if tick == 0 {
            Stroke::new(Ink::Muted, 1.0)
        } else {
            Stroke::new(Ink::Grid, 1.0)
        };
        frame.drawing.line((left, y), (right, y), stroke);
        let name = match tick {
            0 => "right".to_owned(),
            _ => format!("{:+.digits$} s", f64::from(tick) * step),
        };
        frame.drawing.text((left - 10.0, y + 4.0), name, style);
    }
    offsets
}

fn panel(frame: &mut Frame, clock: &Clock, end: Nanos, span: (f64, f64)) {
    let offsets = axis(frame, clock, span);
    let right = Stroke::new(Ink::FaultClock, 2.4);
    let mut since = Nanos(0);
    for stretch in &clock.stretches {
        let healed = stretch.healed.map_or(end, |(at, _)| at);
        let points = [since, stretch.injected].map(|at| (frame.scale.x(at), offsets.y(0.0)));
        frame.drawing.curve(points.to_vec(), right, None);
        wrong(frame, stretch, healed, &offsets);
        since = healed;
    }
    let is_right = clock
        .stretches
        .iter()
        .all(|stretch| stretch.healed.is_some());
    if is_right {
        let points = [since, end].map(|at| (frame.scale.x(at), offsets.y(0.0)));
        frame.drawing.curve(points.to_vec(), right, None);
    }
}

/// One stretch in which the clock was wrong, up to `healed`.
fn wrong(frame: &mut Frame, stretch: &Stretch, healed: Nanos, offsets: &Offsets) {
    let zero = offsets.y(0.0);
    let x = |at: Nanos| frame.scale.x(at);
    let measured = |stage: Option<(Nanos, Option<i64>)>| {
        let (at, offset) = stage?;
        Some((at, offset?))
    };
    let (observed, last) = (measured(stretch.observed), measured(stretch.healed));
    let known: Vec<(Nanos, i64)> = [observed, last].into_iter().flatten().collect();
    let (Some(first), Some(final_look)) = (known.first(), known.last()) else {
        return;
    };
    let y = |offset: i64| offsets.y(seconds(offset));
    // What nobody looked at: up to the first look, and after the last.
    let presumed = [
        vec![
            (x(stretch.injected), zero),
            (x(stretch.injected), y(first.1)),
            (x(first.0), y(first.1)),
        ],
        vec![
            (x(final_look.0), y(final_look.1)),
            (x(healed), y(final_look.1)),
            (x(healed), zero),
        ],
    ];
    let looks: Vec<(f64, f64)> = known.iter().map(|(at, off)| (x(*at), y(*off))).collect();
    for points in presumed {
        frame
            .drawing
            .curve(points, Stroke::dashed(Ink::FaultClock, 1.6), None);
    }
    frame
        .drawing
        .curve(looks.clone(), Stroke::new(Ink::FaultClock, 2.4), None);
    for (point, (at, offset)) in looks.into_iter().zip(known) {
        let (at, off) = (words::instant(at), words::offset(offset));
        let title = format!("{} at {at}: {off}", stretch.fault);
        frame
            .drawing
            .mark(point, 3.6, Mark::Disc, Ink::FaultClock, Some(title));
    }
}

#[cfg(test)]
mod tests {
    use super::super::drawing::Shape;
    use super::*;
    use crate::sample;

    #[test]
    fn a_jump_is_a_step_and_a_clock_that_goes_too_fast_a_slope() {
        let faults = sample::clock_faults();
        let all = Clock::all(&faults);
        let primary = all.iter().filter(|clock| clock.name == "primary");
        let primary: Vec<Clock> = primary
            .map(|clock| Clock {
                name: clock.name,
                stretches: clock.stretches.clone(),
            })
            .collect();
        let drawing = clocks(&primary, Nanos::from_millis(10_000), &[])
            .unwrap()
            .drawing;
        let solid = drawing.shapes.iter().filter_map(|shape| match shape {
            Shape::Curve { points, stroke, .. } if !stroke.dashed => Some(points.clone()),
            Shape::Box { .. }
            | Shape::Line { .. }
            | Shape::Curve { .. }
            | Shape::Mark { .. }
            | Shape::Text(_) => None,
        });
        let rise = |points: &Vec<(f64, f64)>| points[0].1 - points[1].1;
        let rises: Vec<f64> = solid.map(|points| rise(&points)).collect();
        assert_eq!(
            rises.len(),
            5,
            "right, jump, right, slope, right: {rises:?}"
        );
        for level in [0, 1, 2, 4] {
            assert!(rises[level].abs() < 1e-9, "{rises:?}");
        }
        assert!(rises[3] > 1.0, "{rises:?}");
    }

    #[test]
    fn each_clock_has_a_panel_with_how_far_it_was_off() {
        let faults = sample::clock_faults();
        let picture = clocks(&Clock::all(&faults), Nanos::from_millis(10_000), &faults).unwrap();
        let words = picture.drawing.words();
        for wanted in [
            "primary",
            "at the most 6.000 s ahead",
            "c1",
            "at the most 2.000 s behind",
        ] {
            assert!(words.contains(&wanted), "{wanted} is missing of {words:?}");
        }
        assert!(words.contains(&"right") && words.contains(&"+4 s") && words.contains(&"-2.0 s"));
    }

    #[test]
    fn clocks_that_nobody_measured_have_no_picture() {
        let mut faults = sample::clock_faults();
        for stage in faults.iter_mut().flat_map(|fault| &mut fault.stages) {
            stage.offset_ns = None;
        }
        assert!(clocks(&Clock::all(&faults), Nanos::from_millis(10_000), &faults).is_none());
    }
}
