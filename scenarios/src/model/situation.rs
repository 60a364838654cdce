//! `[situation]`: a script or storm for any lock, with the promises that it puts to the test.

use std::collections::BTreeMap;

use lockstorm_checker::Property;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::duration::DurationSpec;
use super::locks::Lock;
use super::promise::Promise;
use super::topology::Topology;

/// A situation: it names no lock and expects no verdict. `lockstorm assess` puts locks into it, and
/// answers for each promise that it tests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Situation {
    /// Promises that it puts to the test: a lock that makes one must keep it here.
    pub tests: Vec<Promise>,
    /// Promises that it tests beside where fewer than half of the servers are hit. What would break
    /// one of them is then not inherent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests_of_minority: Vec<Promise>,
    /// Violations that no lock of this kind can prevent here, each with the reason. They are shown
    /// and never counted against a lock.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "inherent_schema")]
    pub inherent: BTreeMap<Property, String>,
    /// Lease with which the lock is taken.
    #[serde(default = "default_lease")]
    pub lease: DurationSpec,
    /// A lease has to end before its client gives the lock back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_ends: Option<LeaseEnds>,
    /// The lock renews what it holds, before the lease ends.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub renewed: bool,
    /// It is about a lock that waits by itself: to ask again and again in its place would put only
    /// the harness to the test.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waited: bool,
    /// Patience with one of several servers of a lock that can be told one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_timeout: Option<DurationSpec>,
    /// So many clients share an instance of the library, as threads of one process do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// Number of permits that a semaphore has; absent: one, as if it were a mutex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permits: Option<u32>,
    /// Promises that the lock makes beside those that are known of it, as a user says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub promised: Vec<Promise>,
    /// Numbers of servers that the script hits, each a situation of its own: it names them `hit`,
    /// and its hazard and description give the number as `{hits}`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hits: Vec<u32>,
    /// Servers on which the script means the same. Absent in what a run stores, which has servers
    /// of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub topologies: Vec<Topology>,
}

/// When a lease has to end by itself, for a script to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LeaseEnds {
    /// While its client waits for an answer or stands still, and renews nothing: that of every lock
    /// with a lease does.
    WhileItsClientWaits,
    /// While its client works: that of a library which renews every lease does not.
    WhileItsClientWorks,
}

const fn default_lease() -> DurationSpec {
    DurationSpec::from_secs(2)
}

/// A table from properties to reasons.
fn inherent_schema(_: &mut SchemaGenerator) -> Schema {
    let reasons: serde_json::Map<_, _> = Property::ALL
        .into_iter()
        .map(|property| {
            let reason = serde_json::json!({ "type": "string" });
            (property.name().to_owned(), reason)
        })
        .collect();
    json_schema!({
        "type": "object",
        "properties": reasons,
        "additionalProperties": false,
    })
}

impl Situation {
    /// Returns what the lock promises here, in the order of reports.
    pub fn promises_of(&self, lock: &Lock) -> Vec<Promise> {
        let known = lock.promises();
        let is_made =
            |promise: &Promise| known.contains(promise) || self.promised.contains(promise);
        Promise::ALL.into_iter().filter(is_made).collect()
    }

    /// Becomes what it is where fewer than half of the servers are hit.
    pub(crate) fn of_a_minority(&mut self) {
        self.tests.append(&mut self.tests_of_minority);
        let tests = self.tests.clone();
        let breaks = |property: &Property| {
            let mut judges = tests.iter().flat_map(|promise| promise.properties());
            judges.any(|judged| judged == property)
        };
        self.inherent.retain(|property, _| !breaks(property));
    }

    /// Becomes what it is for a semaphore, which promises `permits` where a mutex promises
    /// `exclusive`: of one permit, unless the situation says otherwise. If anybody may give a
    /// permit back, what comes of that is as it should be.
    pub(crate) fn of_a_semaphore(&mut self, promises_own_release: bool) {
        let is_misuse = self.tests.contains(&Promise::OwnRelease) && !promises_own_release;
        self.tests.retain(|promise| {
            let is_of_owners = [Promise::Exclusive, Promise::OwnRelease].contains(promise);
            !(is_misuse && is_of_owners)
        });
        if self.tests.contains(&Promise::Permits) {
            self.tests.retain(|promise| *promise != Promise::Exclusive);
        }
        for promise in &mut self.tests {
            if *promise == Promise::Exclusive {
                *promise = Promise::Permits;
            }
        }
    }

    /// Returns the numbers of servers that it hits, one after the other; only `None` for a script
    /// that names its servers.
    pub fn numbers_hit(&self) -> Vec<Option<u32>> {
        if self.hits.is_empty() {
            return vec![None];
        }
        self.hits.iter().copied().map(Some).collect()
    }

    /// Tells whether a violation of the property breaks a promise that is tested.
    pub fn tests_by(&self, property: Property) -> bool {
        self.tests
            .iter()
            .any(|promise| promise.properties().contains(&property))
    }
}
