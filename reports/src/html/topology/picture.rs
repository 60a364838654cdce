//! The picture as SVG. Each place that changes carries its times in a data attribute, from which
//! the script takes what held in the view; the words that are written here are those of the run.

use lockstorm_checker::Nanos;
use maud::{Markup, html};
use serde_json::json;

use super::super::page;
use super::layout::{BOX, Layout, Place};
use crate::closeup::CloseUp;
use crate::inert::visible;
use crate::model::RunRecord;
use crate::topology::{Link, LinkKind, Span, Topology};

/// Faults named at one place at once; the script has the same limit.
const NAMED_MAX: usize = 2;
/// Faults of one place that the page knows of; the section of faults has them all.
const SPANS_MAX: usize = 400;
/// Servers in the picture at the most.
const SERVERS_MAX: usize = 40;

const HOW: &str = "Clients above, servers below, lines for the links between them. Faults stand at \
                   what they hit: a dashed box answers nobody, a cross lies on a link. It shows \
                   the whole run or, where the page runs scripts, what held in the view of the \
                   timeline.";

/// The section; nothing where no server is known.
pub(in super::super) fn section(run: &RunRecord, close: Option<&CloseUp>) -> Markup {
    let topology = Topology::of(run, close);
    let servers = run.environment.nodes.len();
    let body = html! {
        @if servers == 0 {
            p.none { "Nobody wrote down which servers there were." }
        } @else if servers > SERVERS_MAX {
            p.none { (servers) " servers are too many for a picture." }
        } @else {
            div.picture { (picture(&topology)) }
            p.view role="status" { "The whole run." }
        }
        @if !topology.elsewhere.is_empty() {
            p.warning {
                "Not in the picture, for their targets were found when they were injected: "
                (visible(&topology.elsewhere.join(", "))) "."
            }
        }
    };
    page::section("topology", "Topology", HOW, &body)
}

fn picture(topology: &Topology) -> Markup {
    let layout = Layout::of(topology);
    let (width, height) = layout.size;
    let label = format!(
        "Topology: {} boxes of clients and servers, {} links",
        layout.places.len(),
        topology.links.len()
    );
    html! {
        svg.network viewBox=(format!("0 0 {width} {height}")) role="img" aria-label=(label) {
            @for link in &topology.links { (line(link, &layout)) }
            @for place in &layout.places { (box_of(place)) }
            // Above the boxes, or words would be hidden by them.
            @for link in &topology.links { (cross(link, &layout)) }
        }
    }
}

fn line(link: &Link, layout: &Layout) -> Markup {
    let ends = (
        layout.middle_of(&link.ends.0),
        layout.middle_of(&link.ends.1),
    );
    let class = match link.kind {
        LinkKind::Requests => "requests",
        LinkKind::Replication => "replication",
        LinkKind::Watch => "watch",
    };
    html! {
        @if let (Some(from), Some(to)) = ends {
            line.link.(class) x1=(from.0) y1=(from.1) x2=(to.0) y2=(to.1) {}
        }
    }
}

fn box_of(place: &Place) -> Markup {
    let actor = place.actor;
    let (x, y) = place.at;
    let (middle, _) = place.middle();
    let what = if place.is_client { "client" } else { "server" };
    html! {
        g.(what).absent[!actor.absences.is_empty()] data-absent=(data(&actor.absences)) {
            rect x=(x) y=(y) width=(BOX.0) height=(BOX.1) rx="6" {}
            text.name x=(middle) y=(y + 19.0) { (visible(&actor.name)) }
            @if place.is_client {
                text.role x=(middle) y=(y + 35.0) { "client" }
            } @else {
                text.role x=(middle) y=(y + 35.0) data-roles=(data(&actor.roles)) {
                    (visible(&roles(&actor.roles)))
                }
            }
            text.fault x=(middle) y=(y + BOX.1 + 15.0) data-faults=(data(&actor.faults)) {
                (visible(&named(&actor.faults)))
            }
        }
    }
}

/// The cross on a link that faults hit, nearer to its second end, where links lie less close.
fn cross(link: &Link, layout: &Layout) -> Markup {
    let ends = (
        layout.middle_of(&link.ends.0),
        layout.middle_of(&link.ends.1),
    );
    html! {
        @if let (Some(from), Some(to), false) = (ends.0, ends.1, link.faults.is_empty()) {
            @let (x, y) = (from.0 * 0.5 + to.0 * 0.5, from.1 * 0.5 + to.1 * 0.5);
            g.cut data-cut=(data(&link.faults)) {
                path d=(format!("M{} {}l12 12m0 -12l-12 12", x - 6.0, y - 6.0)) {}
                text.fault x=(x + 11.0) y=(y + 4.0) data-faults=(data(&link.faults)) {
                    (visible(&named(&link.faults)))
                }
            }
        }
    }
}

/// The times of a place in seconds, as `[[from, to or null, words], ...]`.
fn data(spans: &[Span]) -> String {
    let spans = spans.iter().take(SPANS_MAX).map(|span| {
        let to = span.to.map(Nanos::as_secs_f64);
        json!([span.from.as_secs_f64(), to, visible(&span.text)])
    });
    serde_json::Value::Array(spans.collect()).to_string()
}

fn roles(spans: &[Span]) -> String {
    let roles: Vec<&str> = spans.iter().map(|span| span.text.as_str()).collect();
    roles.join(" → ")
}

/// The first faults by name, the others counted.
fn named(spans: &[Span]) -> String {
    let names: Vec<&str> = spans.iter().map(|span| span.text.as_str()).collect();
    let shown = names[..names.len().min(NAMED_MAX)].join(", ");
    match names.len().saturating_sub(NAMED_MAX) {
        0 => shown,
        more => format!("{shown} + {more}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn page_of(run: &RunRecord) -> String {
        section(run, Some(&sample::failover_closeup())).into_string()
    }

    #[test]
    fn the_picture_has_roles_faults_and_their_times() {
        let page = page_of(&sample::failover_run());
        insta::assert_snapshot!(page.replace("><", ">\n<"));
    }

    #[test]
    fn more_faults_than_fit_at_a_place_are_counted() {
        let mut run = sample::failover_run();
        let kill = run.analysis.faults[1].clone();
        run.analysis.faults = (1..=9)
            .map(|n| {
                let mut kill = kill.clone();
                kill.id = format!("F{n}");
                kill
            })
            .collect();
        let page = page_of(&run);
        assert!(page.contains(">F1 kill, F2 kill + 7<"), "{page}");
    }

    #[test]
    fn hostile_names_are_inert_in_words_and_in_data() {
        let mut run = sample::hostile_run();
        run.analysis.faults[0].target = run.environment.nodes[0].name.clone();
        let page = page_of(&run);
        assert!(page.contains("&lt;/script&gt;"));
        assert!(!page.contains("<img") && !page.contains("</script"));
        assert!(!page.contains(['\u{1b}', '\u{202e}']));
    }

    #[test]
    fn a_run_without_servers_says_so() {
        let mut run = sample::failover_run();
        run.environment.nodes.clear();
        assert!(page_of(&run).contains("Nobody wrote down"));
    }
}
