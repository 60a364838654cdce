//! Faults above and through a picture: a named row for each, and a faint band below it, so that
//! nothing is read without what was broken at the time.

use lockstorm_checker::Nanos;
use lockstorm_checker::history::FaultPhase;
use lockstorm_checker::verdict::FaultSummary;

use super::axis::{SMALL, TimeScale};
use super::drawing::{Anchor, Area, Drawing, Fill, Stroke, TextStyle};
use super::font;
use super::ink::Ink;

/// Rows of the fault strip; further faults are drawn as bands without a name.
pub(super) const FAULT_ROWS_MAX: usize = 12;
/// From the middle of a story's number to a name beside it: half a disc and a blank.
const DISC_ROOM: f64 = 13.0;
/// Height of a row of the fault strip.
pub(super) const FAULT_ROW: f64 = 18.0;

/// When a fault was in force, clipped to the window; `None` if it was not in it.
fn fault_span(fault: &FaultSummary, scale: &TimeScale) -> Option<(Nanos, Nanos)> {
    let from = fault
        .at(FaultPhase::Injected)
        .or_else(|| fault.at(FaultPhase::Requested))?;
    let to = fault.at(FaultPhase::Healed).unwrap_or(Nanos::MAX);
    scale.shows(from, to).then_some((from, to))
}

/// The faults of the window: those with a row in the strip first.
pub(super) fn faults_shown<'a>(
    faults: &'a [FaultSummary],
    scale: &TimeScale,
) -> Vec<(&'a FaultSummary, (Nanos, Nanos))> {
    let in_window = |fault| fault_span(fault, scale).map(|span| (fault, span));
    faults.iter().filter_map(in_window).collect()
}

/// Faint bands through the whole plot, so that nothing is read without its faults. Each hangs
/// from its row of the strip that begins at `top`.
pub(super) fn fault_bands(
    drawing: &mut Drawing,
    faults: &[(&FaultSummary, (Nanos, Nanos))],
    scale: &TimeScale,
    (top, bottom): (f64, f64),
) {
    for (row, (fault, span)) in faults.iter().enumerate() {
        let top = top + (row + 1).min(FAULT_ROWS_MAX) as f64 * FAULT_ROW - 2.0;
        let (from, to) = (scale.x(span.0), scale.x(span.1).max(scale.x(span.0) + 1.5));
        let area = Area::between((from, to), top, bottom - top);
        let ink = Ink::of_fault(fault.class);
        drawing.area(area, Fill::Plain(ink, 0.10));
        drawing.line((from, top), (from, bottom), Stroke::dashed(ink, 1.0));
    }
}

/// Says what the strip leaves out: faults beyond its rows have a band and no name.
pub(super) fn faults_note(faults: &[(&FaultSummary, (Nanos, Nanos))]) -> Option<String> {
    let total = faults.len();
    (total > FAULT_ROWS_MAX)
        .then(|| format!("Naming only the first {FAULT_ROWS_MAX} of {total} faults."))
}

/// One named row for each fault; `discs` are the numbers of a story, which the names keep clear of.
pub(super) fn fault_strip(
    drawing: &mut Drawing,
    faults: &[(&FaultSummary, (Nanos, Nanos))],
    scale: &TimeScale,
    top: f64,
    discs: &[(f64, f64)],
) {
    for (row, (fault, span)) in faults.iter().take(FAULT_ROWS_MAX).enumerate() {
        let y = top + row as f64 * FAULT_ROW;
        let (from, to) = (scale.x(span.0), scale.x(span.1).max(scale.x(span.0) + 1.5));
        let area = Area::between((from, to), y + 1.0, FAULT_ROW - 3.0);
        let name = fault_name(fault);
        let fill = Fill::Plain(Ink::of_fault(fault.class), 0.38);
        drawing.titled(area, fill, Some(name.clone()));
        let style = TextStyle::new(SMALL, Ink::Text);
        let in_row = |disc: &&(f64, f64)| (y..y + FAULT_ROW).contains(&disc.1);
        let discs: Vec<f64> = discs.iter().filter(in_row).map(|disc| disc.0).collect();
        let (at, anchor) = label_place(&name, from + 6.0, &discs, scale);
        let room = (scale.right - scale.left).max(0.0);
        let text = font::fitted_in_page(&name, SMALL, false, room);
        drawing.text((at, y + 12.5), text, style.anchored(anchor));
    }
}

/// The name of a fault with a warning where nothing saw its effect.
pub(super) fn fault_name(fault: &FaultSummary) -> String {
    let warning = match fault.at(FaultPhase::Observed) {
        Some(_) => "",
        None => " (no observed effect)",
    };
    format!("{} {} {}{warning}", fault.id, fault.kind, fault.target)
}

/// From the beginning of its bar, past the discs in its way; where the picture ends too early for
/// that, before them and up to its edge. The discs go from left to right.
fn label_place(name: &str, start: f64, discs: &[f64], scale: &TimeScale) -> (f64, Anchor) {
    let width = font::width_in_page(name, SMALL, false);
    let is_in_the_way =
        |disc: f64, (from, to): (f64, f64)| (from - DISC_ROOM..to + DISC_ROOM).contains(&disc);
    let mut from = start;
    for disc in discs {
        if is_in_the_way(*disc, (from, from + width)) {
            from = disc + DISC_ROOM;
        }
    }
    if from + width <= scale.right {
        return (from, Anchor::Start);
    }
    let mut to = scale.right - 4.0;
    for disc in discs.iter().rev() {
        if is_in_the_way(*disc, (to - width, to)) {
            to = disc - DISC_ROOM;
        }
    }
    (to.max(scale.left + width), Anchor::End)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCALE: TimeScale = TimeScale {
        window: (Nanos(900_000_000), Nanos(3_100_000_000)),
        left: 100.0,
        right: 900.0,
    };

    #[test]
    fn the_name_of_a_fault_keeps_clear_of_the_numbers_on_it() {
        let place = |discs: &[f64]| label_place("F1 restart primary", 206.0, discs, &SCALE).0;
        assert!((place(&[]) - 206.0).abs() < 1e-9);
        assert!((place(&[201.0, 218.0, 235.0]) - 248.0).abs() < 1e-9);
        // One beyond the end of the name is in nobody's way.
        assert!((place(&[201.0, 700.0]) - 214.0).abs() < 1e-9);
    }

    #[test]
    fn near_the_edge_the_name_of_a_fault_stands_before_the_numbers_on_it() {
        let place = |discs: &[f64]| label_place("F1 restart primary", 850.0, discs, &SCALE);
        assert_eq!(place(&[]), (896.0, Anchor::End));
        assert_eq!(place(&[845.0, 862.0]), (832.0, Anchor::End));
    }
}
