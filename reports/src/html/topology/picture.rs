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
/// How far a link between two boxes of one row hangs down.
const SAG: f64 = 42.0;
/// Servers in the picture at the most.
const SERVERS_MAX: usize = 40;

const HOW: &str = "Clients above, servers below, lines for the links between them. Faults stand at \
                   what they hit: a dashed box answers nobody, a cross lies on a link. Roles are \
                   those of the start, changed by what faults and the servers themselves said; \
                   epochs are not recorded, and a change that nobody reported is not here. It \
                   shows the whole run or, where the page runs scripts, what held in the view of \
                   the timeline.";

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

/// The way of a link, and the point in its middle.
struct Way {
    path: String,
    middle: (f64, f64),
}

/// A straight line, or an arc below the boxes between two of one row.
fn way(link: &Link, layout: &Layout) -> Option<Way> {
    let from = layout.middle_of(&link.ends.0)?;
    let to = layout.middle_of(&link.ends.1)?;
    let sag = if (from.1 - to.1).abs() < BOX.1 {
        SAG + (from.0 - to.0).abs() / 12.0
    } else {
        0.0
    };
    let control = (
        f64::midpoint(from.0, to.0),
        f64::midpoint(from.1, to.1) + 2.0 * sag,
    );
    Some(Way {
        path: format!(
            "M{:.1} {:.1}Q{:.1} {:.1} {:.1} {:.1}",
            from.0, from.1, control.0, control.1, to.0, to.1
        ),
        middle: (control.0, control.1 - sag),
    })
}

fn line(link: &Link, layout: &Layout) -> Markup {
    let class = match link.kind {
        LinkKind::Requests => "requests",
        LinkKind::Replication => "replication",
        LinkKind::Watch => "watch",
    };
    html! {
        @if let Some(way) = way(link, layout) {
            path.link.(class) d=(way.path) {}
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

/// The cross on a link that faults hit, with their ids; their kinds are in the section of faults.
fn cross(link: &Link, layout: &Layout) -> Markup {
    let id = |span: &Span| Span {
        text: span.text.split(' ').next().unwrap_or_default().to_owned(),
        ..span.clone()
    };
    let ids: Vec<Span> = link.faults.iter().map(id).collect();
    let way = way(link, layout).filter(|_| !ids.is_empty());
    html! {
        @if let Some(Way { middle: (x, y), .. }) = way {
            g.cut data-cut=(data(&ids)) {
                title { (visible(&named(&link.faults))) }
                path d=(format!("M{:.1} {:.1}l12 12m0 -12l-12 12", x - 6.0, y - 6.0)) {}
                text.fault x=(format!("{x:.1}")) y=(format!("{:.1}", y + 20.0))
                    data-faults=(data(&ids)) { (visible(&named(&ids))) }
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
    use lockstorm_checker::history::FaultTarget;

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
        let node = run.environment.nodes[0].name.as_str().into();
        run.analysis.faults[0].target = FaultTarget::Node(node);
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
