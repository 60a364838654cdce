//! The plan of one package of a storm: which fault comes when, as a function of the seed.
//!
//! For: planned times and nothing else. Not for: a clock, which only the schedule knows; it waits
//! from the end of one fault to the start of the next, so that a slow injection never squeezes the
//! quiet time after it.

use std::time::Duration;

use lockstorm_scenarios::NemesisEntry;
use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;

use crate::fault::Ends;
use crate::faults::ends_of;

/// Shortest quiet time between two faults, so that no schedule becomes a busy loop.
const QUIET_MIN: Duration = Duration::from_millis(10);

/// One fault of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// Quiet time since the end of the fault before.
    pub quiet: Duration,
    /// Which of the entries.
    pub entry: usize,
    /// Time that it lasts; zero for what is over at once, or never.
    pub lasts: Duration,
    /// Seed of the choice of its target, which depends on how the deployment stands by then.
    pub pick: u64,
}

/// The endless plan of a storm, one fault at a time; empty if there are no entries.
pub struct Plan {
    rhythms: Vec<Rhythm>,
    /// Planned time at which the last fault ended.
    now: Duration,
    rng: ChaCha8Rng,
}

/// One entry of the schedule and when it is due.
struct Rhythm {
    every: Duration,
    lasts: Duration,
    due: Duration,
}

impl Plan {
    /// The plan of these entries: a function of the generator's seed and of nothing else.
    pub fn new(entries: &[NemesisEntry], mut rng: ChaCha8Rng) -> Self {
        let rhythms = entries
            .iter()
            .map(|entry| Rhythm {
                every: entry.every.0,
                lasts: match ends_of(&entry.fault) {
                    Ends::Healed => entry.lasts.0,
                    Ends::ByItself | Ends::Never => Duration::ZERO,
                },
                due: quiet(entry.every.0, &mut rng),
            })
            .collect();
        Self {
            rhythms,
            now: Duration::ZERO,
            rng,
        }
    }
}

impl Iterator for Plan {
    type Item = Planned;

    fn next(&mut self) -> Option<Planned> {
        let (entry, rhythm) = self
            .rhythms
            .iter_mut()
            .enumerate()
            .min_by_key(|(index, rhythm)| (rhythm.due, *index))?;
        // An entry that fell due while another fault was in force comes right after it.
        let quiet_before = rhythm.due.saturating_sub(self.now).max(QUIET_MIN);
        self.now += quiet_before + rhythm.lasts;
        rhythm.due = self.now + quiet(rhythm.every, &mut self.rng);
        Some(Planned {
            quiet: quiet_before,
            entry,
            lasts: rhythm.lasts,
            pick: self.rng.next_u64(),
        })
    }
}

/// Half to one and a half of the mean.
fn quiet(mean: Duration, rng: &mut ChaCha8Rng) -> Duration {
    mean.mul_f64(rng.random_range(0.5..1.5))
}
