//! The checked-in schema is the one that the model gives, so that editors and the program agree.

use std::path::Path;

/// After a change of the model: `UPDATE_SCHEMA=1 cargo test -p lockstorm-scenarios`.
#[test]
fn the_checked_in_schema_is_that_of_the_model() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema/scenario.schema.json");
    let schema = serde_json::to_string_pretty(&lockstorm_scenarios::schema())
        .expect("a JSON value can be written");
    let schema = schema + "\n";
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(&path, &schema).expect("the schema can be written");
    }
    let checked_in = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        checked_in == schema,
        "out of date: run it again with UPDATE_SCHEMA=1"
    );
}

#[test]
fn every_key_of_the_schema_is_explained() {
    let schema = lockstorm_scenarios::schema();
    let definitions = schema["$defs"]
        .as_object()
        .expect("the schema has definitions");
    let tables = definitions.values().chain([&schema]);
    let properties: Vec<_> = tables
        .filter_map(|table| table["properties"].as_object())
        .flatten()
        .collect();
    assert!(
        properties.len() > 40,
        "only {} keys were found",
        properties.len()
    );
    for (key, property) in properties {
        assert!(
            property["description"].is_string(),
            "'{key}' is not explained"
        );
    }
}
