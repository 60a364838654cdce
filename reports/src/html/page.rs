//! The frame of a page, and the fixed order of its sections.

use std::borrow::Cow;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as BASE64;
use lockstorm_checker::Nanos;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};

use super::script::SCRIPTS;
use super::{
    assessment, changed, clocks, coverage, environment, fates, faults, findings, handoff, latency,
    matrix, runs, timeline, topology, verdict,
};
use crate::assessment::is_assessment;
use crate::embed::PageData;
use crate::fates::Fates;
use crate::finding::Findings;
use crate::inert::visible;
use crate::measures::Measures;
use crate::model::{Changes, RunRecord, SuiteRecord};
use crate::recorded::History;
use crate::{plots, words};

/// Nothing is fetched, nothing is sent: style, script and pictures are in the page. Pictures have
/// styles in their attributes.
const POLICY: &str = "default-src 'none'; base-uri 'none'; form-action 'none'; \
                      style-src 'unsafe-inline'";

/// Kind of page, from which its policy and its script follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// Of a run or a suite.
    Report,
    /// Of a folder of runs.
    Index,
}

impl Frame {
    /// Our own script runs, known by its digest, and no other does, should one ever get in.
    fn policy(self, script: &str) -> String {
        let images = match self {
            Self::Report => "data:",
            // The list of runs shows their pictures, which lie beside it.
            Self::Index => "'self' file:",
        };
        let digest = BASE64.encode(Sha256::digest(script));
        format!("{POLICY}; script-src 'sha256-{digest}'; img-src {images}")
    }

    const fn scripts(self) -> &'static [&'static str] {
        match self {
            Self::Report => &SCRIPTS,
            Self::Index => &[
                include_str!("script/page.js"),
                include_str!("script/index.js"),
            ],
        }
    }
}

/// Content of a run folder besides its record.
pub(crate) struct RunSources<'a> {
    /// The history, or why there is none.
    pub(crate) history: Result<&'a History, &'a str>,
    /// Measures of the run.
    pub(crate) measures: Option<&'a Measures<'a>>,
    /// Data for the canvas of the timeline.
    pub(crate) data: Option<&'a PageData>,
    /// Text of `scenario.toml`.
    pub(crate) scenario: Option<&'a str>,
}

/// The page of one run.
pub(crate) fn run_page(run: &RunRecord, sources: &RunSources) -> String {
    let trace = sources.history.map(|history| &history.trace);
    let close = sources.history.ok().map(|history| &history.close);
    let end = trace.map_or_else(
        |_| Nanos((run.duration_s.max(0.0) * 1e9) as u64),
        |trace| trace.end,
    );
    let clocks = clocks::section(run, end);
    let entries = [
        ("findings", "Findings"),
        ("timeline", "Timeline"),
        ("faults", "Faults"),
        ("topology", "Topology"),
        ("latency", "Latency"),
        ("hand-off", "Hand-off"),
        ("clocks", "Clocks"),
        ("coverage", "Coverage"),
        ("environment", "Environment"),
    ];
    let entries: Vec<(&str, &str)> = entries
        .into_iter()
        .filter(|(id, _)| *id != "clocks" || clocks.is_some())
        .collect();
    let found = Findings::of_run(run);
    let body = html! {
        (header(&run.scenario, &run.description))
        (verdict::of_run(run, sources.history.err()))
        (contents(run.changed.as_ref(), &entries))
        (changed::section(run.changed.as_ref()))
        (findings::section(&found, |_| sources.history.ok().map(Cow::Borrowed)))
        (timeline::section(run, trace, sources.data))
        (faults::section(run))
        (topology::section(run, close))
        (latency::section(run, sources.measures))
        (handoff::section(run, sources.measures))
        (clocks.unwrap_or_default())
        (coverage::section(run))
        (environment::of_run(run, sources.scenario, &left_out(&found, run)))
    };
    let title = format!("{} · {}", run.scenario, words::cell_name(&run.labels));
    page(&title, &body)
}

/// Lists what is not on the page of a run, though it was found.
fn left_out(found: &Findings, run: &RunRecord) -> Vec<String> {
    let mut notes = Vec::new();
    if found.left_out() > 0 {
        let all = found.total;
        notes.push(format!("{} of {all} findings", found.left_out()));
    }
    for (property, judgement) in &run.analysis.properties {
        let kept = judgement.witnesses.len() as u64;
        if judgement.count > kept {
            notes.push(format!(
                "the stories of {} of {} violations of {}, which were counted only",
                judgement.count - kept,
                judgement.count,
                words::property(*property)
            ));
        }
    }
    notes
}

/// The page of a suite. `history` gives that of a run in its folder, if it can be read.
pub(crate) fn suite_page(
    suite: &SuiteRecord,
    history: impl Fn(&str, &RunRecord) -> Option<History>,
) -> String {
    let found = Findings::of_suite(suite);
    let is_assessment = is_assessment(suite);
    let tables: &[(&str, &str)] = if is_assessment {
        &[("promises", "Promises"), ("comparison", "Comparison")]
    } else {
        &[("matrix", "Comparison")]
    };
    let others = [
        ("findings", "Findings"),
        ("runs", "Runs"),
        ("environment", "Environment"),
    ];
    let entries: Vec<(&str, &str)> = tables.iter().copied().chain(others).collect();
    let body = html! {
        (header(&suite.name, &suite.description))
        (verdict::of_suite(suite))
        (contents(suite.changed.as_ref(), &entries))
        (changed::section(suite.changed.as_ref()))
        @if is_assessment {
            @let fates = Fates::new(suite);
            (assessment::section(suite, &fates))
            (fates::section(suite, &fates))
        } @else {
            (matrix::section(suite))
        }
        (findings::section(&found, |finding| {
            history(finding.folder?, finding.run).map(Cow::Owned)
        }))
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

pub(super) fn header(title: &str, description: &str) -> Markup {
    html! {
        header.top {
            p.brand {
                "Lockstorm report"
                button.theme type="button" hidden { "Switch theme" }
            }
            h1 { (visible(title)) }
            @if !description.is_empty() {
                p.description { (visible(description)) }
            }
        }
    }
}

fn contents(changed: Option<&Changes>, entries: &[(&str, &str)]) -> Markup {
    html! {
        nav aria-label="Sections" {
            ul {
                @if changed.is_some() { li { a href="#changed" { "What changed" } } }
                @for (id, title) in entries {
                    li { a href=(format!("#{id}")) { (title) } }
                }
            }
        }
    }
}

/// The whole document. The one place with markup that is not escaped: our own style and script.
pub(super) fn page(title: &str, body: &Markup) -> String {
    framed(title, body, Frame::Report)
}

/// Renders a page of any kind.
pub(super) fn framed(title: &str, body: &Markup, frame: Frame) -> String {
    let script = frame.scripts().concat();
    let document = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(frame.policy(&script));
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
                script { (PreEscaped(&script)) }
            }
        }
    };
    document.into_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embed::{Extent, page_data};
    use crate::sample;

    fn run_page_of(run: &RunRecord, scenario: &str) -> String {
        let history = sample::failover();
        let data = page_data(run, &sample::failover_recorded(), &Extent::default());
        let sources = RunSources {
            history: Ok(&history),
            measures: Some(&Measures::of(&history.trace)),
            data: Some(&data),
            scenario: Some(scenario),
        };
        run_page(run, &sources)
    }

    /// One element a line, so that a change of the page shows where it is.
    fn lines(page: &str) -> String {
        let recorded = sample::failover_recorded();
        let data = page_data(&sample::failover_run(), &recorded, &Extent::default());
        page.replace(&data.text, "(data)")
            .replace(include_str!("style.css"), "(style)")
            .replace(&SCRIPTS.concat(), "(script)")
            .replace(&BASE64.encode(Sha256::digest(SCRIPTS.concat())), "(digest)")
            .replace("><", ">\n<")
    }

    #[test]
    fn the_page_of_a_violated_run() {
        let page = run_page_of(&sample::failover_run(), sample::FAILOVER_SCENARIO);
        insta::assert_snapshot!(lines(&page));
    }

    #[test]
    fn the_page_of_a_suite() {
        let history = |_: &str, _: &RunRecord| Some(sample::failover());
        insta::assert_snapshot!(lines(&suite_page(&sample::suite(), history)));
    }

    #[test]
    fn hostile_text_is_inert_everywhere() {
        let run = run_page_of(&sample::hostile_run(), sample::HOSTILE);
        let suite = suite_page(&sample::hostile_suite(), |_, _| None);
        for page in [run, suite] {
            assert!(
                page.contains("&lt;img src=x onerror=alert(1)&gt;"),
                "it is shown"
            );
            assert!(!page.contains("<img"), "and is no element");
            // The script and, on the page of a run, its data.
            let own = 1 + page.matches("id=\"timeline-data\"").count();
            assert_eq!(page.matches("</script").count(), own, "only our own end");
            assert_eq!(page.matches("<script").count(), own, "only our own begin");
            assert!(!page.contains(['\u{1b}', '\u{202e}']));
            assert!(!page.contains("href=\"javascript:"));
        }
    }

    #[test]
    fn a_hostile_history_is_inert_in_the_pictures() {
        let mut history = sample::failover();
        let trace = &mut history.trace;
        trace.holds[0].client = sample::HOSTILE.into();
        trace.holds[0].key = sample::HOSTILE.into();
        trace.requests[1].client = sample::HOSTILE.into();
        for deed in &mut history.close.deeds {
            deed.client = sample::HOSTILE.to_owned();
            deed.key = sample::HOSTILE.to_owned();
            deed.asked = sample::HOSTILE.to_owned();
            deed.answer.text = sample::HOSTILE.to_owned();
        }
        let sources = RunSources {
            history: Ok(&history),
            measures: Some(&Measures::of(&history.trace)),
            data: None,
            scenario: None,
        };
        let page = run_page(&sample::failover_run(), &sources);
        assert!(page.contains("&lt;/script&gt;"));
        assert!(!page.contains("<img"));
        assert_eq!(page.matches("</script").count(), 1);
    }

    #[test]
    fn a_page_needs_nothing_from_outside() {
        let page = run_page_of(&sample::failover_run(), sample::FAILOVER_SCENARIO);
        for outside in [
            "src=", "url(http", "@import", "<link", "http://", "https://",
        ] {
            assert!(!page.contains(outside), "{outside}");
        }
        assert!(page.contains("default-src 'none'"));
    }

    #[test]
    fn only_the_script_of_the_page_may_run() {
        for page in [
            run_page_of(&sample::failover_run(), sample::FAILOVER_SCENARIO),
            suite_page(&sample::suite(), |_, _| None),
            framed("runs", &html! {}, Frame::Index),
        ] {
            let inner = |from: &str, to: &str| {
                let rest = page.split_once(from).expect("it is there").1;
                rest.split_once(to).expect("it ends").0.to_owned()
            };
            let script = inner("<script>", "</script>");
            assert!(script.len() > 1_000 && !script.contains('\r'));
            let policy = inner("Content-Security-Policy\" content=\"", "\"");
            let digest = BASE64.encode(Sha256::digest(&script));
            assert!(
                policy.contains(&format!("script-src 'sha256-{digest}';")),
                "{policy}"
            );
            for part in [
                "base-uri 'none'",
                "form-action 'none'",
                "default-src 'none'",
            ] {
                assert!(policy.contains(part), "{part}: {policy}");
            }
        }
    }

    #[test]
    fn every_link_inside_the_page_leads_somewhere() {
        let page = run_page_of(&sample::failover_run(), sample::FAILOVER_SCENARIO);
        let links = page.split("href=\"#").skip(1);
        let targets: Vec<&str> = links.filter_map(|rest| rest.split('"').next()).collect();
        assert!(targets.len() >= 14, "contents and permalinks");
        // An event is no element: the timeline answers for it.
        let elements = targets.iter().filter(|to| !to.starts_with("event="));
        for target in elements {
            assert!(page.contains(&format!("id=\"{target}\"")), "{target}");
        }
    }

    #[test]
    fn no_page_calls_a_lock_safe_or_verified() {
        let run = run_page_of(&sample::control_run(), sample::FAILOVER_SCENARIO);
        let suite = suite_page(&sample::suite(), |_, _| None);
        for page in [run, suite] {
            // The policy of the page has the word 'unsafe-inline'.
            let text = page.replace("'unsafe-inline'", "").to_lowercase();
            assert!(!text.contains("safe") && !text.contains("verified"));
        }
    }
}
