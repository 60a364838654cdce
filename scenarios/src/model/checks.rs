//! Checks, and tables of what is expected.

use lockstorm_checker::Property;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::duration::DurationSpec;
use super::expected::Expected;
use super::locks::LockKind;

/// `[checks]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Checks {
    /// Judge these properties only; absent means all that the history has matter for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "properties_schema")]
    pub only: Option<Vec<Property>>,
    /// Time for which a lock may stay unobtainable in the final phase, beyond one lease.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub liveness_bound: Option<DurationSpec>,
    /// Time for which nobody may be granted a lock that is wanted and free; absent means that
    /// availability is measured and not judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub availability_gap: Option<DurationSpec>,
}

/// A list of properties. The checker, which owns their names, knows no schemas.
fn properties_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "items": { "enum": Property::ALL.map(Property::name) },
    })
}

/// A table from properties to what is expected of them.
pub(crate) fn expect_schema(generator: &mut SchemaGenerator) -> Schema {
    let expected = generator.subschema_for::<Expected>();
    let properties: serde_json::Map<_, _> = Property::ALL
        .into_iter()
        .map(|property| (property.name().to_owned(), expected.clone().to_value()))
        .collect();
    json_schema!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    })
}

/// The schema of `expect-for`: the same for each lock.
pub(crate) fn expect_for_schema(generator: &mut SchemaGenerator) -> Schema {
    let expect = expect_schema(generator);
    let locks: serde_json::Map<_, _> = LockKind::ALL
        .into_iter()
        .map(|kind| (kind.name().to_owned(), expect.clone().to_value()))
        .collect();
    json_schema!({
        "type": "object",
        "properties": locks,
        "additionalProperties": false,
    })
}
