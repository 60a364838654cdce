//! JSON schemas of what a run leaves behind: `results.json`, and the lines of `history.jsonl`.
//!
//! They are written by hand, for the checker, which owns most of it, knows no schemas; tests hold
//! them against what is really written, field by field.

/// The JSON schema (draft 2020-12) of `results.json`, of a run and of a suite.
pub const RESULTS_SCHEMA: &str = include_str!("../schema/results.schema.json");

/// The JSON schema (draft 2020-12) of each line of `history.jsonl`.
pub const HISTORY_SCHEMA: &str = include_str!("../schema/history.schema.json");

#[cfg(test)]
mod tests {
    use jsonschema::Validator;
    use serde_json::{Value, json};

    use super::*;
    use crate::changes::Changes;
    use crate::encode::Record;
    use crate::model::RESULTS_VERSION;
    use crate::sample;

    /// The schema with every object closed: a field that it does not know is a mistake.
    fn closed(schema: &str) -> Validator {
        fn close(schema: &mut Value) {
            match schema {
                Value::Object(object) => {
                    if object.contains_key("properties") && object.contains_key("type") {
                        object.insert("additionalProperties".to_owned(), json!(false));
                    }
                    object.values_mut().for_each(close);
                }
                Value::Array(values) => values.iter_mut().for_each(close),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
        }
        let mut schema = serde_json::from_str(schema).unwrap();
        close(&mut schema);
        jsonschema::validator_for(&schema).unwrap()
    }

    fn mistakes(validator: &Validator, value: &Value) -> Vec<String> {
        let errors = validator.iter_errors(value);
        errors
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect()
    }

    #[test]
    fn every_field_of_a_run_and_of_a_suite_is_in_the_schema() {
        let schema = closed(RESULTS_SCHEMA);
        let mut run = sample::failover_run();
        run.stopped = Some("interrupted".to_owned());
        let before = Record::Run(Box::new(sample::control_run()));
        run.changed = Some(Changes::of_run(&run, &before));
        let records = [
            serde_json::to_value(run).unwrap(),
            serde_json::to_value(sample::control_run()).unwrap(),
            serde_json::to_value(sample::suite()).unwrap(),
        ];
        for record in records {
            assert_eq!(mistakes(&schema, &record), [""; 0]);
        }
    }

    #[test]
    fn every_line_of_a_history_follows_the_schema() {
        let schema = closed(HISTORY_SCHEMA);
        for line in sample::rewritten_failover_history().lines() {
            let line = serde_json::from_str(line).unwrap();
            assert_eq!(mistakes(&schema, &line), [""; 0], "{line}");
        }
    }

    #[test]
    fn what_is_wrong_does_not_follow_the_schemas() {
        let results = closed(RESULTS_SCHEMA);
        let mut run = serde_json::to_value(sample::failover_run()).unwrap();
        run["outcome"] = json!("splendid");
        assert_eq!(mistakes(&results, &run).len(), 1);
        run["outcome"] = json!("unknown");
        run["version"] = json!(RESULTS_VERSION + 1);
        assert_eq!(mistakes(&results, &run).len(), 1);
        let history = closed(HISTORY_SCHEMA);
        let line = json!({ "type": "invoke", "process": -1, "f": "acquire" });
        assert_eq!(mistakes(&history, &line).len(), 1);
    }

    #[test]
    fn unknown_fields_are_no_mistake_for_a_reader() {
        let schema = serde_json::from_str(RESULTS_SCHEMA).unwrap();
        let schema = jsonschema::validator_for(&schema).unwrap();
        let mut run = serde_json::to_value(sample::failover_run()).unwrap();
        run["of a later version"] = json!(true);
        assert_eq!(mistakes(&schema, &run), [""; 0]);
    }
}
