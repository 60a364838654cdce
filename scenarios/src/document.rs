//! A scenario file as a tree of TOML values that know their places.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::diagnostics::Mistake;
use crate::old_words;
use crate::overrides::Override;
use crate::source::Sources;

/// Depth to which places are remembered: deeper than any value of the model lies, and a bound on
/// the work that a hostile file can cause.
const DEPTH_MAX: usize = 8;

/// Parses `text` and applies `overrides` to it; one that does not fit is a mistake of its own and
/// left out.
///
/// # Errors
/// The one place where the text is no TOML.
pub(crate) fn parse<'a>(
    sources: &mut Sources,
    name: &str,
    text: &'a str,
    overrides: &'a [Override],
) -> Result<(Spanned<DeValue<'a>>, Vec<Mistake>), Mistake> {
    sources.add(name, text);
    let root = DeTable::parse(text).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        Mistake::new(span, format!("this is not TOML: {}", error.message()))
    })?;
    let mut root = Spanned::new(root.span(), DeValue::Table(root.into_inner()));
    let mut mistakes = Vec::new();
    for set in overrides {
        let text = set.to_string();
        let offset = sources.add(&format!("--set {text}"), &text);
        if let Err(mistake) = set.apply(&mut root, offset) {
            mistakes.push(mistake);
        }
    }
    old_words::renew(&mut root);
    Ok((root, mistakes))
}

/// Where every value of a document lies, by its path: names and indexes joined by dots.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places(BTreeMap<String, Place>);

#[derive(Clone, Debug)]
struct Place {
    key: Range<usize>,
    value: Range<usize>,
    is_table: bool,
}

impl Places {
    pub(crate) fn of(root: &Spanned<DeValue<'_>>) -> Self {
        let mut places = Self::default();
        places.gather(root, "", 0);
        places
    }

    fn gather(&mut self, value: &Spanned<DeValue<'_>>, path: &str, depth: usize) {
        if depth == DEPTH_MAX {
            return;
        }
        if let Some(table) = value.get_ref().as_table() {
            for (key, value) in table {
                self.put(path, key.get_ref(), key.span(), value, depth);
            }
        }
        if let Some(array) = value.get_ref().as_array() {
            for (n, value) in array.iter().enumerate() {
                self.put(path, &n.to_string(), value.span(), value, depth);
            }
        }
    }

    fn put(
        &mut self,
        path: &str,
        name: &str,
        key: Range<usize>,
        value: &Spanned<DeValue<'_>>,
        depth: usize,
    ) {
        let path = join(path, name);
        self.gather(value, &path, depth + 1);
        let place = Place {
            key,
            value: value.span(),
            is_table: value.get_ref().as_table().is_some(),
        };
        self.0.insert(path, place);
    }

    /// The span of the value at `path`, or of the nearest one around it: a default lies nowhere.
    pub(crate) fn value(&self, path: &str) -> Range<usize> {
        self.nearest(path).map_or(0..0, |place| place.value.clone())
    }

    /// The span of the key at `path`, or of the nearest one around it.
    pub(crate) fn key(&self, path: &str) -> Range<usize> {
        self.nearest(path).map_or(0..0, |place| place.key.clone())
    }

    /// Where the value at `path` was written, by itself or as part of a value of another form, such
    /// as a range in one word.
    pub(crate) fn written(&self, path: &str) -> Option<Range<usize>> {
        let is_part = |place: &&Place| self.has(path) || !place.is_table;
        let place = self.nearest(path).filter(is_part)?;
        Some(place.value.clone())
    }

    /// Tells whether the document says anything at `path`.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.0.contains_key(path)
    }

    /// The names of what lies directly in the table or list at `path`.
    pub(crate) fn keys(&self, path: &str) -> impl Iterator<Item = &str> {
        let inside = format!("{path}.");
        let below = self.0.range(inside.clone()..);
        below
            .map_while(move |(path, _)| path.strip_prefix(&inside))
            .filter(|name| !name.contains('.'))
    }

    fn nearest(&self, path: &str) -> Option<&Place> {
        let mut path = path;
        loop {
            if let Some(place) = self.0.get(path) {
                return Some(place);
            }
            path = path.rsplit_once('.')?.0;
        }
    }
}

/// The path of `name` inside of `path`.
pub(crate) fn join(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}
