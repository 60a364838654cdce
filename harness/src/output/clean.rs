//! Filter for output: text that leaves this program for a terminal or a log is text and nothing
//! else: no escape sequence but our own colours, no hidden character, no line that a CI runner
//! takes for a command.
//!
//! For: the last gate, in `output.rs`. Not for: line breaks inside of foreign text, which here
//! look like our own; whoever puts such text into a sentence makes it
//! [visible](lockstorm_checker::inert::visible) first.

use std::borrow::Cow;

use lockstorm_checker::inert::is_hidden;

/// How the commands begin that runners of CI look for anywhere in a line.
const COMMANDS: [&str; 3] = ["##[", "##vso[", "##teamcity["];

/// Which escape sequences are our own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Escapes {
    /// None.
    None,
    /// Those that colour text.
    Colors,
}

/// `text` as it may go to a terminal or into a log.
pub(crate) fn clean(text: &str, escapes: Escapes) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        clean_line(line, escapes, &mut out);
    }
    out
}

fn clean_line(line: &str, escapes: Escapes, out: &mut String) {
    let mut rest = line;
    let blanks = rest.len() - rest.trim_start().len();
    if rest[blanks..].starts_with("::") {
        out.push_str(&rest[..blanks]);
        out.push_str("\\u{3a}:");
        rest = &rest[blanks + 2..];
    }
    while let Some(c) = rest.chars().next() {
        let mut taken = c.len_utf8();
        if escapes == Escapes::Colors
            && let Some(length) = color_length(rest)
        {
            taken = length;
            out.push_str(&rest[..taken]);
        } else if is_hidden(c) && !matches!(c, '\n' | '\t') {
            out.extend(c.escape_default());
        } else if COMMANDS.iter().any(|begin| rest.starts_with(begin)) {
            out.push_str("\\u{23}");
        } else {
            out.push(c);
        }
        rest = &rest[taken..];
    }
}

/// Length of the escape sequence that `text` begins with, where it is one that colours.
fn color_length(text: &str) -> Option<usize> {
    let codes = text.strip_prefix("\x1b[")?;
    let end = codes.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    codes[end..]
        .starts_with('m')
        .then_some(end + "\x1b[m".len())
}

/// JSON in which no text is taken for a command: the same value for whoever reads JSON.
pub(crate) fn json(text: &str) -> Cow<'_, str> {
    rewritten(text, "\\u0023")
}

/// Cleans text for XML.
pub(crate) fn xml(text: &str) -> String {
    let text = rewritten(text, "&#35;");
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let blanks = line.len() - line.trim_start().len();
        let (blank, rest) = line.split_at(blanks);
        out.push_str(blank);
        match rest.strip_prefix("::") {
            Some(rest) => {
                out.push_str("&#58;:");
                out.push_str(rest);
            }
            None => out.push_str(rest),
        }
    }
    out
}

/// `text` with the first letter of each command written as `letter`.
fn rewritten<'a>(text: &'a str, letter: &str) -> Cow<'a, str> {
    let mut text = Cow::Borrowed(text);
    for begin in COMMANDS {
        if text.contains(begin) {
            text = Cow::Owned(text.replace(begin, &format!("{letter}{}", &begin[1..])));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_text_is_left_alone() {
        for text in [
            "",
            "a\n",
            "a:: b\n\n\tc",
            "✗ müller\n  a::b",
            "#[test] ## x [",
        ] {
            assert_eq!(clean(text, Escapes::None), text);
            assert_eq!(clean(text, Escapes::Colors), text);
            assert_eq!(xml(text), text);
            assert_eq!(json(text), text);
        }
    }

    #[test]
    fn colours_pass_only_where_they_are_ours() {
        let text = "\x1b[1;31mred\x1b[0m \x1b[2J \x1b]0;title\x07 \x1b[";
        let shown = "\x1b[1;31mred\x1b[0m \\u{1b}[2J \\u{1b}]0;title\\u{7} \\u{1b}[";
        assert_eq!(clean(text, Escapes::Colors), shown);
        let shown = "\\u{1b}[1;31mred\\u{1b}[0m";
        assert_eq!(clean("\x1b[1;31mred\x1b[0m", Escapes::None), shown);
    }

    #[test]
    fn no_line_is_a_command_of_a_runner() {
        let text = "a\r\n::error::x\n \t::set-output name=a::b\nx ##[error]y ##vso[task]";
        let shown = clean(text, Escapes::None);
        assert_eq!(
            shown,
            "a\\r\n\\u{3a}:error::x\n \t\\u{3a}:set-output name=a::b\n\
             x \\u{23}#[error]y \\u{23}#vso[task]"
        );
    }

    #[test]
    fn documents_for_machines_mean_the_same_and_hold_no_command() {
        let text = serde_json::to_string(&["##[error]", "##vso[x]"]).expect("strings are JSON");
        let shown = json(&text);
        assert!(!shown.contains("##"), "{shown}");
        let back: Vec<String> = serde_json::from_str(&shown).expect("it is JSON still");
        assert_eq!(back, ["##[error]", "##vso[x]"]);
        let shown = xml("<a>\n  ::error::x ##[y]</a>");
        assert_eq!(shown, "<a>\n  &#58;:error::x &#35;#[y]</a>");
    }
}
