//! A hunt as Markdown.

use std::fmt::Write as _;

use super::escaped;
use crate::endurance::{breaking_number, coverage, finding, inherent, pace, tried};
use crate::model::{HuntRecord, Hunted};

/// A hunt as Markdown: for each lock what its promises endure, and what was found.
pub fn markdown_hunt(hunt: &HuntRecord) -> String {
    let mut text = "# Hunt\n\n".to_owned();
    let _ = writeln!(
        text,
        "The smallest number of faults that break each promise, as far as it was searched, on \
         real servers ({}), {}. What was not broken was kept in every trial that could tell, \
         which proves nothing about others.\n",
        escaped(&hunt.server),
        escaped(&hunt.started)
    );
    for hunted in &hunt.hunts {
        push(&mut text, &hunt.folder, hunted);
    }
    let _ = writeln!(text, "```sh\n{}\n```", hunt.rerun);
    text
}

fn push(text: &mut String, folder: &str, hunted: &Hunted) {
    let (lock, topology) = (escaped(&hunted.lock), escaped(&hunted.topology));
    let _ = writeln!(text, "## {lock} on {topology}\n");
    let _ = writeln!(text, "{}.\n", escaped(&pace(hunted)));
    for size in &hunted.sizes {
        let _ = writeln!(text, "- {}", coverage(size));
    }
    for (behaviour, reason) in &hunted.left_out {
        let (behaviour, reason) = (escaped(behaviour), escaped(reason));
        let _ = writeln!(text, "- not tried with {behaviour}: {reason}");
    }
    if let Some(error) = &hunted.ended_by {
        let _ = writeln!(text, "- ended early: {}", escaped(error));
    }
    let _ = writeln!(text, "\n| promise | broken with | tried |\n|---|---|---|");
    for endurance in &hunted.promises {
        let name = if endurance.is_promised {
            endurance.promise.name().to_owned()
        } else {
            format!("({})", endurance.promise.name())
        };
        let number = breaking_number(hunted, endurance);
        let inherent = inherent(endurance).map_or_else(String::new, |sentence| {
            format!("; fails {}", escaped(&sentence))
        });
        let _ = writeln!(
            text,
            "| {name} | {number}{inherent} | {} |",
            tried(endurance)
        );
    }
    text.push('\n');
    for found in &hunted.found {
        let _ = writeln!(text, "**{}**\n", escaped(&finding(found)));
        let _ = writeln!(text, "```sh\nlockstorm run {folder}/{}\n```\n", found.file);
        if !found.story.is_empty() {
            let _ = writeln!(text, "```text\n{}\n```\n", found.story);
        }
    }
    if !hunted.untold.is_empty() {
        let _ = writeln!(text, "Inconclusive trials:\n");
        for (reason, times) in &hunted.untold {
            let _ = writeln!(text, "- {times}: {}", escaped(reason));
        }
        text.push('\n');
    }
}
