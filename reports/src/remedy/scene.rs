//! Scene that the rules look at: a witness, and what its run tells of faults and servers.

use lockstorm_checker::history::{DataLoss, FaultClass, FaultPhase, FaultTarget};
use lockstorm_checker::verdict::{FaultSummary, Holder, Step, StepKind, Witness};
use lockstorm_checker::{Analysis, Nanos, Property};
use lockstorm_scenarios::{LockKind, TopologyKind};

use crate::model::{Node, RunRecord};

/// A remedy: one sentence, and the events that it rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Remedy {
    /// Names of clients, servers and faults in it are as the run wrote them.
    pub(crate) sentence: String,
    pub(crate) evidence: Vec<u64>,
}

/// A witness with its surroundings.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'a> {
    pub(crate) witness: &'a Witness,
    pub(crate) faults: &'a [FaultSummary],
    /// The servers; none are known of a history without a run around it.
    pub(crate) nodes: &'a [Node],
    /// The label of the lock, where it is known.
    pub(crate) lock: Option<&'a str>,
    /// The label of the topology, where it is known.
    pub(crate) topology: Option<&'a str>,
}

/// Topologies whose servers choose no primary by themselves.
const WITHOUT_ELECTION: [TopologyKind; 3] = [
    TopologyKind::Single,
    TopologyKind::Replicated,
    TopologyKind::Independent,
];

/// When a fault took effect, and the event that says so.
#[derive(Clone, Copy)]
pub(crate) struct Effect<'a> {
    pub(crate) fault: &'a FaultSummary,
    pub(crate) time: Nanos,
    pub(crate) event: u64,
}

impl<'a> Scene<'a> {
    pub(crate) fn of_run(run: &'a RunRecord, witness: &'a Witness) -> Self {
        Self {
            witness,
            faults: &run.analysis.faults,
            nodes: &run.environment.nodes,
            lock: Some(&run.labels.lock),
            topology: Some(&run.labels.topology),
        }
    }

    /// A witness of a history that comes without a run.
    pub(crate) fn of_history(analysis: &'a Analysis, witness: &'a Witness) -> Self {
        Self {
            witness,
            faults: &analysis.faults,
            nodes: &[],
            lock: None,
            topology: None,
        }
    }

    /// Which lock it is, where it is one of ours.
    pub(crate) fn lock_kind(&self) -> Option<LockKind> {
        self.lock.and_then(LockKind::of_label)
    }

    /// Tells whether the witness is of one of these properties.
    pub(crate) fn tells_of(&self, properties: &[Property]) -> bool {
        properties.contains(&self.witness.property)
    }

    /// The faults that the violation is blamed on. What older versions stored names none: all that
    /// were active are.
    pub(crate) fn blamed(&self) -> impl Iterator<Item = &'a FaultSummary> {
        let witness = self.witness;
        let named = if witness.blamed.is_empty() {
            &witness.faults_active
        } else {
            &witness.blamed
        };
        let is_named = |fault: &&FaultSummary| named.contains(&fault.id);
        self.faults.iter().filter(is_named)
    }

    /// Tells whether nothing of what the violation is blamed on can have made servers forget a
    /// lock, but for `such`: without those, no server would have forgotten it.
    pub(crate) fn forgot_only_by(&self, such: impl Fn(&FaultSummary) -> bool) -> bool {
        let mut others = self.blamed().filter(|fault| !such(fault));
        !others.any(|fault| self.may_forget(fault))
    }

    /// Tells whether a server may have forgotten a lock by a fault.
    fn may_forget(&self, fault: &FaultSummary) -> bool {
        // They replace a primary that is away for a while, or only seems to be.
        let chosen = self.topology.is_none_or(|label| {
            let mut without = WITHOUT_ELECTION.iter();
            !without.any(|kind| label.split(' ').next() == Some(kind.name()))
        });
        let of_client = match fault.target {
            FaultTarget::Client(_) | FaultTarget::Connections { .. } => true,
            FaultTarget::Node(_)
            | FaultTarget::Key { .. }
            | FaultTarget::Link { .. }
            | FaultTarget::Sides(_)
            | FaultTarget::Words(_) => false,
        };
        match fault.class {
            FaultClass::Data
            | FaultClass::Promotion
            | FaultClass::Migration
            | FaultClass::Other => true,
            FaultClass::Clock => !of_client,
            FaultClass::Death => !of_client && (chosen || loss(fault).is_some()),
            FaultClass::Stall | FaultClass::Cut | FaultClass::Packet => !of_client && chosen,
            FaultClass::Scripts => false,
        }
    }

    /// The holder that was granted the lock first.
    pub(crate) fn first(&self) -> Option<&'a Holder> {
        self.witness.holders.iter().min_by_key(|h| h.granted)
    }

    /// The holder that was granted the lock last, where there are two.
    pub(crate) fn last(&self) -> Option<&'a Holder> {
        let holders = &self.witness.holders;
        (holders.len() > 1)
            .then(|| holders.iter().max_by_key(|h| h.granted))
            .flatten()
    }

    /// Tells whether `old` used the resource with its token after `new` had done so with its own.
    pub(crate) fn comes_late(&self, old: &Holder, new: &Holder) -> bool {
        let of = |holder: &Holder| {
            let token = holder.token.map(|token| format!(" with token {token}"));
            let client = holder.client.clone();
            move |step: &Step| {
                let own = step.kind == StepKind::Command && step.actor == client;
                own && token
                    .as_ref()
                    .is_some_and(|token| step.text.contains(token.as_str()))
            }
        };
        let (of_old, of_new) = (of(old), of(new));
        let story = &self.witness.story;
        let first = story.iter().position(of_new);
        first.is_some_and(|at| story[at..].iter().any(of_old))
    }

    /// Such faults whose effect was seen, in order of time.
    pub(crate) fn effects(&self, is_such: impl Fn(&FaultSummary) -> bool) -> Vec<Effect<'a>> {
        let of = |fault: &'a FaultSummary| {
            let mut stages = fault.stages.iter();
            let seen = stages.find(|stage| stage.phase == FaultPhase::Observed)?;
            Some(Effect {
                fault,
                time: seen.time,
                event: seen.event,
            })
        };
        let mut effects: Vec<Effect> = self
            .faults
            .iter()
            .filter(|fault| is_such(fault))
            .filter_map(of)
            .collect();
        effects.sort_by_key(|effect| (effect.time, effect.event));
        effects
    }

    /// Returns the effects of faults, as far as they took place after the first grant and before
    /// the violation began.
    pub(crate) fn effects_between(
        &self,
        is_such: impl Fn(&FaultSummary) -> bool,
    ) -> Vec<Effect<'a>> {
        let Some(first) = self.first() else {
            return Vec::new();
        };
        let mut effects = self.effects(is_such);
        let until = self.witness.interval.0;
        effects.retain(|effect| first.granted < effect.time && effect.time <= until);
        effects
    }
}

/// When a server was back that had lost something, with the event that says so.
pub(crate) fn loss(fault: &FaultSummary) -> Option<(Nanos, u64, DataLoss)> {
    let mut stages = fault.stages.iter();
    stages.find_map(|stage| Some((stage.time, stage.event, stage.lost?)))
}

impl Effect<'_> {
    /// Tells whether it was healed before `time`.
    pub(crate) fn ends_before(&self, time: Nanos) -> bool {
        let healed = self.fault.at(FaultPhase::Healed);
        healed.is_some_and(|healed| healed < time)
    }

    /// Tells whether it had gone on since before `time` and was not healed then.
    pub(crate) fn lasts_at(&self, time: Nanos) -> bool {
        let healed = self.fault.at(FaultPhase::Healed);
        self.time <= time && healed.is_none_or(|healed| healed > time)
    }
}
