//! The comparison as Markdown: one table, or where there are many hazards a table for each lock
//! with the hazards below each other.

use std::fmt::Write as _;

use super::escaped;
use crate::grid::{Cell, Grid, HEADINGS, Row};

/// Meaning of the signs.
const LEGEND: &str = "✗ violated in k of n runs, ✓ no violation found, ? unknown, · not applicable \
                      or not run; **!** not as the scenario expects.";
/// Meaning of the costs.
const COSTS: &str = "The costs are those of the runs without a fault: the latency of grants, \
                     waiting included (below it, of how many), cycles of acquire and release a \
                     second, round trips in each, and the longest time in which a lock was \
                     wanted, and neither held nor granted (below it a longer one under a fault).";

/// Appends the comparison.
pub(super) fn push(text: &mut String, grid: &Grid) {
    if grid.is_dense() {
        for rows in grid.rows.chunk_by(|a, b| a.lock == b.lock) {
            push_turned(text, grid, rows);
        }
    } else {
        push_whole(text, grid);
    }
    let _ = writeln!(text, "{LEGEND}\n");
    if grid.has_prices() {
        let _ = writeln!(text, "{COSTS}\n");
    }
}

fn push_rule(text: &mut String, columns: usize) {
    text.push_str(&"|---".repeat(columns));
    text.push_str("|\n");
}

fn push_whole(text: &mut String, grid: &Grid) {
    text.push_str("| lock | topology |");
    for hazard in &grid.hazards {
        let _ = write!(text, " {} |", escaped(hazard));
    }
    for at in &grid.costs {
        let _ = write!(text, " {} |", HEADINGS[*at].name);
    }
    text.push('\n');
    push_rule(text, grid.hazards.len() + grid.costs.len() + 2);
    for row in &grid.rows {
        let (lock, topology) = (escaped(row.lock), escaped(row.topology));
        let _ = write!(text, "| {lock} | {topology} |");
        for cell in &row.cells {
            let _ = write!(text, " {} |", cell_text(cell));
        }
        for at in &grid.costs {
            let _ = write!(text, " {} |", cost_text(row, *at));
        }
        text.push('\n');
    }
    text.push('\n');
}

/// One lock: its topologies are the columns. Hazards that mean nothing to any of them are left out.
fn push_turned(text: &mut String, grid: &Grid, rows: &[Row]) {
    let lock = rows.first().map_or("", |row| row.lock);
    let _ = writeln!(text, "### {}\n", escaped(lock));
    text.push_str("| hazard |");
    for row in rows {
        let _ = write!(text, " {} |", escaped(row.topology));
    }
    text.push('\n');
    push_rule(text, rows.len() + 1);
    for (at, hazard) in grid.hazards.iter().enumerate() {
        let cells = || rows.iter().map(|row| &row.cells[at]);
        if cells().all(|cell| cell.tally().is_none()) {
            continue;
        }
        let _ = write!(text, "| {} |", escaped(hazard));
        for cell in cells() {
            let _ = write!(text, " {} |", cell_text(cell));
        }
        text.push('\n');
    }
    let is_known = rows.iter().any(|row| row.price.is_known());
    for at in grid.costs.iter().filter(|_| is_known) {
        let _ = write!(text, "| *{}* |", HEADINGS[*at].name);
        for row in rows {
            let _ = write!(text, " {} |", cost_text(row, *at));
        }
        text.push('\n');
    }
    text.push('\n');
}

fn cost_text(row: &Row, at: usize) -> String {
    let figure = &row.price.figures[at];
    if figure.below.is_empty() {
        figure.text().to_owned()
    } else {
        format!("{}<br>{}", figure.text(), escaped(&figure.below))
    }
}

fn cell_text(cell: &Cell) -> String {
    let mark = if cell.is_unexpected() { " **!**" } else { "" };
    let mut text = format!("{} {}{mark}", cell.glyph(), cell.headline());
    let detail = Some(cell.detail()).filter(|detail| !detail.is_empty());
    for line in detail.into_iter().chain(cell.rate()) {
        text.push_str("<br>");
        text.push_str(&line);
    }
    text
}
