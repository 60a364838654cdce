//! `--set path=value`: one value of a scenario, replaced before the scenario is read.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use crate::diagnostics::Mistake;

/// Parts of a path at most: twice as deep as the model goes.
const PARTS_MAX: usize = 12;

/// A value to replace, as `path=value`: `clients.count=10`, `lock.token.lease="1s"`,
/// `step.0.acquire.client=b`. A value that is no TOML is taken as a string, so that the quotes of
/// a duration need not survive a shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    text: String,
    /// Where the parts of the path lie in the text.
    parts: Vec<Range<usize>>,
    value: Range<usize>,
}

/// Reason why a text is no override.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OverrideError {
    /// There is no `=`.
    #[error("'{0}' has no '='; write path=value, such as clients.count=10")]
    NoValue(String),
    /// A part of the path is empty, or there are too many.
    #[error("'{0}' is no path; write names joined by dots, such as lock.token.lease")]
    BadPath(String),
    /// The value begins like TOML and is none.
    #[error("the value of '{text}' is not TOML: {reason}")]
    BadValue {
        /// The whole override.
        text: String,
        /// Error of the parser.
        reason: String,
    },
}

impl FromStr for Override {
    type Err = OverrideError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (path, value) = text
            .split_once('=')
            .ok_or_else(|| OverrideError::NoValue(text.to_owned()))?;
        let mut parts = Vec::new();
        let mut start = 0;
        for part in path.split('.') {
            let lead = part.len() - part.trim_start().len();
            parts.push(start + lead..start + lead + part.trim().len());
            start += part.len() + 1;
        }
        if parts.len() > PARTS_MAX || parts.iter().any(Range::is_empty) {
            return Err(OverrideError::BadPath(path.to_owned()));
        }
        let begins_as_toml = value.trim_start().starts_with(['"', '\'', '[', '{']);
        match DeValue::parse(value) {
            Err(error) if begins_as_toml => Err(OverrideError::BadValue {
                text: text.to_owned(),
                reason: error.message().to_owned(),
            }),
            _ => Ok(Self {
                text: text.to_owned(),
                parts,
                value: path.len() + 1..text.len(),
            }),
        }
    }
}

impl fmt::Display for Override {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Override {
    /// Replaces the value in `root`; spans of what is put in are shifted by `offset`.
    pub(crate) fn apply<'a>(
        &'a self,
        root: &mut Spanned<DeValue<'a>>,
        offset: usize,
    ) -> Result<(), Mistake> {
        let mut place = root;
        for part in &self.parts {
            let span = part.start + offset..part.end + offset;
            place = descend(place, &self.text[part.clone()], span)?;
        }
        let text = &self.text[self.value.clone()];
        let value = DeValue::parse(text)
            .unwrap_or_else(|_| Spanned::new(0..text.len(), DeValue::String(text.trim().into())));
        *place = shifted(value, offset + self.value.start);
        Ok(())
    }
}

/// The value under `name`; in a table it is made where it is missing.
fn descend<'t, 'a>(
    place: &'t mut Spanned<DeValue<'a>>,
    name: &'a str,
    span: Range<usize>,
) -> Result<&'t mut Spanned<DeValue<'a>>, Mistake> {
    match place.get_mut() {
        DeValue::Table(table) => {
            if !table.contains_key(name) {
                let key = Spanned::new(span.clone(), name.into());
                let empty = Spanned::new(span, DeValue::Table(DeTable::new()));
                table.insert(key, empty);
            }
            Ok(table
                .get_mut(name)
                .expect("it was there or was just put in"))
        }
        DeValue::Array(array) => {
            let count = array.len();
            let element = name.parse::<usize>().ok().and_then(|n| array.get_mut(n));
            element.ok_or_else(|| {
                Mistake::new(span, format!("there is no element '{name}' in this list"))
                    .help(format!("it has {count} elements, counted from 0"))
            })
        }
        leaf @ (DeValue::String(_)
        | DeValue::Integer(_)
        | DeValue::Float(_)
        | DeValue::Boolean(_)
        | DeValue::Datetime(_)) => {
            let kind = leaf.type_str();
            Err(Mistake::new(
                span,
                format!("there is no '{name}' inside of a {kind}"),
            ))
        }
    }
}

/// Returns a value with all its spans moved.
fn shifted(value: Spanned<DeValue<'_>>, by: usize) -> Spanned<DeValue<'_>> {
    let move_span = |span: Range<usize>| span.start + by..span.end + by;
    let span = move_span(value.span());
    let moved = match value.into_inner() {
        DeValue::Array(array) => {
            let mut moved = DeArray::new();
            for element in array {
                moved.push(shifted(element, by));
            }
            DeValue::Array(moved)
        }
        DeValue::Table(table) => {
            let mut moved = DeTable::new();
            for (key, value) in table {
                let key = Spanned::new(move_span(key.span()), key.into_inner());
                moved.insert(key, shifted(value, by));
            }
            DeValue::Table(moved)
        }
        leaf => leaf,
    };
    Spanned::new(span, moved)
}
