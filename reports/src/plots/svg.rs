//! Writes a [`Drawing`] as SVG: in a page, where colours follow its theme, or as a file.
//!
//! Words stay words, so that they can be selected and searched. A file has them in whatever font
//! its reader has; only a PNG looks the same everywhere.

use std::fmt::Write as _;

use maud::{Markup, html};

use super::drawing::{Anchor, Area, Drawing, Fill, Label, Mark, Shape, Stroke, TimePlane};
use super::ink::Ink;
use crate::inert::visible;

/// Where the picture is looked at, on which its colours depend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// In a page, light or dark.
    Page,
    /// In a file of its own, on white paper.
    File,
}

/// The drawing as an `svg` element. The page defines the hatch patterns, see [`patterns`].
pub(crate) fn svg(drawing: &Drawing) -> Markup {
    html! {
        svg viewBox=(view_box(drawing)) role="img" aria-label=(visible(&drawing.label))
            data-time=[drawing.time.map(|time| time_plane(&time))] {
            (elements(drawing, Place::Page))
        }
    }
}

/// For the script of the page: the seconds of the left and right edge, and the rectangle.
fn time_plane(time: &TimePlane) -> String {
    let (from, to) = time.seconds;
    let Area {
        x,
        y,
        width,
        height,
    } = time.area;
    format!("[{from},{to},{},{},{},{}]", n(x), n(y), n(width), n(height))
}

/// The drawing as an SVG file.
pub(crate) fn svg_file(drawing: &Drawing) -> String {
    let markup = html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox=(view_box(drawing))
            width=(n(drawing.width)) height=(n(drawing.height))
            role="img" aria-label=(visible(&drawing.label))
            font-family="'Noto Sans', system-ui, sans-serif" {
            (hatches(Place::File))
            (elements(drawing, Place::File))
        }
    };
    let mut text = markup.into_string();
    text.push('\n');
    text
}

/// The hatch patterns, once a page.
pub(crate) fn patterns() -> Markup {
    html! {
        svg class="patterns" aria-hidden="true" width="0" height="0" {
            (hatches(Place::Page))
        }
    }
}

fn hatches(place: Place) -> Markup {
    html! {
        defs {
            @for ink in [Ink::Violation, Ink::Unknown, Ink::Muted] {
                pattern id=(pattern_name(ink)) width="7" height="7"
                    patternUnits="userSpaceOnUse" patternTransform="rotate(45)" {
                    rect width="2" height="7" style=(format!("fill:{}", color(ink, place))) {}
                }
            }
        }
    }
}

fn view_box(drawing: &Drawing) -> String {
    format!("0 0 {} {}", drawing.width, drawing.height)
}

fn elements(drawing: &Drawing, place: Place) -> Markup {
    html! {
        @for shape in &drawing.shapes {
            (element(shape, place))
        }
    }
}

fn pattern_name(ink: Ink) -> String {
    format!("hatch{}", ink.variable())
}

fn color(ink: Ink, place: Place) -> String {
    match place {
        Place::Page => format!("var({})", ink.variable()),
        Place::File => {
            let (red, green, blue) = ink.rgb();
            format!("#{red:02x}{green:02x}{blue:02x}")
        }
    }
}

/// A coordinate with as many digits as a screen can show.
fn n(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn fill_style(fill: Option<Fill>, place: Place) -> String {
    match fill {
        Some(Fill::Plain(ink, opacity)) => {
            format!("fill:{};fill-opacity:{}", color(ink, place), n(opacity))
        }
        Some(Fill::Hatch(ink)) => format!("fill:url(#{})", pattern_name(ink)),
        None => "fill:none".to_owned(),
    }
}

fn stroke_style(stroke: Stroke, place: Place) -> String {
    let dashes = if stroke.dashed {
        ";stroke-dasharray:6 4"
    } else {
        ""
    };
    format!(
        "stroke:{};stroke-width:{}{dashes}",
        color(stroke.ink, place),
        n(stroke.width)
    )
}

fn element(shape: &Shape, place: Place) -> Markup {
    match shape {
        Shape::Box {
            area,
            fill,
            outline,
            title,
        } => {
            let mut style = fill_style(*fill, place);
            if let Some(stroke) = outline {
                style.push(';');
                style.push_str(&stroke_style(*stroke, place));
            }
            html! {
                rect x=(n(area.x)) y=(n(area.y)) width=(n(area.width)) height=(n(area.height))
                    style=(style) { (tooltip(title.as_deref())) }
            }
        }
        Shape::Line { from, to, stroke } => html! {
            line x1=(n(from.0)) y1=(n(from.1)) x2=(n(to.0)) y2=(n(to.1))
                style=(stroke_style(*stroke, place)) {}
        },
        Shape::Curve {
            points,
            stroke,
            title,
        } => curve_element(points, *stroke, title.as_deref(), place),
        Shape::Mark {
            at,
            radius,
            mark,
            ink,
            title,
        } => mark_element(*at, *radius, (*mark, *ink), title.as_deref(), place),
        Shape::Text(label) => text_element(label, place),
    }
}

fn tooltip(title: Option<&str>) -> Markup {
    html! {
        @if let Some(title) = title {
            title { (visible(title)) }
        }
    }
}

fn curve_element(
    points: &[(f64, f64)],
    stroke: Stroke,
    title: Option<&str>,
    place: Place,
) -> Markup {
    let mut path = String::new();
    for (at, (x, y)) in points.iter().enumerate() {
        let command = if at == 0 { 'M' } else { 'L' };
        let _ = write!(path, "{command}{} {}", n(*x), n(*y));
    }
    let style = format!(
        "fill:none;stroke-linejoin:round;{}",
        stroke_style(stroke, place)
    );
    html! { path d=(path) style=(style) { (tooltip(title)) } }
}

fn mark_element(
    (x, y): (f64, f64),
    radius: f64,
    (mark, ink): (Mark, Ink),
    title: Option<&str>,
    place: Place,
) -> Markup {
    let fill = format!("fill:{}", color(ink, place));
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
        Mark::Cross | Mark::Check | Mark::Dash | Mark::Ring | Mark::Half => {
            let mut path = String::new();
            for (from, to) in mark.strokes() {
                let at = |(dx, dy): &(f64, f64)| {
                    format!("{} {}", n(x + dx * radius), n(y + dy * radius))
                };
                let _ = write!(path, "M{}L{}", at(from), at(to));
            }
            let style = stroke_style(Stroke::new(ink, radius * 0.36), place);
            html! { path d=(path) style=(style) { (tooltip(title)) } }
        }
    }
}

fn text_element(label: &Label, place: Place) -> Markup {
    let anchor = match label.anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    let (x, y) = (n(label.at.0), n(label.at.1));
    let turn = label.upright.then(|| format!("rotate(-90 {x} {y})"));
    html! {
        text x=(x) y=(y) font-size=(n(label.size)) text-anchor=(anchor) transform=[turn]
            font-weight=[label.bold.then_some("600")]
            style=(format!("fill:{}", color(label.ink, place))) { (visible(&label.text)) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::drawing::{Area, TextStyle};
    use super::*;
    use crate::sample::HOSTILE;

    /// Every shape there is, once.
    fn every_shape() -> Drawing {
        let mut drawing = Drawing::new(120.0, 80.0, "Every shape, once".to_owned());
        let area = Area::between((10.0, 40.0), 10.0, 20.0);
        drawing.titled(
            area,
            Fill::Plain(Ink::Hold, 0.5),
            Some("an area".to_owned()),
        );
        drawing.area(area, Fill::Hatch(Ink::Violation));
        drawing.outline(area, Stroke::new(Ink::Violation, 2.0));
        let points = vec![(10.0, 70.0), (20.0, 50.0), (30.25, 60.0)];
        drawing.curve(points, Stroke::dashed(Ink::FaultClock, 1.5), None);
        drawing.line((50.0, 10.0), (50.0, 70.0), Stroke::new(Ink::Grid, 1.0));
        let marks = [Mark::Disc, Mark::Triangle, Mark::Cross, Mark::Question];
        for (at, mark) in marks.into_iter().enumerate() {
            let at = (70.0, 15.0 + 15.0 * at as f64);
            drawing.mark(at, 5.0, mark, Ink::Unknown, Some("a mark".to_owned()));
        }
        let style = TextStyle::new(12.0, Ink::Text).bold().anchored(Anchor::End);
        drawing.text((110.0, 20.0), "words", style);
        drawing
    }

    #[test]
    fn a_file_has_every_shape_in_colours_of_its_own() {
        let text = svg_file(&every_shape());
        assert!(!text.contains("var("), "no page defines its colours");
        insta::assert_snapshot!(text.replace("><", ">\n<"));
    }

    #[test]
    fn in_a_page_and_in_a_file_the_same_is_drawn() {
        let elements = |text: &str| {
            let mut parts = text.split('<').skip(1);
            let names = parts.by_ref().map(|part| {
                let end = part.find([' ', '>']).unwrap_or(part.len());
                part[..end].to_owned()
            });
            names
                .filter(|name| !name.contains("defs") && !name.contains("pattern"))
                .count()
        };
        let page = svg(&every_shape()).into_string();
        let file = svg_file(&every_shape());
        // The file has three hatches of a rectangle each, open and closed.
        assert_eq!(elements(&file), elements(&page) + 3 * 2);
    }

    #[test]
    fn hostile_words_are_inert() {
        let mut drawing = Drawing::new(10.0, 10.0, HOSTILE.to_owned());
        drawing.text((0.0, 0.0), HOSTILE, TextStyle::new(12.0, Ink::Text));
        drawing.mark(
            (0.0, 0.0),
            1.0,
            Mark::Disc,
            Ink::Hold,
            Some(HOSTILE.to_owned()),
        );
        let text = svg_file(&drawing);
        assert!(text.contains("&lt;/script&gt;"));
        assert!(!text.contains("<img") && !text.contains(['\u{1b}', '\u{202e}']));
    }
}
