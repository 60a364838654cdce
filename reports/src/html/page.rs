//! The frame of a page, and the fixed order of its sections.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{coverage, environment, faults, findings, matrix, measures, runs, timeline, verdict};
use crate::finding::Findings;
use crate::inert::visible;
use crate::model::{RunRecord, SuiteRecord};
use crate::plots;
use crate::trace::Trace;
use crate::words;

/// Nothing is fetched, nothing is sent: style, script and pictures are in the page.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
                      img-src data:";

/// What a run folder holds besides its record.
pub(crate) struct RunSources<'a> {
    /// The history, or why there is none.
    pub(crate) trace: Result<&'a Trace, &'a str>,
    /// Text of `scenario.toml`.
    pub(crate) scenario: Option<&'a str>,
}

/// The page of one run.
pub(crate) fn run_page(run: &RunRecord, sources: &RunSources) -> String {
    let trace = sources.trace.ok();
    let found = Findings::of_run(run);
    let body = html! {
        (header(&run.scenario, &run.description))
        (verdict::of_run(run))
        (contents(&[
            ("findings", "Findings"),
            ("timeline", "Timeline"),
            ("faults", "Faults"),
            ("latency", "Latency"),
            ("hand-off", "Hand-off"),
            ("coverage", "Coverage"),
            ("environment", "Environment"),
        ]))
        (findings::section(&found, |_| trace.cloned()))
        (timeline::section(run, sources.trace))
        (faults::section(run))
        (measures::latency_section(run, trace))
        (measures::handoff_section(trace))
        (coverage::section(&run.analysis.coverage))
        (environment::of_run(run, sources.scenario))
    };
    let title = format!("{} · {}", run.scenario, words::cell_name(&run.labels));
    page(&title, &body)
}

/// The page of a suite. `trace` gives the history of a run folder, if it can be read.
pub(crate) fn suite_page(suite: &SuiteRecord, trace: impl Fn(&str) -> Option<Trace>) -> String {
    let found = Findings::of_suite(suite);
    let body = html! {
        (header(&suite.name, &suite.description))
        (verdict::of_suite(suite))
        (contents(&[
            ("matrix", "Comparison"),
            ("findings", "Findings"),
            ("runs", "Runs"),
            ("environment", "Environment"),
        ]))
        (matrix::section(suite))
        (findings::section(&found, |finding| finding.folder.and_then(&trace)))
        (runs::section(suite))
        (environment::of_suite(suite))
    };
    page(&suite.name, &body)
}

/// A section with its heading, permalink and the line on how to read it.
pub(super) fn section(id: &str, title: &str, how: &str, body: &Markup) -> Markup {
    html! {
        section id=(id) aria-labelledby=(format!("{id}-title")) {
            h2 id=(format!("{id}-title")) {
                (title)
                a.permalink href=(format!("#{id}")) aria-label=(format!("Link to {title}")) { "#" }
            }
            p.how { (how) }
            (body)
        }
    }
}

/// A picture that may be wider than a phone, with what had to be left out of it.
pub(super) fn figure(picture: &plots::Drawing, note: Option<&str>) -> Markup {
    html! {
        figure {
            div.picture { (plots::svg(picture)) }
            @if let Some(note) = note {
                figcaption { (visible(note)) }
            }
        }
    }
}

fn header(title: &str, description: &str) -> Markup {
    html! {
        header.top {
            p.brand {
                "Lockstorm report"
                button.theme type="button" hidden { "Light or dark" }
            }
            h1 { (visible(title)) }
            @if !description.is_empty() {
                p.description { (visible(description)) }
            }
        }
    }
}

fn contents(entries: &[(&str, &str)]) -> Markup {
    html! {
        nav aria-label="Sections" {
            ul {
                @for (id, title) in entries {
                    li { a href=(format!("#{id}")) { (title) } }
                }
            }
        }
    }
}

/// The whole document. The one place with markup that is not escaped: our own style and script.
fn page(title: &str, body: &Markup) -> String {
    let document = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (visible(title)) }
                style { (PreEscaped(include_str!("style.css"))) }
            }
            body {
                (plots::patterns())
                main {
                    (body)
                    footer {
                        "A run can show a violation; it can never show that there is none. "
                        "Lockstorm is inspired by Jepsen and not affiliated with it."
                    }
                }
                script { (PreEscaped(include_str!("script.js"))) }
            }
        }
    };
    document.into_string()
}
