//! The picture of a comparison, put together.

use super::cell::{self, look};
use super::costs;
use super::layout::{LINE, Layout, MARGIN, NAME};
use crate::grid::{Grid, Row};
use crate::model::SuiteRecord;
use crate::plots::axis::SMALL;
use crate::plots::drawing::{Anchor, Area, Drawing, Fill, Stroke, TextStyle};
use crate::plots::font;
use crate::plots::ink::Ink;
use crate::words;
use lockstorm_checker::Verdict;

/// Between two cells.
const GAP: f64 = 3.0;

/// The comparison of a suite.
pub(crate) fn matrix(suite: &SuiteRecord) -> Drawing {
    let grid = Grid::new(suite);
    let layout = Layout::of(&grid);
    let label = format!("Comparison {}: locks against hazards", suite.name);
    let mut drawing = Drawing::new(layout.width, layout.height, label);
    let full = Area::between((0.0, layout.width), 0.0, layout.height);
    drawing.area(full, Fill::Plain(Ink::Paper, 1.0));
    heading(&mut drawing, suite);
    for (at, hazard) in grid.hazards.iter().enumerate() {
        column_name(&mut drawing, &layout, hazard, at);
    }
    if layout.has_costs {
        costs::header(&mut drawing, &layout, &grid);
    }
    let mut last = None;
    for (at, row) in grid.rows.iter().enumerate() {
        let is_first = last.replace(row.lock) != Some(row.lock);
        draw_row(&mut drawing, (&layout, &grid), row, (at, is_first));
    }
    foot(&mut drawing, suite);
    drawing.scaled(layout.factor())
}

fn heading(drawing: &mut Drawing, suite: &SuiteRecord) {
    let room = drawing.width - 2.0 * MARGIN;
    let title = font::fitted(&suite.name, 24.0, true, room);
    drawing.text(
        (MARGIN, 42.0),
        title,
        TextStyle::new(24.0, Ink::Text).bold(),
    );
    // A picture has room for one sentence; the page has them all.
    let first = suite.description.split_inclusive(". ").next();
    let first = first.unwrap_or_default().trim_end();
    let description = font::fitted(first, 14.0, false, room);
    drawing.text(
        (MARGIN, 66.0),
        description,
        TextStyle::new(14.0, Ink::Muted),
    );
}

/// A hazard above its column: reading upwards, or on two lines if it needs them.
fn column_name(drawing: &mut Drawing, layout: &Layout, hazard: &str, at: usize) {
    let (x, bottom) = (layout.x(at), layout.header_bottom());
    if layout.is_dense {
        let text = font::fitted(hazard, NAME.1, false, layout.upright());
        let style = TextStyle::new(NAME.1, Ink::Text).upright();
        drawing.text((x + layout.column / 2.0 + 4.5, bottom), text, style);
        return;
    }
    let style = TextStyle::new(13.0, Ink::Text).bold();
    let lines = two_lines(hazard, layout.column - 12.0);
    let first = bottom - LINE * (lines.len() as f64 - 1.0);
    for (at, line) in lines.into_iter().enumerate() {
        drawing.text((x + 6.0, first + at as f64 * LINE), line, style);
    }
}

/// `text` on at most two lines, the second one cut if need be.
fn two_lines(text: &str, room: f64) -> Vec<String> {
    let fits = |text: &str| font::width(text, 13.0, true) <= room;
    if fits(text) {
        return vec![text.to_owned()];
    }
    let breaks = text.match_indices([' ', '-']).map(|(at, _)| at + 1);
    let last = breaks.rev().find(|at| fits(text[..*at].trim_end()));
    match last {
        Some(at) => vec![
            text[..at].trim_end().to_owned(),
            font::fitted(&text[at..], 13.0, true, room),
        ],
        None => vec![font::fitted(text, 13.0, true, room)],
    }
}

fn draw_row(
    drawing: &mut Drawing,
    (layout, grid): (&Layout, &Grid),
    row: &Row,
    (at, is_first): (usize, bool),
) {
    let y = layout.y(at);
    let middle = y + layout.row / 2.0;
    if layout.is_dense {
        dense_name(drawing, layout, row, (middle, is_first));
    } else {
        wordy_name(drawing, layout, row, middle);
    }
    let gap = if layout.is_dense { GAP / 2.0 } else { GAP };
    for (at, cell) in row.cells.iter().enumerate() {
        let x = layout.x(at);
        let span = (x + gap, x + layout.column - gap);
        let area = Area::between(span, y + gap, layout.row - 2.0 * gap);
        if layout.is_dense {
            cell::dense(drawing, cell, area);
        } else {
            cell::wordy(drawing, cell, area);
        }
    }
    if layout.has_costs {
        costs::figures(drawing, (layout, grid), &row.price, middle);
    }
}

/// The lock above its servers.
fn wordy_name(drawing: &mut Drawing, layout: &Layout, row: &Row, middle: f64) {
    let room = layout.left - MARGIN - 10.0;
    let lock = font::fitted(row.lock, NAME.0, true, room);
    let topology = font::fitted(row.topology, SMALL, false, room);
    let style = TextStyle::new(NAME.0, Ink::Text).bold();
    drawing.text((MARGIN, middle - 2.0), lock, style);
    let style = TextStyle::new(SMALL, Ink::Muted);
    drawing.text((MARGIN, middle + 15.0), topology, style);
}

/// The lock before its servers, named once, with a line above the first of its rows.
fn dense_name(drawing: &mut Drawing, layout: &Layout, row: &Row, (middle, first): (f64, bool)) {
    if first {
        let y = middle - layout.row / 2.0;
        let right = layout.width - MARGIN;
        drawing.line((MARGIN, y), (right, y), Stroke::new(Ink::Grid, 1.0));
        let lock = font::fitted(row.lock, NAME.1, true, layout.locks - 8.0);
        let style = TextStyle::new(NAME.1, Ink::Text).bold();
        drawing.text((MARGIN, middle + 4.5), lock, style);
    }
    let room = layout.left - MARGIN - layout.locks - 12.0;
    let topology = font::fitted(row.topology, NAME.1, false, room);
    let style = TextStyle::new(NAME.1, Ink::Muted).anchored(Anchor::End);
    drawing.text((layout.left - 10.0, middle + 4.5), topology, style);
}

fn foot(drawing: &mut Drawing, suite: &SuiteRecord) {
    let y = drawing.height - 44.0;
    let mut x = MARGIN;
    let entries = [
        (Verdict::Violated, "violated in k of n runs"),
        (
            Verdict::Valid,
            "no violation found; that does not prove that there is none",
        ),
        (Verdict::Unknown, "hatched: could not be decided"),
    ];
    for (verdict, words) in entries {
        let (mark, ink) = look(verdict);
        drawing.mark((x + 7.0, y - 4.5), 6.0, mark, ink, None);
        drawing.text((x + 20.0, y), words, TextStyle::new(SMALL, Ink::Muted));
        x += 20.0 + font::width(words, SMALL, false) + 22.0;
    }
    let framed = Area::between((x, x + 14.0), y - 11.0, 13.0);
    drawing.outline(framed, Stroke::new(Ink::Text, 2.5));
    let style = TextStyle::new(SMALL, Ink::Muted);
    drawing.text((x + 20.0, y), "not as expected", style);
    let runs = words::count(suite.runs.len() as u64, "run");
    let server = suite.runs.first().map_or_else(String::new, |run| {
        format!(" · {}", run.record.environment.server)
    });
    let caption = format!("{runs} · seed {} · {}{server}", suite.seed, suite.started);
    let caption = font::fitted(&caption, SMALL, false, drawing.width - 2.0 * MARGIN);
    let at = (MARGIN, drawing.height - 20.0);
    drawing.text(at, caption, TextStyle::new(SMALL, Ink::Muted));
}
