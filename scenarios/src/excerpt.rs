//! The lines around a mistake, cut to what a reader can take in, in the form that miette draws.
//!
//! Lines may be a mebibyte long; what is drawn of one is a stretch around the place. The line and
//! the column in the heading are those of the file.

use std::ops::Range;

use lockstorm_checker::inert::{same_length, visible};
use miette::{LabeledSpan, MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};

use crate::source::{Spot, floor_char_boundary};

/// Bytes of one line that are shown: what fits a wide terminal.
const LINE_BYTES_MAX: usize = 160;
/// Bytes that are shown before the place, where its line is cut.
const BEFORE_BYTES: usize = 60;
/// Lines of a place that takes several.
const LINES_MAX: usize = 12;
/// Stands where something is cut off.
const CUT: &str = "…";

/// Part of a text that is shown.
#[derive(Debug)]
pub(crate) struct Excerpt {
    name: String,
    text: String,
    /// The place in `text`.
    place: Range<usize>,
    /// How many lines of the file come before `text`.
    lines_before: usize,
    /// The column of the place in the file, from 0.
    column: usize,
}

impl Excerpt {
    /// The lines of the place, and one before and after it.
    pub(crate) fn new(spot: &Spot) -> Self {
        let source = &spot.source.text;
        let (line, column) = spot.line_column();
        let first = line_start(source, spot.range.start);
        let start = first
            .checked_sub(1)
            .map_or(0, |end| line_start(source, end));
        let mut excerpt = Self {
            name: visible(&spot.source.name).into_owned(),
            text: String::new(),
            place: 0..0,
            lines_before: line - 1 - usize::from(start < first),
            column: column - 1,
        };
        let mut at = start;
        let mut shown = 0;
        for line in source[start..].split('\n') {
            excerpt.line(line, at, &spot.range);
            if at + line.len() < source.len() {
                excerpt.text.push('\n');
            }
            shown += usize::from(at >= first);
            if at > spot.range.end || shown > LINES_MAX {
                break;
            }
            at += line.len() + 1;
        }
        excerpt
    }

    /// Adds a line, which begins at `at` of the source, and what of the place lies in it.
    fn line(&mut self, line: &str, at: usize, place: &Range<usize>) {
        let inside = |offset: usize| offset.clamp(at, at + line.len()) - at;
        let (begins, ends) = (inside(place.start), inside(place.end));
        let starts_here = (at..=at + line.len()).contains(&place.start);
        let from = if line.len() > LINE_BYTES_MAX && starts_here {
            floor_char_boundary(line, begins.saturating_sub(BEFORE_BYTES))
        } else {
            0
        };
        let to = floor_char_boundary(line, (from + LINE_BYTES_MAX).min(line.len()));
        if from > 0 {
            self.text.push_str(CUT);
        }
        let base = self.text.len();
        self.text.push_str(&same_length(&line[from..to]));
        if starts_here {
            self.place.start = base + begins - from;
        }
        if at <= place.end {
            self.place.end = (base + ends.clamp(from, to) - from).max(self.place.start);
        }
        if to < line.len() {
            self.text.push_str(CUT);
        }
    }

    /// The place, to be underlined.
    pub(crate) fn label(&self) -> LabeledSpan {
        let length = self.place.len().max(1);
        LabeledSpan::new_primary_with_span(None, (self.place.start, length))
    }
}

/// Where the line begins that `at` lies in.
fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

impl SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        lines_before: usize,
        lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let read = self.text.read_span(span, lines_before, lines_after)?;
        // Asked for no line around it, miette wants to know where the place is.
        let column = if lines_before == 0 { self.column } else { 0 };
        Ok(Box::new(MietteSpanContents::new_named(
            self.name.clone(),
            read.data(),
            *read.span(),
            read.line() + self.lines_before,
            column,
            read.line_count(),
        )))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::source::Source;

    fn excerpt(text: &str, range: Range<usize>) -> Excerpt {
        let source = Arc::new(Source {
            name: "file".to_owned(),
            text: text.to_owned(),
        });
        Excerpt::new(&Spot { source, range })
    }

    #[test]
    fn short_lines_are_shown_whole_with_one_around_them() {
        let text = "one\ntwo\nthree\nfour\nfive";
        let shown = excerpt(text, 8..13);
        assert_eq!(shown.text, "two\nthree\nfour\n");
        assert_eq!(&shown.text[shown.place.clone()], "three");
        assert_eq!((shown.lines_before, shown.column), (1, 0));
        let first = excerpt(text, 0..3);
        assert_eq!(first.text, "one\ntwo\n");
        assert_eq!((first.lines_before, first.column), (0, 0));
        let last = excerpt(text, 20..22);
        assert_eq!(last.text, "four\nfive");
        assert_eq!(&last.text[last.place.clone()], "iv");
        let blank = excerpt("\n\nx", 2..3);
        assert_eq!((blank.text.as_str(), blank.lines_before), ("\nx", 1));
        assert_eq!(blank.place, 1..2);
    }

    #[test]
    fn long_lines_are_cut_around_the_place() {
        let long = "ä".repeat(100_000);
        let text = format!("{long}\n{long}WRONG{long}\n{long}");
        let at = 2 * long.len() + 1;
        let shown = excerpt(&text, at..at + 5);
        assert_eq!(&shown.text[shown.place.clone()], "WRONG");
        assert!(
            shown.text.len() < 4 * (LINE_BYTES_MAX + 8),
            "{}",
            shown.text.len()
        );
        assert_eq!((shown.lines_before, shown.column), (0, 100_000));
    }

    #[test]
    fn a_place_of_many_lines_is_cut_after_some() {
        let text = "x = [\n".to_owned() + &"1,\n".repeat(1_000) + "]\n";
        let shown = excerpt(&text, 4..text.len() - 1);
        assert!(
            shown.text.lines().count() <= LINES_MAX + 2,
            "{}",
            shown.text
        );
        assert_eq!(shown.place.start, 4);
        assert!(shown.place.end <= shown.text.len());
    }

    #[test]
    fn every_place_of_a_small_text_is_drawn() {
        let text = "ab\n\n\u{202e}ä\r\n";
        let bounds: Vec<_> = (0..=text.len())
            .filter(|at| text.is_char_boundary(*at))
            .collect();
        for from in &bounds {
            for to in bounds.iter().filter(|to| *to >= from) {
                let shown = excerpt(text, *from..*to);
                assert!(
                    shown.text.is_char_boundary(shown.place.start),
                    "{from}..{to}"
                );
                assert!(
                    shown.text.get(shown.place.clone()).is_some(),
                    "{from}..{to}"
                );
            }
        }
    }
}
