//! Number of calls that a second came to their end, a panel for each kind and a line for each
//! answer.

use lockstorm_checker::Nanos;
use lockstorm_checker::verdict::FaultSummary;

use super::axis::{SMALL, round_step};
use super::drawing::{Anchor, Drawing, Stroke, TextStyle};
use super::frame::{Frame, Room, names_beside};
use super::ink::Ink;
use crate::measures::{Rates, Windows};
use crate::trace::Answer;
use crate::words;

/// Height of a panel.
const PANEL: f64 = 120.0;
/// Ticks of a panel at most, beside zero.
const TICKS_MAX: f64 = 4.0;

/// The picture; `None` for a run without any call.
pub(crate) fn rate(
    rates: &[Rates],
    windows: &Windows,
    end: Nanos,
    faults: &[FaultSummary],
) -> Option<Drawing> {
    if rates.is_empty() {
        return None;
    }
    let room = Room {
        panels: &vec![PANEL; rates.len()],
        right: 118.0,
        foot: 0.0,
    };
    let label = format!(
        "Calls per second by how they ended, in windows of {}",
        words::length(windows.length().0)
    );
    let mut frame = Frame::new(label, end, faults, &room);
    for of_kind in rates {
        let total: u64 = of_kind.series.iter().flat_map(|(_, counts)| counts).sum();
        let beside = format!("{total} calls");
        let span = frame.panel(PANEL, words::call(of_kind.kind), &beside);
        panel(&mut frame, of_kind, windows, span);
    }
    Some(frame.drawing)
}

/// Ends per second in a window.
pub(crate) fn per_second(count: u64, (from, to): (Nanos, Nanos)) -> f64 {
    count as f64 / (to - from).as_secs_f64().max(1e-9)
}

/// Lines by answer; the frequent ones are drawn first.
const fn stroke(answer: Answer) -> Stroke {
    match answer {
        Answer::Granted => Stroke::new(Ink::Hold, 2.2),
        Answer::Refused => Stroke::new(Ink::Wait, 2.2),
        Answer::Failed => Stroke::dashed(Ink::Muted, 1.4),
        Answer::Indeterminate => Stroke::dashed(Ink::Unknown, 2.0),
    }
}

fn panel(frame: &mut Frame, rates: &Rates, windows: &Windows, span: (f64, f64)) {
    let per_second = |counts: &[u64]| -> Vec<f64> {
        let windows = (0..).map(|window| windows.span(window));
        let counts = counts.iter().zip(windows);
        counts
            .map(|(count, span)| per_second(*count, span))
            .collect()
    };
    let series = rates.series.iter();
    let series = series.map(|(answer, counts)| (*answer, per_second(counts)));
    let series: Vec<(Answer, Vec<f64>)> = series.collect();
    let most = series.iter().flat_map(|(_, rates)| rates);
    let high = axis(frame, most.copied().fold(0.0, f64::max), span);
    let mut names = Vec::new();
    for (answer, per_second) in series {
        let mut points = Vec::new();
        for (window, rate) in per_second.into_iter().enumerate() {
            let (from, to) = windows.span(window);
            let y = span.1 - rate / high * (span.1 - span.0);
            points.extend([(frame.scale.x(from), y), (frame.scale.x(to), y)]);
        }
        let last = points.last().map_or(span.1, |point| point.1);
        let name = words::answer(rates.kind, answer).to_owned();
        names.push((last, name, stroke(answer)));
        frame.drawing.curve(points, stroke(answer), None);
    }
    let right = frame.sides().1;
    names_beside(&mut frame.drawing, right, names, span);
}

/// A scale from zero to a round rate that is not below `most`, which it gives back.
fn axis(frame: &mut Frame, most: f64, span: (f64, f64)) -> f64 {
    let step = round_step(most / TICKS_MAX);
    let steps = (most / step).ceil().max(1.0);
    let (left, right) = frame.sides();
    let style = TextStyle::new(SMALL, Ink::Muted).anchored(Anchor::End);
    let digits = (-step.log10().floor()).max(0.0) as usize;
    for tick in 0..=steps as u32 {
        let tick = f64::from(tick);
        let y = span.1 - tick / steps * (span.1 - span.0);
        let grid = Stroke::new(Ink::Grid, 1.0);
        frame.drawing.line((left, y), (right, y), grid);
        let name = format!("{:.digits$}/s", tick * step);
        frame.drawing.text((left - 10.0, y + 4.0), name, style);
    }
    steps * step
}

#[cfg(test)]
mod tests {
    use super::super::drawing::Shape;
    use super::*;
    use crate::trace::{Call, CallKind, Trace};

    #[test]
    fn a_run_without_calls_has_no_picture() {
        let windows = Windows::of(Nanos(0));
        assert!(rate(&[], &windows, Nanos(0), &[]).is_none());
    }

    #[test]
    fn the_rare_answer_is_drawn_last_and_every_answer_is_named() {
        let call = |n: u64| Call {
            kind: CallKind::Renew,
            invoked: Nanos::from_millis(n * 10),
            asked: Nanos::from_millis(n * 10),
            ended: Nanos::from_millis(n * 10),
            answer: if n == 70 {
                Answer::Refused
            } else {
                Answer::Granted
            },
        };
        let trace = Trace {
            end: Nanos::from_millis(1_000),
            calls: (0..100).map(call).collect(),
            ..Trace::default()
        };
        let windows = Windows::of(trace.end);
        let drawing = rate(&Rates::all(&trace, &windows), &windows, trace.end, &[]).unwrap();
        let (mut inks, mut words) = (Vec::new(), Vec::new());
        for shape in &drawing.shapes {
            match shape {
                Shape::Curve { stroke, .. } => inks.push(stroke.ink),
                Shape::Text(label) => words.push(label.text.as_str()),
                Shape::Box { .. } | Shape::Line { .. } | Shape::Mark { .. } => {}
            }
        }
        assert_eq!(inks, [Ink::Hold, Ink::Wait]);
        for wanted in [
            "renewal",
            "100 calls",
            "renewed",
            "not the owner",
            "0/s",
            "100/s",
        ] {
            assert!(words.contains(&wanted), "{wanted} is missing of {words:?}");
        }
    }
}
