//! Bytes under way on a slow link: they arrive later than they were sent, and in that order.
//!
//! For: delay, jitter and a limited rate, for one direction of one connection. Not for: packets; a
//! stream loses and reorders nothing.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::future::pending;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use tokio::time::{Instant, sleep_until};

use crate::network::Slowness;

/// Bytes under way at most in one direction of one connection; a sender then has to wait, as it
/// has to when the window of a real connection is full.
const UNDER_WAY_MAX: usize = 1 << 20;

/// A throttled link lets bytes through so often; in bigger pieces it would be a stall.
const PIECES_PER_SECOND: u64 = 20;

/// Load of a link.
pub(super) enum Load<'a> {
    Bytes(Cow<'a, [u8]>),
    /// The source has finished.
    End,
    /// The source has reset the connection.
    Reset,
}

impl Load<'_> {
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::End | Self::Reset => 0,
        }
    }
}

/// The loads under way, by when they are due.
pub(super) struct Transit {
    loads: VecDeque<(Instant, Load<'static>)>,
    bytes: usize,
    /// When the link has taken in, at its rate, what was sent so far.
    taken_in: Instant,
    rng: ChaCha8Rng,
}

impl Transit {
    pub(super) fn new(rng: ChaCha8Rng) -> Self {
        Self {
            loads: VecDeque::new(),
            bytes: 0,
            taken_in: Instant::now(),
            rng,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.loads.is_empty()
    }

    pub(super) fn has_room(&self) -> bool {
        self.bytes < UNDER_WAY_MAX
    }

    /// Sends a load on its way.
    pub(super) fn push(&mut self, load: Load, slowness: Slowness) {
        match load {
            Load::End => self.send(Load::End, slowness),
            Load::Reset => self.send(Load::Reset, slowness),
            Load::Bytes(bytes) => {
                for piece in bytes.chunks(piece_bytes(slowness, bytes.len())) {
                    self.send(Load::Bytes(piece.to_vec().into()), slowness);
                }
            }
        }
    }

    fn send(&mut self, load: Load<'static>, slowness: Slowness) {
        self.taken_in = self.taken_in.max(Instant::now()) + slowness.time_for(load.size() as u64);
        let jitter = slowness.jitter.mul_f64(self.rng.random_range(0.0..=1.0));
        let due = self.taken_in + slowness.delay + jitter;
        // Nothing overtakes what was sent before it.
        let due = self.loads.back().map_or(due, |(last, _)| due.max(*last));
        self.bytes += load.size();
        self.loads.push_back((due, load));
    }

    /// The next load, once it is due; never, if there is none.
    pub(super) async fn next(&mut self) -> Load<'static> {
        match self.loads.front() {
            Some(&(due, _)) => sleep_until(due).await,
            None => pending().await,
        }
        let (_, load) = self
            .loads
            .pop_front()
            .expect("it was there before the sleep");
        self.bytes -= load.size();
        load
    }
}

/// The size of the pieces in which a load is let through.
fn piece_bytes(slowness: Slowness, size: usize) -> usize {
    let piece = slowness
        .bytes_per_second
        .map(|rate| usize::try_from(rate.get() / PIECES_PER_SECOND).unwrap_or(usize::MAX));
    piece.unwrap_or(size).max(1)
}
