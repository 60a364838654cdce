//! Tells whether a witness carries its claim: every event that its contradiction cites is needed,
//! and no other is.
//!
//! - With all other events deleted, the same violation is found.
//! - With any one operation (or note) deleted that it cites, it is not.

use std::collections::{BTreeMap, BTreeSet};

use lockstorm_checker::history::{Event, History, Kind, Process};
use lockstorm_checker::verdict::Witness;
use lockstorm_checker::{Nanos, Options, Property, check};

/// How many witnesses of each property were tried.
pub(crate) type Tried = BTreeMap<Property, u64>;

/// Reason why a witness of a property is not compared by its claim and its time, and cites more
/// than must be there.
fn weighs_the_absent(property: Property) -> Option<&'static str> {
    match property {
        Property::Model => Some(
            "an operation that is deleted never was, where the model weighs one of which nothing \
             is known: its witness names releases so that nobody is accused of holding what he has \
             given back, and its claim counts what it names",
        ),
        Property::MutualExclusion
        | Property::LostLock
        | Property::LeaseOverrun
        | Property::DeadOnArrival
        | Property::Leftover
        | Property::LossNotice
        | Property::Progress
        | Property::Fencing
        | Property::Ownership
        | Property::Reentrancy
        | Property::GuardedResource
        | Property::SpuriousRefusal
        | Property::Fairness
        | Property::Liveness
        | Property::Availability => None,
    }
}

/// Judges a history, and each of its witnesses by what is left when events are deleted.
///
/// # Panics
///
/// Where a witness does not carry its claim.
pub(crate) fn carries(history: &History, options: &Options, label: &str, tried: &mut Tried) {
    let analysis = check(history, options);
    for (&property, judgement) in &analysis.properties {
        for witness in &judgement.witnesses {
            *tried.entry(property).or_default() += 1;
            let scene = Scene::of(history, options, witness);
            let last = witness.story.last().expect("a story has an end");
            let cited: BTreeSet<u64> = last.evidence.iter().copied().collect();
            let claim = &witness.claim;
            assert!(
                scene.found_with(&cited) != Found::Not,
                "{label}: {property}: not found with {cited:?} alone: {claim}"
            );
            if weighs_the_absent(property).is_some() {
                continue;
            }
            for item in scene.items(&cited) {
                let rest: BTreeSet<u64> = cited.difference(&item).copied().collect();
                assert!(
                    scene.found_with(&rest) != Found::Same,
                    "{label}: {property}: found without {item:?} of {cited:?}: {claim}"
                );
            }
        }
    }
}

struct Scene<'a> {
    history: &'a History,
    options: Options,
    witness: &'a Witness,
    end: Nanos,
}

impl<'a> Scene<'a> {
    fn of(history: &'a History, options: &Options, witness: &'a Witness) -> Self {
        Self {
            history,
            options: Options {
                only: Some([witness.property].into()),
                witnesses_max: 1_000,
                ..options.clone()
            },
            witness,
            end: end(history),
        }
    }

    /// The operations and notes that these events belong to, as sets of events.
    fn items(&self, cited: &BTreeSet<u64>) -> Vec<BTreeSet<u64>> {
        let mut pending: BTreeMap<Process, u64> = BTreeMap::new();
        let mut items: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
        for event in &self.history.events {
            let first = match event.kind {
                Kind::Invoke => {
                    pending.insert(event.process, event.index);
                    Some(event.index)
                }
                Kind::Note => Some(event.index),
                Kind::Ok | Kind::Fail | Kind::Info => pending.remove(&event.process),
            };
            if let Some(first) = first.filter(|_| cited.contains(&event.index)) {
                items.entry(first).or_default().insert(event.index);
            }
        }
        items.into_values().collect()
    }

    fn found_with(&self, kept: &BTreeSet<u64>) -> Found {
        let is_kept = |event: &&Event| kept.contains(&event.index);
        let rest = History {
            events: self
                .history
                .events
                .iter()
                .filter(is_kept)
                .cloned()
                .collect(),
            ..self.history.clone()
        };
        let analysis = check(&rest, &self.options);
        let judgement = analysis.properties.get(&self.witness.property);
        let found = judgement
            .into_iter()
            .flat_map(|judgement| &judgement.witnesses);
        found
            .map(|found| self.compare(found, end(&rest)))
            .max()
            .unwrap_or(Found::Not)
    }

    /// Tells whether it is the same violation, in a history that ends at `end`. One that lasts to
    /// the end of the history, lasts to the end of what is left of it.
    fn compare(&self, found: &Witness, end: Nanos) -> Found {
        let wanted = self.witness;
        let has_claim = weighs_the_absent(wanted.property).is_none();
        let (lasted, lasts) = (wanted.interval.1 == self.end, found.interval.1 == end);
        let holders = |witness: &Witness| -> Vec<(String, u64)> {
            let holders = witness.holders.iter();
            holders
                .map(|one| (one.client.clone(), one.op_acquire))
                .collect()
        };
        let is_same = found.lock_key == wanted.lock_key
            && (found.claim == wanted.claim || !has_claim)
            && (found.interval.0 == wanted.interval.0 || !has_claim)
            && (found.interval.1 == wanted.interval.1 || lasted && lasts || !has_claim)
            && found.certain == wanted.certain
            && holders(found) == holders(wanted);
        match is_same {
            false => Found::Not,
            true if lasts && !lasted => Found::CutShort,
            true => Found::Same,
        }
    }
}

/// True if a violation was found again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Found {
    Not,
    /// It ends where what is left of the history does, which may be by chance.
    CutShort,
    Same,
}

fn end(history: &History) -> Nanos {
    let times = history.events.iter().map(|event| event.time);
    times.max().unwrap_or_default()
}
