//! The head of a page: whether what was expected came, in one look, and what was found.

use lockstorm_checker::Verdict;
use maud::{Markup, html};

use crate::finding::Findings;
use crate::head::{Head, Sign, Standing, expectation};
use crate::inert::visible;
use crate::model::{RunRecord, SuiteRecord, run_verdict};
use crate::words;

/// Class of a sign: its colours in the style sheet.
pub(super) const fn class(sign: Sign) -> &'static str {
    match sign {
        Sign::Good => "good",
        Sign::Open => "open",
        Sign::Bad => "bad",
    }
}

/// The shape that says it without colour: an octagon, a ring, a diamond.
pub(super) fn icon(sign: Sign) -> Markup {
    let (outline, inside) = match sign {
        Sign::Bad => ("M8 1h8l7 7v8l-7 7H8l-7-7V8z", "M8 8l8 8M16 8l-8 8"),
        Sign::Good => (
            "M12 1a11 11 0 1 0 0 22a11 11 0 1 0 0-22z",
            "M7 12.5l3.5 3.5L17.5 8.5",
        ),
        Sign::Open => (
            "M12 0.5L23.5 12L12 23.5L0.5 12z",
            "M9.2 9.4a2.8 2.8 0 1 1 4.2 2.5c-1 .6-1.4 1.1-1.4 2.1M12 17.2v.2",
        ),
    };
    html! {
        svg.icon viewBox="0 0 24 24" aria-hidden="true" {
            path.shape d=(outline) {}
            path.sign d=(inside) {}
        }
    }
}

/// Tells whether what was expected came, as a cell of a table.
pub(super) fn outcome(head: &Head) -> Markup {
    let sign = head.standing.sign();
    html! {
        td.outcome.(class(sign)) {
            span.glyph aria-hidden="true" { (sign.glyph()) } (head.standing.word())
        }
    }
}

/// Both axes in a line.
fn word(head: &Head) -> Markup {
    html! {
        p.word {
            (head.standing.word())
            span.what { " · " (visible(&head.found)) }
        }
    }
}

/// The first claim of a violated run, of what was not expected if there is any; what a run without
/// a violation is worth.
fn sentence(run: &RunRecord) -> Option<String> {
    if run_verdict(run) == Verdict::Valid {
        let text = "This run shows no violation; that does not prove that there is none.";
        return Some(text.to_owned());
    }
    let found = Findings::of_run(run).told;
    let unmet = found.iter().find(|finding| finding.is_unexpected());
    let told = unmet.or(found.first())?;
    Some(format!("{}.", told.witness.claim))
}

/// The bar of a run. `unread` says why the history that the verdict is of cannot be read.
pub(super) fn of_run(run: &RunRecord, unread: Option<&str>) -> Markup {
    let head = Head::of_run(run);
    let sign = head.standing.sign();
    html! {
        section.verdict.(class(sign)) id="verdict" aria-label="Outcome" {
            (icon(sign))
            div {
                (word(&head))
                @if let Some(sentence) = sentence(run) {
                    p.sentence {
                        (visible(&sentence))
                        @if run_verdict(run) == Verdict::Violated {
                            " " a href="#findings" { "See how it happened" }
                        }
                    }
                }
                ul.expectations {
                    @for result in &run.expectations {
                        @let sign = Standing::of_result(run, result).sign();
                        li.(class(sign)) {
                            span.glyph aria-hidden="true" { (sign.glyph()) }
                            (expectation(run, result))
                            @let judged = run.analysis.properties.get(&result.property);
                            @if let Some(count) = judged.map(|j| j.count).filter(|n| *n > 0) {
                                " (" (words::count(count, "violation")) ")"
                            }
                            @if let Some(reason) = judged.and_then(|j| j.reason.as_ref()) {
                                " — " (visible(reason))
                            }
                        }
                    }
                    @for sentence in words::measured(&run.analysis) {
                        li { span.glyph aria-hidden="true" { "·" } (sentence) }
                    }
                }
                @if let Some(reason) = &run.stopped {
                    p.warning { "Stopped early: " (visible(reason)) }
                }
                @if let Some(reason) = unread {
                    p.warning { (words::UNCHECKED) ": " (visible(reason)) }
                }
            }
            dl.facts {
                @if !run.without_scenario {
                    dt { "Lock" } dd { (visible(&run.labels.lock)) }
                    dt { "Topology" } dd { (visible(&run.labels.topology)) }
                    dt { "Hazard" } dd { (visible(&run.labels.hazard)) }
                    dt { "Seed" } dd { (run.seed) }
                    dt { "Started" } dd { (visible(&run.started)) }
                }
                dt { "Duration" } dd { (format!("{:.1} s", run.duration_s)) }
            }
            (rerun(&run.rerun))
        }
    }
}

/// The bar of a suite.
pub(super) fn of_suite(suite: &SuiteRecord) -> Markup {
    let head = Head::of_suite(suite);
    let sign = head.standing.sign();
    html! {
        section.verdict.(class(sign)) id="verdict" aria-label="Outcome" {
            (icon(sign))
            div { (word(&head)) }
            dl.facts {
                dt { "Runs" } dd { (suite.runs.len()) }
                dt { "Seed" } dd { (suite.seed) }
                dt { "Started" } dd { (visible(&suite.started)) }
                dt { "Duration" } dd { (format!("{:.1} s", suite.duration_s)) }
            }
            (rerun(&suite.rerun))
        }
    }
}

/// The command that repeats it; the button shows itself where there is JavaScript.
fn rerun(command: &str) -> Markup {
    html! {
        div.rerun {
            span.label { "Repeat" }
            code { (visible(command)) }
            button.copy type="button" hidden { "Copy" }
        }
    }
}
