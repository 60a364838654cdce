//! Content of the window, arranged in lanes and then drawn from the ground up.

use lockstorm_checker::Nanos;
use lockstorm_checker::verdict::{FaultSummary, Witness};

use super::super::axis::{TimeScale, WIDTH, time_axis};
use super::super::drawing::{Area, Drawing, Fill};
use super::super::faults::{
    FAULT_ROW, FAULT_ROWS_MAX, fault_bands, fault_strip, faults_note, faults_shown,
};
use super::super::ink::Ink;
use super::canvas::{Canvas, GUTTER, LANE, Number};
use super::picture::Timeline;
use crate::trace::{Answer, Hold, Request, Trace};

/// Holds and requests drawn in one picture. A browser stays fluent with some thousands of SVG
/// elements, of which each of these makes up to five.
pub(super) const OPERATIONS_MAX: usize = 1_500;
/// Lanes of the picture of a run; more do not fit on a screen.
pub(super) const LANES_MAX: usize = 24;
/// Lanes of the picture of a violation: its holders and some of those who waited.
pub(super) const LANES_AROUND_MAX: usize = 12;

/// The acquires that are drawn for themselves: those without a hold of their own.
pub(super) fn unheld(trace: &Trace) -> impl Iterator<Item = &Request> {
    let requests = trace.requests.iter();
    requests.filter(|request| matches!(request.answer, Answer::Refused | Answer::Indeterminate))
}

/// Content of the window, arranged in lanes.
pub(super) struct View<'a> {
    pub(super) window: (Nanos, Nanos),
    pub(super) holds: Vec<&'a Hold>,
    pub(super) requests: Vec<&'a Request>,
    lanes: Vec<&'a str>,
    pub(super) notes: Vec<String>,
    many_keys: bool,
}

impl<'a> View<'a> {
    /// Takes what lies in the window of those clients and keys that are shown, up to so many
    /// operations: holds before requests.
    pub(super) fn new(
        window: (Nanos, Nanos),
        trace: &'a Trace,
        is_shown: impl Fn(&str, &str) -> bool,
    ) -> Self {
        let inside = |from: Nanos, to: Nanos| from <= window.1 && to >= window.0;
        let hold_ends = |hold: &Hold| {
            let released = hold.release_answered.or(hold.release_invoked);
            released.unwrap_or(Nanos::MAX).max(hold.granted)
        };
        let mut holds: Vec<&Hold> = trace
            .holds
            .iter()
            .filter(|hold| is_shown(&hold.client, &hold.key))
            .filter(|hold| inside(hold.invoked, hold_ends(hold)))
            .collect();
        let mut requests: Vec<&Request> = unheld(trace)
            .filter(|request| is_shown(&request.client, &request.key))
            .filter(|request| inside(request.invoked, request.ended))
            .collect();
        let mut notes = Vec::new();
        let total = holds.len() + requests.len();
        if total > OPERATIONS_MAX {
            holds.truncate(OPERATIONS_MAX);
            requests.truncate(OPERATIONS_MAX - holds.len());
            notes.push(format!(
                "Showing only the first {OPERATIONS_MAX} of {total} operations of this window."
            ));
        }
        let many_keys = holds.windows(2).any(|pair| pair[0].key != pair[1].key);
        Self {
            window,
            holds,
            requests,
            lanes: Vec::new(),
            notes,
            many_keys,
        }
    }

    /// One lane a client, at most so many: the named ones first, then the others by name.
    pub(super) fn order_lanes(&mut self, first: &[&str], most: usize) {
        let of_holds = self.holds.iter().map(|hold| &*hold.client);
        let of_requests = self.requests.iter().map(|request| &*request.client);
        let mut lanes: Vec<&str> = of_holds.chain(of_requests).collect();
        lanes.sort_by_key(|name| {
            let rank = first.iter().position(|known| known == name);
            // Names that end in numbers sort by the number: c2 before c10.
            (rank.unwrap_or(first.len()), name.len(), *name)
        });
        lanes.dedup();
        if lanes.len() > most {
            self.notes.push(format!(
                "Showing only the first {most} of {} clients.",
                lanes.len()
            ));
            lanes.truncate(most);
        }
        self.lanes = lanes;
    }

    pub(super) fn draw(
        &self,
        label: String,
        faults: &[FaultSummary],
        witnesses: &[&'a Witness],
        numbered: bool,
    ) -> Timeline {
        let scale = TimeScale {
            window: self.window,
            left: GUTTER,
            right: WIDTH - 18.0,
        };
        let faults = faults_shown(faults, &scale);
        let strip = faults.len().min(FAULT_ROWS_MAX) as f64 * FAULT_ROW;
        let lanes_top = 8.0 + strip + if witnesses.is_empty() { 8.0 } else { 30.0 };
        let bottom = lanes_top + self.lanes.len().max(1) as f64 * LANE;
        let mut canvas = Canvas {
            drawing: Drawing::new(WIDTH, bottom + 58.0, label),
            scale,
            lanes: &self.lanes,
            lanes_top,
            bottom,
            words_end: 0.0,
        };
        let full = Area::between((0.0, WIDTH), 0.0, bottom + 58.0);
        canvas.drawing.area(full, Fill::Plain(Ink::Paper, 1.0));
        fault_bands(&mut canvas.drawing, &faults, &scale, (8.0, bottom));
        time_axis(&mut canvas.drawing, &scale, lanes_top, bottom);
        let numbers: Vec<Number> = if numbered {
            let of = |witness: &&'a Witness| canvas.numbers(witness, &faults);
            witnesses.iter().flat_map(of).collect()
        } else {
            Vec::new()
        };
        let discs: Vec<(f64, f64)> = numbers.iter().map(|number| number.at).collect();
        fault_strip(&mut canvas.drawing, &faults, &scale, 8.0, &discs);
        canvas.lane_names();
        for witness in witnesses {
            canvas.ground(witness);
        }
        for request in &self.requests {
            canvas.request(request);
        }
        for hold in &self.holds {
            let accused = witnesses.iter().any(|witness| {
                let mut holders = witness.holders.iter();
                holders.any(|holder| holder.op_acquire == hold.index)
            });
            canvas.hold(hold, self.many_keys, accused);
        }
        for witness in witnesses {
            canvas.overlap(witness);
        }
        for number in &numbers {
            canvas.number(number);
        }
        canvas.legend();
        let mut notes = self.notes.clone();
        notes.extend(faults_note(&faults));
        Timeline {
            drawing: canvas.drawing,
            note: (!notes.is_empty()).then(|| notes.join(" ")),
        }
    }
}
