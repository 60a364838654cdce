//! Compares a document with the shape of a scenario and finds every difference.
//!
//! For: keys, words, types and durations. Not for: what the values mean together; see `rules`.
//! Wrong keys and wrong optional values are taken out of the tree, so that the rules can still
//! look at the rest of it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use crate::diagnostics::Mistake;
use crate::document::join;
use crate::model::{DurationRange, DurationSpec, RunRange};
use crate::shape::{Field, Shape};
use crate::suggest::{nearest, one_of, suggest};

/// Result of an inspection.
#[derive(Debug, Default)]
pub(crate) struct Inspection {
    pub(crate) mistakes: Vec<Mistake>,
    /// Paths of the values that are wrong themselves or have a wrong or missing key.
    wrong: BTreeSet<String>,
}

/// Compares `root` with `shape`, and takes what is wrong and dispensable out of it.
pub(crate) fn inspect(shape: &Shape, root: &mut Spanned<DeValue<'_>>) -> Inspection {
    let mut inspection = Inspection::default();
    inspection.visit(shape, root, "");
    inspection
}

impl Inspection {
    /// Tells whether anything at `path` or below it was wrong.
    pub(crate) fn touched(&self, path: &str) -> bool {
        self.wrong.iter().any(|wrong| {
            wrong
                .strip_prefix(path)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    }

    fn report(&mut self, path: &str, mistake: Mistake) {
        self.wrong.insert(path.to_owned());
        self.mistakes.push(mistake);
    }

    /// Tells whether the value can be read, once what is dispensable was taken out.
    fn visit(&mut self, shape: &Shape, value: &mut Spanned<DeValue<'_>>, path: &str) -> bool {
        let span = value.span();
        match (shape, value.get_mut()) {
            (Shape::Table(fields), DeValue::Table(table)) => self.table(fields, table, path, &span),
            (Shape::Choice(variants) | Shape::WordOrChoice(_, variants), DeValue::Table(table)) => {
                self.choice(variants, table, path, &span)
            }
            (Shape::List(element), DeValue::Array(array)) => {
                for (n, value) in array.iter_mut().enumerate() {
                    self.visit(element, value, &join(path, &n.to_string()));
                }
                true
            }
            (shape, leaf) => match check_leaf(shape, leaf, &span) {
                Ok(()) => true,
                Err(mistake) => {
                    self.report(path, mistake);
                    false
                }
            },
        }
    }

    fn table(
        &mut self,
        fields: &BTreeMap<String, Field>,
        table: &mut DeTable<'_>,
        path: &str,
        span: &Range<usize>,
    ) -> bool {
        let meant = self.take_unknown_keys(fields, table, path);
        let mut readable = true;
        for (key, field) in fields {
            let Some(value) = table.get_mut(key.as_str()) else {
                // A misspelt key was reported where it stands; that it is missing says the same.
                if field.required && !meant.contains(key) {
                    let place = if path.is_empty() {
                        "the scenario"
                    } else {
                        path
                    };
                    let mistake = Mistake::new(span.clone(), format!("{place} has no '{key}'"));
                    let help = format!("add {key} = {}", field.shape.example());
                    self.report(path, mistake.help(help));
                }
                readable &= !field.required;
                continue;
            };
            if !self.visit(&field.shape, value, &join(path, key)) {
                if field.required {
                    readable = false;
                } else {
                    table.remove(key.as_str());
                }
            }
        }
        readable
    }

    /// Reports and takes out the keys that no field has; gives the keys that were likely meant.
    fn take_unknown_keys(
        &mut self,
        fields: &BTreeMap<String, Field>,
        table: &mut DeTable<'_>,
        path: &str,
    ) -> BTreeSet<String> {
        let mut meant = BTreeSet::new();
        let known: Vec<&String> = fields.keys().collect();
        let unknown: Vec<_> = table
            .keys()
            .filter(|key| !fields.contains_key(key.get_ref().as_ref()))
            .cloned()
            .collect();
        for key in unknown {
            let name = key.get_ref().as_ref();
            table.remove(name);
            meant.extend(nearest(name, &known).map(str::to_owned));
            let message = if path.is_empty() {
                format!("unknown key '{name}'")
            } else {
                format!("unknown key '{name}' in {path}")
            };
            let mistake = Mistake::new(key.span(), message);
            self.report(path, mistake.help(suggest(name, &known)));
        }
        meant
    }

    fn choice(
        &mut self,
        variants: &BTreeMap<String, Shape>,
        table: &mut DeTable<'_>,
        path: &str,
        span: &Range<usize>,
    ) -> bool {
        let known: Vec<&String> = variants.keys().collect();
        if table.is_empty() {
            let mistake = Mistake::new(span.clone(), format!("{path} is empty"));
            self.report(path, mistake.help(one_of(&known)));
            return false;
        }
        let mut keys: Vec<_> = table
            .keys()
            .map(|key| (key.span().start, key.clone()))
            .collect();
        keys.sort_by_key(|(start, _)| *start);
        if let Some((_, second)) = keys.get(1) {
            let first = keys[0].1.get_ref();
            let message = format!("{path} is already '{first}', and cannot be '{second}' as well");
            let help = "exactly one of them; in a list, each element takes one";
            self.report(path, Mistake::new(second.span(), message).help(help));
        }
        let mut readable = keys.len() == 1;
        for (_, key) in keys {
            let name = key.get_ref().as_ref();
            let Some(shape) = variants.get(name) else {
                let mistake = Mistake::new(key.span(), format!("unknown {} '{name}'", kind(path)));
                self.report(path, mistake.help(suggest(name, &known)));
                readable = false;
                self.visit_as_meant(variants, &key, table, path);
                continue;
            };
            let value = table.get_mut(name).expect("the key is one of the table's");
            readable &= self.visit(shape, value, &join(path, name));
        }
        readable
    }

    /// A misspelt variant is inspected as the one that was likely meant.
    fn visit_as_meant(
        &mut self,
        variants: &BTreeMap<String, Shape>,
        key: &Spanned<DeString<'_>>,
        table: &mut DeTable<'_>,
        path: &str,
    ) {
        let known: Vec<&String> = variants.keys().collect();
        let name = key.get_ref().as_ref();
        let meant = nearest(name, &known).and_then(|meant| variants.get(meant));
        if let (Some(shape), Some(value)) = (meant, table.get_mut(name)) {
            self.visit(shape, value, &join(path, name));
        }
    }
}

/// Compares a value that is no table or list, or has the wrong type, with its shape.
fn check_leaf(shape: &Shape, leaf: &DeValue<'_>, span: &Range<usize>) -> Result<(), Mistake> {
    let wrong = |message: String| Mistake::new(span.clone(), message);
    match (shape, leaf) {
        (Shape::Text, DeValue::String(_)) | (Shape::Flag, DeValue::Boolean(_)) => Ok(()),
        (Shape::Word(words) | Shape::WordOrChoice(words, _), DeValue::String(word)) => {
            if words.iter().any(|known| known == word) {
                Ok(())
            } else {
                Err(wrong(format!("unknown word '{word}'")).help(suggest(word, words)))
            }
        }
        (Shape::DurationSpec, DeValue::String(text)) => check_span(text).map_err(wrong),
        (Shape::Range, DeValue::String(text)) => check_range(text).map_err(wrong),
        (Shape::Runs, DeValue::String(text)) => match text.parse::<RunRange>() {
            Ok(_) => Ok(()),
            Err(error) => Err(wrong(error.to_string())),
        },
        (Shape::Count, DeValue::Integer(number)) => {
            u32::from_str_radix(number.as_str(), number.radix())
                .map(|_| ())
                .map_err(|_| wrong(format!("{number} is not a number from 0 to {}", u32::MAX)))
        }
        (Shape::Choice(variants), DeValue::String(word))
            if variants.contains_key(word.as_ref()) =>
        {
            let mistake = wrong(format!("'{word}' is a table here, not a string"));
            Err(mistake.help(format!("write {{ {word} = {{}} }}")))
        }
        (Shape::Choice(variants), DeValue::String(word)) => {
            let known: Vec<&String> = variants.keys().collect();
            Err(wrong("expected a table, found a string".to_owned()).help(suggest(word, &known)))
        }
        (Shape::DurationSpec | Shape::Range, DeValue::Integer(_) | DeValue::Float(_)) => {
            let number = wrong(format!("expected {}, found a bare number", shape.what()));
            Err(number.help("a duration is a string with a unit: us, ms, s, m or h"))
        }
        (shape, leaf) => {
            let found = leaf.type_str();
            let article = if found.starts_with(['a', 'i']) {
                "an"
            } else {
                "a"
            };
            Err(wrong(format!(
                "expected {}, found {article} {found}",
                shape.what()
            )))
        }
    }
}

fn check_span(text: &str) -> Result<(), String> {
    let parsed = text.parse::<DurationSpec>();
    parsed.map(|_| ()).map_err(|error| error.to_string())
}

fn check_range(text: &str) -> Result<(), String> {
    let Err(error) = text.parse::<DurationRange>() else {
        return Ok(());
    };
    // Two good durations that make no range stand in the wrong order.
    match text
        .split_once("..")
        .map(|(min, max)| (min.parse::<DurationSpec>(), max.parse::<DurationSpec>()))
    {
        Some((Ok(min), Ok(max))) => Err(format!(
            "the range runs backwards: {min} is longer than {max}; write \"{max}..{min}\""
        )),
        _ => Err(error.to_string()),
    }
}

/// Kind of thing that stands at `path`: `step` at `step.1`, `lock` at `matrix.locks.0`.
fn kind(path: &str) -> String {
    let is_number = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
    let name = path.rsplit('.').find(|part| !is_number(part));
    let name = name.unwrap_or("word");
    if name.len() == path.len() || !path.ends_with(|end: char| end.is_ascii_digit()) {
        return name.to_owned();
    }
    match (name.strip_suffix("ies"), name.strip_suffix('s')) {
        (Some(stem), _) => format!("{stem}y"),
        (None, Some(one)) => one.to_owned(),
        (None, None) => name.to_owned(),
    }
}
