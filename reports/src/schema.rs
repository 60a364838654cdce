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
    use lockstorm_checker::Nanos;
    use lockstorm_checker::history::{
        CommandNote, Event, ExpiredNote, FailureKind, FailureNote, Function, Giver, Givers, Header,
        Kind, Mode, Name, NodeView, Ownership, PhaseNote, Process, RoleNote, RouteNote, StallNote,
        Until, Value as Words, ViewNote, write_event,
    };
    use lockstorm_scenarios::Lines;
    use serde_json::{Value, json};

    use super::*;

    use crate::encode::Record;
    use crate::model::{Changes, EarlierTry, Outcome, RESULTS_VERSION};
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
        run.unmet_step = Some(1);
        run.lines = Some(Lines {
            file: "a.toml".to_owned(),
            expect: 2,
            steps: vec![4],
        });
        run.earlier = vec![EarlierTry {
            folder: "try-1".to_owned(),
            outcome: Outcome::Unknown,
            found: "lost lock unknown".to_owned(),
        }];
        let before = Record::Run(Box::new(sample::control_run()));
        run.changed = Some(Changes::of_run(&run, &before));
        run.environment.prefix = Some("team:20e32186:".to_owned());
        let records = [
            serde_json::to_value(run).unwrap(),
            serde_json::to_value(sample::control_run()).unwrap(),
            serde_json::to_value(sample::suite()).unwrap(),
            serde_json::to_value(sample::assessment()).unwrap(),
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

    /// Written field by field: a new one does not compile until it is here, and fails until it is
    /// in the schema.
    fn full_header() -> Header {
        Header {
            format: Header::new().format,
            version: Header::new().version,
            scenario: Some("all".to_owned()),
            seed: Some(1),
            started: Some("2026-01-01T00:00:00Z".to_owned()),
            drift_ppm: Some(1),
            drift_ms: Some(1),
            permits: Some(2),
            availability_gap_ms_max: Some(1),
            clock_error_ms: Some(1),
            clock_error_ms_of: [("a".to_owned(), 1)].into(),
            prefix: Some("p".to_owned()),
            asks_once: Some(true),
            waits_at_least: Some(true),
            ends_late_ms: Some(1),
            promises: vec!["tells-of-loss".to_owned()],
            notes_failures: Some(true),
            extra: serde_json::Map::new(),
        }
    }

    fn full_value() -> Words {
        let name = || Name::from("n1");
        let givers = Givers(vec![Giver {
            node: name(),
            role: None,
        }]);
        let failure = FailureNote {
            kind: FailureKind::Hang,
            during: Some(name()),
            bound: Some(Nanos(1)),
            waited: Some(Nanos(2)),
            is_own_bound: true,
            status: Some(name()),
            last_lines: vec![name()],
        };
        let node = NodeView {
            node: name(),
            role: Some(name()),
            held_by: vec![name()],
            content: Some(name()),
            left_ms: Some(1),
            until: Some(Until::SessionEnd),
            error: Some(name()),
        };
        let view = ViewNote {
            since: Some(Nanos(1)),
            nodes: vec![node],
        };
        let command = CommandNote {
            node: name(),
            from: Some(name()),
            text: name(),
            is_reply: true,
        };
        let route = RouteNote {
            from: Some(name()),
            to: name(),
            why: name(),
        };
        let role = RoleNote {
            node: name(),
            role: "primary".into(),
            was: "replica".into(),
        };
        let phase = PhaseNote {
            name: "final".into(),
            bound: Some(Nanos(1)),
        };
        let expired = ExpiredNote {
            node: name(),
            leases: 1,
            since: Nanos(1),
        };
        let stall = StallNote { since: Nanos(1) };
        Words {
            owner: Some(name()),
            mode: Some(Mode::Read),
            permits: Some(1),
            lease_ms: Some(1),
            wait_ms: Some(1),
            until: Some(Until::SessionEnd),
            token: Some(1),
            waited_ns: Some(1),
            count: Some(1),
            by: Some(Box::new(givers)),
            by_harness: true,
            by_library: true,
            ownership: Some(Ownership::Unknown),
            resource: Some(name()),
            value: Some(Box::new(json!(1))),
            route: Some(Box::new(route)),
            role: Some(Box::new(role)),
            view: Some(Box::new(view)),
            command: Some(Box::new(command)),
            failure: Some(Box::new(failure)),
            expired: Some(Box::new(expired)),
            stall: Some(Box::new(stall)),
            fault: None,
            phase: Some(Box::new(phase)),
            extra: None,
        }
    }

    #[test]
    fn every_field_of_a_header_and_of_an_event_is_in_the_schema() {
        let schema = closed(HISTORY_SCHEMA);
        let header = serde_json::to_value(full_header()).unwrap();
        assert_eq!(mistakes(&schema, &header), [""; 0]);
        let event = Event {
            index: 0,
            time: Nanos(1),
            kind: Kind::Note,
            process: Process::Nemesis,
            function: Function::View,
            key: Name::from("lock"),
            value: full_value(),
            error: Some(Name::from("refused")),
            extra: None,
        };
        let mut line = Vec::new();
        write_event(&mut line, &event);
        let line = serde_json::from_slice(&line).unwrap();
        assert_eq!(mistakes(&schema, &line), [""; 0]);
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
