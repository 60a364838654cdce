//! The form that each place of a scenario file must have, read off the JSON schema.
//!
//! For: checking a whole document against the model and reporting every mistake; serde stops at
//! the first. The schema is derived from the model, so the two cannot drift apart.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::Value;

use crate::model::{RANGE_FORMAT, RUNS_FORMAT, SPAN_FORMAT};
use crate::schema::schema;

/// The form of a value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A table with these keys.
    Table(BTreeMap<String, Field>),
    /// A table with exactly one of these keys: an externally tagged enum.
    Choice(BTreeMap<String, Shape>),
    /// A list.
    List(Box<Shape>),
    /// One of these words.
    Word(Vec<String>),
    /// One of these words, or a table with exactly one of these keys.
    WordOrChoice(Vec<String>, BTreeMap<String, Shape>),
    /// Any string.
    Text,
    /// A [`DurationSpec`](crate::DurationSpec).
    DurationSpec,
    /// A [`DurationRange`](crate::DurationRange).
    Range,
    /// A [`RunRange`](crate::RunRange).
    Runs,
    /// A `u32`.
    Count,
    /// A `bool`.
    Flag,
}

/// A key of a table.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) shape: Shape,
    pub(crate) required: bool,
}

/// The form of a scenario file.
pub(crate) static SCENARIO: LazyLock<Shape> = LazyLock::new(|| {
    let schema = schema();
    Shape::read(&schema, &schema["$defs"])
});

impl Shape {
    /// Reads a schema as `schemars` writes it for our model. A form that no type of the model has
    /// is a broken invariant: the tests of this crate would have met it.
    fn read(schema: &Value, defs: &Value) -> Self {
        if let Some(reference) = schema["$ref"].as_str() {
            let name = reference.trim_start_matches("#/$defs/");
            return Self::read(&defs[name], defs);
        }
        if let Some(options) = schema["anyOf"].as_array() {
            // `Option<T>`: the other branch is null, which TOML does not have.
            return if options.iter().any(|option| option["type"] == "null") {
                Self::read(&options[0], defs)
            } else {
                Self::read_variants(options, defs)
            };
        }
        if let Some(words) = schema["enum"].as_array() {
            return Self::Word(words.iter().map(text).collect());
        }
        if let Some(variants) = schema["oneOf"].as_array() {
            return Self::read_variants(variants, defs);
        }
        let kind = match &schema["type"] {
            Value::Array(kinds) => &kinds[0],
            kind => kind,
        };
        match (kind.as_str(), schema["format"].as_str()) {
            (Some("object"), _) => Self::Table(Self::read_fields(schema, defs)),
            (Some("array"), _) => Self::List(Box::new(Self::read(&schema["items"], defs))),
            (Some("string"), Some(SPAN_FORMAT)) => Self::DurationSpec,
            (Some("string"), Some(RANGE_FORMAT)) => Self::Range,
            (Some("string"), Some(RUNS_FORMAT)) => Self::Runs,
            (Some("string"), None) => Self::Text,
            (Some("integer"), Some("uint32")) => Self::Count,
            (Some("boolean"), _) => Self::Flag,
            _ => panic!("the model has a form that `Shape` does not know: {schema}"),
        }
    }

    fn read_variants(variants: &[Value], defs: &Value) -> Self {
        let (words, variants): (Vec<_>, Vec<_>) = variants
            .iter()
            .partition(|variant| variant["const"].is_string());
        let words: Vec<String> = words.into_iter().map(|word| text(&word["const"])).collect();
        if variants.is_empty() {
            return Self::Word(words);
        }
        let mut choice = BTreeMap::new();
        for variant in variants {
            if variant["$ref"].is_null() {
                let tagged = Self::read_fields(variant, defs);
                choice.extend(tagged.into_iter().map(|(tag, field)| (tag, field.shape)));
            } else if let Self::Choice(more) = Self::read(variant, defs) {
                // A variant that is itself one of several: its words stand beside the others.
                choice.extend(more);
            }
        }
        if words.is_empty() {
            Self::Choice(choice)
        } else {
            Self::WordOrChoice(words, choice)
        }
    }

    fn read_fields(schema: &Value, defs: &Value) -> BTreeMap<String, Field> {
        let required = schema["required"].as_array().map_or(&[][..], Vec::as_slice);
        let properties = schema["properties"].as_object();
        properties
            .into_iter()
            .flatten()
            .map(|(key, property)| {
                let field = Field {
                    shape: Self::read(property, defs),
                    required: required.iter().any(|name| name == key),
                };
                (key.clone(), field)
            })
            .collect()
    }

    /// Description of the shape, for "expected ...".
    pub(crate) const fn what(&self) -> &'static str {
        match self {
            Self::Table(_) | Self::Choice(_) => "a table",
            Self::List(_) => "a list",
            Self::Word(_) => "one of a few words",
            Self::WordOrChoice(..) => "one of a few words or a table",
            Self::Text => "a string",
            Self::DurationSpec => "a duration such as \"250ms\"",
            Self::Range => "a duration or a range such as \"5ms..20ms\"",
            Self::Runs => "a number of runs such as \"1..\"",
            Self::Count => "a whole number",
            Self::Flag => "true or false",
        }
    }

    /// Something of this form, for "add key = ...".
    pub(crate) const fn example(&self) -> &'static str {
        match self {
            Self::Table(_) | Self::Choice(_) => "{ ... }",
            Self::List(_) => "[...]",
            Self::Word(_) | Self::WordOrChoice(..) | Self::Text => "\"...\"",
            Self::DurationSpec => "\"250ms\"",
            Self::Range => "\"5ms..20ms\"",
            Self::Runs => "\"1..\"",
            Self::Count => "1",
            Self::Flag => "true",
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field<'a>(shape: &'a Shape, key: &str) -> &'a Field {
        let Shape::Table(fields) = shape else {
            panic!("{shape:?} is no table");
        };
        &fields[key]
    }

    #[test]
    fn the_whole_model_has_a_shape() {
        let name = field(&SCENARIO, "name");
        assert_eq!((&name.shape, name.required), (&Shape::Text, true));
        assert!(!field(&SCENARIO, "topology").required);
        let clients = &field(&SCENARIO, "clients").shape;
        assert_eq!(field(clients, "count").shape, Shape::Count);
        assert_eq!(field(clients, "hold").shape, Shape::Range);
        assert_eq!(field(clients, "wait").shape, Shape::DurationSpec);
        assert_eq!(field(clients, "release").shape, Shape::Flag);
        let Shape::Choice(topologies) = &field(&SCENARIO, "topology").shape else {
            panic!("a topology is one of several kinds");
        };
        assert!(topologies.keys().eq([
            "cluster",
            "custom",
            "etcd",
            "external",
            "independent",
            "mariadb",
            "postgres",
            "replicated",
            "sentinel",
            "single",
            "zookeeper"
        ]));
    }
}
