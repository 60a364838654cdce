//! The picture of a comparison, put together.

use super::layout::{LINE, Layout, MARGIN, NAME};
use super::{cell, costs};
use crate::grid::{Grid, Row};
use crate::head::Head;
use crate::model::SuiteRecord;
use crate::plots::axis::SMALL;
use crate::plots::drawing::{Anchor, Area, Drawing, Fill, Stroke, TextStyle};
use crate::plots::font;
use crate::plots::ink::Ink;
use crate::plots::sign::look;
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
    let head = Head::of_suite(suite);
    let (mark, ink) = look(head.standing.sign());
    drawing.mark((MARGIN + 8.0, 62.0), 8.0, mark, ink, None);
    let line = font::fitted(&head.line(), 15.0, true, room - 24.0);
    let style = TextStyle::new(15.0, Ink::Text).bold();
    drawing.text((MARGIN + 24.0, 67.0), line, style);
    // A picture has room for one sentence; the page has them all.
    let first = suite.description.split_inclusive(". ").next();
    let first = first.unwrap_or_default().trim_end();
    let description = font::fitted(first, 14.0, false, room);
    drawing.text(
        (MARGIN, 91.0),
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
        let (mark, ink) = look(verdict.into());
        drawing.mark((x + 7.0, y - 4.5), 6.0, mark, ink, None);
        drawing.text((x + 20.0, y), words, TextStyle::new(SMALL, Ink::Muted));
        x += 20.0 + font::width(words, SMALL, false) + 22.0;
    }
    let framed = Area::between((x, x + 14.0), y - 11.0, 13.0);
    drawing.outline(framed, Stroke::new(Ink::Text, 2.5));
    let style = TextStyle::new(SMALL, Ink::Muted);
    drawing.text((x + 20.0, y), "not as expected", style);
    let runs = words::count(suite.runs.len() as u64, "run");
    let mut facts = vec![runs, format!("seed {}", suite.seed), suite.started.clone()];
    facts.extend(suite.servers().into_iter().map(str::to_owned));
    let caption = facts.join(" · ");
    let caption = font::fitted(&caption, SMALL, false, drawing.width - 2.0 * MARGIN);
    let at = (MARGIN, drawing.height - 20.0);
    drawing.text(at, caption, TextStyle::new(SMALL, Ink::Muted));
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::grid::Cell;
    use crate::plots::{png as png_of, svg_file};
    use crate::sample;

    /// As many hazards as cells have no room for words of.
    fn many_hazards() -> SuiteRecord {
        let mut suite = sample::suite();
        let few = suite.runs.clone();
        for n in 1..12 {
            suite.runs.extend(few.iter().cloned().map(|mut run| {
                run.record.labels.hazard = format!("{} {n}", run.record.labels.hazard);
                run
            }));
        }
        suite
    }

    #[test]
    fn the_picture_of_a_comparison() {
        let text = svg_file(&matrix(&sample::suite()));
        insta::assert_snapshot!(text.replace("><", ">\n<"));
    }

    #[test]
    fn with_many_hazards_each_name_is_there_in_letters_that_the_font_has() {
        let suite = many_hazards();
        let grid = Grid::new(&suite);
        assert!(grid.is_dense());
        let drawing = matrix(&suite);
        let words = drawing.words();
        for hazard in &grid.hazards {
            assert!(words.contains(hazard), "{hazard} is missing of {words:?}");
        }
        let glyphs = |word: &&str| word.chars().all(font::has_glyph);
        assert!(words.iter().all(glyphs), "{words:?}");
    }

    /// A decoded PNG.
    struct Pixels {
        size: (u32, u32),
        bytes: Vec<u8>,
    }

    impl Pixels {
        fn of(drawing: &Drawing) -> Self {
            let bytes = png_of(drawing).unwrap();
            let mut reader = png::Decoder::new(bytes.as_slice()).read_info().unwrap();
            let mut bytes = vec![0; reader.output_buffer_size()];
            let info = reader.next_frame(&mut bytes).unwrap();
            let size = (info.width, info.height);
            Self { size, bytes }
        }

        /// The colours of a square, of which the middle and half a side are given in pixels.
        fn colours(&self, (x, y): (f64, f64), reach: f64) -> BTreeSet<&[u8]> {
            let range = |at: f64| (at - reach) as usize..(at + reach) as usize;
            let row = self.size.0 as usize * 3;
            let rows = self
                .bytes
                .chunks(row)
                .skip(range(y).start)
                .take(range(y).len());
            rows.flat_map(|row| row.chunks(3).skip(range(x).start).take(range(x).len()))
                .collect()
        }
    }

    #[test]
    fn with_many_hazards_each_cell_of_the_png_has_its_sign() {
        let suite = many_hazards();
        let (grid, drawing) = (Grid::new(&suite), matrix(&suite));
        let (layout, pixels) = (Layout::of(&grid), Pixels::of(&drawing));
        let scale = f64::from(pixels.size.0) / layout.width;
        let reach = scale * layout.column.min(layout.row) * 0.4;
        let mut signs = 0;
        for (n, row) in grid.rows.iter().enumerate() {
            let y = (layout.y(n) + layout.row / 2.0) * scale;
            let ran = |(_, cell): &(usize, &Cell)| cell.tally().is_some();
            for (m, _) in row.cells.iter().enumerate().filter(ran) {
                // The middle of a cell, where nothing but its sign, figure or hatch can be.
                let x = (layout.x(m) + layout.column / 2.0) * scale;
                let colours = pixels.colours((x, y), reach);
                assert!(colours.len() > 4, "{n}, {m}: {colours:?}");
                signs += 1;
            }
        }
        assert!(signs > grid.hazards.len());
    }
}
