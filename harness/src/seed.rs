//! One seed, many streams: every choice of a run follows from its seed and the name of who
//! chooses.

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use std::time::Duration;

use lockstorm_scenarios::DurationRange;

/// The seed of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed(pub u64);

impl Seed {
    /// A seed that nobody chose, short enough to be typed again.
    pub fn fresh() -> Self {
        Self(rand::rng().random_range(0..1_000_000_000_000))
    }

    /// The stream of choices called `name`, such as `nemesis` or `client/7`.
    ///
    /// `ChaCha8` because its output is stable across versions, which the standard generator's is
    /// not; the name is mixed in by FNV-1a, so that streams are independent of one another.
    pub fn stream(self, name: &str) -> ChaCha8Rng {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&self.0.to_le_bytes());
        key[8..16].copy_from_slice(&fnv1a(name.as_bytes()).to_le_bytes());
        ChaCha8Rng::from_seed(key)
    }

    /// The seed of one of several runs.
    #[must_use]
    pub fn child(self, name: &str) -> Self {
        Self(self.stream(name).random_range(0..1_000_000_000_000))
    }
}

/// FNV-1a, 64 bits (Fowler, Noll, Vo).
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// A duration drawn evenly from `range`.
pub fn draw(rng: &mut ChaCha8Rng, range: DurationRange) -> Duration {
    if range.min == range.max {
        return range.min.0;
    }
    let (min, max) = (
        range.min.0.as_micros() as u64,
        range.max.0.as_micros() as u64,
    );
    Duration::from_micros(rng.random_range(min..=max))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_and_name_give_the_same_stream_and_another_name_another() {
        let first: u64 = Seed(7).stream("nemesis").random();
        let again: u64 = Seed(7).stream("nemesis").random();
        let other: u64 = Seed(7).stream("client/0").random();
        assert_eq!(first, again);
        assert_ne!(first, other);
    }

    #[test]
    fn a_drawn_duration_lies_in_its_range() {
        let mut rng = Seed(1).stream("test");
        let range = DurationRange::from_millis(3, 9);
        for _ in 0..1000 {
            let drawn = draw(&mut rng, range);
            assert!(drawn >= range.min.0 && drawn <= range.max.0);
        }
    }
}
