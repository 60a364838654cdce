//! Draft of a scenario: the parts that could be read, so that the rules can judge them although
//! other parts are wrong.

use std::collections::{BTreeMap, BTreeSet};

use lockstorm_checker::Property;
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeValue, ValueDeserializer};

use crate::inspect::Inspection;
use crate::model::{
    Checks, Clients, Expected, GuardedResource, Lock, LockKind, NemesisEntry, Scenario, Situation,
    Step, Storm, Topology, Trace,
};

/// The readable parts of a scenario. A part with a mistake inside is absent, so that no rule
/// draws conclusions from a default that its author never wrote.
#[derive(Clone, Debug, Default)]
pub(crate) struct Draft {
    pub(crate) name: Option<String>,
    pub(crate) applies_to: Option<Vec<LockKind>>,
    pub(crate) expect: BTreeMap<Property, Expected>,
    pub(crate) expect_for: BTreeMap<LockKind, BTreeMap<Property, Expected>>,
    pub(crate) situation: Option<Situation>,
    pub(crate) topology: Option<Topology>,
    pub(crate) trace: BTreeSet<Trace>,
    pub(crate) lock: Option<Lock>,
    pub(crate) guarded_resource: Option<GuardedResource>,
    pub(crate) clients: Option<Clients>,
    pub(crate) checks: Option<Checks>,
    pub(crate) steps: Vec<Option<Step>>,
    /// True if every step stands as it was written, with none of its keys taken out.
    pub(crate) steps_whole: bool,
    pub(crate) storm: Option<Storm>,
    pub(crate) nemesis: Vec<Option<NemesisEntry>>,
    pub(crate) matrix: Option<MatrixDraft>,
}

/// The readable parts of a matrix.
#[derive(Clone, Debug, Default)]
pub(crate) struct MatrixDraft {
    pub(crate) locks: Vec<Option<Lock>>,
    pub(crate) topologies: Vec<Option<Topology>>,
    pub(crate) scenarios: Vec<Option<String>>,
}

impl Draft {
    /// Reads what it can from an inspected tree.
    pub(crate) fn read(root: &Spanned<DeValue<'_>>, inspection: &Inspection) -> Self {
        let part = Part { root, inspection };
        Self {
            name: part.whole("name"),
            applies_to: part.whole("applies-to"),
            expect: part.whole("expect").unwrap_or_default(),
            expect_for: part.whole("expect-for").unwrap_or_default(),
            situation: part.whole("situation"),
            topology: part.whole("topology"),
            trace: part.whole("trace").unwrap_or_default(),
            lock: part.whole("lock"),
            guarded_resource: part.whole("guarded-resource"),
            clients: part.or_default("clients"),
            checks: part.or_default("checks"),
            steps: part.elements("step"),
            steps_whole: !inspection.touched("step"),
            storm: part.whole("storm"),
            nemesis: part.elements("nemesis"),
            matrix: part.at("matrix").map(|root| {
                let part = Part { root, inspection };
                MatrixDraft {
                    locks: part.whole_elements("matrix", "locks"),
                    topologies: part.whole_elements("matrix", "topologies"),
                    scenarios: part.elements("scenarios"),
                }
            }),
        }
    }

    /// A scenario on the lock and topology of one cell.
    pub(crate) fn of_cell(scenario: &Scenario, lock: &Lock, topology: &Topology) -> Self {
        Self {
            name: Some(scenario.name.clone()),
            applies_to: None,
            expect: scenario.expect.clone(),
            expect_for: scenario.expect_for.clone(),
            situation: scenario.situation.clone(),
            topology: Some(topology.clone()),
            trace: scenario.trace.clone().unwrap_or_default(),
            lock: Some(lock.clone()),
            guarded_resource: scenario.guarded_resource.clone(),
            clients: Some(scenario.clients.clone()),
            checks: Some(scenario.checks.clone()),
            steps: scenario.step.iter().cloned().map(Some).collect(),
            steps_whole: true,
            storm: scenario.storm.clone(),
            nemesis: scenario.nemesis.iter().cloned().map(Some).collect(),
            matrix: None,
        }
    }
}

/// A table of the tree, and what is wrong in the tree.
struct Part<'t, 'a> {
    root: &'t Spanned<DeValue<'a>>,
    inspection: &'t Inspection,
}

impl<'t, 'a> Part<'t, 'a> {
    fn at(&self, key: &str) -> Option<&'t Spanned<DeValue<'a>>> {
        self.root.get_ref().get(key)
    }

    /// The value of `key`, if nothing in it is wrong.
    fn whole<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        if self.inspection.touched(key) {
            return None;
        }
        read(self.at(key)?)
    }

    /// Reads the value at a key, with the default where the key is absent.
    fn or_default<T: DeserializeOwned + Default>(&self, key: &str) -> Option<T> {
        match self.at(key) {
            None if !self.inspection.touched(key) => Some(T::default()),
            None | Some(_) => self.whole(key),
        }
    }

    /// The elements of the list `key`, those that can be read.
    fn elements<T: DeserializeOwned>(&self, key: &str) -> Vec<Option<T>> {
        let list = self.at(key).and_then(|value| value.get_ref().as_array());
        list.into_iter()
            .flat_map(|list| list.iter())
            .map(read)
            .collect()
    }

    /// The elements of the list `key`, those in which nothing is wrong. `table` is the path of
    /// this part.
    fn whole_elements<T: DeserializeOwned>(&self, table: &str, key: &str) -> Vec<Option<T>> {
        let whole = |n: usize| !self.inspection.touched(&format!("{table}.{key}.{n}"));
        let elements = self.elements(key).into_iter().enumerate();
        elements
            .map(|(n, element)| element.filter(|_| whole(n)))
            .collect()
    }
}

fn read<T: DeserializeOwned>(value: &Spanned<DeValue<'_>>) -> Option<T> {
    T::deserialize(ValueDeserializer::from(value.clone())).ok()
}
