//! An assessment as Markdown: the promises of each lock, and what broke them.

use std::fmt::Write as _;

use super::escaped;
use crate::assessment::{assessments, causes};
use crate::endurance;
use crate::fates::Fates;
use crate::left_out;
use crate::model::SuiteRecord;
use crate::standing::standings;
use crate::words;

/// Appends the table of each lock.
pub(super) fn push(text: &mut String, suite: &SuiteRecord) {
    let fates = Fates::new(suite);
    for standing in standings(&fates) {
        let (lock, topology) = (escaped(standing.lock), escaped(standing.topology));
        let sentences = escaped(&standing.sentences.join(". "));
        let _ = writeln!(text, "- **{lock} on {topology}** {sentences}.");
    }
    text.push('\n');
    push_endurance(text, &fates);
    for lock in assessments(suite) {
        let _ = writeln!(text, "## {}\n", escaped(lock.lock));
        text.push_str("| promise |");
        for topology in &lock.topologies {
            let _ = write!(text, " {} |", escaped(topology));
        }
        text.push('\n');
        text.push_str(&"|---".repeat(lock.topologies.len() + 1));
        text.push_str("|\n");
        for row in &lock.promises {
            let _ = write!(text, "| {} |", row.promise.name());
            for at in 0..row.tallies.len() {
                let _ = write!(text, " {} |", row.words(at));
            }
            text.push('\n');
        }
        text.push('\n');
        for row in &lock.promises {
            let causes = causes(row);
            if !causes.is_empty() {
                let verb = if row.is_promised {
                    "is broken by"
                } else {
                    "is not promised, and would be broken by"
                };
                let _ = writeln!(
                    text,
                    "- {} {verb}: {}",
                    row.promise.name(),
                    escaped(&causes)
                );
            }
        }
        for inherent in &lock.inherent {
            let _ = writeln!(
                text,
                "- {} is inherent in: {}. {}",
                words::property(inherent.property),
                escaped(&inherent.hazards.join("; ")),
                escaped(inherent.reason)
            );
        }
        for undecided in lock.undecided() {
            let _ = writeln!(text, "- {}", escaped(&undecided.sentence()));
        }
        for sentence in left_out::sentences(suite, lock.lock) {
            let _ = writeln!(text, "- {}", escaped(&sentence));
        }
        text.push('\n');
    }
}

/// Appends the fewest faults that break each promise, where a lock was hunted.
fn push_endurance(text: &mut String, fates: &Fates) {
    if fates.endurance.is_empty() {
        return;
    }
    let _ = writeln!(text, "## {}\n", endurance::NUMBERS);
    let _ = writeln!(text, "{}.\n", endurance::NUMBERS_MEANING);
    text.push_str("| promise |");
    for column in &fates.columns {
        let (lock, topology) = (escaped(column.lock), escaped(column.topology));
        let _ = write!(text, " {lock} on {topology} |");
    }
    text.push('\n');
    text.push_str(&"|---".repeat(fates.columns.len() + 1));
    text.push_str("|\n");
    for row in &fates.endurance {
        let _ = write!(text, "| {} |", row.promise.name());
        for endured in &row.cells {
            let _ = write!(text, " {} |", endurance::cell(endured.as_ref()));
        }
        text.push('\n');
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use crate::markdown::markdown_suite;
    use crate::sample;

    #[test]
    fn an_assessment_is_a_table_of_promises_for_each_lock() {
        insta::assert_snapshot!(markdown_suite(&sample::assessment()));
    }
}
