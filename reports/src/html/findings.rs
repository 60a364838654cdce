//! Findings: a card for each kind of violation, with its story and its pictures.

use std::borrow::Cow;

use lockstorm_checker::verdict::StepKind;
use maud::{Markup, html};

use super::page::{figure, section as page_section};
use super::verdict::icon;
use super::{evidence, link, operations};
use crate::closeup::CloseUp;
use crate::finding::{Finding, Findings};
use crate::head::Sign;
use crate::inert::visible;
use crate::recorded::History;
use crate::trace::Trace;
use crate::{plots, story, words};

/// Cards that are open when the page is.
const OPEN_MAX: usize = 1;
/// Further runs that a card links to.
const ALSO_MAX: usize = 24;

const HOW: &str = "Each card is one kind of violation: the claim, a picture of it, the steps that \
                   led to it with the events that prove each, who spoke to whom, and why it is \
                   not allowed.";

/// The section of findings; `history` gives what is known of the history behind one.
pub(super) fn section<'a>(
    findings: &Findings,
    history: impl Fn(&Finding) -> Option<Cow<'a, History>>,
) -> Markup {
    let body = html! {
        @if findings.total == 0 {
            p.none { "No violation was found." }
        }
        @for (at, finding) in findings.told.iter().enumerate() {
            (card(at + 1, finding, history(finding).as_deref()))
        }
        @if findings.left_out() > 0 {
            p.warning {
                "Showing only the first " (findings.told.len()) " of " (findings.total)
                " findings; results.json has more."
            }
        }
    };
    page_section("findings", "Findings", HOW, &body)
}

fn card(number: usize, finding: &Finding, history: Option<&History>) -> Markup {
    let witness = finding.witness;
    let faults = &finding.run.analysis.faults;
    let trace = match history {
        Some(history) => Cow::Borrowed(&history.trace),
        None => Cow::Owned(Trace::of_witness(witness)),
    };
    let story = plots::whole_story(witness, faults, &trace);
    let picture = plots::around(witness, faults, &trace);
    let close = history.map(|history| &history.close);
    let times = finding.here + finding.also.len();
    html! {
        details.card id=(format!("finding-{number}")) open[number <= OPEN_MAX] {
            summary {
                (icon(Sign::Bad))
                span.property { (words::property(finding.property)) }
                span.chip { @if witness.certain { "certain" } @else { "possible" } }
                span.chip.flag[finding.is_unexpected()] { (finding.against()) }
                @if times > 1 { span.chip { "× " (times) } }
                span.place {
                    @if finding.folder.is_some() {
                        (visible(&words::cell_name(&finding.run.labels))) " · "
                    }
                    (visible(&witness.signature))
                }
                span.claim { (visible(&witness.claim)) }
            }
            @if let Some(story) = story {
                p.how { "From the first step of the story to its last; below it, the violation." }
                (figure(&story.drawing, story.note.as_deref()))
            }
            (figure(&picture.drawing, picture.note.as_deref()))
            (steps(finding))
            (spacetime(finding, close))
            (operations::tables(finding, close))
            (why(finding, number == 1))
            (blame(finding))
            (remedies(finding))
            (elsewhere(finding))
        }
    }
}

fn steps(finding: &Finding) -> Markup {
    let witness = finding.witness;
    html! {
        h3 { "What happened" }
        ol.story {
            @for (line, step) in story::lines(witness).iter().zip(&witness.story) {
                li .contradiction[step.kind == StepKind::Contradiction]
                    .inferred[!step.certain] {
                    span.number { (line.number) }
                    span.time { (line.time) }
                    div {
                        (line.text)
                        @if !line.change.is_empty() { span.change { (line.change) } }
                        @if !step.evidence.is_empty() {
                            span.evidence { (evidence::links(&step.evidence, finding.folder)) }
                        }
                    }
                }
            }
        }
    }
}

/// The faults that it is blamed on, and those that were active too.
fn blame(finding: &Finding) -> Markup {
    html! {
        @if let Some(sentence) = story::blame(&finding.scene()) { p.blame { (sentence) } }
    }
}

/// Renders the messages, in the order of events.
fn spacetime(finding: &Finding, close: Option<&CloseUp>) -> Markup {
    let picture = plots::spacetime(&finding.scene(), close);
    html! {
        @if let Some(picture) = picture {
            h3 { "Who spoke to whom" }
            p.how {
                "A line for each actor, time from top to bottom, one event a row. A thick bar is a \
                 hold, a cross is a fault, a dashed line is an actor that answers nobody."
            }
            (figure(&picture.drawing, picture.note.as_deref()))
        }
    }
}

/// Renders what would have prevented it, where the run shows it.
fn remedies(finding: &Finding) -> Markup {
    let remedies = story::remedies(&finding.scene());
    html! {
        @if !remedies.is_empty() {
            h3 { (story::CURES) }
            ul.remedies {
                @for (sentence, events) in &remedies {
                    li {
                        (sentence) " "
                        span.evidence { (evidence::links(events, finding.folder)) }
                    }
                }
            }
        }
    }
}

/// The property in one line, and its long text, which is open on the first card.
fn why(finding: &Finding, open: bool) -> Markup {
    let (count, kept) = (
        finding.judgement.count,
        finding.judgement.witnesses.len() as u64,
    );
    html! {
        h3 { "Why this is not allowed" }
        p.why {
            "It must never happen that " (finding.property.summary()) "."
        }
        details.definition open[open] {
            summary { "Definition, whose fault it is, and what to do" }
            pre tabindex="0" { (finding.property.explain()) }
        }
        @if count > kept {
            p.why {
                "There are " (count) " violations of this property in the run; the engine '"
                (visible(&finding.judgement.engine)) "' kept a witness of the first " (kept) "."
            }
        }
    }
}

/// The run's own report, and the other runs of the cell that show the same.
fn elsewhere(finding: &Finding) -> Markup {
    html! {
        @if let Some(folder) = finding.folder {
            p.elsewhere {
                a href=(link::report_of(folder)) { "Report of this run" }
                " · repeat: " code { (visible(&finding.run.rerun)) }
            }
        }
        @if finding.here > 1 {
            p.elsewhere {
                "The run has " (finding.here) " witnesses of this kind; this is the first. "
                "The others are in results.json."
            }
        }
        @if !finding.also.is_empty() {
            p.elsewhere {
                "The same kind is found in "
                (words::count(finding.also.len() as u64, "more run")) ": "
                @for run in finding.also.iter().take(ALSO_MAX) {
                    a href=(link::report_of(&run.folder)) { "seed " (run.record.seed) } " "
                }
                @if finding.also.len() > ALSO_MAX { "…" }
            }
        }
    }
}
