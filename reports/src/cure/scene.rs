//! What the rules look at: a witness, and what its run tells of faults and servers.

use lockstorm_checker::history::{DataLoss, FaultPhase};
use lockstorm_checker::verdict::{FaultSummary, Holder, Witness};
use lockstorm_checker::{Analysis, Nanos, Property};
use lockstorm_scenarios::LockKind;

use crate::model::{Node, RunRecord};

/// A remedy: one sentence, and the events that it rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cure {
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
}

/// When a fault took effect, and the event that says so.
#[derive(Clone, Copy)]
pub(crate) struct Effect<'a> {
    pub(crate) fault: &'a FaultSummary,
    pub(crate) time: Nanos,
    pub(crate) event: u64,
    /// Data that a server no longer had.
    pub(crate) lost: Option<DataLoss>,
}

impl<'a> Scene<'a> {
    pub(crate) fn of_run(run: &'a RunRecord, witness: &'a Witness) -> Self {
        Self {
            witness,
            faults: &run.analysis.faults,
            nodes: &run.environment.nodes,
            lock: Some(&run.labels.lock),
        }
    }

    /// A witness of a history that comes without a run.
    pub(crate) fn of_history(analysis: &'a Analysis, witness: &'a Witness) -> Self {
        Self {
            witness,
            faults: &analysis.faults,
            nodes: &[],
            lock: None,
        }
    }

    /// Which lock it is, where it is one of ours.
    pub(crate) fn lock_kind(&self) -> Option<LockKind> {
        self.lock.and_then(LockKind::of_label)
    }

    /// Whether the witness is of one of these properties.
    pub(crate) fn tells_of(&self, properties: &[Property]) -> bool {
        properties.contains(&self.witness.property)
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

    /// Such faults whose effect was seen, in order of time.
    pub(crate) fn effects(&self, is_such: impl Fn(&FaultSummary) -> bool) -> Vec<Effect<'a>> {
        let of = |fault: &'a FaultSummary| {
            let mut stages = fault.stages.iter();
            let seen = stages.find(|stage| stage.phase == FaultPhase::Observed)?;
            Some(Effect {
                fault,
                time: seen.time,
                event: seen.event,
                lost: seen.lost,
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

    /// The same, as far as they took effect after the first grant and before the violation began.
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

impl Effect<'_> {
    /// Whether it had gone on since before `time` and was not healed then.
    pub(crate) fn lasts_at(&self, time: Nanos) -> bool {
        let healed = self.fault.at(FaultPhase::Healed);
        self.time <= time && healed.is_none_or(|healed| healed > time)
    }
}
