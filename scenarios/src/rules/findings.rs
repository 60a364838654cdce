//! The mistakes that the rules find, placed by path.

use crate::diagnostics::Mistake;
use crate::document::Places;

/// Collects mistakes of one document.
pub(crate) struct Findings<'a> {
    places: &'a Places,
    mistakes: Vec<Mistake>,
}

impl<'a> Findings<'a> {
    pub(crate) fn new(places: &'a Places) -> Self {
        Self {
            places,
            mistakes: Vec::new(),
        }
    }

    /// The value at `path` is wrong; `help` says what would be right.
    pub(crate) fn value(&mut self, path: &str, message: impl Into<String>, help: &str) {
        let span = self.places.value(path);
        self.mistakes.push(Mistake::new(span, message).help(help));
    }

    /// That there is a value at `path` at all is wrong.
    pub(crate) fn key(&mut self, path: &str, message: impl Into<String>, help: &str) {
        let span = self.places.key(path);
        self.mistakes.push(Mistake::new(span, message).help(help));
    }

    /// Tells whether the document says anything at `path`.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.places.has(path)
    }

    /// The keys of the table at `path`.
    pub(crate) fn keys(&self, path: &str) -> impl Iterator<Item = &str> {
        self.places.keys(path)
    }

    /// Keeps one of equal mistakes.
    pub(crate) fn unite(&mut self) {
        let mut seen = Vec::new();
        self.mistakes.retain(|mistake| {
            let is_new = !seen.contains(mistake);
            seen.push(mistake.clone());
            is_new
        });
    }

    pub(crate) fn into_mistakes(self) -> Vec<Mistake> {
        self.mistakes
    }
}
