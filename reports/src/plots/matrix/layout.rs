//! Where everything goes in the picture of a comparison, given how much there is of it.
//!
//! ```text
//! title, outcome, description
//!                    hazard   hazard   ...  │ costs
//! lock, topology     cell     cell          │ figures
//! legend, caption
//! ```
//!
//! With few hazards the cells have words, and the picture has the shape of a slide. With many the
//! cells have signs and the hazards' names read upwards; the picture grows as it must.

use super::{cell, costs};
use crate::grid::{Grid, Row};
use crate::plots::axis::WIDTH;
use crate::plots::font;

pub(super) const MARGIN: f64 = 28.0;
pub(super) const LINE: f64 = 16.0;
/// Size of a row's name, where it has two lines, and where it has one.
pub(super) const NAME: (f64, f64) = (15.0, 12.5);
/// Height of title, outcome and description.
const TOP: f64 = 109.0;
const FOOT: f64 = 70.0;
/// Names of hazards above wordy columns take two lines.
const HEADER: f64 = 46.0;
/// The caption above the costs.
const CAPTION: f64 = 16.0;
/// Longest name of a hazard that reads upwards; what is longer is cut.
const UPRIGHT_MAX: f64 = 240.0;
/// Room for names of rows, at least and at most.
const NAMES: (f64, f64) = (148.0, 360.0);
/// Narrowest a wordy column gets before the picture becomes wider, and the widest that its words
/// make it; what is longer is cut.
const WORDY_COLUMN: (f64, f64) = (138.0, 260.0);
/// Columns of signs: alone, and with a figure beside them.
const DENSE_COLUMN: (f64, f64) = (27.0, 58.0);
const DENSE_ROW: f64 = 25.0;
/// Lowest and highest a wordy row gets.
const WORDY_ROW: (f64, f64) = (58.0, 84.0);
/// Room above and below the lines of a cell.
const PADDING: f64 = 14.0;
/// Up to here a wider picture is drawn smaller instead: its words stay readable on a slide.
const SLIDE_MAX: f64 = 1500.0;

/// Sizes of the parts, in CSS pixels.
pub(super) struct Layout {
    pub(super) is_dense: bool,
    pub(super) has_costs: bool,
    pub(super) width: f64,
    pub(super) height: f64,
    /// Where the rows begin.
    pub(super) top: f64,
    /// Where the cells begin.
    pub(super) left: f64,
    pub(super) column: f64,
    pub(super) row: f64,
    rows: f64,
    /// Where the costs begin.
    pub(super) costs: f64,
    /// Room for the names of locks where they have no line of their own.
    pub(super) locks: f64,
}

impl Layout {
    pub(super) fn of(grid: &Grid) -> Self {
        let is_dense = grid.is_dense();
        let has_costs = grid.has_prices();
        let (columns, rows) = (
            grid.hazards.len().max(1) as f64,
            grid.rows.len().max(1) as f64,
        );
        let locks = widest(grid, |row| font::width(row.lock, NAME.1, true)) + 16.0;
        let names = name_room(grid, is_dense, locks);
        let costs = costs::width(grid);
        let around = 2.0 * MARGIN + names + costs;
        let column = if is_dense {
            dense_column(grid)
        } else {
            wordy_column(grid).max((WIDTH - around) / columns)
        };
        let width = (around + column * columns).max(WIDTH).ceil();
        let top = TOP + header(grid, is_dense) + if has_costs { CAPTION } else { 0.0 };
        let lines = grid.rows.iter().flat_map(|row| &row.cells).map(cell::lines);
        let least = PADDING + LINE * lines.max().unwrap_or(0) as f64;
        let least = if is_dense {
            DENSE_ROW
        } else {
            WORDY_ROW.0.max(least)
        };
        let needed = top + rows * least + FOOT;
        let height = if is_dense {
            needed
        } else {
            needed.max(width / 2.0)
        };
        let most = if is_dense {
            DENSE_ROW
        } else {
            WORDY_ROW.1.max(least)
        };
        Self {
            is_dense,
            has_costs,
            width,
            height: height.ceil(),
            top,
            left: MARGIN + names,
            column,
            rows,
            row: ((height - top - FOOT) / rows).clamp(least, most),
            costs: MARGIN + names + column * columns + costs::GAP,
            locks: locks.min(names / 2.0),
        }
    }

    /// Returns the factor by which the picture is as wide as all others.
    pub(super) fn factor(&self) -> f64 {
        if self.width <= SLIDE_MAX {
            WIDTH / self.width
        } else {
            1.0
        }
    }

    /// Where a row begins.
    pub(super) fn y(&self, row: usize) -> f64 {
        self.top + row as f64 * self.row
    }

    /// Where the last row ends.
    pub(super) fn bottom(&self) -> f64 {
        self.top + self.rows * self.row
    }

    /// Where a column begins.
    pub(super) fn x(&self, column: usize) -> f64 {
        self.left + column as f64 * self.column
    }

    /// Where the names of hazards end.
    pub(super) fn header_bottom(&self) -> f64 {
        self.top - 10.0
    }

    /// Room for a name that reads upwards.
    pub(super) fn upright(&self) -> f64 {
        self.header_bottom() - TOP
    }
}

fn widest(grid: &Grid, of: impl Fn(&Row) -> f64) -> f64 {
    grid.rows.iter().map(of).fold(0.0, f64::max)
}

fn name_room(grid: &Grid, is_dense: bool, locks: f64) -> f64 {
    let topologies = |size| widest(grid, |row| font::width(row.topology, size, false));
    let needed = if is_dense {
        locks + topologies(NAME.1)
    } else {
        widest(grid, |row| font::width(row.lock, NAME.0, true)).max(topologies(12.0))
    };
    (needed + 18.0).clamp(NAMES.0, NAMES.1)
}

fn wordy_column(grid: &Grid) -> f64 {
    let cells = grid.rows.iter().flat_map(|row| &row.cells);
    let needed = cells.map(cell::width).fold(0.0, f64::max);
    needed.clamp(WORDY_COLUMN.0, WORDY_COLUMN.1)
}

fn dense_column(grid: &Grid) -> f64 {
    let mut cells = grid.rows.iter().flat_map(|row| &row.cells);
    let is_repeated = cells.any(|cell| cell.tally().is_some_and(|tally| tally.runs.len() > 1));
    if is_repeated {
        DENSE_COLUMN.1
    } else {
        DENSE_COLUMN.0
    }
}

fn header(grid: &Grid, is_dense: bool) -> f64 {
    if !is_dense {
        return HEADER;
    }
    let names = grid.hazards.iter();
    let longest = names
        .map(|name| font::width(name, NAME.1, false))
        .fold(0.0, f64::max);
    (longest + 14.0).clamp(HEADER, UPRIGHT_MAX)
}
