//! Makes foreign text inert: what a server, an adapter or a scenario file says must be seen, and
//! must neither move the cursor of a terminal nor reorder a line.
//!
//! Not for markup: HTML is escaped by maud, XML by quick-junit, Markdown by its renderer.

use std::borrow::Cow;

/// Characters that are invisible or change the direction of the text around them.
const fn is_deceptive(c: char) -> bool {
    matches!(
        c,
        '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}'
            | '\u{feff}'
    )
}

/// `text` on one line, with control and deceptive characters written as escapes.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    let hidden = |c: char| c.is_control() || is_deceptive(c);
    if !text.contains(hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if hidden(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// The same for text of several lines, whose line ends are kept.
pub(crate) fn visible_lines(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for line in text.lines() {
        shown.push_str(&visible(line));
        shown.push('\n');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_text_is_left_alone() {
        assert!(matches!(visible("müller's lock → 锁"), Cow::Borrowed(_)));
    }

    #[test]
    fn control_and_direction_characters_become_visible() {
        assert_eq!(
            visible("a\x1b[2Jb\u{202e}c\nd"),
            "a\\u{1b}[2Jb\\u{202e}c\\nd"
        );
    }

    #[test]
    fn line_ends_of_a_long_text_are_kept() {
        assert_eq!(visible_lines("a\r\nb\x07\n"), "a\nb\\u{7}\n");
    }
}
