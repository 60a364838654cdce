//! Latency by percentile, with the nines of the tail drawn out: the curve of `HdrHistogram`.

use super::axis::{SMALL, WIDTH};
use super::decades::Decades;
use super::drawing::{Anchor, Area, Drawing, Fill, Stroke, TextStyle};
use super::frame::{LEFT, names_beside};
use super::ink::Ink;
use crate::measures::{Latency, Ordered};
use crate::trace::CallKind;
use crate::words;

const TOP: f64 = 16.0;
const HEIGHT: f64 = 260.0;
/// Room for the names of the curves.
const RIGHT: f64 = 190.0;
/// Points of one curve.
const POINTS: u32 = 240;
/// Percentiles that are named, as far as the calls are enough for them.
const TICKS: [(f64, &str); 8] = [
    (0.0, "0 %"),
    (0.5, "50 %"),
    (0.9, "90 %"),
    (0.99, "99 %"),
    (0.999, "99.9 %"),
    (0.9999, "99.99 %"),
    (0.99999, "99.999 %"),
    (0.999_999, "99.9999 %"),
];

/// One curve with its name.
struct Curve<'a> {
    name: String,
    lengths: &'a Ordered,
    stroke: Stroke,
}

/// The picture; `None` for a run without any call that was granted.
pub(crate) fn percentiles(latencies: &[Latency]) -> Option<Drawing> {
    let curves: Vec<Curve> = latencies.iter().flat_map(curves).collect();
    let lengths = || curves.iter().map(|curve| curve.lengths);
    let least = lengths().map(Ordered::least).min()?;
    let most = lengths().map(Ordered::most).max()?;
    let calls = lengths().map(Ordered::count).max()?;
    let decades = Decades::covering(least, most);
    let nines_max = nines_of(calls).max(1.0);
    let label = "Latency by percentile, logarithmic in both directions".to_owned();
    let mut drawing = Drawing::new(WIDTH, TOP + HEIGHT + 50.0, label);
    let full = Area::between((0.0, WIDTH), 0.0, drawing.height);
    drawing.area(full, Fill::Plain(Ink::Paper, 1.0));
    let (sides, span) = ((LEFT, WIDTH - RIGHT), (TOP, TOP + HEIGHT));
    let x = |nines: f64| sides.0 + nines / nines_max * (sides.1 - sides.0);
    decades.axis(&mut drawing, sides, span);
    percentile_axis(&mut drawing, x, nines_max, span);
    let mut names = Vec::new();
    for curve in curves.iter().rev() {
        let end = nines_of(curve.lengths.count());
        let mut points: Vec<(f64, f64)> = (0..POINTS)
            .map(|n| f64::from(n) / f64::from(POINTS) * end)
            .map(|nines| (nines, curve.lengths.at(1.0 - 10_f64.powf(-nines))))
            .map(|(nines, length)| (x(nines), decades.y(length, span)))
            .collect();
        let highest = decades.y(curve.lengths.most(), span);
        points.push((x(end), highest));
        // The longest of all stands for the tail that nobody has seen.
        points.push((sides.1, highest));
        drawing.curve(points, curve.stroke, None);
        names.push((highest, curve.name.clone(), curve.stroke));
    }
    names_beside(&mut drawing, sides.1, names, span);
    Some(drawing)
}

/// How many nines `calls` can tell of: of a thousand three, as the slowest is one in a thousand.
fn nines_of(calls: u64) -> f64 {
    (calls as f64).log10()
}

/// The curves of one kind of call: as its caller saw it and, where it had to try again, without
/// the tries that came to nothing.
fn curves(latency: &Latency) -> Vec<Curve<'_>> {
    let ink = match latency.kind {
        CallKind::Acquire => Ink::Hold,
        CallKind::Renew => Ink::Lease,
        CallKind::Release => Ink::Valid,
    };
    let word = words::call(latency.kind);
    let mut curves = vec![Curve {
        name: match latency.served {
            Some(_) => format!("{word}, with its wait"),
            None => word.to_owned(),
        },
        lengths: &latency.whole,
        stroke: Stroke::new(ink, 2.4),
    }];
    curves.extend(latency.served.as_ref().map(|served| Curve {
        name: format!("{word}, last try alone"),
        lengths: served,
        stroke: Stroke::dashed(ink, 1.8),
    }));
    curves
}

fn percentile_axis(
    drawing: &mut Drawing,
    x: impl Fn(f64) -> f64,
    nines_max: f64,
    (top, bottom): (f64, f64),
) {
    let style = TextStyle::new(SMALL, Ink::Muted).anchored(Anchor::Middle);
    for (share, name) in TICKS {
        let nines = -(1.0 - share).log10();
        if nines <= nines_max + 1e-9 {
            let x = x(nines);
            drawing.line((x, top), (x, bottom), Stroke::new(Ink::Grid, 1.0));
            drawing.text((x, bottom + 18.0), name, style);
        }
    }
    let caption = "share of calls that were answered at least as fast";
    drawing.text(
        ((LEFT + WIDTH - RIGHT) / 2.0, bottom + 40.0),
        caption,
        style,
    );
}

#[cfg(test)]
mod tests {
    use lockstorm_checker::Nanos;

    use super::super::drawing::Shape;
    use super::*;
    use crate::measures::Windows;
    use crate::trace::{Answer, Call, Trace};

    fn drawn(calls: u64) -> Drawing {
        let of = |n: u64| Call {
            kind: CallKind::Release,
            invoked: Nanos(0),
            asked: Nanos(0),
            // One in a hundred takes a hundred times as long.
            ended: Nanos(if n % 100 == 99 { 10_000_000 } else { 100_000 }),
            answer: Answer::Granted,
        };
        let trace = Trace {
            calls: (0..calls).map(of).collect(),
            ..Trace::default()
        };
        let latencies = Latency::all(&trace, &Windows::of(trace.end));
        percentiles(&latencies).unwrap()
    }

    fn curve(drawing: &Drawing) -> Vec<(f64, f64)> {
        let curves = drawing.shapes.iter().filter_map(|shape| match shape {
            Shape::Curve { points, .. } => Some(points.clone()),
            Shape::Box { .. } | Shape::Line { .. } | Shape::Mark { .. } | Shape::Text(_) => None,
        });
        curves.flatten().collect()
    }

    #[test]
    fn a_curve_rises_at_the_share_that_is_slow() {
        let points = curve(&drawn(10_000));
        let share = |x: f64| (x - LEFT) / (WIDTH - RIGHT - LEFT);
        let step = points.iter().find(|(_, y)| *y < points[0].1 - 1.0).unwrap();
        // Two nines of the four that ten thousand calls can tell of.
        assert!((share(step.0) - 0.5).abs() < 0.01, "{step:?}");
        assert!(
            points.windows(2).all(|pair| pair[0].1 >= pair[1].1),
            "it never falls"
        );
    }

    #[test]
    fn a_single_call_is_a_level_line() {
        let points = curve(&drawn(1));
        assert!(
            points
                .iter()
                .all(|(x, y)| x.is_finite() && (*y - points[0].1).abs() < 1e-9)
        );
        assert!((points.last().unwrap().0 - (WIDTH - RIGHT)).abs() < 1e-9);
    }
}
