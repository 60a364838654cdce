//! Quantiles of latency over the time of a run, a panel for each kind of call.

use lockstorm_checker::Nanos;
use lockstorm_checker::verdict::FaultSummary;

use super::decades::Decades;
use super::drawing::{Drawing, Mark, Stroke};
use super::frame::{Frame, Room, names_beside};
use super::ink::Ink;
use crate::measures::{Latency, Quantiles, Windows};
use crate::words;

/// Height of a panel.
const PANEL: f64 = 150.0;

/// Figure that a line shows of each window.
type Read = fn(&Quantiles) -> u64;

/// The lines, thinner the fewer calls are as slow; the last is drawn first.
const LINES: [(&str, Read, Stroke); 4] = [
    ("p50", |of| of.p50, Stroke::new(Ink::Hold, 3.2)),
    ("p95", |of| of.p95, Stroke::new(Ink::Hold, 2.0)),
    ("p99", |of| of.p99, Stroke::new(Ink::Hold, 1.1)),
    ("max", |of| of.most, Stroke::dashed(Ink::Muted, 1.2)),
];

/// The picture; `None` for a run without any call that was granted.
pub(crate) fn quantiles(
    latencies: &[Latency],
    windows: &Windows,
    end: Nanos,
    faults: &[FaultSummary],
) -> Option<Drawing> {
    let least = latencies.iter().map(|of| of.whole.least()).min()?;
    let most = latencies.iter().map(|of| of.whole.most()).max()?;
    let decades = Decades::covering(least, most);
    let room = Room {
        panels: &vec![PANEL; latencies.len()],
        right: 62.0,
        foot: 0.0,
    };
    let label = format!(
        "Latency over the run in windows of {}: median, 95 %, 99 % and the longest",
        words::length(windows.length().0)
    );
    let mut frame = Frame::new(label, end, faults, &room);
    for latency in latencies {
        let granted = words::answer(latency.kind, crate::trace::Answer::Granted);
        let beside = format!("{} {granted}", latency.whole.count());
        let span = frame.panel(PANEL, words::call(latency.kind), &beside);
        let sides = frame.sides();
        decades.axis(&mut frame.drawing, sides, span);
        let mut names = Vec::new();
        for (name, read, stroke) in LINES.into_iter().rev() {
            let height = line(&mut frame, latency, windows, (read, stroke), decades, span);
            names.extend(height.map(|y| (y, name.to_owned(), stroke)));
        }
        names_beside(&mut frame.drawing, sides.1, names, span);
    }
    Some(frame.drawing)
}

/// One line, with a blank where nothing was called; gives the height of its last point.
fn line(
    frame: &mut Frame,
    latency: &Latency,
    windows: &Windows,
    (read, stroke): (Read, Stroke),
    decades: Decades,
    span: (f64, f64),
) -> Option<f64> {
    let mut last = None;
    let mut points: Vec<(f64, f64)> = Vec::new();
    let none_after = std::iter::once(&None);
    for (window, quantiles) in latency.over_time.iter().chain(none_after).enumerate() {
        if let Some(quantiles) = quantiles {
            let (from, to) = windows.span(window);
            let middle = Nanos(u64::midpoint(from.0, to.0));
            let y = decades.y(read(quantiles), span);
            points.push((frame.scale.x(middle), y));
            last = Some(y);
            continue;
        }
        // A window between two empty ones has no line, but a point.
        if let [point] = points.as_slice() {
            let radius = stroke.width.max(2.0);
            frame
                .drawing
                .mark(*point, radius, Mark::Disc, stroke.ink, None);
        }
        frame
            .drawing
            .curve(std::mem::take(&mut points), stroke, None);
    }
    last
}

#[cfg(test)]
mod tests {
    use super::super::drawing::Shape;
    use super::*;
    use crate::sample;
    use crate::trace::{Answer, Call, CallKind, Trace};

    fn drawn(trace: &Trace) -> Option<Drawing> {
        let windows = Windows::of(trace.end);
        let latencies = Latency::all(trace, &windows);
        quantiles(&latencies, &windows, trace.end, &[])
    }

    fn release(sent_ms: u64) -> Call {
        let invoked = Nanos::from_millis(sent_ms);
        Call {
            kind: CallKind::Release,
            invoked,
            asked: invoked,
            ended: invoked + Nanos::from_millis(1),
            answer: Answer::Granted,
        }
    }

    #[test]
    fn a_run_without_calls_has_no_picture() {
        assert!(drawn(&Trace::default()).is_none());
    }

    #[test]
    fn each_kind_of_call_has_its_panel_with_four_named_lines() {
        let drawing = drawn(&sample::failover_trace()).unwrap();
        let count = |wanted: &str| {
            let words = drawing.shapes.iter().filter(|shape| match shape {
                Shape::Text(label) => label.text == wanted,
                Shape::Box { .. }
                | Shape::Line { .. }
                | Shape::Curve { .. }
                | Shape::Mark { .. } => false,
            });
            words.count()
        };
        assert_eq!((count("acquire"), count("release")), (1, 1));
        assert_eq!(
            [count("p50"), count("p95"), count("p99"), count("max")],
            [2; 4]
        );
        assert_eq!(count("renewal"), 0, "nobody renewed");
    }

    #[test]
    fn a_line_is_broken_where_nothing_was_called() {
        let trace = Trace {
            end: Nanos::from_millis(10_000),
            calls: [50, 250, 5_000, 9_050, 9_250].map(release).to_vec(),
            ..Trace::default()
        };
        let drawing = drawn(&trace).unwrap();
        let curves = drawing
            .shapes
            .iter()
            .filter(|shape| matches!(shape, Shape::Curve { .. }));
        let marks = drawing
            .shapes
            .iter()
            .filter(|shape| matches!(shape, Shape::Mark { .. }));
        assert_eq!(
            (curves.count(), marks.count()),
            (8, 4),
            "two lines and a point, four times"
        );
    }
}
