//! Changes against a baseline.

use maud::{Markup, html};

use super::{page, table};
use crate::inert::visible;
use crate::model::{Change, ChangeState, Changes};
use crate::words;

/// Rows of the table; results.json has them all.
const ROWS_MAX: usize = 200;

const HOW: &str = "Findings of this report beside those of an earlier one, matched by lock, \
                   topology, hazard, property and kind. Resolved means that nobody found it this \
                   time, in runs that could have shown it. Rare is what at most one run in five \
                   of a cell shows.";

const COLUMNS: [&str; 5] = ["Change", "Property", "Finding", "Now", "Before"];

/// The section of changes; nothing at all without a baseline.
pub(super) fn section(changes: Option<&Changes>) -> Markup {
    let Some(changes) = changes else {
        return Markup::default();
    };
    let body = html! {
        p.summary {
            "Against " strong { (visible(&changes.baseline)) } ": " (changes.summary()) "."
        }
        @if !changes.findings.is_empty() {
            div.scroll tabindex="0" {
                table.changes {
                    (table::head(&COLUMNS))
                    tbody {
                        @for change in changes.findings.iter().take(ROWS_MAX) { (row(change)) }
                    }
                }
            }
        }
        @if changes.findings.len() > ROWS_MAX {
            p.warning {
                "Showing only the first " (ROWS_MAX) " of " (changes.findings.len())
                " findings; results.json has more."
            }
        }
    };
    page::section("changed", "What changed", HOW, &body)
}

fn row(change: &Change) -> Markup {
    html! {
        tr {
            th.(class(change.state)) scope="row" {
                span.glyph aria-hidden="true" { (glyph(change.state)) } (change.words())
            }
            td { (words::property(change.property)) }
            td {
                (visible(&change.claim))
                span.detail.place {
                    (visible(&words::cell_name(&change.labels))) " · "
                    (visible(&change.signature))
                }
            }
            td.time { (change.now.words()) }
            td.time { (change.before.words()) }
        }
    }
}

/// Colours of a change: those of the verdict that it speaks for.
const fn class(state: ChangeState) -> &'static str {
    match state {
        ChangeState::New | ChangeState::Ongoing => "bad",
        ChangeState::Resolved => "good",
        ChangeState::Undecided => "open",
    }
}

const fn glyph(state: ChangeState) -> char {
    match state {
        ChangeState::New => '+',
        ChangeState::Ongoing => '=',
        ChangeState::Resolved => '−',
        ChangeState::Undecided => '?',
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::Record;
    use crate::sample;

    #[test]
    fn without_a_baseline_there_is_no_section() {
        assert_eq!(section(None).into_string(), "");
    }

    #[test]
    fn a_change_says_by_sign_and_word_what_became_of_it() {
        let before = Record::Suite(Box::new(sample::suite()));
        let changes = Changes::of_run(&sample::failover_run(), &before);
        insta::assert_snapshot!(section(Some(&changes)).into_string().replace("><", ">\n<"));
    }

    #[test]
    fn hostile_text_of_a_baseline_is_inert() {
        let before = Record::Run(Box::new(sample::hostile_run()));
        let changes = Changes::of_run(&sample::hostile_run(), &before);
        let text = section(Some(&changes)).into_string();
        assert!(text.contains("&lt;/script&gt;"));
        assert!(!text.contains("<img") && !text.contains("</script"));
    }
}
