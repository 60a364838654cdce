//! Makes foreign text inert: what a server, an adapter, a history or a scenario file says must be
//! seen, and must neither move the cursor of a terminal nor reorder or break a line.
//!
//! Not for markup: who writes HTML, XML or Markdown escapes what means something there.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// A name with more bytes than this is shown shortened.
const NAME_BYTES_MAX: usize = 256;
/// How many letters of its beginning, and as many of its end, are then shown.
const LETTERS_SHOWN: usize = 24;

/// Tells whether a character is a control character, invisible, or changes the direction of the
/// text around it.
pub fn is_hidden(c: char) -> bool {
    c.is_control() || is_deceptive(c)
}

const fn is_deceptive(c: char) -> bool {
    matches!(
        c,
        '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// A name as people are shown it: a huge one as its beginning and its end, how long it is, and a
/// number that tells it from others of the same beginning and end. No page, no log and no sentence
/// grows with a name; the history has it whole.
pub fn short(name: &str) -> Cow<'_, str> {
    if name.len() <= NAME_BYTES_MAX {
        return Cow::Borrowed(name);
    }
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    let begin: String = name.chars().take(LETTERS_SHOWN).collect();
    let mut end: Vec<char> = name.chars().rev().take(LETTERS_SHOWN).collect();
    end.reverse();
    let end = String::from_iter(end);
    let (bytes, number) = (name.len(), hasher.finish());
    Cow::Owned(format!(
        "{begin}…{end} [{bytes} bytes, number {number:016x}]"
    ))
}

/// `text` on one line, with control and deceptive characters written as escapes.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_hidden(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// Variant of [`visible`] for text of several lines, whose line ends are kept.
pub fn visible_lines(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for line in text.lines() {
        shown.push_str(&visible(line));
        shown.push('\n');
    }
    shown
}

/// `text` with something harmless, and as many bytes, in the place of each hidden character, so
/// that places in it stay true. Line feeds and tabs are kept.
pub fn same_length(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match (c, c.len_utf8()) {
            ('\n' | '\t', _) => shown.push(c),
            ('\r', _) => shown.push(' '),
            (_, 3) if is_hidden(c) => shown.push('\u{fffd}'),
            (_, bytes) if is_hidden(c) => shown.extend(std::iter::repeat_n('?', bytes)),
            _ => shown.push(c),
        }
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
    fn a_huge_name_is_cut_between_letters_and_told_from_others() {
        assert!(matches!(short("müller's lock"), Cow::Borrowed(_)));
        let (one, other) = ("锁".repeat(90) + "x" + &"锁".repeat(90), "锁".repeat(181));
        assert!(short(&one).starts_with("锁锁") && short(&one).contains("541 bytes"));
        assert_ne!(short(&one), short(&other));
        assert_eq!(
            short(&short(&one)),
            short(&one),
            "what is short stays as it is"
        );
    }

    #[test]
    fn line_ends_of_a_long_text_are_kept() {
        assert_eq!(visible_lines("a\r\nb\x07\n"), "a\nb\\u{7}\n");
    }

    #[test]
    fn places_stay_true_where_hidden_characters_are_replaced() {
        for c in (0..=0x000e_01ff_u32).filter_map(char::from_u32) {
            let text = format!("a{c}b");
            let shown = same_length(&text);
            assert_eq!(shown.len(), text.len(), "{c:?}");
            let kept = |c: char| matches!(c, '\n' | '\t');
            assert!(!shown.contains(|c| is_hidden(c) && !kept(c)), "{c:?}");
        }
    }
}
