//! The schedule of a storm: which fault comes when, as a function of the seed.
//!
//! The plan is pure. Only the run of it knows a clock, and it waits from the end of one fault to
//! the start of the next, so that a slow injection never squeezes the quiet time after it.

use std::time::Duration;

use lockstorm_scenarios::{FaultSpec, NemesisEntry};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::aim::Aim;
use crate::error::FaultError;
use crate::fault::Ends;
use crate::faults::ends_of;
use crate::nemesis::Nemesis;

/// Shortest quiet time between two faults, so that no schedule becomes a busy loop.
const QUIET_MIN: Duration = Duration::from_millis(10);

/// How often a running schedule looks for effects that had not shown yet.
const OBSERVE_EVERY: Duration = Duration::from_millis(50);

/// One fault of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// Quiet time since the end of the fault before.
    pub quiet: Duration,
    /// Which of the entries.
    pub entry: usize,
    /// How long it lasts; zero for what is over at once, or never.
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

/// Runs a plan against a deployment.
pub struct Schedule {
    faults: Vec<FaultSpec>,
    plan: Plan,
}

impl Schedule {
    /// The schedule of a storm's entries; all its choices are functions of the generator's seed
    /// and of how the deployment stands at each injection.
    pub fn new(entries: &[NemesisEntry], rng: ChaCha8Rng) -> Self {
        Self {
            faults: entries.iter().map(|entry| entry.fault.clone()).collect(),
            plan: Plan::new(entries, rng),
        }
    }

    /// Injects, holds and heals one fault after the other until `stop`, upon which the one in
    /// force is healed at once. A fault that fails is noted as requested only, and the storm
    /// goes on; the failures are returned.
    pub async fn run(&mut self, nemesis: &mut Nemesis, stop: CancellationToken) -> Vec<FaultError> {
        let mut errors = Vec::new();
        for planned in &mut self.plan {
            if !pass(planned.quiet, nemesis, &stop).await {
                break;
            }
            let mut rng = ChaCha8Rng::seed_from_u64(planned.pick);
            let fault = &self.faults[planned.entry];
            let faults = Aim::Storm(&mut rng).at(fault, nemesis.deployment()).await;
            let mut injected = Vec::new();
            for fault in &faults {
                match nemesis.inject(fault).await {
                    Ok(id) => injected.push(id),
                    Err(error) => errors.push(error),
                }
            }
            if !injected.is_empty() {
                pass(planned.lasts, nemesis, &stop).await;
            }
            for id in &injected {
                errors.extend(nemesis.heal_id(id).await.err());
            }
        }
        errors
    }
}

/// Lets time pass while looking for effects that had not shown yet: `false` once stopped.
async fn pass(length: Duration, nemesis: &mut Nemesis, stop: &CancellationToken) -> bool {
    let until = Instant::now() + length;
    while !stop.is_cancelled() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        let nap = if nemesis.has_pending() {
            left.min(OBSERVE_EVERY)
        } else {
            left
        };
        stop.run_until_cancelled(sleep(nap)).await;
        nemesis.observe_pending().await;
    }
    false
}
