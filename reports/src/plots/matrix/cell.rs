//! One cell of the comparison: words where there is room, a sign and a figure where there is not.

use lockstorm_checker::Verdict;

use super::layout::LINE;
use crate::grid::{Cell, Tally};
use crate::plots::axis::SMALL;
use crate::plots::drawing::{Anchor, Area, Drawing, Fill, Mark, Stroke, TextStyle};
use crate::plots::font;
use crate::plots::ink::Ink;
use crate::plots::sign::look;

/// The lines of a cell with words, and whether each is bold.
fn words(cell: &Cell) -> Vec<(String, bool)> {
    let mut lines = vec![(cell.headline(), true)];
    let detail = cell.detail();
    if !detail.is_empty() {
        lines.push((detail, false));
    }
    lines.extend(cell.rate().map(|rate| (rate, false)));
    if cell.is_unexpected() {
        lines.push(("not as expected".to_owned(), true));
    }
    lines
}

/// Where the text of a cell begins: beside its sign, and below it.
const TEXT: (f64, f64) = (32.0, 11.0);
/// Room between the text of a cell and its end.
const END: f64 = 4.0;

/// Size of a line of text, and where it begins.
fn place(at: usize, bold: bool) -> (f64, f64) {
    let size = if bold { 13.0 } else { SMALL };
    (size, if at == 0 { TEXT.0 } else { TEXT.1 })
}

/// Width that a cell needs for its words.
pub(super) fn width(cell: &Cell) -> f64 {
    let lines = words(cell).into_iter().enumerate();
    let widths = lines.map(|(at, (line, bold))| {
        let (size, left) = place(at, bold);
        left + font::width(&line, size, bold) + END
    });
    widths.fold(0.0, f64::max)
}

/// Number of lines that a cell with words takes.
pub(super) fn lines(cell: &Cell) -> usize {
    words(cell).len()
}

/// The ground of a cell that ran: its tint, its edge, a hatch where nothing could be decided, and
/// a frame where it is not as expected.
fn ground(drawing: &mut Drawing, cell: &Cell, tally: &Tally, area: Area, edge: f64) {
    let (_, ink) = look(tally.verdict.into());
    drawing.area(area, Fill::Plain(ink, 0.16));
    if tally.verdict == Verdict::Unknown {
        drawing.area(area, Fill::Hatch(ink));
        let inside = Area {
            x: area.x + edge + 3.0,
            y: area.y + 4.0,
            width: area.width - edge - 7.0,
            height: area.height - 8.0,
        };
        // Words need a quiet ground.
        drawing.area(inside, Fill::Plain(Ink::Paper, 0.86));
    }
    let strip = Area::between((area.x, area.x + edge), area.y, area.height);
    drawing.area(strip, Fill::Plain(ink, 1.0));
    if cell.is_unexpected() {
        drawing.outline(area, Stroke::new(Ink::Text, 2.5));
    }
}

/// A cell with words.
pub(super) fn wordy(drawing: &mut Drawing, cell: &Cell, area: Area) {
    let middle = area.y + area.height / 2.0;
    let Some(tally) = cell.tally() else {
        drawing.outline(area, Stroke::dashed(Ink::Grid, 1.5));
        let style = TextStyle::new(SMALL, Ink::Muted).anchored(Anchor::Middle);
        let at = (area.x + area.width / 2.0, middle + 4.0);
        drawing.text(at, cell.headline(), style);
        return;
    };
    ground(drawing, cell, tally, area, 4.0);
    let (mark, ink) = look(tally.verdict.into());
    let lines = words(cell);
    let first = middle + 4.5 - LINE * (lines.len() as f64 - 1.0) / 2.0;
    drawing.mark((area.x + 18.0, first - 4.5), 7.0, mark, ink, None);
    for (at, (line, bold)) in lines.into_iter().enumerate() {
        let (size, left) = place(at, bold);
        let style = TextStyle::new(size, Ink::Text);
        let style = if bold { style.bold() } else { style };
        let text = font::fitted(&line, size, bold, area.width - left - END);
        drawing.text((area.x + left, first + at as f64 * LINE), text, style);
    }
}

/// A cell with a sign, and with `k/n` beside it where it ran more than once.
pub(super) fn dense(drawing: &mut Drawing, cell: &Cell, area: Area) {
    let middle = (area.x + area.width / 2.0, area.y + area.height / 2.0);
    let tally = match cell {
        Cell::Ran(tally) => tally,
        Cell::NotApplicable(_) => {
            drawing.mark(middle, 3.0, Mark::Dash, Ink::Grid, None);
            return;
        }
        Cell::NotRun => {
            drawing.outline(area, Stroke::dashed(Ink::Grid, 1.0));
            return;
        }
    };
    ground(drawing, cell, tally, area, 3.0);
    let (mark, ink) = look(tally.verdict.into());
    if tally.runs.len() == 1 {
        drawing.mark((middle.0 + 1.5, middle.1), 6.0, mark, ink, None);
        return;
    }
    drawing.mark((area.x + 12.0, middle.1), 5.5, mark, ink, None);
    let style = TextStyle::new(SMALL, Ink::Text);
    drawing.text((area.x + 22.0, middle.1 + 4.0), tally.share(), style);
}
