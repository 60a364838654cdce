//! The whole file, and the cases that it stands for.

use std::collections::{BTreeMap, BTreeSet};

use lockstorm_checker::Property;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::checks::{Checks, expect_for_schema, expect_schema};
use super::clients::Clients;
use super::expected::Expected;
use super::faults::FaultSpec;
use super::guarded_resource::GuardedResource;
use super::locks::Lock;
use super::locks::LockKind;
use super::matrix::Matrix;
use super::origin::Origins;
use super::promise::Promise;
use super::situation::Situation;
use super::step::Step;
use super::storm::{NemesisEntry, Storm};
use super::topology::Topology;
use super::trace::Trace;

/// A scenario file as written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Scenario {
    /// Short name: lower-case words joined by `-`; the folder of its runs.
    pub name: String,
    /// Statement of the scenario, in a sentence or two: what it shows.
    #[serde(default)]
    pub description: String,
    /// Column of a comparison; the name where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hazard: Option<String>,
    /// The locks for which `expect` holds; absent means every lock that suits the topology.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applies_to: Option<Vec<LockKind>>,
    /// Expected verdicts; a property that is not named is expected to be `valid`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "expect_schema")]
    pub expect: BTreeMap<Property, Expected>,
    /// Differences from `expect` for some of the locks.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "expect_for_schema")]
    pub expect_for: BTreeMap<LockKind, BTreeMap<Property, Expected>>,
    /// Promises that the script or storm puts to the test, for any lock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub situation: Option<Situation>,
    /// Servers. Required unless there is a `[matrix]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topology: Option<Topology>,
    /// Lock under test. Required unless there is a `[matrix]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock: Option<Lock>,
    /// Resource that the lock protects; absent means nothing but itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guarded_resource: Option<GuardedResource>,
    /// Questions to the servers themselves, for the stories of violations. Absent means everything
    /// in a litmus and for an adapter, and nothing in any other storm or on servers that someone
    /// else runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<BTreeSet<Trace>>,
    /// Clients.
    #[serde(default)]
    pub clients: Clients,
    /// Checks.
    #[serde(default)]
    pub checks: Checks,
    /// Script of a litmus.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub step: Vec<Step>,
    /// Load of a storm; a scenario has either steps or a storm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storm: Option<Storm>,
    /// Faults of a storm.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nemesis: Vec<NemesisEntry>,
    /// Comparison.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matrix: Option<Matrix>,
}

impl Scenario {
    /// The verdicts expected of a lock. In a situation these follow from its promises: what breaks
    /// one that is tested is not expected, and nothing else is claimed.
    pub fn expected_of(&self, lock: &Lock) -> BTreeMap<Property, Expected> {
        if let Some(situation) = &self.situation {
            let made = situation.promises_of(lock);
            let tested = situation
                .tests
                .iter()
                .filter(|tested| made.contains(tested));
            let tested: BTreeSet<Property> = tested
                .flat_map(|promise| promise.properties())
                .copied()
                .collect();
            let expected = tested.into_iter();
            return expected
                .map(|property| (property, Expected::Valid))
                .collect();
        }
        let mut expect = self.expect.clone();
        expect.extend(self.expect_for.get(&lock.kind()).into_iter().flatten());
        expect
    }
}

/// One thing to run: a validated scenario without a matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Name of the scenario file that describes the workload.
    pub name: String,
    /// Statement of the scenario: what it shows.
    pub description: String,
    /// Its place in a comparison.
    pub labels: CaseLabels,
    /// Expected verdicts.
    pub expect: BTreeMap<Property, Expected>,
    /// Promises that it puts to the test, where it is a situation.
    pub situation: Option<Situation>,
    /// Servers.
    pub topology: Topology,
    /// Lock under test.
    pub lock: Lock,
    /// Resource that the lock protects.
    pub guarded_resource: Option<GuardedResource>,
    /// Questions to the servers themselves.
    pub trace: BTreeSet<Trace>,
    /// Clients.
    pub clients: Clients,
    /// Checks.
    pub checks: Checks,
    /// Work of the clients and the nemesis.
    pub workload: Workload,
    /// Origins of its values.
    pub origins: Origins,
}

/// Where a case stands in a comparison.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct CaseLabels {
    /// Lock, as in [`Lock::label`].
    pub lock: String,
    /// Topology, as in [`Topology::label`].
    pub topology: String,
    /// Hazard: the column.
    pub hazard: String,
}

/// Work of the clients and the nemesis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Workload {
    /// A deterministic script.
    Litmus(Vec<Step>),
    /// Load with faults on a schedule.
    Storm(Storm, Vec<NemesisEntry>),
}

impl Workload {
    /// The promises that some step judges by the answer that it gets.
    pub fn judged_by_answers(&self) -> Vec<Promise> {
        let Self::Litmus(steps) = self else {
            return Vec::new();
        };
        let judged: BTreeSet<Promise> = steps.iter().filter_map(Step::breaks).collect();
        judged.into_iter().collect()
    }

    /// The faults that it injects.
    pub fn faults(&self) -> Vec<&FaultSpec> {
        match self {
            Self::Litmus(steps) => steps.iter().filter_map(Step::fault).collect(),
            Self::Storm(_, entries) => entries.iter().map(|entry| &entry.fault).collect(),
        }
    }
}

impl Case {
    /// The expected verdict for `property`.
    pub fn expected(&self, property: Property) -> Expected {
        let unsaid = if self.situation.is_some() {
            Expected::Any
        } else {
            Expected::Valid
        };
        self.expect.get(&property).copied().unwrap_or(unsaid)
    }

    /// Questions to the servers where the scenario does not say: all of them where a single run is
    /// to explain itself, and none where they would cost the servers some of their speed, or the
    /// servers know no such questions.
    pub fn usual_trace(&self) -> BTreeSet<Trace> {
        let explains = match (&self.workload, &self.lock) {
            (Workload::Litmus(_), _) | (Workload::Storm(..), Lock::Adapter(_)) => true,
            (Workload::Storm(..), _) => false,
        };
        let all = Trace::ALL.into_iter().filter(|_| explains);
        all.filter(|trace| self.topology.refuses(*trace).is_none())
            .collect()
    }

    /// The case as a scenario file of its own, which runs exactly this case.
    pub fn to_scenario(&self) -> Scenario {
        let (step, storm, nemesis) = match self.workload.clone() {
            Workload::Litmus(steps) => (steps, None, Vec::new()),
            Workload::Storm(storm, nemesis) => (Vec::new(), Some(storm), nemesis),
        };
        Scenario {
            name: self.name.clone(),
            description: self.description.clone(),
            hazard: Some(self.labels.hazard.clone()),
            applies_to: None,
            // What a situation expects follows from what it tests.
            expect: if self.situation.is_none() {
                self.expect.clone()
            } else {
                BTreeMap::new()
            },
            expect_for: BTreeMap::new(),
            situation: self.situation.clone().map(|situation| Situation {
                topologies: Vec::new(),
                ..situation
            }),
            topology: Some(self.topology.clone()),
            lock: Some(self.lock.clone()),
            guarded_resource: self.guarded_resource.clone(),
            trace: Some(self.trace.clone()).filter(|trace| *trace != self.usual_trace()),
            clients: self.clients.clone(),
            checks: self.checks.clone(),
            step,
            storm,
            nemesis,
            matrix: None,
        }
    }
}
