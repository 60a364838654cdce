//! A hunt in a terminal: for each lock what its promises endure, and the stories of what was found.

use super::paint::Tone;
use super::table::{Table, wrapped};
use super::text::{TerminalOptions, Text};
use crate::endurance::{breaking_number, coverage, finding, inherent, pace, tried};
use crate::inert::visible;
use crate::model::{Endurance, Found, HuntRecord, Hunted};
use crate::words;

/// Reasons that are named why trials told nothing.
const REASONS_MAX: usize = 5;

/// A hunt as text.
pub fn terminal_hunt(hunt: &HuntRecord, options: TerminalOptions) -> String {
    let mut text = Text::new(options);
    for hunted in &hunt.hunts {
        push_lock(&mut text, &hunt.folder, hunted);
    }
    text.ending("repeat", Tone::Plain, &hunt.rerun);
    text.done()
}

fn push_lock(text: &mut Text, folder: &str, hunted: &Hunted) {
    let title = format!("{} on {}", hunted.lock, hunted.topology);
    text.line(Tone::Heading, &title);
    text.line(Tone::Quiet, &pace(hunted));
    for size in &hunted.sizes {
        text.indented(2, Tone::Quiet, &coverage(size));
    }
    for (behaviour, reason) in &hunted.left_out {
        let sentence = format!("not tried with {behaviour}: {reason}");
        text.indented(2, Tone::Quiet, &sentence);
    }
    if let Some(error) = &hunted.ended_by {
        text.indented(2, Tone::Open, &format!("ended early: {error}"));
    }
    text.blank();
    for found in &hunted.found {
        push_finding(text, folder, found);
    }
    text.push(&table(hunted).render(text.width, text.paint));
    text.blank();
    for endurance in &hunted.promises {
        if let Some(sentence) = inherent(endurance) {
            let sentence = format!("○ {} fails {sentence}", endurance.promise.name());
            text.indented(2, Tone::Plain, &sentence);
        }
    }
    push_untold(text, hunted);
    text.blank();
}

fn push_finding(text: &mut Text, folder: &str, found: &Found) {
    let tone = if found.is_promised && found.is_confirmed() {
        Tone::Bad
    } else {
        Tone::Plain
    };
    let sign = if found.is_confirmed() { "✗" } else { "?" };
    text.line(tone, &format!("{sign} {}", finding(found)));
    for line in found.story.lines().skip(1) {
        text.push(&visible(line));
        text.blank();
    }
    // In one piece, to be copied.
    text.push(&visible(&format!("  script {folder}/{}", found.file)));
    text.blank();
    text.blank();
}

/// The promises, with the smallest number of faults that break each.
fn table(hunted: &Hunted) -> Table {
    let header = ["promise", "broken with", "tried"];
    let row = |endurance: &Endurance| {
        let name = if endurance.is_promised {
            endurance.promise.name().to_owned()
        } else {
            format!("({})", endurance.promise.name())
        };
        let tone = match endurance.broken_with {
            Some(_) if endurance.is_promised => Tone::Bad,
            _ => Tone::Plain,
        };
        vec![
            wrapped(tone, &name),
            wrapped(tone, &breaking_number(hunted, endurance)),
            tried(endurance)
                .split("; ")
                .map(|part| (Tone::Quiet, part.to_owned()))
                .collect(),
        ]
    };
    Table {
        header: header.map(|name| wrapped(Tone::Heading, name)).into(),
        rows: hunted.promises.iter().map(row).collect(),
    }
}

/// The commonest reasons why trials told nothing.
fn push_untold(text: &mut Text, hunted: &Hunted) {
    let mut reasons: Vec<(&String, &usize)> = hunted.untold.iter().collect();
    reasons.sort_by_key(|(_, times)| std::cmp::Reverse(**times));
    for (reason, times) in reasons.iter().take(REASONS_MAX) {
        let trials = words::count(**times as u64, "trial");
        let sentence = format!("? {trials} inconclusive: {reason}");
        text.indented(2, Tone::Quiet, &sentence);
    }
    let others: usize = reasons
        .iter()
        .skip(REASONS_MAX)
        .map(|(_, times)| **times)
        .sum();
    if others > 0 {
        let trials = words::count(others as u64, "more trial");
        let sentence = format!("? {trials} inconclusive; the report has the reasons");
        text.indented(2, Tone::Quiet, &sentence);
    }
}
