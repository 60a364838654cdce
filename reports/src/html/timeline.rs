//! The timeline of the whole run: a picture for everybody, and a canvas for who has a script.

use lockstorm_checker::verdict::Witness;
use maud::{Markup, PreEscaped, html};

use super::page;
use crate::embed::PageData;
use crate::inert::visible;
use crate::model::RunRecord;
use crate::plots;
use crate::trace::Trace;

const HOW: &str = "A lane for each client. A bar is a hold, from the grant to the release; the \
                   line below it is the lease, up to its tick. Bands are faults. A framed, \
                   hatched box is a violation.";

/// The buttons: key, word, and what it does.
const BUTTONS: [(&str, &str, &str); 6] = [
    ("0", "Whole run", "Show the whole run (0)"),
    ("+", "+", "Zoom in (+)"),
    ("-", "\u{2212}", "Zoom out (-)"),
    ("p", "\u{2039} Violation", "Previous violation (p)"),
    ("n", "Violation \u{203a}", "Next violation (n)"),
    ("f", "Fault \u{203a}", "Next fault (f)"),
];

/// All keys, and what they do.
const KEYS: [(&str, &str); 12] = [
    ("0", "the whole run"),
    (
        "+ \u{2212}",
        "zoom; the wheel and two fingers do it about the cursor",
    ),
    ("\u{2190} \u{2192}", "move; so does a drag"),
    (
        "\u{2191} \u{2193}",
        "scroll the lanes, where there are more than fit",
    ),
    ("n p", "next and previous violation"),
    ("f", "next fault"),
    ("o", "true time or the order of events"),
    ("l", "only the lanes of what is selected, or all"),
    ("/", "filter; Escape leads back"),
    (
        "Enter",
        "select the operation in the middle; a click selects what it hits",
    ),
    (", .", "previous and next operation of the same client"),
    ("Escape", "select nothing"),
];

/// All signs: class, and what it means.
const SIGNS: [(&str, &str); 9] = [
    ("hold", "certain hold"),
    ("flight", "request in flight: the lock may be held or not"),
    ("lapsed", "held past its lease"),
    (
        "unanswered",
        "released, and nobody answered: until the lease ends",
    ),
    (
        "lease",
        "lease, with a tick where it may first end; then dashed",
    ),
    ("refused", "refused; a cross: it failed"),
    ("indeterminate", "no answer"),
    (
        "violation",
        "violation: hatched where certain, dashed where possible",
    ),
    ("fault", "fault"),
];

/// The section of the timeline.
pub(super) fn section(
    run: &RunRecord,
    trace: Result<&Trace, &str>,
    data: Option<&PageData>,
) -> Markup {
    let judged = run.analysis.properties.values();
    let witnesses: Vec<&Witness> = judged.flat_map(|judgement| &judgement.witnesses).collect();
    let body = match trace {
        Ok(trace) => {
            let picture = plots::whole(&witnesses, &run.analysis.faults, trace);
            html! {
                @if let Some(data) = data { (live(data)) }
                div #timeline-static {
                    (page::figure(&picture.drawing, picture.note.as_deref()))
                }
            }
        }
        Err(reason) => html! { p.warning { "No timeline: " (visible(reason)) } },
    };
    page::section("timeline", "Timeline", HOW, &body)
}

/// Renders what a script brings to life, and the history that it draws. Without one it stays
/// hidden.
fn live(data: &PageData) -> Markup {
    html! {
        @if let Some(note) = &data.note { p.note { (note) } }
        div #timeline-live hidden {
            (tools())
            div.beside {
            div #timeline-frame {
                canvas #timeline-overview aria-hidden="true" {}
                div.lanes {
                    canvas #timeline-canvas tabindex="0" role="application"
                        aria-label="Timeline" aria-describedby="timeline-status timeline-keys" {}
                    div #timeline-tip aria-hidden="true" hidden {}
                }
            }
            div #timeline-details role="region" aria-label="Details" hidden {}
            }
            (legend())
        }
        p #timeline-status role="status" {}
        // Letters of base64 only, so that nothing in it can end the element.
        script #timeline-data type="application/octet-stream" { (PreEscaped(&data.text)) }
    }
}

fn tools() -> Markup {
    html! {
        div.tools role="toolbar" aria-label="Timeline" {
            @for (key, word, title) in BUTTONS {
                button type="button" data-key=(key) title=(title) aria-label=(title) { (word) }
            }
            button #timeline-axis type="button" data-key="o" aria-pressed="false"
                title="Give each event the same room (o)" { "Event order" }
            button #timeline-only type="button" data-key="l" aria-pressed="false"
                title="Only the lanes of what is selected (l)" { "Only its lanes" }
            input #timeline-filter type="search" size="30" aria-label="Filter (/)"
                placeholder="Filter: client, lock or outcome" autocomplete="off"
                spellcheck="false";
        }
    }
}

fn legend() -> Markup {
    html! {
        details #timeline-keys {
            summary { "Keys and signs" }
            div.columns {
                dl.facts.wide {
                    @for (key, what) in KEYS {
                        dt { kbd { (key) } }
                        dd { (what) }
                    }
                }
                dl.facts.wide {
                    @for (class, what) in SIGNS {
                        dt { span class=(format!("sign {class}")) {} }
                        dd { (what) }
                    }
                }
            }
            p {
                "A filter takes words: " code { "a" } " is anything that has an a, "
                code { "client:a,b" } " two clients, " code { "lock:orders outcome:refused" }
                " both at once. Outcomes are such as " code { "granted acquire" } ", "
                code { "refused acquire" } ", " code { "not owner release" } " and "
                code { "unknown" } ". Zoomed out, darker means held for longer."
            }
        }
    }
}
