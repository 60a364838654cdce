//! The nemesis: injects faults, proves them, heals them, and writes down each stage.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use lockstorm_checker::history::{FaultNote, FaultPhase, FaultTarget, Name};
use lockstorm_scenarios::{FaultKind, FaultSpec, Link, Role};
use rand_chacha::ChaCha8Rng;
use tokio::time::{Instant, sleep};

use crate::aim::Aim;
use crate::deployment::Deployment;
use crate::error::FaultError;
use crate::fault::{Ends, Evidence, Fault, Sighting};
use crate::faults::{ends_of, fault_of};
use crate::probe::{LOOK_EVERY, SHOWS_WITHIN};

/// Takes the notes of the nemesis, in order, and stamps their time.
#[async_trait]
pub trait NoteSink: Send + Sync {
    /// Takes one note.
    async fn note(&self, note: FaultNote);
}

/// Names one fault of a run: `F1`, `F2`, ... in order of request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FaultId(Name);

impl fmt::Display for FaultId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Breaks a deployment on request, one fault after the other. Run each call to its end: one that
/// is dropped half-way may leave a fault that nobody heals. Cuts heal when the nemesis is dropped;
/// the servers that it stopped or killed are the deployment's to clear away.
pub struct Nemesis {
    deployment: Arc<dyn Deployment>,
    sink: Arc<dyn NoteSink>,
    /// Random numbers by which the words of a script's steps draw their targets.
    lots: ChaCha8Rng,
    requested: u32,
    active: Vec<Active>,
}

/// A fault that is in force, or whose effect has still to show.
struct Active {
    id: FaultId,
    kind: FaultKind,
    ends: Ends,
    target: FaultTarget,
    /// The target in the words of this fault, and of the step that asked for it.
    words: String,
    asked: String,
    /// The nodes and clients that it names.
    hit: Vec<String>,
    fault: Box<dyn Fault>,
    observed: bool,
}

impl Nemesis {
    /// A nemesis that has broken nothing yet. In a script it draws by `lots`; a storm has a
    /// generator of its own.
    pub fn new(deployment: Arc<dyn Deployment>, sink: Arc<dyn NoteSink>, lots: ChaCha8Rng) -> Self {
        Self {
            deployment,
            sink,
            lots,
            requested: 0,
            active: Vec::new(),
        }
    }

    /// Returns the deployment that it breaks.
    pub fn deployment(&self) -> &dyn Deployment {
        &*self.deployment
    }

    /// Injects a fault and waits until its effect is seen. An effect that needs something else
    /// to happen first is noted by a later [`Nemesis::observe_pending`].
    ///
    /// # Errors
    /// When it could not be injected; [`FaultError::NoEffect`] when it was, and no effect showed
    /// within a named limit. It was then healed at once.
    pub async fn inject(&mut self, spec: &FaultSpec) -> Result<FaultId, FaultError> {
        self.inject_asked(spec, spec.words()).await
    }

    /// Injects the fault of a script's step on every node that its words mean, one after the
    /// other.
    ///
    /// # Errors
    /// As [`Nemesis::inject`], on the first node where it fails.
    pub async fn inject_step(&mut self, spec: &FaultSpec) -> Result<(), FaultError> {
        let mut aim = Aim::Script(&mut self.lots);
        for aimed in aim.at(spec, &*self.deployment).await {
            self.inject_asked(&aimed, spec.words()).await?;
        }
        Ok(())
    }

    async fn inject_asked(
        &mut self,
        spec: &FaultSpec,
        asked: String,
    ) -> Result<FaultId, FaultError> {
        let mut entry = self.request(spec, asked).await;
        entry.fault.inject(&*self.deployment).await?;
        if let Some(target) = entry.fault.target() {
            entry.target = target;
        }
        self.note(&entry, FaultPhase::Injected, None).await;
        if let Err(error) = self.observe(&mut entry).await {
            // The missing effect is the news; what the healing says would only hide it.
            let healed = entry.fault.heal(&*self.deployment).await.ok();
            self.note(&entry, FaultPhase::Healed, healed).await;
            return Err(error);
        }
        self.settle_overtaken().await;
        let id = entry.id.clone();
        match (entry.ends, entry.observed) {
            (Ends::ByItself, _) => self.heal_entry(&mut entry).await?,
            (Ends::Never, true) => {}
            (Ends::Never, false) | (Ends::Healed, _) => self.active.push(entry),
        }
        Ok(id)
    }

    /// Looks once at each fault whose effect has not shown yet, and notes those that do now; and
    /// those that something else has ended.
    pub async fn observe_pending(&mut self) {
        let mut active = std::mem::take(&mut self.active);
        for entry in active.iter_mut().filter(|entry| !entry.observed) {
            self.look(entry).await;
        }
        active.retain(|entry| !(entry.observed && entry.ends == Ends::Never));
        self.active = active;
        self.settle_overtaken().await;
    }

    /// The nodes and clients that faults in force have hit by name.
    pub(crate) fn active_targets(&self) -> BTreeSet<String> {
        let healed = self
            .active
            .iter()
            .filter(|entry| entry.ends == Ends::Healed);
        healed.flat_map(|entry| entry.hit.iter().cloned()).collect()
    }

    /// Tells whether any fault is in force, or has still to show an effect.
    pub fn is_breaking(&self) -> bool {
        !self.active.is_empty()
    }

    /// Tells whether some fault has been injected whose effect has not shown yet.
    pub fn has_pending(&self) -> bool {
        self.active.iter().any(|entry| !entry.observed)
    }

    /// Heals every active fault of this kind and target, the target as notes name it or in the
    /// words of the scenario.
    ///
    /// # Errors
    /// [`FaultError::NothingToHeal`] when there is none; else the first failure.
    pub async fn heal(&mut self, kind: &str, target: &str) -> Result<(), FaultError> {
        self.heal_kind(kind, Some(target)).await
    }

    /// Heals every active cut of this link.
    ///
    /// # Errors
    /// As [`Nemesis::heal`].
    pub async fn heal_link(&mut self, link: &Link) -> Result<(), FaultError> {
        self.heal("cut", &link.name()).await
    }

    /// As [`Nemesis::heal`]; without a target, of every fault of the kind.
    ///
    /// # Errors
    /// As [`Nemesis::heal`].
    pub async fn heal_kind(&mut self, kind: &str, target: Option<&str>) -> Result<(), FaultError> {
        let hit = |entry: &Active| {
            let meant = |target: &str| entry.words == target || entry.asked == target;
            entry.kind.name() == kind && target.is_none_or(meant)
        };
        if !self.active.iter().any(hit) {
            return Err(FaultError::NothingToHeal {
                kind: kind.to_owned(),
                target: target.unwrap_or("anything").to_owned(),
            });
        }
        self.heal_where(hit)
            .await
            .into_iter()
            .next()
            .map_or(Ok(()), Err)
    }

    /// Heals one fault. Does nothing to one that has ended already.
    ///
    /// # Errors
    /// When it could not be undone; it then stays active.
    pub async fn heal_id(&mut self, id: &FaultId) -> Result<(), FaultError> {
        let errors = self.heal_where(|entry| entry.id == *id).await;
        errors.into_iter().next().map_or(Ok(()), Err)
    }

    /// Heals all that is broken, the last fault first, and goes on after a failure. What could
    /// not be healed stays active, so a second call tries it again.
    pub async fn heal_all(&mut self) -> Vec<FaultError> {
        self.heal_where(|_| true).await
    }

    async fn heal_where(&mut self, hit: impl Fn(&Active) -> bool) -> Vec<FaultError> {
        self.settle_overtaken().await;
        let mut errors = Vec::new();
        let mut kept = Vec::new();
        while let Some(mut entry) = self.active.pop() {
            if entry.ends == Ends::Healed && hit(&entry) {
                let Err(error) = self.heal_entry(&mut entry).await else {
                    continue;
                };
                errors.push(error);
            }
            kept.push(entry);
        }
        self.active.extend(kept.into_iter().rev());
        errors
    }

    async fn heal_entry(&self, entry: &mut Active) -> Result<(), FaultError> {
        if !entry.observed {
            self.look(entry).await;
        }
        let evidence = entry.fault.heal(&*self.deployment).await?;
        self.note(entry, FaultPhase::Healed, Some(evidence)).await;
        Ok(())
    }

    /// Notes the end of faults that something else has ended.
    async fn settle_overtaken(&mut self) {
        for entry in std::mem::take(&mut self.active) {
            match entry.fault.overtaken(&*self.deployment) {
                Some(evidence) => self.note(&entry, FaultPhase::Healed, Some(evidence)).await,
                None => self.active.push(entry),
            }
        }
    }

    async fn request(&mut self, spec: &FaultSpec, asked: String) -> Active {
        self.requested += 1;
        let entry = Active {
            id: FaultId(format!("F{}", self.requested).into()),
            kind: spec.kind(),
            ends: ends_of(spec),
            target: spec.target(),
            words: spec.words(),
            asked,
            hit: hit_by(spec),
            fault: fault_of(spec),
            observed: false,
        };
        self.note(&entry, FaultPhase::Requested, None).await;
        entry
    }

    /// Looks at a fresh fault until its effect shows, or need not show yet.
    async fn observe(&self, entry: &mut Active) -> Result<(), FaultError> {
        let start = Instant::now();
        loop {
            let (last, over) = match self.look(entry).await {
                Sighting::Seen(_) | Sighting::Later(_) => return Ok(()),
                Sighting::NotYet(last) => (last, start.elapsed() >= SHOWS_WITHIN),
                Sighting::Never(last) => (last, true),
            };
            if over {
                return Err(FaultError::NoEffect {
                    kind: entry.kind.name(),
                    target: entry.target.to_string(),
                    within: Duration::from_millis(start.elapsed().as_millis() as u64),
                    last,
                });
            }
            sleep(LOOK_EVERY).await;
        }
    }

    /// Looks once, and notes the effect if it is there.
    async fn look(&self, entry: &mut Active) -> Sighting {
        let sighting = entry.fault.observe(&*self.deployment).await;
        if let Sighting::Seen(evidence) = &sighting {
            entry.observed = true;
            self.note(entry, FaultPhase::Observed, Some(evidence.clone()))
                .await;
        }
        sighting
    }

    async fn note(&self, entry: &Active, phase: FaultPhase, evidence: Option<Evidence>) {
        let offset_ns = evidence.as_ref().and_then(|evidence| evidence.offset_ns);
        let lost = evidence.as_ref().and_then(|evidence| evidence.lost);
        let note = FaultNote {
            id: Arc::clone(&entry.id.0),
            kind: entry.kind.name().into(),
            class: entry.kind.class(),
            phase,
            target: entry.target.clone(),
            evidence: evidence.map(|evidence| evidence.words),
            offset_ns,
            lost,
        };
        self.sink.note(note).await;
    }
}

/// The nodes and clients that a fault names.
fn hit_by(spec: &FaultSpec) -> Vec<String> {
    let names = spec.names().into_iter();
    let hit = names.filter(|named| matches!(named.role, Role::Node | Role::Client));
    hit.map(|named| named.name.to_owned()).collect()
}
