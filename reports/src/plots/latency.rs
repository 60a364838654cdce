//! Time that each acquire took, over the time of the run and by how it was answered.

use lockstorm_checker::verdict::FaultSummary;

use super::axis::{Key, legend};
use super::decades::Decades;
use super::drawing::{Drawing, Mark};
use super::frame::{Frame, LEFT, Room};
use super::ink::Ink;
use crate::trace::{Answer, CallKind, Request, Trace};
use crate::words;

/// Points in one picture, for each kind of answer; beyond it every n-th is drawn, so that a rare
/// kind is never crowded out by a frequent one.
const POINTS_MAX: usize = 1_000;
/// Height of the plot itself.
const HEIGHT: f64 = 250.0;

/// A picture, and what had to be left out of it.
pub(crate) struct Points {
    pub(crate) drawing: Drawing,
    /// Says so where points are left out, with counts.
    pub(crate) note: Option<String>,
}

/// Each kind of answer with its look; rare kinds are drawn last, above the others.
const KINDS: [(Answer, Mark, Ink); 4] = [
    (Answer::Refused, Mark::Triangle, Ink::Wait),
    (Answer::Granted, Mark::Disc, Ink::Hold),
    (Answer::Failed, Mark::Dash, Ink::Muted),
    (Answer::Indeterminate, Mark::Cross, Ink::Unknown),
];

/// How an acquire was answered.
const fn answer_word(answer: Answer) -> &'static str {
    words::answer(CallKind::Acquire, answer)
}

/// The latency picture; `None` for a run without any acquire.
pub(crate) fn latency(trace: &Trace, faults: &[FaultSummary]) -> Option<Points> {
    let lengths = || trace.requests.iter().map(length);
    let decades = Decades::covering(lengths().min()?, lengths().max()?);
    let label = format!(
        "Latency of {} over the run, on a logarithmic scale",
        words::count(trace.requests.len() as u64, "acquire")
    );
    let room = Room {
        panels: &[HEIGHT],
        right: 18.0,
        foot: 32.0,
    };
    let mut frame = Frame::new(label, trace.end, faults, &room);
    let beside = format!("{} calls", trace.requests.len());
    let span = frame.panel(HEIGHT, words::call(CallKind::Acquire), &beside);
    let sides = frame.sides();
    decades.axis(&mut frame.drawing, sides, span);
    let mut notes = Vec::new();
    let mut keys = Vec::new();
    for (answer, mark, ink) in KINDS {
        let of_kind = trace.requests.iter().filter(|r| r.answer == answer);
        let points: Vec<&Request> = of_kind.collect();
        if !points.is_empty() {
            keys.push((Key::Mark(mark, ink), answer_word(answer)));
        }
        let every = points.len().div_ceil(POINTS_MAX).max(1);
        if every > 1 {
            let drawn = points.len().div_ceil(every);
            notes.push(format!(
                "Showing only {drawn} of {} acquires marked {}.",
                points.len(),
                answer_word(answer)
            ));
        }
        for request in points.into_iter().step_by(every) {
            let at = (
                frame.scale.x(request.invoked),
                decades.y(length(request), span),
            );
            let title = Some(point_title(request));
            frame.drawing.mark(at, 3.6, mark, ink, title);
        }
    }
    legend(&mut frame.drawing, &keys, (LEFT, frame.foot + 20.0));
    Some(Points {
        drawing: frame.drawing,
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
        answer_word(request.answer),
        words::length(length(request)),
        request.index
    )
}

#[cfg(test)]
mod tests {
    use lockstorm_checker::Nanos;

    use super::*;

    fn request(at_ms: u64, took_us: u64, answer: Answer) -> Request {
        Request {
            client: "c1".into(),
            key: "".into(),
            index: 0,
            invoked: Nanos::from_millis(at_ms),
            asked: Nanos::from_millis(at_ms),
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
}
