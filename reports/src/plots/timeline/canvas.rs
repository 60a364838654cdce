//! A timeline under construction: each method draws one kind of thing.

use lockstorm_checker::Nanos;
use lockstorm_checker::verdict::{FaultSummary, Step, StepKind, Witness};

use super::super::axis::{Key, SMALL, TimeScale, legend};
use super::super::drawing::{Anchor, Area, Drawing, Fill, Mark, Stroke, TextStyle};
use super::super::faults::{FAULT_ROW, FAULT_ROWS_MAX};
use super::super::font;
use super::super::ink::Ink;
use crate::trace::{Answer, Hold, Request};
use crate::words;

/// Width of the names left of the lanes.
pub(super) const GUTTER: f64 = 104.0;
/// Height of a lane, and of a bar in it.
pub(super) const LANE: f64 = 50.0;
const BAR: f64 = 20.0;
/// Least distance of two step numbers in one row, from middle to middle: a disc and a hair.
const NUMBER_GAP: f64 = 17.0;

/// The number of a step, and the middle of the disc that carries it.
pub(super) struct Number<'a> {
    pub(super) at: (f64, f64),
    step: &'a Step,
}

/// A timeline under construction.
pub(super) struct Canvas<'a> {
    pub(super) drawing: Drawing,
    pub(super) scale: TimeScale,
    pub(super) lanes: &'a [&'a str],
    pub(super) lanes_top: f64,
    pub(super) bottom: f64,
    /// Where the words above the boxes end so far.
    pub(super) words_end: f64,
}

impl Canvas<'_> {
    /// Top of a client's lane, if it has one.
    fn lane(&self, client: &str) -> Option<f64> {
        let at = self.lanes.iter().position(|lane| *lane == client)?;
        Some(self.lanes_top + at as f64 * LANE)
    }

    pub(super) fn lane_names(&mut self) {
        let style = TextStyle::new(14.0, Ink::Text).bold().anchored(Anchor::End);
        for (at, lane) in self.lanes.iter().enumerate() {
            let y = self.lanes_top + at as f64 * LANE;
            let name = font::fitted_in_page(lane, 14.0, true, GUTTER - 24.0);
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
    pub(super) fn request(&mut self, request: &Request) {
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
    pub(super) fn hold(&mut self, hold: &Hold, name_key: bool, accused: bool) {
        let Some(top) = self.lane(&hold.client) else {
            return;
        };
        let pale = Fill::Plain(Ink::Hold, 0.35);
        let asked = self.bar(top, hold.invoked, hold.granted);
        self.drawing.area(asked, pale);
        let core_end = hold.left.unwrap_or(Nanos::MAX);
        let core = self.bar(top, hold.granted, core_end);
        let title = hold_title(hold);
        self.drawing
            .titled(core, Fill::Plain(Ink::Hold, 1.0), Some(title));
        let stroke = Stroke::new(Ink::OnHold, 2.0);
        self.going_on(core.y + BAR / 2.0, (hold.granted, core_end), stroke);
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
        self.lease(hold, top, accused);
    }

    /// Draws what fits into the bar: the key where there are many, the token, the length of the
    /// hold.
    fn bar_words(&mut self, hold: &Hold, core: Area, name_key: bool) {
        let mut words = Vec::new();
        if name_key {
            words.push(hold.key.to_string());
        }
        if let Some(token) = hold.token {
            words.push(format!("token {token}"));
        }
        words.push(match hold.left {
            Some(left) => format!("held {}", words::length((left - hold.granted).0)),
            None => "never released".to_owned(),
        });
        let text = words.join(" · ");
        // Room for the number of a step at the beginning of the bar.
        let start = core.x + 16.0;
        if font::width_in_page(&text, SMALL, false) + 22.0 <= core.width {
            let at = (start, core.y + BAR * 0.7);
            self.drawing
                .text(at, text, TextStyle::new(SMALL, Ink::OnHold));
        }
    }

    /// A thin line under the bar: solid to the floor, dashed to the ceiling, a tick at the floor.
    /// A release that was answered ends it, unless the hold is part of a violation: then the
    /// lease that was promised is the point.
    fn lease(&mut self, hold: &Hold, top: f64, accused: bool) {
        let Some(floor) = hold.lease_floor else {
            return;
        };
        let y = top + 8.0 + BAR + 8.0;
        let stroke = Stroke::new(Ink::Lease, 2.0);
        let from = self.scale.x(hold.granted);
        if let (Some(answered), false) = (hold.release_answered, accused)
            && answered <= floor
        {
            self.drawing
                .line((from, y), (self.scale.x(answered), y), stroke);
            return;
        }
        let to = self.scale.x(floor);
        self.drawing.line((from, y), (to, y), stroke);
        let over = hold.lease_ceiling.unwrap_or(floor);
        self.going_on(y, (self.scale.window.0, over), stroke);
        if accused && over > self.scale.window.1 {
            let style = TextStyle::new(SMALL, Ink::Muted).anchored(Anchor::End);
            let text = format!("lease to {}", words::instant(floor));
            self.drawing
                .text((self.scale.right - 14.0, y + 12.0), text, style);
        }
        if let Some(ceiling) = hold.lease_ceiling {
            let end = self.scale.x(ceiling);
            let doubt = Stroke::dashed(Ink::Lease, 2.0);
            self.drawing.line((to, y), (end, y), doubt);
        }
        if floor < self.scale.window.1 {
            self.drawing.line((to, y - 5.0), (to, y + 5.0), stroke);
        }
    }

    /// An arrow head at each edge of the picture beyond which `from..to` goes on.
    fn going_on(&mut self, y: f64, (from, to): (Nanos, Nanos), stroke: Stroke) {
        let (left, right) = (self.scale.left + 3.0, self.scale.right - 3.0);
        let (begins, ends) = self.scale.window;
        let edges = [(from < begins, left, 5.0), (to > ends, right, -5.0)];
        for (_, x, back) in edges.into_iter().filter(|(goes_on, ..)| *goes_on) {
            self.drawing.line((x + back, y - 5.0), (x, y), stroke);
            self.drawing.line((x, y), (x + back, y + 5.0), stroke);
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

    pub(super) fn ground(&mut self, witness: &Witness) {
        if let Some(area) = self.area_of(witness) {
            self.drawing.area(area, Fill::Plain(Ink::Violation, 0.13));
        }
    }

    /// Outline, a hatch under each bar that is part of it, and above them what it is.
    pub(super) fn overlap(&mut self, witness: &Witness) {
        let Some(area) = self.area_of(witness) else {
            return;
        };
        for holder in &witness.holders {
            if let (true, Some(top)) = (witness.certain, self.lane(&holder.client)) {
                let x = (area.x, area.x + area.width);
                let band = Area::between(x, top + 8.0 + BAR, 6.0);
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
        let (left, anchor) = self.box_words_place(area, &text);
        // Where violations crowd, the first one's words stand for its neighbours.
        if left < self.words_end {
            return;
        }
        let width = font::width_in_page(&text, 13.0, true);
        self.words_end = left + width + 24.0;
        let x = match anchor {
            Anchor::Start | Anchor::Middle => left,
            Anchor::End => self.scale.right,
        };
        let style = TextStyle::new(13.0, Ink::Violation).bold().anchored(anchor);
        self.drawing.text((x, self.lanes_top - 6.0), text, style);
        let stem = (area.x + 1.0, self.lanes_top - 2.0);
        let stroke = Stroke::new(Ink::Violation, 2.0);
        self.drawing.line(stem, (area.x + 1.0, area.y), stroke);
    }

    /// Where the words of a box begin: past the number of its step, or so that they end with the
    /// picture.
    fn box_words_place(&self, area: Area, text: &str) -> (f64, Anchor) {
        let last = self.scale.right - font::width_in_page(text, 13.0, true);
        if area.x + 20.0 <= last {
            (area.x + 20.0, Anchor::Start)
        } else {
            (last, Anchor::End)
        }
    }

    /// The numbers of the story, each at its time: on a client's bar, a fault's row, or the box.
    pub(super) fn numbers<'w>(
        &self,
        witness: &'w Witness,
        faults: &[(&FaultSummary, (Nanos, Nanos))],
    ) -> Vec<Number<'w>> {
        let mut numbers: Vec<Number> = Vec::new();
        let is_inside = |step: &&Step| self.scale.shows(step.t, step.t);
        for step in witness.story.iter().filter(is_inside) {
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
            if let (StepKind::Contradiction, Some(area)) = (step.kind, self.area_of(witness)) {
                x = self.box_words_place(area, &box_words(witness)).0 - 18.0;
            }
            let taken: Vec<(f64, f64)> = numbers.iter().map(|number| number.at).collect();
            x = beside(x, y, &taken);
            numbers.push(Number { at: (x, y), step });
        }
        numbers
    }

    pub(super) fn number(&mut self, number: &Number) {
        let ((x, y), step) = (number.at, number.step);
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

    pub(super) fn legend(&mut self) {
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
        words::instant(hold.left.unwrap_or(Nanos::MAX)),
        hold.index
    )
}

/// Returns the words above the box of a violation.
fn box_words(witness: &Witness) -> String {
    let brief = witness.property.brief();
    let what = match witness.holders.len() {
        0 | 1 => brief.to_owned(),
        holders => format!("{holders} holders, {brief}"),
    };
    if witness.interval.1 == Nanos::MAX {
        format!("{what}, without end")
    } else {
        let length = words::length((witness.interval.1 - witness.interval.0).0);
        format!("{what} · {length}")
    }
}

/// Where a number at `x` finds room in its row `y`: numbers of the same moment stand side by side.
///
/// Each move goes to the right by more than the gap that it asks for, so that it ends whatever
/// the rounding: a step of exactly the gap can fall short of it.
fn beside(x: f64, y: f64, taken: &[(f64, f64)]) -> f64 {
    let in_the_way =
        |x: f64, other: &&(f64, f64)| (other.1 - y).abs() < 1.0 && (other.0 - x).abs() < NUMBER_GAP;
    let mut x = x;
    while let Some(other) = taken.iter().find(|other| in_the_way(x, other)) {
        x = other.0 + NUMBER_GAP + 0.5;
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A step of exactly the gap once fell short of it by rounding, and the search never ended.
    #[test]
    fn numbers_of_one_moment_find_room_at_every_place() {
        for n in 0..10_000 {
            let x = f64::from(n) * 0.137;
            let mut taken = Vec::new();
            for _ in 0..4 {
                taken.push((beside(x, 40.0, &taken), 40.0));
            }
            let apart = taken
                .windows(2)
                .all(|pair| pair[1].0 - pair[0].0 >= NUMBER_GAP);
            assert!(apart, "{taken:?}");
        }
    }
}
