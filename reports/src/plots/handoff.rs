//! Hand-offs by their length; two holders at once are drawn left of the zero line.

use super::axis::{SMALL, WIDTH};
use super::drawing::{Anchor, Area, Drawing, Fill, Stroke, TextStyle};
use super::ink::Ink;
use crate::measures::Gap;
use crate::words;

/// Upper bounds of the bins, in nanoseconds, on either side of zero; the last bin is open.
const BOUNDS: [(u64, &str); 5] = [
    (100_000, "100 µs"),
    (1_000_000, "1 ms"),
    (10_000_000, "10 ms"),
    (100_000_000, "100 ms"),
    (1_000_000_000, "1 s"),
];
/// Bins on one side of zero.
const SIDE: usize = BOUNDS.len() + 1;
const HEIGHT: f64 = 150.0;
const TOP: f64 = 40.0;

/// A picture and the same in numbers.
pub(crate) struct Handoff {
    pub(crate) drawing: Drawing,
    /// Name and count of each bin that is not empty.
    pub(crate) bins: Vec<(String, u64)>,
}

/// The hand-off picture; `None` for a run in which no lock changed hands.
pub(crate) fn handoff(gaps: &[Gap]) -> Option<Handoff> {
    if gaps.is_empty() {
        return None;
    }
    let mut counts = [0; 2 * SIDE];
    for gap in gaps {
        counts[bin(gap.length)] += 1;
    }
    let overlaps: u64 = counts[..SIDE].iter().sum();
    let total = words::count(gaps.len() as u64, "hand-off");
    let label = format!("Histogram of {total}, of which {overlaps} with an overlap");
    let bins = (0..2 * SIDE).filter(|bin| counts[*bin] > 0);
    Some(Handoff {
        drawing: draw(&counts, label),
        bins: bins.map(|bin| (bin_name(bin), counts[bin])).collect(),
    })
}

/// Bins run from the largest overlap to the largest gap.
fn bin(gap: i64) -> usize {
    let size = gap.unsigned_abs();
    let rank = BOUNDS.iter().position(|(bound, _)| size < *bound);
    let rank = rank.unwrap_or(BOUNDS.len());
    if gap < 0 {
        SIDE - 1 - rank
    } else {
        SIDE + rank
    }
}

fn rank_name(rank: usize) -> String {
    match rank {
        0 => format!("< {}", BOUNDS[0].1),
        _ if rank < BOUNDS.len() => format!("< {}", BOUNDS[rank].1),
        _ => format!("≥ {}", BOUNDS[rank - 1].1),
    }
}

fn bin_name(bin: usize) -> String {
    if bin < SIDE {
        format!("overlap {}", rank_name(SIDE - 1 - bin))
    } else {
        format!("gap {}", rank_name(bin - SIDE))
    }
}

fn draw(counts: &[u64; 2 * SIDE], label: String) -> Drawing {
    let mut drawing = Drawing::new(WIDTH, TOP + HEIGHT + 48.0, label);
    let full = Area::between((0.0, WIDTH), 0.0, drawing.height);
    drawing.area(full, Fill::Plain(Ink::Paper, 1.0));
    let (left, width) = (24.0, (WIDTH - 48.0) / (2 * SIDE) as f64);
    let bottom = TOP + HEIGHT;
    let most = counts.iter().copied().max().unwrap_or(1).max(1) as f64;
    let middle = TextStyle::new(SMALL, Ink::Muted).anchored(Anchor::Middle);
    for (bin, count) in counts.iter().enumerate() {
        let x = left + bin as f64 * width;
        let center = x + width / 2.0;
        // "≥" is missing from the font of the pictures.
        let name = rank_name(if bin < SIDE {
            SIDE - 1 - bin
        } else {
            bin - SIDE
        });
        drawing.text((center, bottom + 18.0), name.replace("≥ ", "over "), middle);
        if *count == 0 {
            continue;
        }
        let height = (*count as f64 / most * (HEIGHT - 18.0)).max(2.0);
        let bar = Area::between((x + 8.0, x + width - 8.0), bottom - height, height);
        let title = Some(format!("{}: {count}", bin_name(bin)));
        if bin < SIDE {
            drawing.area(bar, Fill::Plain(Ink::Violation, 0.2));
            drawing.titled(bar, Fill::Hatch(Ink::Violation), title);
            drawing.outline(bar, Stroke::new(Ink::Violation, 2.0));
        } else {
            drawing.titled(bar, Fill::Plain(Ink::Hold, 1.0), title);
        }
        let above = middle.bold();
        drawing.text((center, bottom - height - 6.0), count.to_string(), above);
    }
    let zero = left + SIDE as f64 * width;
    let axis = Stroke::new(Ink::Muted, 1.0);
    drawing.line((left, bottom), (WIDTH - left, bottom), axis);
    drawing.line(
        (zero, 12.0),
        (zero, bottom + 6.0),
        Stroke::new(Ink::Text, 2.0),
    );
    let heading = TextStyle::new(13.0, Ink::Text).bold();
    drawing.text((zero + 10.0, 22.0), "gap: the lock was free", heading);
    let overlap = TextStyle::new(13.0, Ink::Violation)
        .bold()
        .anchored(Anchor::End);
    drawing.text((zero - 10.0, 22.0), "overlap: granted too early", overlap);
    let caption = "length, from the end of the hold or of its lease to the next grant";
    drawing.text((WIDTH / 2.0, bottom + 38.0), caption, middle);
    drawing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_grow_away_from_zero_on_both_sides() {
        assert_eq!(bin_name(bin(-1)), "overlap < 100 µs");
        assert_eq!(bin_name(bin(0)), "gap < 100 µs");
        assert_eq!(bin_name(bin(5_000_000)), "gap < 10 ms");
        assert_eq!(bin_name(bin(-3_000_000_000)), "overlap ≥ 1 s");
    }
}
