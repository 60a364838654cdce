//! Writes a [`Drawing`] as inline SVG: words stay selectable, colours follow the page's theme.

use std::fmt::Write as _;

use maud::{Markup, html};

use super::drawing::{Anchor, Drawing, Fill, Label, Mark, Shape, Stroke};
use super::ink::Ink;
use crate::inert::visible;

/// The drawing as an `svg` element. The page defines the hatch patterns, see [`patterns`].
pub(crate) fn svg(drawing: &Drawing) -> Markup {
    html! {
        svg viewBox=(format!("0 0 {} {}", drawing.width, drawing.height))
            role="img" aria-label=(visible(&drawing.label)) {
            @for shape in &drawing.shapes {
                (element(shape))
            }
        }
    }
}

/// The hatch patterns, once a page.
pub(crate) fn patterns() -> Markup {
    html! {
        svg class="patterns" aria-hidden="true" width="0" height="0" {
            defs {
                @for ink in [Ink::Violation, Ink::Unknown, Ink::Muted] {
                    pattern id=(pattern_name(ink)) width="7" height="7"
                        patternUnits="userSpaceOnUse" patternTransform="rotate(45)" {
                        rect width="2" height="7" style=(format!("fill:{}", color(ink))) {}
                    }
                }
            }
        }
    }
}

fn pattern_name(ink: Ink) -> String {
    format!("hatch{}", ink.variable())
}

fn color(ink: Ink) -> String {
    format!("var({})", ink.variable())
}

/// A coordinate with as many digits as a screen can show.
fn n(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn fill_style(fill: Option<Fill>) -> String {
    match fill {
        Some(Fill::Plain(ink, opacity)) => {
            format!("fill:{};fill-opacity:{}", color(ink), n(opacity))
        }
        Some(Fill::Hatch(ink)) => format!("fill:url(#{})", pattern_name(ink)),
        None => "fill:none".to_owned(),
    }
}

fn stroke_style(stroke: Stroke) -> String {
    let dashes = if stroke.dashed {
        ";stroke-dasharray:6 4"
    } else {
        ""
    };
    format!(
        "stroke:{};stroke-width:{}{dashes}",
        color(stroke.ink),
        n(stroke.width)
    )
}

fn element(shape: &Shape) -> Markup {
    match shape {
        Shape::Box {
            area,
            fill,
            outline,
            title,
        } => {
            let mut style = fill_style(*fill);
            if let Some(stroke) = outline {
                style.push(';');
                style.push_str(&stroke_style(*stroke));
            }
            html! {
                rect x=(n(area.x)) y=(n(area.y)) width=(n(area.width)) height=(n(area.height))
                    style=(style) { (tooltip(title.as_deref())) }
            }
        }
        Shape::Line { from, to, stroke } => html! {
            line x1=(n(from.0)) y1=(n(from.1)) x2=(n(to.0)) y2=(n(to.1))
                style=(stroke_style(*stroke)) {}
        },
        Shape::Mark {
            at,
            radius,
            mark,
            ink,
            title,
        } => mark_element(*at, *radius, *mark, *ink, title.as_deref()),
        Shape::Text(label) => text_element(label),
    }
}

fn tooltip(title: Option<&str>) -> Markup {
    html! {
        @if let Some(title) = title {
            title { (visible(title)) }
        }
    }
}

fn mark_element(
    (x, y): (f64, f64),
    radius: f64,
    mark: Mark,
    ink: Ink,
    title: Option<&str>,
) -> Markup {
    let fill = format!("fill:{}", color(ink));
    match mark {
        Mark::Disc => html! {
            circle cx=(n(x)) cy=(n(y)) r=(n(radius)) style=(fill) { (tooltip(title)) }
        },
        Mark::Triangle => {
            let (low, left, right) = (y + radius * 0.8, x - radius, x + radius);
            let points = format!(
                "{},{} {},{} {},{}",
                n(x),
                n(y - radius),
                n(right),
                n(low),
                n(left),
                n(low)
            );
            html! { polygon points=(points) style=(fill) { (tooltip(title)) } }
        }
        Mark::Question => html! {
            text x=(n(x)) y=(n(y + radius * 0.85)) style=(fill) text-anchor="middle"
                font-size=(n(radius * 2.4)) font-weight="600" { "?" }
        },
        Mark::Cross | Mark::Check | Mark::Dash => {
            let mut path = String::new();
            for (from, to) in mark.strokes() {
                let at = |(dx, dy): &(f64, f64)| {
                    format!("{} {}", n(x + dx * radius), n(y + dy * radius))
                };
                let _ = write!(path, "M{}L{}", at(from), at(to));
            }
            let style = stroke_style(Stroke::new(ink, radius * 0.36));
            html! { path d=(path) style=(style) { (tooltip(title)) } }
        }
    }
}

fn text_element(label: &Label) -> Markup {
    let anchor = match label.anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    html! {
        text x=(n(label.at.0)) y=(n(label.at.1)) font-size=(n(label.size)) text-anchor=(anchor)
            font-weight=[label.bold.then_some("600")]
            style=(format!("fill:{}", color(label.ink))) { (visible(&label.text)) }
    }
}
