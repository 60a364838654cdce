//! The timeline: who held the lock when, for how long the leases ran, and what was broken.
//!
//! ```text
//! F1 cut primary→replica ███████████████████████
//!                          2 holders · 1.078 s
//!  a   ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓│        bar: hold, lighter ends: request in flight
//!      ───────────────────────┤      line: lease, up to its tick
//!  b            ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓
//! ```

use lockstorm_checker::verdict::{FaultSummary, StepKind, Witness};
use lockstorm_checker::{Nanos, Property};

use super::axis::{
    FAULT_ROW, FAULT_ROWS_MAX, Key, SMALL, TimeScale, WIDTH, fault_bands, fault_strip,
    faults_shown, legend, time_axis,
};
use super::drawing::{Anchor, Area, Drawing, Fill, Mark, Stroke, TextStyle};
use super::font;
use super::ink::Ink;
use crate::trace::{Answer, Hold, Request, Trace};
use crate::words;

/// Holds and requests drawn in one picture. A browser stays fluent with some thousands of SVG
/// elements, of which each of these makes up to five.
pub(crate) const OPERATIONS_MAX: usize = 1_500;
/// Lanes of one picture; more do not fit on a screen.
pub(crate) const LANES_MAX: usize = 24;
/// Violations that get a box in the picture of a whole run.
const BOXES_MAX: usize = 40;

const GUTTER: f64 = 104.0;
const LANE: f64 = 50.0;
const BAR: f64 = 20.0;

/// A picture, and what had to be left out of it.
pub(crate) struct Timeline {
    pub(crate) drawing: Drawing,
    /// Says so where something is left out, with counts.
    pub(crate) note: Option<String>,
}

/// The picture around one violation, with the numbers of its story.
pub(crate) fn around(witness: &Witness, faults: &[FaultSummary], trace: &Trace) -> Timeline {
    let mut view = View::new(window_of(witness, trace), trace, |hold_key| {
        hold_key == witness.lock_key
    });
    let names: Vec<&str> = witness.holders.iter().map(|h| h.client.as_str()).collect();
    view.order_lanes(&names);
    let label = format!("Timeline around a violation: {}", witness.claim);
    view.draw(label, faults, &[witness], true)
}

/// The picture of a whole run, or of as much of its beginning as can be drawn.
pub(crate) fn whole(witnesses: &[&Witness], faults: &[FaultSummary], trace: &Trace) -> Timeline {
    let end = end_of_drawable(trace);
    let mut view = View::new((Nanos(0), end), trace, |_| true);
    view.order_lanes(&[]);
    let total = trace.holds.len() + trace.requests.len();
    if end < trace.end {
        view.notes.push(format!(
            "Showing only the first {} of {total} operations, up to {}.",
            view.holds.len() + view.requests.len(),
            words::instant(end)
        ));
    }
    let shown = &witnesses[..witnesses.len().min(BOXES_MAX)];
    if shown.len() < witnesses.len() {
        view.notes.push(format!(
            "Marking only the first {} of {} violations.",
            shown.len(),
            witnesses.len()
        ));
    }
    let label = format!("Timeline of the run up to {}", words::instant(end));
    view.draw(label, faults, shown, false)
}

/// Up to where the operations of a run fit into one picture.
fn end_of_drawable(trace: &Trace) -> Nanos {
    let mut starts: Vec<Nanos> = trace.holds.iter().map(|hold| hold.invoked).collect();
    starts.extend(trace.requests.iter().map(|request| request.invoked));
    starts.sort_unstable();
    starts
        .get(OPERATIONS_MAX)
        .map_or(trace.end, |first_left_out| *first_left_out - Nanos(1))
}

/// From shortly before the story begins to shortly after everything that it speaks of ended.
fn window_of(witness: &Witness, trace: &Trace) -> (Nanos, Nanos) {
    let finite = |at: Nanos| if at == Nanos::MAX { trace.end } else { at };
    let first = witness
        .holders
        .iter()
        .map(|holder| holder.acquire_invoked)
        .min()
        .unwrap_or(witness.interval.0);
    let last = witness
        .holders
        .iter()
        .flat_map(|holder| [holder.release_invoked, holder.lease_ceiling])
        .flatten()
        .chain([witness.interval.0, finite(witness.interval.1)])
        .map(finite)
        .max()
        .unwrap_or(first);
    let length = last - first;
    // A fault long before the first grant must not squeeze the holds into a corner.
    let earliest = first - Nanos(length.0 / 2);
    let begins = witness
        .story
        .iter()
        .map(|step| step.t)
        .min()
        .unwrap_or(first);
    let from = begins.clamp(earliest, first);
    let margin = Nanos((last - from).0 / 25 + 1);
    (from - margin, last + margin)
}

/// What lies inside the window, arranged in lanes.
struct View<'a> {
    window: (Nanos, Nanos),
    holds: Vec<&'a Hold>,
    requests: Vec<&'a Request>,
    lanes: Vec<&'a str>,
    notes: Vec<String>,
    many_keys: bool,
}

impl<'a> View<'a> {
    fn new(window: (Nanos, Nanos), trace: &'a Trace, key: impl Fn(&str) -> bool) -> Self {
        let inside = |from: Nanos, to: Nanos| from <= window.1 && to >= window.0;
        let hold_ends = |hold: &Hold| {
            let released = hold.release_answered.or(hold.release_invoked);
            released.unwrap_or(Nanos::MAX).max(hold.granted)
        };
        let mut holds: Vec<&Hold> = trace
            .holds
            .iter()
            .filter(|hold| key(&hold.key) && inside(hold.invoked, hold_ends(hold)))
            .collect();
        let mut requests: Vec<&Request> = trace
            .requests
            .iter()
            .filter(|request| matches!(request.answer, Answer::Refused | Answer::Indeterminate))
            .filter(|request| key(&request.key))
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

    /// One lane a client: the named ones first, then the others by name.
    fn order_lanes(&mut self, first: &[&str]) {
        let of_holds = self.holds.iter().map(|hold| hold.client.as_str());
        let of_requests = self.requests.iter().map(|request| request.client.as_str());
        let mut lanes: Vec<&str> = of_holds.chain(of_requests).collect();
        lanes.sort_by_key(|name| {
            let rank = first.iter().position(|known| known == name);
            // Names that end in numbers sort by the number: c2 before c10.
            (rank.unwrap_or(first.len()), name.len(), *name)
        });
        lanes.dedup();
        if lanes.len() > LANES_MAX {
            self.notes.push(format!(
                "Showing only the first {LANES_MAX} of {} clients.",
                lanes.len()
            ));
            lanes.truncate(LANES_MAX);
        }
        self.lanes = lanes;
    }

    fn draw(
        &self,
        label: String,
        faults: &[FaultSummary],
        witnesses: &[&Witness],
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
        };
        let full = Area::between((0.0, WIDTH), 0.0, bottom + 58.0);
        canvas.drawing.area(full, Fill::Plain(Ink::Paper, 1.0));
        fault_bands(&mut canvas.drawing, &faults, &scale, (8.0, bottom));
        time_axis(&mut canvas.drawing, &scale, lanes_top, bottom);
        fault_strip(&mut canvas.drawing, &faults, &scale, 8.0);
        canvas.lane_names();
        for witness in witnesses {
            canvas.ground(witness);
        }
        for request in &self.requests {
            canvas.request(request);
        }
        for hold in &self.holds {
            canvas.hold(hold, self.many_keys);
        }
        for witness in witnesses {
            canvas.overlap(witness);
        }
        if numbered {
            for witness in witnesses {
                canvas.numbers(witness, &faults);
            }
        }
        canvas.legend();
        Timeline {
            drawing: canvas.drawing,
            note: (!self.notes.is_empty()).then(|| self.notes.join(" ")),
        }
    }
}

/// A timeline under construction.
struct Canvas<'a> {
    drawing: Drawing,
    scale: TimeScale,
    lanes: &'a [&'a str],
    lanes_top: f64,
    bottom: f64,
}

impl Canvas<'_> {
    /// Top of a client's lane, if it has one.
    fn lane(&self, client: &str) -> Option<f64> {
        let at = self.lanes.iter().position(|lane| *lane == client)?;
        Some(self.lanes_top + at as f64 * LANE)
    }

    fn lane_names(&mut self) {
        let style = TextStyle::new(14.0, Ink::Text).bold().anchored(Anchor::End);
        for (at, lane) in self.lanes.iter().enumerate() {
            let y = self.lanes_top + at as f64 * LANE;
            let name = font::fitted(lane, 14.0, true, GUTTER - 24.0);
            self.drawing
                .text((GUTTER - 12.0, y + 8.0 + BAR * 0.72), name, style);
            let edge = (self.scale.left, y + LANE);
            let stroke = Stroke::new(Ink::Grid, 1.0);
            self.drawing
                .line(edge, (self.scale.right, y + LANE), stroke);
        }
    }

    fn bar(&self, top: f64, from: Nanos, to: Nanos) -> Area {
        let (from, to) = (self.scale.x(from), self.scale.x(to));
        Area::between((from, to.max(from + 1.0)), top + 8.0, BAR)
    }

    /// An acquire that was refused or never answered.
    fn request(&mut self, request: &Request) {
        let Some(top) = self.lane(&request.client) else {
            return;
        };
        let span = format!(
            "from {} to {}",
            words::instant(request.invoked),
            words::instant(request.ended)
        );
        let area = self.bar(top, request.invoked, request.ended);
        match request.answer {
            Answer::Refused => {
                let title = format!("{}: acquire refused, {span}", request.client);
                self.drawing.area(area, Fill::Plain(Ink::Wait, 0.35));
                let at = (area.x + area.width, top + 8.0 + BAR / 2.0);
                let mark = (Mark::Triangle, Ink::Wait);
                self.drawing.mark(at, 5.0, mark.0, mark.1, Some(title));
            }
            Answer::Indeterminate => {
                let title = format!("{}: acquire without answer, {span}", request.client);
                self.drawing.area(area, Fill::Hatch(Ink::Unknown));
                self.drawing
                    .titled(area, Fill::Plain(Ink::Unknown, 0.2), Some(title));
                self.drawing
                    .outline(area, Stroke::dashed(Ink::Unknown, 1.5));
            }
            Answer::Granted | Answer::Failed => {}
        }
    }

    /// The certain hold as a solid bar, the requests at its ends lighter, the lease below.
    fn hold(&mut self, hold: &Hold, name_key: bool) {
        let Some(top) = self.lane(&hold.client) else {
            return;
        };
        let pale = Fill::Plain(Ink::Hold, 0.35);
        let asked = self.bar(top, hold.invoked, hold.granted);
        self.drawing.area(asked, pale);
        let core_end = hold.release_invoked.unwrap_or(Nanos::MAX);
        let core = self.bar(top, hold.granted, core_end);
        let title = hold_title(hold);
        self.drawing
            .titled(core, Fill::Plain(Ink::Hold, 1.0), Some(title));
        match (hold.release_invoked, hold.release_answered) {
            (Some(sent), Some(answered)) => {
                let leaving = self.bar(top, sent, answered);
                self.drawing.area(leaving, pale);
            }
            (Some(sent), None) => {
                let until = hold.lease_ceiling.unwrap_or(Nanos::MAX).max(sent);
                let unknown = self.bar(top, sent, until);
                self.drawing.area(unknown, Fill::Hatch(Ink::Muted));
                self.drawing
                    .outline(unknown, Stroke::dashed(Ink::Muted, 1.0));
            }
            (None, _) => {}
        }
        self.bar_words(hold, core, name_key);
        self.lease(hold, top);
    }

    /// What fits into the bar: the key where there are many, the token, the length of the hold.
    fn bar_words(&mut self, hold: &Hold, core: Area, name_key: bool) {
        let mut words = Vec::new();
        if name_key {
            words.push(hold.key.clone());
        }
        if let Some(token) = hold.token {
            words.push(format!("token {token}"));
        }
        words.push(match hold.release_invoked {
            Some(released) => format!("held {}", words::length((released - hold.granted).0)),
            None => "never released".to_owned(),
        });
        let text = words.join(" · ");
        // Room for the number of a step at the beginning of the bar.
        let start = core.x + 16.0;
        if font::width(&text, SMALL, false) + 22.0 <= core.width {
            let at = (start, core.y + BAR * 0.7);
            self.drawing
                .text(at, text, TextStyle::new(SMALL, Ink::OnHold));
        }
    }

    /// A thin line under the bar: solid to the floor, dashed to the ceiling, a tick at its end.
    fn lease(&mut self, hold: &Hold, top: f64) {
        let Some(floor) = hold.lease_floor else {
            return;
        };
        let y = top + 8.0 + BAR + 8.0;
        let (from, to) = (self.scale.x(hold.granted), self.scale.x(floor));
        let stroke = Stroke::new(Ink::Lease, 2.0);
        self.drawing.line((from, y), (to, y), stroke);
        if let Some(ceiling) = hold.lease_ceiling {
            let end = self.scale.x(ceiling);
            let doubt = Stroke::dashed(Ink::Lease, 2.0);
            self.drawing.line((to, y), (end, y), doubt);
        }
        if floor < self.scale.window.1 {
            self.drawing.line((to, y - 5.0), (to, y + 5.0), stroke);
        }
    }

    /// The box of a violation: from the first to the last lane that has a part in it.
    fn area_of(&self, witness: &Witness) -> Option<Area> {
        let tops = witness.holders.iter().filter_map(|h| self.lane(&h.client));
        let (mut top, mut bottom) = (f64::MAX, f64::MIN);
        for lane in tops {
            top = top.min(lane);
            bottom = bottom.max(lane + LANE);
        }
        if top > bottom {
            // Nobody held anything: a stuck lock concerns every lane.
            (top, bottom) = (self.lanes_top, self.bottom);
        }
        let (from, to) = witness.interval;
        if !self.scale.shows(from, to) {
            return None;
        }
        let (left, right) = (self.scale.x(from), self.scale.x(to));
        let span = (left, right.max(left + 2.0));
        Some(Area::between(span, top + 3.0, bottom - top - 6.0))
    }

    fn ground(&mut self, witness: &Witness) {
        if let Some(area) = self.area_of(witness) {
            self.drawing.area(area, Fill::Plain(Ink::Violation, 0.13));
        }
    }

    /// Outline and hatch over the bars that overlap, and what it is above them.
    fn overlap(&mut self, witness: &Witness) {
        let Some(area) = self.area_of(witness) else {
            return;
        };
        for holder in &witness.holders {
            if let (true, Some(top)) = (witness.certain, self.lane(&holder.client)) {
                let x = (area.x, area.x + area.width);
                let band = Area::between(x, top + 8.0 + BAR - 6.0, 6.0);
                self.drawing.area(band, Fill::Plain(Ink::Paper, 0.75));
                self.drawing.area(band, Fill::Hatch(Ink::Violation));
            }
        }
        let outline = if witness.certain {
            Stroke::new(Ink::Violation, 2.5)
        } else {
            Stroke::dashed(Ink::Violation, 2.0)
        };
        self.drawing.outline(area, outline);
        let text = box_words(witness);
        let width = font::width(&text, 13.0, true);
        let left = (area.x + 20.0).min(self.scale.right - width);
        let style = TextStyle::new(13.0, Ink::Violation).bold();
        self.drawing.text((left, self.lanes_top - 6.0), text, style);
        let stem = (area.x + 1.0, self.lanes_top - 14.0);
        self.drawing.line(
            stem,
            (area.x + 1.0, area.y),
            Stroke::new(Ink::Violation, 1.5),
        );
    }

    /// The numbers of the story, each at its time: on a client's bar, a fault's row, or the box.
    fn numbers(&mut self, witness: &Witness, faults: &[(&FaultSummary, (Nanos, Nanos))]) {
        let mut taken: Vec<(f64, f64)> = Vec::new();
        for step in &witness.story {
            let row = faults
                .iter()
                .take(FAULT_ROWS_MAX)
                .position(|(fault, _)| fault.id == step.actor);
            let y = match (self.lane(&step.actor), row) {
                _ if step.kind == StepKind::Contradiction => self.lanes_top - 11.0,
                (Some(top), _) => top + 8.0 + BAR / 2.0,
                (None, Some(row)) => 8.0 + row as f64 * FAULT_ROW + FAULT_ROW / 2.0 - 0.5,
                (None, None) => continue,
            };
            let mut x = self.scale.x(step.t) + 1.0;
            // Numbers of the same moment stand side by side.
            while let Some(other) = taken
                .iter()
                .find(|other| (other.1 - y).abs() < 1.0 && (other.0 - x).abs() < 17.0)
            {
                x = other.0 + 17.0;
            }
            taken.push((x, y));
            let ink = match step.kind {
                StepKind::Contradiction => Ink::Violation,
                _ if step.certain => Ink::Text,
                _ => Ink::Muted,
            };
            self.drawing
                .mark((x, y), 8.5, Mark::Disc, ink, Some(step.text.clone()));
            let style = TextStyle::new(11.0, Ink::Paper)
                .bold()
                .anchored(Anchor::Middle);
            self.drawing.text((x, y + 4.0), step.n.to_string(), style);
        }
    }

    fn legend(&mut self) {
        let entries = [
            (Key::Area(Fill::Plain(Ink::Hold, 1.0)), "certain hold"),
            (Key::Area(Fill::Plain(Ink::Hold, 0.35)), "request in flight"),
            (Key::Line(Stroke::new(Ink::Lease, 2.0)), "lease"),
            (Key::Mark(Mark::Triangle, Ink::Wait), "refused"),
            (Key::Area(Fill::Hatch(Ink::Unknown)), "no answer"),
            (Key::Area(Fill::Hatch(Ink::Violation)), "violation"),
            (Key::Area(Fill::Plain(Ink::Fault, 0.38)), "fault"),
        ];
        legend(
            &mut self.drawing,
            &entries,
            (self.scale.left, self.bottom + 46.0),
        );
    }
}

fn hold_title(hold: &Hold) -> String {
    let lease = hold.lease_floor.map_or_else(String::new, |floor| {
        format!(", lease to {}", words::instant(floor))
    });
    format!(
        "{} held '{}' from {} to {}{lease} (event {})",
        hold.client,
        hold.key,
        words::instant(hold.granted),
        words::instant(hold.release_invoked.unwrap_or(Nanos::MAX)),
        hold.index
    )
}

/// What stands above the box of a violation.
fn box_words(witness: &Witness) -> String {
    let what = match witness.property {
        Property::MutualExclusion => format!("{} holders", witness.holders.len()),
        Property::LeaseOverrun => format!("{} holders, one past its lease", witness.holders.len()),
        Property::LostLock => "lost inside its lease".to_owned(),
        Property::Liveness => "cannot be had".to_owned(),
    };
    if witness.interval.1 == Nanos::MAX {
        format!("{what}, without end")
    } else {
        let length = words::length((witness.interval.1 - witness.interval.0).0);
        format!("{what} · {length}")
    }
}
