//! The costs beside the cells: a column for each figure.

use super::layout::{LINE, Layout};
use crate::grid::{Grid, HEADINGS, Price};
use crate::plots::axis::SMALL;
use crate::plots::drawing::{Anchor, Drawing, Stroke, TextStyle};
use crate::plots::font;
use crate::plots::ink::Ink;

/// Between the cells and the costs.
pub(super) const GAP: f64 = 22.0;
/// Widths of the columns; the last has the name of a hazard below its figure.
const COLUMNS: [f64; HEADINGS.len()] = [72.0, 72.0, 66.0, 62.0, 156.0];
/// Size of what a figure rests on.
const TINY: f64 = 10.5;

/// Width of all costs, with the gap; none where nothing is known of them.
pub(super) fn width(grid: &Grid) -> f64 {
    let columns: f64 = grid.costs.iter().map(|at| COLUMNS[*at]).sum();
    if grid.has_prices() {
        GAP + columns
    } else {
        0.0
    }
}

/// The columns: which figure, the right edge, the width.
fn columns(layout: &Layout, grid: &Grid) -> Vec<(usize, f64, f64)> {
    let columns = grid.costs.iter().scan(layout.costs, |right, at| {
        *right += COLUMNS[*at];
        Some((*at, *right, COLUMNS[*at]))
    });
    columns.collect()
}

/// The names of the columns, and what they are all about.
pub(super) fn header(drawing: &mut Drawing, layout: &Layout, grid: &Grid) {
    let bottom = layout.header_bottom();
    let style = TextStyle::new(SMALL, Ink::Text)
        .bold()
        .anchored(Anchor::End);
    let mut top = bottom;
    for (at, right, _) in columns(layout, grid) {
        let words: Vec<&str> = HEADINGS[at].name.split(' ').collect();
        let first = bottom - LINE * (words.len() as f64 - 1.0);
        top = top.min(first);
        for (at, word) in words.into_iter().enumerate() {
            drawing.text((right, first + at as f64 * LINE), word, style);
        }
    }
    let right = layout.costs - GAP + width(grid);
    let caption = TextStyle::new(SMALL, Ink::Muted).anchored(Anchor::End);
    drawing.text(
        (right, top - LINE - 4.0),
        "what it costs without a fault",
        caption,
    );
    let x = layout.costs - GAP / 2.0;
    let stroke = Stroke::new(Ink::Grid, 1.5);
    drawing.line((x, layout.top), (x, layout.bottom()), stroke);
}

/// The figures of a row around `middle`.
pub(super) fn figures(
    drawing: &mut Drawing,
    (layout, grid): (&Layout, &Grid),
    price: &Price,
    middle: f64,
) {
    for (at, right, width) in columns(layout, grid) {
        let figure = &price.figures[at];
        let has_more = !layout.is_dense && !figure.below.is_empty();
        let up = if has_more { 4.0 } else { -4.5 };
        let ink = if figure.value.is_some() {
            Ink::Text
        } else {
            Ink::Muted
        };
        let style = TextStyle::new(13.0, ink).anchored(Anchor::End);
        drawing.text((right, middle - up), figure.text(), style);
        if has_more {
            let style = TextStyle::new(TINY, Ink::Muted).anchored(Anchor::End);
            let below = font::fitted(&figure.below, TINY, false, width - 8.0);
            drawing.text((right, middle + 12.0), below, style);
        }
    }
}
