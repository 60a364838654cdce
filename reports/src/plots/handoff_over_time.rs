//! Hand-offs over the time of a run: gaps above the zero line, overlaps below it.

use lockstorm_checker::Nanos;
use lockstorm_checker::verdict::FaultSummary;

use super::axis::{Key, SMALL, legend};
use super::decades::{Decades, decade_name};
use super::drawing::{Anchor, Area, Drawing, Fill, Mark, Stroke, TextStyle};
use super::frame::{Frame, LEFT, Room};
use super::ink::Ink;
use super::latency::Points;
use crate::measures::Gap;
use crate::words;

/// Points on each side of the zero line; beyond it every n-th is drawn.
const POINTS_MAX: usize = 1_000;
/// Height of the gaps, and of the overlaps where there are any.
const SIDE: f64 = 150.0;
/// Heights around the zero line for lengths below the first decade.
const MIDDLE: f64 = 6.0;

/// The picture; `None` for a run in which no lock changed hands.
pub(crate) fn handoff_over_time(
    gaps: &[Gap],
    end: Nanos,
    faults: &[FaultSummary],
) -> Option<Points> {
    let lengths = || gaps.iter().map(|gap| gap.length.unsigned_abs());
    // Anything shorter than ten microseconds is as good as none.
    let decades = Decades::covering(lengths().min()?.max(10_000), lengths().max()?);
    let (overlaps, free): (Vec<&Gap>, Vec<&Gap>) = gaps.iter().partition(|gap| gap.length < 0);
    let below = if overlaps.is_empty() { 0.0 } else { SIDE };
    let height = SIDE + below;
    let label = format!(
        "{} over the run, of which {} with an overlap",
        words::count(gaps.len() as u64, "hand-off"),
        overlaps.len()
    );
    let room = Room {
        panels: &[height],
        right: 18.0,
        foot: 32.0,
    };
    let mut frame = Frame::new(label, end, faults, &room);
    let beside = format!("{} hand-offs, {} overlaps", gaps.len(), overlaps.len());
    let (top, bottom) = frame.panel(height, "time between two holders", &beside);
    let zero = top + SIDE;
    let sides = frame.sides();
    axis(&mut frame.drawing, decades, sides, (top, zero - MIDDLE));
    if !overlaps.is_empty() {
        let area = Area::between(sides, zero, bottom - zero);
        frame.drawing.area(area, Fill::Plain(Ink::Violation, 0.07));
        axis(&mut frame.drawing, decades, sides, (bottom, zero + MIDDLE));
    }
    let line = Stroke::new(Ink::Text, 2.0);
    frame.drawing.line((sides.0, zero), (sides.1, zero), line);
    let style = TextStyle::new(SMALL, Ink::Text).anchored(Anchor::End);
    frame.drawing.text((sides.0 - 10.0, zero + 4.0), "0", style);
    let mut notes = Vec::new();
    let of_sides = [
        (free, "gaps", Mark::Disc, Ink::Hold, (top, zero - MIDDLE)),
        (
            overlaps,
            "overlaps",
            Mark::Cross,
            Ink::Violation,
            (bottom, zero + MIDDLE),
        ),
    ];
    for (gaps, name, mark, ink, (far, near)) in of_sides {
        let every = gaps.len().div_ceil(POINTS_MAX).max(1);
        if every > 1 {
            let drawn = gaps.len().div_ceil(every);
            notes.push(format!("Showing only {drawn} of {} {name}.", gaps.len()));
        }
        for gap in gaps.into_iter().step_by(every) {
            let y = near + decades.share(gap.length.unsigned_abs()) * (far - near);
            let at = (frame.scale.x(gap.hold.granted), y);
            frame.drawing.mark(at, 3.6, mark, ink, Some(title(gap)));
        }
    }
    let keys = [
        (Key::Mark(Mark::Disc, Ink::Hold), "gap: the lock was free"),
        (
            Key::Mark(Mark::Cross, Ink::Violation),
            "overlap: granted too early",
        ),
    ];
    legend(&mut frame.drawing, &keys, (LEFT, frame.foot + 20.0));
    Some(Points {
        drawing: frame.drawing,
        note: (!notes.is_empty()).then(|| notes.join(" ")),
    })
}

/// Grid lines from the zero line outwards.
fn axis(drawing: &mut Drawing, decades: Decades, sides: (f64, f64), (far, near): (f64, f64)) {
    let style = TextStyle::new(SMALL, Ink::Muted).anchored(Anchor::End);
    for value in decades.ticks() {
        let y = near + decades.share(value) * (far - near);
        drawing.line((sides.0, y), (sides.1, y), Stroke::new(Ink::Grid, 1.0));
        // The names next to the zero line would run into each other.
        if (y - near).abs() > MIDDLE {
            drawing.text((sides.0 - 10.0, y + 4.0), decade_name(value), style);
        }
    }
}

fn title(gap: &Gap) -> String {
    let length = words::length(gap.length.unsigned_abs());
    let hold = gap.hold;
    let how = if gap.length < 0 {
        format!("{length} before the hold before it had ended")
    } else {
        format!("{length} after the lock was free")
    };
    format!(
        "{} granted at {}, {how} (event {})",
        hold.client,
        words::instant(hold.granted),
        hold.index
    )
}

#[cfg(test)]
mod tests {
    use super::super::drawing::Shape;
    use super::*;
    use crate::sample;
    use crate::trace::Hold;

    /// Heights of the zero line, and of the marks with a title.
    fn heights(gaps: &[Gap]) -> (f64, Vec<f64>) {
        let points = handoff_over_time(gaps, Nanos::from_millis(1_000), &[]).unwrap();
        let (mut zero, mut marks) = (0.0, Vec::new());
        for shape in points.drawing.shapes {
            match shape {
                Shape::Line { from, stroke, .. } if stroke.ink == Ink::Text => zero = from.1,
                Shape::Mark {
                    at, title: Some(_), ..
                } => marks.push(at.1),
                Shape::Box { .. }
                | Shape::Line { .. }
                | Shape::Curve { .. }
                | Shape::Mark { .. }
                | Shape::Text(_) => {}
            }
        }
        (zero, marks)
    }

    fn hold() -> Hold {
        sample::failover_trace().holds[0].clone()
    }

    #[test]
    fn overlaps_lie_below_the_zero_line_and_gaps_above() {
        let hold = hold();
        let gap = |length| Gap {
            hold: &hold,
            length,
        };
        let (zero, marks) = heights(&[gap(-1), gap(-900_000_000), gap(0), gap(5_000_000)]);
        let sides: Vec<bool> = marks.iter().map(|y| *y > zero).collect();
        assert_eq!(sides, [false, false, true, true], "gaps are drawn first");
        assert!(marks[1] < marks[0], "the longer gap is farther from zero");
        assert!(marks[3] > marks[2], "and so is the longer overlap");
    }

    #[test]
    fn what_is_left_out_is_told_and_no_overlap_gives_way_to_a_gap() {
        let hold = hold();
        let mut gaps: Vec<Gap> = (1..=5_000)
            .map(|n| Gap {
                hold: &hold,
                length: n * 1_000,
            })
            .collect();
        gaps.push(Gap {
            hold: &hold,
            length: -7_000_000,
        });
        let points = handoff_over_time(&gaps, Nanos::from_millis(1_000), &[]).unwrap();
        assert_eq!(points.note.unwrap(), "Showing only 1000 of 5000 gaps.");
        let (zero, marks) = heights(&gaps);
        assert_eq!(marks.iter().filter(|y| **y > zero).count(), 1);
    }

    #[test]
    fn a_run_without_hand_off_has_no_picture() {
        assert!(handoff_over_time(&[], Nanos(0), &[]).is_none());
    }
}
