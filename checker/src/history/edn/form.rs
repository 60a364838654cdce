//! One form of EDN: a value, a name, or a collection of forms.

use serde_json::{Map, Number, Value as Json};

/// A form. Tags are dropped and sets are vectors: nothing in a history depends on them.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::history) enum Form {
    Nil,
    Bool(bool),
    Number(Number),
    Text(String),
    /// A keyword without its colon, or a symbol.
    Word(String),
    Vector(Vec<Form>),
    Map(Vec<(Form, Form)>),
}

impl Form {
    /// Returns the form that a word stands for. One that only looks like a number is kept as it is
    /// written.
    pub(in crate::history) fn of_word(word: String) -> Self {
        match word.as_str() {
            "nil" => return Self::Nil,
            "true" => return Self::Bool(true),
            "false" => return Self::Bool(false),
            _ => {}
        }
        if let Some(name) = word.strip_prefix(':') {
            return Self::Word(name.to_owned());
        }
        let digits = word.strip_prefix(['+', '-']).unwrap_or(&word);
        if digits.starts_with(|first: char| first.is_ascii_digit())
            && let Some(number) = number(&word)
        {
            return Self::Number(number);
        }
        Self::Word(word)
    }

    /// The text of a string, a keyword or a symbol.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Word(text) => Some(text),
            Self::Nil | Self::Bool(_) | Self::Number(_) | Self::Vector(_) | Self::Map(_) => None,
        }
    }

    /// A number from 0.
    pub(super) fn natural(&self) -> Option<u64> {
        match self {
            Self::Number(number) => number.as_u64(),
            Self::Nil
            | Self::Bool(_)
            | Self::Text(_)
            | Self::Word(_)
            | Self::Vector(_)
            | Self::Map(_) => None,
        }
    }

    /// The name that a text or a number stands for.
    pub(super) fn name(&self) -> Option<String> {
        match self {
            Self::Text(text) | Self::Word(text) => Some(text.clone()),
            Self::Number(number) => Some(number.to_string()),
            Self::Nil | Self::Bool(_) | Self::Vector(_) | Self::Map(_) => None,
        }
    }

    /// Turns the form into JSON, where keywords and symbols are texts.
    pub(super) fn into_json(self) -> Json {
        match self {
            Self::Nil => Json::Null,
            Self::Bool(truth) => Json::Bool(truth),
            Self::Number(number) => Json::Number(number),
            Self::Text(text) | Self::Word(text) => Json::String(text),
            Self::Vector(forms) => forms.into_iter().map(Self::into_json).collect(),
            Self::Map(entries) => Json::Object(
                entries
                    .into_iter()
                    .map(|(key, value)| (key.into_text(), value.into_json()))
                    .collect::<Map<_, _>>(),
            ),
        }
    }

    /// A text as it is, anything else as JSON.
    pub(super) fn into_text(self) -> String {
        match self {
            Self::Text(text) | Self::Word(text) => text,
            other @ (Self::Nil
            | Self::Bool(_)
            | Self::Number(_)
            | Self::Vector(_)
            | Self::Map(_)) => other.into_json().to_string(),
        }
    }

    /// Returns the words by which a message calls it.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Nil => "nil",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::Text(_) => "a string",
            Self::Word(_) => "a keyword",
            Self::Vector(_) => "a vector",
            Self::Map(_) => "a map",
        }
    }
}

fn number(word: &str) -> Option<Number> {
    let plain = word.strip_prefix('+').unwrap_or(word);
    let whole = plain.strip_suffix('N').unwrap_or(plain);
    if let Ok(natural) = whole.parse::<u64>() {
        return Some(natural.into());
    }
    if let Ok(integer) = whole.parse::<i64>()
        && integer != 0
    {
        return Some(integer.into());
    }
    // A whole number that is too large stays text: as a fraction, two of them could seem equal.
    if !plain.contains(['.', 'e', 'E']) && plain != "-0" {
        return None;
    }
    let real = plain.strip_suffix('M').unwrap_or(plain);
    real.parse().ok().and_then(Number::from_f64)
}
