//! The comparison as one picture for a slide: locks on topologies against hazards.

use lockstorm_checker::Verdict;

use super::axis::{SMALL, WIDTH};
use super::drawing::{Anchor, Area, Drawing, Fill, Mark, Stroke, TextStyle};
use super::font;
use super::ink::Ink;
use crate::grid::{Cell, Grid, Row};
use crate::model::SuiteRecord;
use crate::words;

/// Height of a picture with few rows: with [`WIDTH`] the shape of a slide.
const HEIGHT: f64 = WIDTH / 2.0;
/// Narrowest a column gets before the picture becomes wider.
const COLUMN_MIN: f64 = 144.0;
/// Lowest and highest a row gets; more rows make the picture higher.
const ROW: (f64, f64) = (58.0, 84.0);
const MARGIN: f64 = 28.0;
const NAMES: f64 = 168.0;
const TOP: f64 = 84.0;
const HEADER: f64 = 46.0;
const FOOT: f64 = 70.0;
const LINE: f64 = 16.0;

/// The comparison of a suite.
pub(crate) fn matrix(suite: &SuiteRecord) -> Drawing {
    let grid = Grid::new(suite);
    let (columns, rows) = (
        grid.hazards.len().max(1) as f64,
        grid.rows.len().max(1) as f64,
    );
    let width = WIDTH
        .max(2.0 * MARGIN + NAMES + columns * COLUMN_MIN)
        .ceil();
    let height = HEIGHT.max(TOP + HEADER + rows * ROW.0 + FOOT).ceil();
    let label = format!("Comparison {}: locks against hazards", suite.name);
    let mut drawing = Drawing::new(width, height, label);
    let full = Area::between((0.0, width), 0.0, height);
    drawing.area(full, Fill::Plain(Ink::Paper, 1.0));
    heading(&mut drawing, suite);
    let column = (width - 2.0 * MARGIN - NAMES) / columns;
    let room = (height - TOP - HEADER - FOOT) / rows;
    let row_height = room.clamp(ROW.0, ROW.1);
    for (at, hazard) in grid.hazards.iter().enumerate() {
        column_name(
            &mut drawing,
            hazard,
            MARGIN + NAMES + at as f64 * column,
            column,
        );
    }
    for (at, row) in grid.rows.iter().enumerate() {
        let y = TOP + HEADER + at as f64 * row_height;
        row_name(&mut drawing, row, y + row_height / 2.0);
        for (at, cell) in row.cells.iter().enumerate() {
            let x = MARGIN + NAMES + at as f64 * column;
            let area = Area::between((x + 3.0, x + column - 3.0), y + 3.0, row_height - 6.0);
            draw_cell(&mut drawing, cell, area);
        }
    }
    foot(&mut drawing, suite);
    drawing
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

/// A hazard above its column, on two lines if it needs them.
fn column_name(drawing: &mut Drawing, hazard: &str, x: f64, width: f64) {
    let style = TextStyle::new(13.0, Ink::Text).bold();
    let lines = two_lines(hazard, width - 12.0);
    let first = TOP + HEADER - 10.0 - LINE * (lines.len() as f64 - 1.0);
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

fn row_name(drawing: &mut Drawing, row: &Row, middle: f64) {
    let lock = font::fitted(row.lock, 15.0, true, NAMES - 14.0);
    let topology = font::fitted(row.topology, SMALL, false, NAMES - 14.0);
    drawing.text(
        (MARGIN, middle - 2.0),
        lock,
        TextStyle::new(15.0, Ink::Text).bold(),
    );
    drawing.text(
        (MARGIN, middle + 15.0),
        topology,
        TextStyle::new(SMALL, Ink::Muted),
    );
}

/// Mark and colour of a verdict.
const fn look(verdict: Verdict) -> (Mark, Ink) {
    match verdict {
        Verdict::Valid => (Mark::Check, Ink::Valid),
        Verdict::Unknown => (Mark::Question, Ink::Unknown),
        Verdict::Violated => (Mark::Cross, Ink::Violation),
    }
}

fn draw_cell(drawing: &mut Drawing, cell: &Cell, area: Area) {
    let middle = area.y + area.height / 2.0;
    let Cell::Ran(tally) = cell else {
        drawing.outline(area, Stroke::dashed(Ink::Grid, 1.5));
        let style = TextStyle::new(SMALL, Ink::Muted).anchored(Anchor::Middle);
        let at = (area.x + area.width / 2.0, middle + 4.0);
        drawing.text(at, cell.headline(), style);
        return;
    };
    let (mark, ink) = look(tally.verdict);
    drawing.area(area, Fill::Plain(ink, 0.16));
    let edge = Area::between((area.x, area.x + 4.0), area.y, area.height);
    drawing.area(edge, Fill::Plain(ink, 1.0));
    let mut lines = vec![(cell.headline(), true)];
    let detail = cell.detail();
    if !detail.is_empty() {
        lines.push((detail, false));
    }
    if cell.is_unexpected() {
        drawing.outline(area, Stroke::new(Ink::Text, 2.5));
        lines.push(("not as expected".to_owned(), true));
    }
    let left = area.x + 32.0;
    let room = area.x + area.width - left - 4.0;
    let first = middle + 4.5 - LINE * (lines.len() as f64 - 1.0) / 2.0;
    drawing.mark((area.x + 18.0, first - 4.5), 7.0, mark, ink, None);
    for (at, (line, bold)) in lines.into_iter().enumerate() {
        let size = if bold { 13.0 } else { SMALL };
        let (left, room) = if at == 0 {
            (left, room)
        } else {
            (area.x + 11.0, room + 21.0)
        };
        let style = TextStyle::new(size, Ink::Text);
        let style = if bold { style.bold() } else { style };
        let text = font::fitted(&line, size, bold, room);
        drawing.text((left, first + at as f64 * LINE), text, style);
    }
}

fn foot(drawing: &mut Drawing, suite: &SuiteRecord) {
    let y = drawing.height - 44.0;
    let mut x = MARGIN;
    let entries = [
        (Mark::Cross, Ink::Violation, "violated in k of n runs"),
        (
            Mark::Check,
            Ink::Valid,
            "no violation found; that does not prove that there is none",
        ),
        (Mark::Question, Ink::Unknown, "could not be decided"),
    ];
    for (mark, ink, words) in entries {
        drawing.mark((x + 7.0, y - 4.5), 6.0, mark, ink, None);
        drawing.text((x + 20.0, y), words, TextStyle::new(SMALL, Ink::Muted));
        x += 20.0 + font::width(words, SMALL, false) + 22.0;
    }
    let runs = words::count(suite.runs.len() as u64, "run");
    let server = suite.runs.first().map_or_else(String::new, |run| {
        format!(" · {}", run.record.environment.server)
    });
    let caption = format!("{runs} · seed {} · {}{server}", suite.seed, suite.started);
    let caption = font::fitted(&caption, SMALL, false, drawing.width - 2.0 * MARGIN);
    let at = (MARGIN, drawing.height - 20.0);
    drawing.text(at, caption, TextStyle::new(SMALL, Ink::Muted));
}
