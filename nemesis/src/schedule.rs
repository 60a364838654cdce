//! The schedule of a storm: packages of faults that go on side by side, and quiet periods for all.
//!
//! ```text
//! servers  ──▓▓▓▓────▓▓▓▓▓──      ──▓▓▓──▓▓▓▓   each package: one fault after the other
//! links    ────▓▓▓▓▓▓▓─────      ────▓▓▓▓▓▓──
//!                         ╰quiet╯
//! ```
//!
//! For: when faults are injected and healed, by the plans of the packages. Not for: what a fault
//! does, and not for which targets it can hit; but of two packages, none strikes a node or a client
//! that the other has in its grip.

use std::time::Duration;

use lockstorm_scenarios::{FaultSpec, NemesisEntry, Quiet};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::aim::Aim;
use crate::error::FaultError;
use crate::nemesis::{FaultId, Nemesis};
use crate::plan::{Plan, Planned};

/// How often a running schedule looks for effects that had not shown yet.
const OBSERVE_EVERY: Duration = Duration::from_millis(50);

/// Time that a fault that has just been injected may take to show its effect before all is healed
/// out of turn. On a link that loses some packets it may take several of them.
const LAST_EFFECTS_WITHIN: Duration = Duration::from_secs(1);

/// Runs the packages of a storm against a deployment.
pub struct Schedule {
    packages: Vec<Package>,
    quiet: Option<Quiet>,
}

/// Faults of which one comes after the other.
struct Package {
    faults: Vec<FaultSpec>,
    plan: Plan,
    stage: Stage,
}

/// Where a package is.
enum Stage {
    /// Nothing of it is in force; the next fault is due then.
    Quiet(Planned, Instant),
    /// These are in force until then.
    InForce(Vec<FaultId>, Instant),
}

impl Schedule {
    /// The schedule of a storm's entries; all its choices are functions of the generator's seed
    /// and of how the deployment stands at each injection.
    pub fn new(entries: &[NemesisEntry], quiet: Option<Quiet>, rng: &ChaCha8Rng) -> Self {
        let mut names: Vec<&str> = Vec::new();
        for entry in entries {
            if !names.contains(&entry.package.as_str()) {
                names.push(&entry.package);
            }
        }
        let now = Instant::now();
        let package = |(number, name): (u64, &str)| {
            let own = entries.iter().filter(|entry| entry.package == name);
            let own: Vec<NemesisEntry> = own.cloned().collect();
            let mut rng = rng.clone();
            rng.set_stream(number);
            Package::new(&own, rng, now)
        };
        Self {
            packages: (0..).zip(names).filter_map(package).collect(),
            quiet,
        }
    }

    /// Injects, holds and heals faults until `stop`, upon which those in force are healed as soon
    /// as their effects have shown, for which the load should go on until this returns. A fault
    /// that fails is noted as requested only, and the storm goes on; the failures are returned.
    pub async fn run(&mut self, nemesis: &mut Nemesis, stop: CancellationToken) -> Vec<FaultError> {
        let begun = Instant::now();
        for package in &mut self.packages {
            package.put_off(begun);
        }
        let mut errors = Vec::new();
        let mut quiet_from = self.quiet_after(begun);
        while let Some(next) = next_of(&mut self.packages) {
            if let (Some(from), Some(quiet)) = (quiet_from, self.quiet)
                && from <= next.due()
            {
                if !pass(from, nemesis, &stop).await {
                    break;
                }
                let until = Instant::now() + quiet.lasts.0;
                errors.extend(self.calm(nemesis, until).await);
                quiet_from = self.quiet_after(until);
                continue;
            }
            if !pass(next.due(), nemesis, &stop).await {
                break;
            }
            errors.extend(next.turn(nemesis).await);
        }
        errors.extend(self.calm(nemesis, Instant::now()).await);
        errors
    }

    fn quiet_after(&self, from: Instant) -> Option<Instant> {
        self.quiet.map(|quiet| from + quiet.every.0)
    }

    /// Heals all that is in force, and puts off everything until then.
    async fn calm(&mut self, nemesis: &mut Nemesis, until: Instant) -> Vec<FaultError> {
        let shown = Instant::now() + LAST_EFFECTS_WITHIN;
        while nemesis.has_pending() && Instant::now() < shown {
            sleep(OBSERVE_EVERY).await;
            nemesis.observe_pending().await;
        }
        let mut errors = Vec::new();
        for package in &mut self.packages {
            if matches!(package.stage, Stage::InForce(..)) {
                errors.extend(package.turn(nemesis).await);
            }
            package.put_off(until);
        }
        errors
    }
}

/// The package whose turn comes first.
fn next_of(packages: &mut [Package]) -> Option<&mut Package> {
    packages.iter_mut().min_by_key(|package| package.due())
}

impl Package {
    /// None, if there are no entries.
    fn new(entries: &[NemesisEntry], rng: ChaCha8Rng, now: Instant) -> Option<Self> {
        let mut plan = Plan::new(entries, rng);
        let first = plan.next()?;
        Some(Self {
            faults: entries.iter().map(|entry| entry.fault.clone()).collect(),
            plan,
            stage: Stage::Quiet(first, now),
        })
    }

    fn due(&self) -> Instant {
        match &self.stage {
            Stage::Quiet(_, due) | Stage::InForce(_, due) => *due,
        }
    }

    /// Lets the quiet time before the next fault begin then.
    fn put_off(&mut self, until: Instant) {
        if let Stage::Quiet(planned, due) = &mut self.stage {
            *due = (*due).max(until + planned.quiet);
        }
    }

    /// Injects what is due, or heals what is in force.
    async fn turn(&mut self, nemesis: &mut Nemesis) -> Vec<FaultError> {
        match &mut self.stage {
            Stage::Quiet(planned, _) => {
                let planned = planned.clone();
                self.strike(&planned, nemesis).await
            }
            Stage::InForce(ids, _) => {
                let ids = std::mem::take(ids);
                let mut errors = Vec::new();
                for id in &ids {
                    errors.extend(nemesis.heal_id(id).await.err());
                }
                self.rest();
                errors
            }
        }
    }

    async fn strike(&mut self, planned: &Planned, nemesis: &mut Nemesis) -> Vec<FaultError> {
        let mut rng = ChaCha8Rng::seed_from_u64(planned.pick);
        let fault = &self.faults[planned.entry];
        let spared = nemesis.active_targets();
        let mut aim = Aim::Storm(&mut rng, &spared);
        let (mut ids, mut errors) = (Vec::new(), Vec::new());
        for fault in aim.at(fault, nemesis.deployment()).await {
            // It lets this turn go by.
            if aim.spares(&fault, nemesis.deployment()) {
                continue;
            }
            match nemesis.inject(&fault).await {
                Ok(id) => ids.push(id),
                Err(error) => errors.push(error),
            }
        }
        if ids.is_empty() {
            self.rest();
        } else {
            self.stage = Stage::InForce(ids, Instant::now() + planned.lasts);
        }
        errors
    }

    /// The quiet time before the next fault begins.
    fn rest(&mut self) {
        let planned = self.plan.next().expect("a plan with entries has no end");
        let due = Instant::now() + planned.quiet;
        self.stage = Stage::Quiet(planned, due);
    }
}

/// Lets time pass while looking for effects that had not shown yet: `false` once stopped.
async fn pass(until: Instant, nemesis: &mut Nemesis, stop: &CancellationToken) -> bool {
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
