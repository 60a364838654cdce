//! The JSON schema of scenario files, for editors and for our own diagnostics.

use serde_json::Value;

use crate::model::Scenario;

/// Takes the brackets of links between our own types out of the descriptions: their readers see
/// a scenario file, not this crate.
fn unlink(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            for (key, value) in object {
                match value {
                    Value::String(text) if key == "description" => {
                        *text = text.replace("[`", "`").replace("`]", "`");
                    }
                    value => unlink(value),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(unlink),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The JSON schema (draft 2020-12) of a scenario file, derived from [`Scenario`].
///
/// `scenarios/schema/scenario.schema.json` is its checked-in form; shipped files name it in their
/// first line, so that editors complete and check them.
pub fn schema() -> Value {
    let mut schema = schemars::schema_for!(Scenario).to_value();
    unlink(&mut schema);
    schema
}
