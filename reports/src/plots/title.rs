//! Puts a title above a picture that must stand for itself, on a slide or in a chat.

use super::axis::SMALL;
use super::drawing::{Area, Drawing, Fill, TextStyle};
use super::font;
use super::ink::Ink;
use super::sign::look;
use crate::head::{Head, Sign};

/// Height of the title and the line below it.
const HEIGHT: f64 = 62.0;
const MARGIN: f64 = 24.0;
/// Room for a sign.
const SIGN: f64 = 27.0;

/// The picture with a title and a line of lesser weight above it.
pub(crate) fn titled(picture: Drawing, title: &str, below: &str) -> Drawing {
    above(picture, (None, title), below)
}

/// Puts the outcome of the run above a picture as its title, behind its sign.
pub(crate) fn headed(picture: Drawing, head: &Head, below: &str) -> Drawing {
    above(picture, (Some(head.standing.sign()), &head.line()), below)
}

fn above(picture: Drawing, (sign, title): (Option<Sign>, &str), below: &str) -> Drawing {
    let height = picture.height + HEIGHT;
    let mut whole = Drawing::new(picture.width, height, picture.label);
    let full = Area::between((0.0, whole.width), 0.0, height);
    whole.area(full, Fill::Plain(Ink::Paper, 1.0));
    let room = whole.width - 2.0 * MARGIN;
    let indent = if let Some(sign) = sign {
        let (mark, ink) = look(sign);
        whole.mark((MARGIN + 9.0, 24.0), 9.0, mark, ink, None);
        SIGN
    } else {
        0.0
    };
    let title = font::fitted(title, 18.0, true, room - indent);
    whole.text(
        (MARGIN + indent, 30.0),
        title,
        TextStyle::new(18.0, Ink::Text).bold(),
    );
    let below = font::fitted(below, SMALL, false, room);
    whole.text((MARGIN, 50.0), below, TextStyle::new(SMALL, Ink::Muted));
    let lowered = picture
        .shapes
        .into_iter()
        .map(|shape| shape.lowered(HEIGHT));
    whole.shapes.extend(lowered);
    whole
}
