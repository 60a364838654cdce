//! The verdict bar: what came of it, in one look and one sentence.

use lockstorm_checker::Verdict;
use maud::{Markup, html};

use crate::grid::run_verdict;
use crate::inert::visible;
use crate::model::{Outcome, RunRecord, SuiteRecord};
use crate::words;

/// Properties named beside the word; the list below has them all.
const NAMED_MAX: usize = 3;

/// Class of a verdict: its colours in the style sheet.
pub(super) const fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Valid => "valid",
        Verdict::Unknown => "unknown",
        Verdict::Violated => "violated",
    }
}

/// The shape that says the verdict without colour: an octagon, a ring, a diamond.
pub(super) fn icon(verdict: Verdict) -> Markup {
    let (outline, inside) = match verdict {
        Verdict::Violated => ("M8 1h8l7 7v8l-7 7H8l-7-7V8z", "M8 8l8 8M16 8l-8 8"),
        Verdict::Valid => (
            "M12 1a11 11 0 1 0 0 22a11 11 0 1 0 0-22z",
            "M7 12.5l3.5 3.5L17.5 8.5",
        ),
        Verdict::Unknown => (
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

const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Valid => "No violation found",
        Verdict::Unknown => "Unknown",
        Verdict::Violated => "Violated",
    }
}

/// What is violated and how often, or why nothing is known, beside the word.
fn what(run: &RunRecord, verdict: Verdict) -> Markup {
    let judged = run.analysis.properties.iter();
    let named: Vec<String> = judged
        .filter(|(_, judgement)| judgement.verdict == verdict)
        .map(|(property, judgement)| match (verdict, judgement.count) {
            (Verdict::Violated, count @ 2..) => {
                format!("{} {count}×", words::property(*property))
            }
            (Verdict::Violated, 0 | 1) | (Verdict::Unknown | Verdict::Valid, _) => {
                words::property(*property)
            }
        })
        .collect();
    let more = named.len().saturating_sub(NAMED_MAX);
    html! {
        @if verdict != Verdict::Valid && !named.is_empty() {
            span.what {
                " · " (named[..named.len() - more].join(", "))
                @if more > 0 { " and " (more) " more" }
            }
        }
    }
}

/// The first claim of a violated run; what any other is worth.
fn sentence(run: &RunRecord) -> String {
    if run_verdict(run) == Verdict::Valid {
        return "This run shows none; that does not prove that there is none.".to_owned();
    }
    let judged = run.analysis.properties.values();
    let mut witnesses = judged.flat_map(|judgement| &judgement.witnesses);
    match witnesses.next() {
        Some(witness) => format!("{}.", witness.claim),
        None => words::sentence(run),
    }
}

/// The bar of a run. `unread` says why the history that the verdict is of cannot be read.
pub(super) fn of_run(run: &RunRecord, unread: Option<&str>) -> Markup {
    let verdict = run_verdict(run);
    html! {
        section.verdict.(class(verdict)) id="verdict" aria-label="Verdict" {
            (icon(verdict))
            div {
                p.word { (word(verdict)) (what(run, verdict)) }
                p.sentence {
                    (visible(&sentence(run)))
                    @if verdict == Verdict::Violated { " " a href="#findings" { "How it came" } }
                }
                ul.expectations {
                    @for result in &run.expectations {
                        li.(class(result.actual)) {
                            span.glyph aria-hidden="true" { (words::glyph(result.actual)) }
                            (words::expectation(result))
                            @let judged = run.analysis.properties.get(&result.property);
                            @if let Some(count) = judged.map(|j| j.count).filter(|n| *n > 0) {
                                " (" (words::count(count, "violation")) ")"
                            }
                            @if !result.met { " " strong.flag { "not as expected" } }
                            @if let Some(reason) = judged.and_then(|j| j.reason.as_ref()) {
                                " — " (visible(reason))
                            }
                        }
                    }
                    @if let Some(sentence) = words::measured(&run.analysis) {
                        li { span.glyph aria-hidden="true" { "·" } (sentence) }
                    }
                }
                @if let Some(reason) = &run.stopped {
                    p.warning { "Stopped early: " (visible(reason)) }
                }
                @if let Some(reason) = unread {
                    p.warning { (words::UNCHECKED) ": " (visible(reason)) }
                }
                (outcome(run.outcome))
            }
            dl.facts {
                dt { "Lock" } dd { (visible(&run.labels.lock)) }
                dt { "Topology" } dd { (visible(&run.labels.topology)) }
                dt { "Hazard" } dd { (visible(&run.labels.hazard)) }
                dt { "Seed" } dd { (run.seed) }
                dt { "Started" } dd { (visible(&run.started)) }
                dt { "Duration" } dd { (format!("{:.1} s", run.duration_s)) }
            }
            (rerun(&run.rerun))
        }
    }
}

/// The bar of a suite.
pub(super) fn of_suite(suite: &SuiteRecord) -> Markup {
    let outcome_of = suite.outcome();
    let look = match outcome_of {
        Outcome::AsExpected => Verdict::Valid,
        Outcome::LivenessFailed | Outcome::Unknown => Verdict::Unknown,
        Outcome::Unexpected => Verdict::Violated,
    };
    let total = suite.runs.len() as u64;
    let count = |wanted: Verdict| {
        let with = suite
            .runs
            .iter()
            .filter(|run| run_verdict(&run.record) == wanted);
        with.count()
    };
    let met = suite
        .runs
        .iter()
        .filter(|run| run.record.outcome == Outcome::AsExpected)
        .count();
    html! {
        section.verdict.(class(look)) id="verdict" aria-label="Verdict" {
            (icon(look))
            div {
                p.word {
                    @match outcome_of {
                        Outcome::AsExpected => "Every run as expected",
                        Outcome::LivenessFailed => "A liveness bound was missed",
                        Outcome::Unknown => "Not decided",
                        Outcome::Unexpected => "Not as expected",
                    }
                }
                p.sentence {
                    (met) " of " (words::count(total, "run")) " as their scenarios expect: "
                    (count(Verdict::Violated)) " violated, "
                    (count(Verdict::Valid)) " without a violation found, "
                    (count(Verdict::Unknown)) " unknown" (words::not_reached(suite)) "."
                }
            }
            dl.facts {
                dt { "Runs" } dd { (total) }
                dt { "Seed" } dd { (suite.seed) }
                dt { "Started" } dd { (visible(&suite.started)) }
                dt { "Duration" } dd { (format!("{:.1} s", suite.duration_s)) }
            }
            (rerun(&suite.rerun))
        }
    }
}

fn outcome(outcome: Outcome) -> Markup {
    let met = outcome == Outcome::AsExpected;
    html! {
        p.outcome {
            "Against the scenario's expectation: "
            strong.flag[!met] { (words::outcome(outcome)) } "."
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
