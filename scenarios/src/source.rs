//! The texts that a scenario is made of: its file, then one for each override.
//!
//! Every text has its own stretch of one range of offsets, so that a plain span tells which text
//! it lies in. That is how an error in an override comes to name the override.

use std::ops::Range;
use std::sync::Arc;

use crate::model::without_passwords;

/// A text with the name that diagnostics give it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// Where a span lies: in which text, and where in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(crate) source: Arc<Source>,
    pub(crate) range: Range<usize>,
}

/// All texts of one scenario, the file first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sources {
    texts: Vec<(usize, Arc<Source>)>,
    end: usize,
}

impl Sources {
    /// Appends a text; its spans are to be shifted by the returned offset. What is kept of it is
    /// for showing: stars stand where it has passwords.
    pub(crate) fn add(&mut self, name: &str, text: &str) -> usize {
        let start = self.end;
        let (name, text) = (without_passwords(name), without_passwords(text));
        // One more than the length, so that a span at the very end stays inside its own text.
        self.end += text.len() + 1;
        self.texts.push((start, Arc::new(Source { name, text })));
        start
    }

    /// Tells whether `span` lies in the file, and not in what was set from outside.
    pub(crate) fn is_file(&self, span: &Range<usize>) -> bool {
        let overrides = self.texts.get(1);
        overrides.is_none_or(|(start, _)| span.start < *start)
    }

    /// The text that `span` lies in.
    pub(crate) fn spot(&self, span: &Range<usize>) -> Spot {
        let (start, source) = self
            .texts
            .iter()
            .rfind(|(start, _)| *start <= span.start)
            .expect("the file is the first source and starts at zero");
        let limit = source.text.len();
        let begin = floor_char_boundary(&source.text, (span.start - start).min(limit));
        let end = floor_char_boundary(&source.text, span.end.saturating_sub(*start).min(limit));
        Spot {
            source: Arc::clone(source),
            range: begin..end.max(begin),
        }
    }
}

/// The largest boundary between characters that is not after `at`.
pub(crate) fn floor_char_boundary(text: &str, at: usize) -> usize {
    (0..=at)
        .rev()
        .find(|&i| text.is_char_boundary(i))
        .unwrap_or(0)
}

impl Spot {
    /// Line and column of its start, both from 1; the column counts characters.
    pub(crate) fn line_column(&self) -> (usize, usize) {
        let before = &self.source.text[..self.range.start];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.matches('\n').count() + 1;
        (line, before[line_start..].chars().count() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_found_in_the_text_that_holds_it() {
        let mut sources = Sources::default();
        assert_eq!(sources.add("file", "a = 1\nbä = 2"), 0);
        let base = sources.add("--set", "x=3");
        let in_file = sources.spot(&(10..11));
        assert_eq!(in_file.source.name, "file");
        // The umlaut is two bytes and one character.
        assert_eq!(in_file.line_column(), (2, 4));
        let in_override = sources.spot(&(base + 2..base + 3));
        assert_eq!(in_override.source.name, "--set");
        assert_eq!(in_override.line_column(), (1, 3));
    }

    #[test]
    fn a_span_past_the_end_or_inside_a_character_is_brought_back() {
        let mut sources = Sources::default();
        sources.add("file", "ä");
        assert_eq!(sources.spot(&(1..9)).range, 0..2);
    }
}
