//! Frame of all plots over the time of a run: the faults above and through them, the time axis
//! below, and room for panels in between.

use lockstorm_checker::Nanos;
use lockstorm_checker::verdict::FaultSummary;

use super::axis::{SMALL, TimeScale, WIDTH, time_axis};
use super::drawing::{Area, Drawing, Fill, Stroke, TextStyle, TimePlane};
use super::faults::{FAULT_ROW, FAULT_ROWS_MAX, fault_bands, fault_strip, faults_shown};
use super::font;
use super::ink::Ink;

/// Room for the names left of the panels, the same as in the timeline.
pub(super) const LEFT: f64 = 104.0;
/// Where the fault strip begins.
const STRIP: f64 = 8.0;
/// Room for the title above a panel.
const TITLE: f64 = 26.0;
/// Room for the names of the time axis.
const AXIS: f64 = 26.0;
/// Length of the piece of a line that stands before its name: two dashes.
const KEY: f64 = 16.0;
/// Least distance of two words beside a panel, from line to line.
const LINE: f64 = 14.0;

type Shown<'a> = (&'a FaultSummary, (Nanos, Nanos));

/// A picture over the time of a run, under construction.
pub(super) struct Frame {
    pub(super) drawing: Drawing,
    pub(super) scale: TimeScale,
    /// Where the next panel begins.
    next: f64,
    /// Where words below the time axis stand.
    pub(super) foot: f64,
}

/// Parts for which a frame has to have room.
pub(super) struct Room<'a> {
    /// Heights of the panels, from above.
    pub(super) panels: &'a [f64],
    /// Room right of the panels for the names of lines.
    pub(super) right: f64,
    /// Room for a legend.
    pub(super) foot: f64,
}

impl Frame {
    /// A frame for a run that ends at `end`.
    pub(super) fn new(label: String, end: Nanos, faults: &[FaultSummary], room: &Room) -> Self {
        let scale = TimeScale {
            window: (Nanos(0), end),
            left: LEFT,
            right: WIDTH - room.right,
        };
        let faults = faults_shown(faults, &scale);
        let kinds = kinds(&faults);
        let has_many = faults.len() > FAULT_ROWS_MAX;
        let rows = if has_many { kinds.len() } else { faults.len() };
        let strip = STRIP + rows as f64 * FAULT_ROW;
        let panels: f64 = room.panels.iter().map(|height| height + TITLE).sum();
        let bottom = strip + panels;
        let mut drawing = Drawing::new(WIDTH, bottom + AXIS + room.foot, label);
        let full = Area::between((0.0, WIDTH), 0.0, drawing.height);
        drawing.area(full, Fill::Plain(Ink::Paper, 1.0));
        if has_many {
            for (row, kind) in kinds.iter().enumerate() {
                let top = STRIP + row as f64 * FAULT_ROW;
                kind.draw(&mut drawing, &scale, (top, bottom));
            }
        } else {
            fault_bands(&mut drawing, &faults, &scale, (STRIP, bottom));
            fault_strip(&mut drawing, &faults, &scale, STRIP, &[]);
        }
        time_axis(&mut drawing, &scale, strip + TITLE, bottom);
        drawing.time = Some(TimePlane {
            seconds: (0.0, end.as_secs_f64()),
            area: Area::between(
                (scale.left, scale.right),
                strip + TITLE,
                bottom - strip - TITLE,
            ),
        });
        Self {
            drawing,
            scale,
            next: strip,
            foot: bottom + AXIS,
        }
    }

    /// Left and right edge of the panels.
    pub(super) fn sides(&self) -> (f64, f64) {
        (self.scale.left, self.scale.right)
    }

    /// The next panel, from above: its upper and lower edge. Its title goes above it.
    pub(super) fn panel(&mut self, height: f64, title: &str, beside: &str) -> (f64, f64) {
        let top = self.next + TITLE;
        self.next = top + height;
        let style = TextStyle::new(13.0, Ink::Text).bold();
        let at = (self.scale.left, top - 8.0);
        self.drawing.text(at, title, style);
        let width = font::width_in_page(title, 13.0, true);
        let style = TextStyle::new(SMALL, Ink::Muted);
        self.drawing.text((at.0 + width + 8.0, at.1), beside, style);
        let base = Stroke::new(Ink::Muted, 1.0);
        let (left, right) = self.sides();
        self.drawing
            .line((left, self.next), (right, self.next), base);
        (top, self.next)
    }
}

/// All faults of one kind, which share a row where there are too many for a row each.
struct Kind<'a> {
    name: &'a str,
    faults: Vec<Shown<'a>>,
}

/// The kinds in order of their first fault; those beyond the rows share the last one.
fn kinds<'a>(faults: &[Shown<'a>]) -> Vec<Kind<'a>> {
    let mut kinds: Vec<Kind> = Vec::new();
    for fault in faults {
        let name = fault.0.kind.as_str();
        match kinds.iter_mut().find(|kind| kind.name == name) {
            Some(kind) => kind.faults.push(*fault),
            None => kinds.push(Kind {
                name,
                faults: vec![*fault],
            }),
        }
    }
    if kinds.len() > FAULT_ROWS_MAX {
        let others = kinds.split_off(FAULT_ROWS_MAX - 1);
        kinds.push(Kind {
            name: "other kinds",
            faults: others.into_iter().flat_map(|kind| kind.faults).collect(),
        });
    }
    kinds
}

impl Kind<'_> {
    /// Its row, with a band below each fault down to the bottom.
    fn draw(&self, drawing: &mut Drawing, scale: &TimeScale, (top, bottom): (f64, f64)) {
        for (fault, span) in &self.faults {
            let ink = Ink::of_fault(fault.class);
            let (from, to) = (scale.x(span.0), scale.x(span.1).max(scale.x(span.0) + 1.5));
            let title = super::faults::fault_name(fault);
            let bar = Area::between((from, to), top + 1.0, FAULT_ROW - 3.0);
            let band = Area::between((from, to), top + FAULT_ROW - 2.0, bottom - top - FAULT_ROW);
            drawing.area(band, Fill::Plain(ink, 0.10));
            drawing.titled(bar, Fill::Plain(ink, 0.38), Some(title));
        }
        let style = TextStyle::new(SMALL, Ink::Text);
        let text = match self.faults.len() {
            1 => self.name.to_owned(),
            n => format!("{} × {n}", self.name),
        };
        let room = scale.right - scale.left;
        let text = font::fitted_in_page(&text, SMALL, false, room);
        drawing.text((scale.left + 6.0, top + 12.5), text, style);
    }
}

/// Names at the right end of lines, moved apart where they would cover each other. Each comes with
/// the height at which its line ends, and with the look of it.
pub(super) fn names_beside(
    drawing: &mut Drawing,
    x: f64,
    mut names: Vec<(f64, String, Stroke)>,
    (top, bottom): (f64, f64),
) {
    names.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut free_from = top;
    let mut heights: Vec<f64> = Vec::new();
    for (y, ..) in &names {
        heights.push(y.max(free_from));
        free_from = y.max(free_from) + LINE;
    }
    // What has been moved beyond the lower edge goes up again, and takes along what is in its way.
    let mut free_to = bottom;
    for height in heights.iter_mut().rev() {
        *height = height.min(free_to);
        free_to = *height - LINE;
    }
    for ((_, name, stroke), y) in names.into_iter().zip(heights) {
        drawing.line((x + 5.0, y), (x + 5.0 + KEY, y), stroke);
        let style = TextStyle::new(SMALL, Ink::Muted);
        drawing.text((x + KEY + 10.0, y + 4.0), name, style);
    }
}

#[cfg(test)]
mod tests {
    use lockstorm_checker::history::FaultPhase;
    use lockstorm_checker::verdict::FaultStage;

    use super::super::drawing::Shape;
    use super::*;
    use crate::sample;

    fn fault(n: usize, kind: &str) -> FaultSummary {
        let stage = |phase, ms| FaultStage {
            phase,
            time: Nanos::from_millis(ms),
            event: 0,
            evidence: None,
            offset_ns: None,
            lost: None,
        };
        let at = 100 * n as u64;
        FaultSummary {
            stages: vec![
                stage(FaultPhase::Injected, at),
                stage(FaultPhase::Observed, at + 10),
                stage(FaultPhase::Healed, at + 50),
            ],
            ..sample::fault(&format!("F{n}"), kind, "primary")
        }
    }

    fn words_of(faults: &[FaultSummary]) -> Vec<String> {
        let room = Room {
            panels: &[100.0],
            right: 20.0,
            foot: 0.0,
        };
        let end = Nanos::from_millis(10_000);
        let frame = Frame::new(String::new(), end, faults, &room);
        let words = frame.drawing.words().into_iter();
        let names = words.filter(|word| !word.ends_with(" s"));
        names.map(str::to_owned).collect()
    }

    #[test]
    fn a_few_faults_have_a_row_each() {
        let faults = [fault(1, "kill"), fault(2, "kill"), fault(3, "clock")];
        let wanted = ["F1 kill primary", "F2 kill primary", "F3 clock primary"];
        assert_eq!(words_of(&faults), wanted);
    }

    #[test]
    fn many_faults_share_a_row_for_each_kind() {
        let faults: Vec<_> = (0..40)
            .map(|n| fault(n, if n % 4 == 0 { "kill" } else { "pause" }))
            .collect();
        assert_eq!(words_of(&faults), ["kill × 10", "pause × 30"]);
    }

    #[test]
    fn more_kinds_than_rows_share_the_last() {
        let faults: Vec<_> = (0..20).map(|n| fault(n, &format!("kind-{n}"))).collect();
        let words = words_of(&faults);
        assert_eq!(words.len(), FAULT_ROWS_MAX);
        assert_eq!(words.last().unwrap(), "other kinds × 9");
    }

    #[test]
    fn names_keep_apart_and_inside() {
        let mut drawing = Drawing::new(100.0, 100.0, String::new());
        let stroke = Stroke::new(Ink::Text, 1.0);
        let names = [90.0, 91.0, 92.0, 10.0].map(|y| (y, format!("{y}"), stroke));
        names_beside(&mut drawing, 0.0, names.to_vec(), (0.0, 95.0));
        let heights: Vec<f64> = drawing
            .shapes
            .iter()
            .filter_map(|shape| match shape {
                Shape::Text(label) => Some(label.at.1 - 4.0),
                Shape::Box { .. }
                | Shape::Line { .. }
                | Shape::Curve { .. }
                | Shape::Mark { .. } => None,
            })
            .collect();
        assert_eq!(heights, [10.0, 67.0, 81.0, 95.0]);
    }
}
