//! How long acquires took, over the time of the run and by how they were answered.

use hdrhistogram::Histogram;
use lockstorm_checker::Nanos;
use lockstorm_checker::verdict::FaultSummary;

use super::axis::{
    FAULT_ROW, FAULT_ROWS_MAX, Key, SMALL, TimeScale, WIDTH, fault_bands, fault_strip, faults_note,
    faults_shown, legend, time_axis,
};
use super::drawing::{Anchor, Area, Drawing, Fill, Mark, Stroke, TextStyle};
use super::ink::Ink;
use crate::trace::{Answer, Request, Trace};
use crate::words;

/// Points in one picture, for each kind of answer; beyond it every n-th is drawn, so that a rare
/// kind is never crowded out by a frequent one.
pub(crate) const POINTS_MAX: usize = 1_000;
/// Height of the plot itself.
const HEIGHT: f64 = 250.0;
const LEFT: f64 = 84.0;

/// A picture and the same in numbers.
pub(crate) struct Latency {
    pub(crate) drawing: Drawing,
    pub(crate) rows: Vec<Quantiles>,
    /// Says so where points are left out, with counts.
    pub(crate) note: Option<String>,
}

/// The distribution of one kind of answer, in nanoseconds.
pub(crate) struct Quantiles {
    pub(crate) answer: Answer,
    pub(crate) count: u64,
    pub(crate) p50: u64,
    pub(crate) p95: u64,
    pub(crate) p99: u64,
    pub(crate) max: u64,
}

/// Each kind of answer with its look; rare kinds are drawn last, above the others.
const KINDS: [(Answer, Mark, Ink); 4] = [
    (Answer::Refused, Mark::Triangle, Ink::Wait),
    (Answer::Granted, Mark::Disc, Ink::Hold),
    (Answer::Failed, Mark::Dash, Ink::Muted),
    (Answer::Indeterminate, Mark::Cross, Ink::Unknown),
];

/// How an answer is called.
pub(crate) const fn answer_words(answer: Answer) -> &'static str {
    match answer {
        Answer::Granted => "granted",
        Answer::Refused => "refused",
        Answer::Failed => "not executed",
        Answer::Indeterminate => "no answer",
    }
}

/// The latency picture; `None` for a run without any acquire.
pub(crate) fn latency(trace: &Trace, faults: &[FaultSummary]) -> Option<Latency> {
    let lengths = || trace.requests.iter().map(length);
    let decades = Decades::covering(lengths().min()?, lengths().max()?);
    let scale = TimeScale {
        window: (Nanos(0), trace.end),
        left: LEFT,
        right: WIDTH - 18.0,
    };
    let faults = faults_shown(faults, &scale);
    let top = 14.0 + faults.len().min(FAULT_ROWS_MAX) as f64 * FAULT_ROW;
    let bottom = top + HEIGHT;
    let label = format!(
        "Latency of {} over the run, on a logarithmic scale",
        words::count(trace.requests.len() as u64, "acquire")
    );
    let mut drawing = Drawing::new(WIDTH, bottom + 58.0, label);
    let full = Area::between((0.0, WIDTH), 0.0, drawing.height);
    drawing.area(full, Fill::Plain(Ink::Paper, 1.0));
    fault_bands(&mut drawing, &faults, &scale, (8.0, bottom));
    fault_strip(&mut drawing, &faults, &scale, 8.0, &[]);
    time_axis(&mut drawing, &scale, top, bottom);
    decades.axis(&mut drawing, &scale, (top, bottom));
    let mut notes: Vec<String> = faults_note(&faults).into_iter().collect();
    let mut keys = Vec::new();
    for (answer, mark, ink) in KINDS {
        let of_kind = trace.requests.iter().filter(|r| r.answer == answer);
        let points: Vec<&Request> = of_kind.collect();
        if !points.is_empty() {
            keys.push((Key::Mark(mark, ink), answer_words(answer)));
        }
        let every = points.len().div_ceil(POINTS_MAX).max(1);
        if every > 1 {
            let word = answer_words(answer);
            let drawn = points.len().div_ceil(every);
            notes.push(format!(
                "Showing only {drawn} of {} acquires marked {word}.",
                points.len()
            ));
        }
        for request in points.into_iter().step_by(every) {
            let at = (
                scale.x(request.invoked),
                decades.y(length(request), (top, bottom)),
            );
            drawing.mark(at, 3.6, mark, ink, Some(point_title(request)));
        }
    }
    legend(&mut drawing, &keys, (LEFT, bottom + 46.0));
    Some(Latency {
        drawing,
        rows: quantiles(trace),
        note: (!notes.is_empty()).then(|| notes.join(" ")),
    })
}

fn length(request: &Request) -> u64 {
    (request.ended - request.invoked).0
}

fn point_title(request: &Request) -> String {
    format!(
        "{} at {}: {} after {} (event {})",
        request.client,
        words::instant(request.invoked),
        answer_words(request.answer),
        words::length(length(request)),
        request.index
    )
}

fn quantiles(trace: &Trace) -> Vec<Quantiles> {
    let of = |answer: Answer| {
        let mut histogram =
            Histogram::<u64>::new(3).expect("three digits are within what the histogram offers");
        let of_kind = trace.requests.iter().filter(|r| r.answer == answer);
        for request in of_kind {
            histogram
                .record(length(request))
                .expect("a histogram without a named maximum grows for every value");
        }
        (!histogram.is_empty()).then(|| Quantiles {
            answer,
            count: histogram.len(),
            p50: histogram.value_at_quantile(0.50),
            p95: histogram.value_at_quantile(0.95),
            p99: histogram.value_at_quantile(0.99),
            max: histogram.max(),
        })
    };
    KINDS
        .into_iter()
        .filter_map(|(kind, ..)| of(kind))
        .collect()
}

/// A logarithmic scale of whole decades of nanoseconds.
struct Decades {
    low: i32,
    high: i32,
}

impl Decades {
    /// The decades from `least` to `most`, at least one.
    fn covering(least: u64, most: u64) -> Self {
        let low = (least.max(1_000) as f64).log10().floor() as i32;
        let high = (most.max(1_000) as f64).log10().ceil() as i32;
        Self {
            low,
            high: high.max(low + 1),
        }
    }

    fn y(&self, value: u64, (top, bottom): (f64, f64)) -> f64 {
        let value = (value.max(1) as f64).log10();
        let share = (value - f64::from(self.low)) / f64::from(self.high - self.low);
        bottom - share.clamp(0.0, 1.0) * (bottom - top)
    }

    fn axis(&self, drawing: &mut Drawing, scale: &TimeScale, span: (f64, f64)) {
        let style = TextStyle::new(SMALL, Ink::Muted).anchored(Anchor::End);
        for decade in self.low..=self.high {
            let value = 10_u64.saturating_pow(decade.max(0).unsigned_abs());
            let y = self.y(value, span);
            let grid = Stroke::new(Ink::Grid, 1.0);
            drawing.line((scale.left, y), (scale.right, y), grid);
            drawing.text((scale.left - 10.0, y + 4.0), decade_name(value), style);
        }
    }
}

/// `10 µs`, `1 ms`, `100 s`.
fn decade_name(ns: u64) -> String {
    match ns {
        1_000_000_000.. => format!("{} s", ns / 1_000_000_000),
        1_000_000.. => format!("{} ms", ns / 1_000_000),
        _ => format!("{} µs", ns / 1_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(at_ms: u64, took_us: u64, answer: Answer) -> Request {
        Request {
            client: "c1".to_owned(),
            key: String::new(),
            index: 0,
            invoked: Nanos::from_millis(at_ms),
            ended: Nanos::from_millis(at_ms) + Nanos(took_us * 1000),
            answer,
        }
    }

    #[test]
    fn a_run_without_acquires_has_no_latency() {
        assert!(latency(&Trace::default(), &[]).is_none());
    }

    #[test]
    fn a_rare_answer_is_drawn_whole_beside_a_frequent_one() {
        let mut requests: Vec<Request> = (0..5_000)
            .map(|n| request(n, 300, Answer::Granted))
            .collect();
        requests.push(request(77, 9_000, Answer::Indeterminate));
        let trace = Trace {
            end: Nanos::from_millis(5_000),
            requests,
            ..Trace::default()
        };
        let latency = latency(&trace, &[]).unwrap();
        assert_eq!(
            latency.note.unwrap(),
            "Showing only 1000 of 5000 acquires marked granted."
        );
        let crosses = latency.drawing.shapes.iter().filter(|shape| {
            let point = matches!(
                shape,
                super::super::drawing::Shape::Mark {
                    mark: Mark::Cross,
                    title: Some(_),
                    ..
                }
            );
            point
        });
        assert_eq!(crosses.count(), 1);
    }

    #[test]
    fn quantiles_are_told_for_each_answer_that_occurs() {
        let trace = Trace {
            end: Nanos::from_millis(10),
            requests: vec![
                request(1, 100, Answer::Granted),
                request(2, 300, Answer::Granted),
                request(3, 50, Answer::Refused),
            ],
            ..Trace::default()
        };
        let rows = quantiles(&trace);
        let told: Vec<(Answer, u64)> = rows.iter().map(|row| (row.answer, row.count)).collect();
        assert_eq!(told, [(Answer::Refused, 1), (Answer::Granted, 2)]);
        assert!(rows[1].max >= 300_000);
    }
}
