//! How busy each lane was, for the stretches of a history that are not embedded whole.

use lockstorm_checker::{Digest, Hold};

use super::column::Column;
use super::lanes::Lanes;

/// Bins of a lane: about one for each pixel of a wide screen.
const BINS: usize = 1024;
/// Bins of all lanes together; with many lanes each has fewer.
const BINS_MAX: usize = 1 << 20;
/// Bins of a lane at the least.
const BINS_MIN: usize = 64;

/// The share of each bin in which a client certainly held its lock, of 255; lane after lane.
#[derive(Debug, Default)]
pub(super) struct Bins {
    pub(super) of_lane: usize,
    pub(super) shares: Column,
}

impl Bins {
    pub(super) fn of(digest: &Digest, holds: &[&Hold], lanes: &Lanes) -> Self {
        let of_lane = (BINS_MAX / lanes.len().max(1)).clamp(BINS_MIN, BINS);
        let width = digest.end.0 as f64 / of_lane as f64;
        let mut busy = vec![0.0_f32; of_lane * lanes.len()];
        for hold in holds.iter().filter(|hold| hold.is_granted()) {
            let lane = lanes.of_operation(hold.acquire);
            let until = hold.left().min(digest.end);
            let (from, to) = (hold.core.start.0 as f64 / width, until.0 as f64 / width);
            let row = &mut busy[lane as usize * of_lane..][..of_lane];
            let last = (to as usize).min(of_lane - 1);
            for (bin, share) in row
                .iter_mut()
                .enumerate()
                .take(last + 1)
                .skip(from as usize)
            {
                let inside = to.min(bin as f64 + 1.0) - from.max(bin as f64);
                *share += inside.max(0.0) as f32;
            }
        }
        let mut shares = Column::default();
        for share in busy {
            // What is busy at all is seen to be so.
            let visible = if share > 0.0 { 1.0 } else { 0.0 };
            shares.byte((share * 255.0).clamp(visible, 255.0) as u8);
        }
        Self { of_lane, shares }
    }
}
