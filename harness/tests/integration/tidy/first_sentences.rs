//! First sentences of documentation: they open with a noun or a verb, not with a riddle.

use crate::tidy::{report, sources};

/// Openings that make a reader look at the code to know what is spoken of.
const RIDDLES: [&str; 8] = [
    "What", "Who", "Whom", "Whose", "Whether", "Whatever", "Whoever", "The same",
];

/// Returns the riddle that a line of documentation opens with, if it is one.
fn riddle(sentence: &str) -> Option<&'static str> {
    RIDDLES.into_iter().find(|riddle| {
        let rest = sentence.strip_prefix(riddle);
        rest.is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphanumeric()))
    })
}

/// Returns the first lines of all doc comments of a text, each with the number of its line.
fn first_lines(text: &str) -> Vec<(usize, &str)> {
    let mut lines = Vec::new();
    let mut before = "";
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim_start();
        let marker = ["//! ", "/// "]
            .into_iter()
            .find(|marker| line.starts_with(marker));
        if let Some(marker) = marker
            && !before.starts_with(marker.trim_end())
        {
            lines.push((number, &line[marker.len()..]));
        }
        before = line;
    }
    lines
}

#[test]
fn documentation_opens_with_a_noun_or_a_verb() {
    let mut found = Vec::new();
    for (path, text) in &sources() {
        for (line, sentence) in first_lines(text) {
            if let Some(riddle) = riddle(sentence) {
                found.push(format!(
                    "{path}:{line}: open with a noun or a verb, not '{riddle}'"
                ));
            }
        }
    }
    report(&found);
}

#[test]
fn riddles_are_told_from_nouns() {
    assert_eq!(riddle("What it does."), Some("What"));
    assert_eq!(riddle("The same, by threads."), Some("The same"));
    assert_eq!(riddle("Whole lines."), None);
    let text = "//! Room.\n//! What else.\n\n/// Who.\n/// Whose.\nfn f() {}\n";
    assert_eq!(first_lines(text), [(1, "Room."), (4, "Who.")]);
}
