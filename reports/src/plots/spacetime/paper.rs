//! The paper of the picture: where rows and lines are, and how single things are drawn.

use super::super::axis::{SMALL, WIDTH};
use super::super::drawing::{Anchor, Area, Drawing, Fill, Mark, Stroke, TextStyle};
use super::super::font;
use super::super::ink::Ink;
use super::cast::Cast;

/// Left of the lines stand the numbers of the steps and the instants.
const GUTTER: f64 = 130.0;
/// Height of a row.
const ROW: f64 = 25.0;
/// Height of the names above the first row.
const HEAD: f64 = 44.0;
/// Half the width of the bar of a hold.
const HOLD: f64 = 5.0;
/// Room that words beside a line get, even where the next line is nearer.
const WORDS_MIN: f64 = 130.0;
/// Length of the strokes of an arrow's head.
const ARROW: f64 = 8.0;

/// Where a row is.
fn y(row: f64) -> f64 {
    HEAD + (row + 0.6) * ROW
}

/// A picture under construction.
pub(super) struct Paper {
    pub(super) drawing: Drawing,
    columns: usize,
    pub(super) rows: usize,
}

impl Paper {
    pub(super) fn new(cast: &Cast, rows: usize, label: String) -> Self {
        let height = HEAD + (rows.max(1) as f64 + 0.5) * ROW;
        let mut drawing = Drawing::new(WIDTH, height, label);
        let full = Area::between((0.0, WIDTH), 0.0, height);
        drawing.area(full, Fill::Plain(Ink::Paper, 1.0));
        Self {
            drawing,
            columns: cast.len().max(1),
            rows,
        }
    }

    /// Room from one line to the next.
    fn pitch(&self) -> f64 {
        (WIDTH - GUTTER) / self.columns as f64
    }

    pub(super) fn x(&self, column: usize) -> f64 {
        GUTTER + (column as f64 + 0.22) * self.pitch()
    }

    /// The name above a line, and below it what the actor is.
    pub(super) fn name(&mut self, column: usize, name: &str, what: &str) {
        let room = self.pitch() - 12.0;
        let (x, bold) = (self.x(column), TextStyle::new(14.0, Ink::Text).bold());
        // Long names are better small than cut.
        let size = if font::width_in_page(name, 14.0, true) > room {
            11.0
        } else {
            14.0
        };
        let fitted = font::fitted_in_page(name, size, true, room);
        let bold = TextStyle { size, ..bold };
        self.drawing.text((x - HOLD, 18.0), fitted, bold);
        let what = font::fitted_in_page(what, SMALL, false, room);
        let style = TextStyle::new(SMALL, Ink::Muted);
        self.drawing.text((x - HOLD, 34.0), what, style);
    }

    /// The line of an actor; dashed where it answers nobody.
    pub(super) fn lifeline(&mut self, column: usize, rows: (f64, f64), is_absent: bool) {
        let x = self.x(column);
        let stroke = if is_absent {
            Stroke::dashed(Ink::Fault, 2.0)
        } else {
            Stroke::new(Ink::Lease, 1.2)
        };
        let (from, to) = (y(rows.0), y(rows.1));
        self.drawing.line((x, from), (x, to), stroke);
    }

    /// A hold, as a bar on the line of its client.
    pub(super) fn hold(&mut self, column: usize, rows: (f64, f64), title: String) {
        let x = self.x(column);
        let area = Area {
            x: x - HOLD,
            y: y(rows.0),
            width: 2.0 * HOLD,
            height: (rows.1 - rows.0) * ROW,
        };
        self.drawing
            .titled(area, Fill::Plain(Ink::Hold, 1.0), Some(title));
    }

    /// The violation, from its row on, across the lines of those who are in it.
    pub(super) fn violation(&mut self, columns: (usize, usize), row: f64, text: &str) {
        let (from, to) = (self.x(columns.0) - 12.0, self.x(columns.1) + 12.0);
        let (top, bottom) = (y(row), y(self.rows as f64 - 0.4));
        let area = Area::between((from, to), top, bottom - top);
        self.drawing.area(area, Fill::Plain(Ink::Violation, 0.08));
        self.drawing
            .line((from, top), (to, top), Stroke::new(Ink::Violation, 2.2));
        let room = WIDTH - to - 10.0;
        let text = font::fitted_in_page(text, SMALL, true, room);
        let style = TextStyle::new(SMALL, Ink::Violation).bold();
        self.drawing.text((to + 6.0, top + 4.0), text, style);
    }

    /// A faint rule through a row with its instant.
    pub(super) fn instant(&mut self, row: f64, text: &str) {
        let level = y(row);
        let rule = Stroke::new(Ink::Grid, 1.0);
        self.drawing
            .line((GUTTER - 12.0, level), (WIDTH, level), rule);
        let style = TextStyle::new(SMALL, Ink::Muted).anchored(Anchor::End);
        self.drawing.text((GUTTER - 18.0, level + 4.0), text, style);
    }

    /// The number of a step, left of its instant.
    pub(super) fn number(&mut self, row: f64, number: u32, place: usize, ink: Ink) {
        let at = (16.0 + place as f64 * 19.0, y(row));
        self.drawing.mark(at, 8.5, Mark::Disc, ink, None);
        let style = TextStyle::new(10.5, Ink::Paper)
            .bold()
            .anchored(Anchor::Middle);
        self.drawing
            .text((at.0, at.1 + 3.7), number.to_string(), style);
    }

    /// A message, with a head where it arrives; dashed where nobody recorded its way.
    pub(super) fn arrow(&mut self, from: (usize, f64), to: (usize, f64), stroke: Stroke) {
        let (start, end) = ((self.x(from.0), y(from.1)), (self.x(to.0), y(to.1)));
        self.drawing.line(start, end, stroke);
        let (dx, dy) = (end.0 - start.0, end.1 - start.1);
        let length = dx.hypot(dy).max(1.0);
        let (ux, uy) = (dx / length, dy / length);
        for side in [-1.0, 1.0] {
            let tail = (
                end.0 - ARROW * (ux - 0.45 * side * uy),
                end.1 - ARROW * (uy + 0.45 * side * ux),
            );
            self.drawing.line(end, tail, Stroke::new(stroke.ink, 1.5));
        }
    }

    /// Words beside a line, on the side of its messages.
    pub(super) fn words(&mut self, column: usize, row: f64, text: &str, ink: Ink) {
        let x = self.x(column) + HOLD + 5.0;
        let room = (self.pitch() - 18.0).max(WORDS_MIN);
        self.write((x, y(row) - 5.0), text, room, ink);
    }

    /// The words of a fault, which may go on to the edge.
    pub(super) fn caption(&mut self, column: usize, row: f64, text: &str) {
        let x = self.x(column) + HOLD + 5.0;
        self.write((x, y(row) - 5.0), text, WIDTH - x - 4.0, Ink::Text);
    }

    fn write(&mut self, at: (f64, f64), text: &str, room: f64, ink: Ink) {
        let text = font::fitted_in_page(text, SMALL, false, room);
        self.drawing.text(at, text, TextStyle::new(SMALL, ink));
    }

    /// The mark of a fault on a line.
    pub(super) fn cross(&mut self, column: usize, row: f64, title: &str) {
        let at = (self.x(column), y(row));
        self.drawing
            .mark(at, 7.0, Mark::Cross, Ink::Fault, Some(title.to_owned()));
    }

    /// A link that a fault hits: from line to line, with a cross in the middle.
    pub(super) fn link(&mut self, columns: (usize, usize), row: f64, title: &str) {
        let (from, to) = (self.x(columns.0), self.x(columns.1));
        let level = y(row);
        let stroke = Stroke::dashed(Ink::Fault, 2.0);
        self.drawing.line((from, level), (to, level), stroke);
        let middle = (f64::midpoint(from, to), level);
        self.drawing
            .mark(middle, 7.0, Mark::Cross, Ink::Fault, Some(title.to_owned()));
    }
}
