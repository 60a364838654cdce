//! A picture as a list of shapes, before it is decided whether it becomes SVG or PNG.

use super::ink::Ink;

/// A picture, in units that are CSS pixels in a page and pixels in a PNG.
#[derive(Clone, Debug)]
pub(crate) struct Drawing {
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// Content of the picture, in a sentence, for those who cannot see it.
    pub(crate) label: String,
    /// Drawn in order, later ones above.
    pub(crate) shapes: Vec<Shape>,
    /// Where the time of a run lies in it; the page marks there what the timeline shows.
    pub(crate) time: Option<TimePlane>,
}

/// A stretch of time laid over a rectangle, from its left to its right edge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TimePlane {
    /// From the first to the last instant, in seconds.
    pub(crate) seconds: (f64, f64),
    pub(crate) area: Area,
}

/// A rectangle; `x` and `y` are its upper left corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Area {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl Area {
    /// From one edge to another; never narrower than nothing.
    pub(crate) fn between(x: (f64, f64), y: f64, height: f64) -> Self {
        Self {
            x: x.0,
            y,
            width: (x.1 - x.0).max(0.0),
            height,
        }
    }

    fn scale(&mut self, factor: f64) {
        self.x *= factor;
        self.y *= factor;
        self.width *= factor;
        self.height *= factor;
    }
}

/// How an area is filled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fill {
    /// One colour, with an opacity from 0 to 1.
    Plain(Ink, f64),
    /// Diagonal lines.
    Hatch(Ink),
}

/// A line of some width, perhaps dashed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stroke {
    pub(crate) ink: Ink,
    pub(crate) width: f64,
    pub(crate) dashed: bool,
}

/// Where a text stands relative to its point; vertically the point is the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// The shape of a mark, so that no two kinds differ by colour alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    Disc,
    Triangle,
    Cross,
    Check,
    Question,
    Dash,
    /// A ring.
    Ring,
    /// A ring with one half full.
    Half,
}

/// A straight line from one point to another.
pub(crate) type Segment = ((f64, f64), (f64, f64));

impl Mark {
    /// The strokes of a mark that is made of lines, in multiples of its radius.
    pub(crate) const fn strokes(self) -> &'static [Segment] {
        match self {
            Self::Cross => &[((-0.8, -0.8), (0.8, 0.8)), ((-0.8, 0.8), (0.8, -0.8))],
            Self::Check => &[
                ((-0.9, 0.05), (-0.25, 0.75)),
                ((-0.25, 0.75), (0.95, -0.75)),
            ],
            Self::Dash => &[((-0.7, 0.0), (0.7, 0.0))],
            Self::Ring => &HALF.0,
            Self::Half => &HALF.1,
            Self::Disc | Self::Triangle | Self::Question => &[],
        }
    }
}

/// The corners of a ring of radius 0.85, of which there are twelve.
const CORNERS: [(f64, f64); 12] = [
    (0.85, 0.0),
    (0.736, 0.425),
    (0.425, 0.736),
    (0.0, 0.85),
    (-0.425, 0.736),
    (-0.736, 0.425),
    (-0.85, 0.0),
    (-0.736, -0.425),
    (-0.425, -0.736),
    (0.0, -0.85),
    (0.425, -0.736),
    (0.736, -0.425),
];

/// The strokes of a ring, and of one whose left half is full.
const HALF: ([Segment; 12], [Segment; 16]) = {
    let mut ring = [((0.0, 0.0), (0.0, 0.0)); 12];
    let mut half = [((0.0, 0.0), (0.0, 0.0)); 16];
    let mut at = 0;
    while at < 12 {
        ring[at] = (CORNERS[at], CORNERS[(at + 1) % 12]);
        half[at] = ring[at];
        at += 1;
    }
    half[12] = ((0.0, -0.85), (0.0, 0.85));
    half[13] = ((-0.2, -0.8), (-0.2, 0.8));
    half[14] = ((-0.42, -0.7), (-0.42, 0.7));
    half[15] = ((-0.64, -0.5), (-0.64, 0.5));
    (ring, half)
};

/// Words.
#[derive(Clone, Debug)]
pub(crate) struct Label {
    pub(crate) at: (f64, f64),
    pub(crate) text: String,
    pub(crate) size: f64,
    pub(crate) ink: Ink,
    pub(crate) anchor: Anchor,
    pub(crate) bold: bool,
    /// True if it reads upwards; its point is where it begins or ends all the same.
    pub(crate) upright: bool,
}

/// One shape. A `title` is what a pointer that rests on it is told.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    Box {
        area: Area,
        fill: Option<Fill>,
        outline: Option<Stroke>,
        title: Option<String>,
    },
    Line {
        from: (f64, f64),
        to: (f64, f64),
        stroke: Stroke,
    },
    /// Straight lines from each point to the next.
    Curve {
        points: Vec<(f64, f64)>,
        stroke: Stroke,
        title: Option<String>,
    },
    Mark {
        at: (f64, f64),
        radius: f64,
        mark: Mark,
        ink: Ink,
        title: Option<String>,
    },
    Text(Label),
}

impl Stroke {
    pub(crate) const fn new(ink: Ink, width: f64) -> Self {
        Self {
            ink,
            width,
            dashed: false,
        }
    }

    pub(crate) const fn dashed(ink: Ink, width: f64) -> Self {
        Self {
            ink,
            width,
            dashed: true,
        }
    }
}

impl Drawing {
    /// Puts another picture of the same width below this one.
    pub(crate) fn over(mut self, lower: Self) -> Self {
        let height = self.height;
        let lowered = lower.shapes.into_iter().map(|shape| shape.lowered(height));
        self.shapes.extend(lowered);
        self.height += lower.height;
        // Time lies in two places now, and a mark would be in one of them only.
        self.time = None;
        self
    }

    pub(crate) fn new(width: f64, height: f64, label: String) -> Self {
        Self {
            width,
            height,
            label,
            shapes: Vec::new(),
            time: None,
        }
    }

    /// An area without a tooltip.
    pub(crate) fn area(&mut self, area: Area, fill: Fill) {
        self.titled(area, fill, None);
    }

    /// An area with a tooltip.
    pub(crate) fn titled(&mut self, area: Area, fill: Fill, title: Option<String>) {
        self.shapes.push(Shape::Box {
            area,
            fill: Some(fill),
            outline: None,
            title,
        });
    }

    /// The edge of an area.
    pub(crate) fn outline(&mut self, area: Area, stroke: Stroke) {
        self.shapes.push(Shape::Box {
            area,
            fill: None,
            outline: Some(stroke),
            title: None,
        });
    }

    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), stroke: Stroke) {
        self.shapes.push(Shape::Line { from, to, stroke });
    }

    /// A line through `points`; nothing for fewer than two.
    pub(crate) fn curve(&mut self, points: Vec<(f64, f64)>, stroke: Stroke, title: Option<String>) {
        if points.len() > 1 {
            self.shapes.push(Shape::Curve {
                points,
                stroke,
                title,
            });
        }
    }

    pub(crate) fn mark(
        &mut self,
        at: (f64, f64),
        radius: f64,
        mark: Mark,
        ink: Ink,
        title: Option<String>,
    ) {
        self.shapes.push(Shape::Mark {
            at,
            radius,
            mark,
            ink,
            title,
        });
    }

    /// Words in plain weight.
    pub(crate) fn text(&mut self, at: (f64, f64), text: impl Into<String>, style: TextStyle) {
        self.shapes.push(Shape::Text(Label {
            at,
            text: text.into(),
            size: style.size,
            ink: style.ink,
            anchor: style.anchor,
            bold: style.bold,
            upright: style.upright,
        }));
    }

    /// The drawing `factor` times as large.
    pub(crate) fn scaled(mut self, factor: f64) -> Self {
        self.width *= factor;
        self.height *= factor;
        for shape in &mut self.shapes {
            shape.scale(factor);
        }
        if let Some(time) = &mut self.time {
            time.area.scale(factor);
        }
        self
    }

    /// Every text in it, in the order of drawing.
    #[cfg(test)]
    pub(crate) fn words(&self) -> Vec<&str> {
        let shapes = self.shapes.iter();
        shapes
            .filter_map(|shape| match shape {
                Shape::Text(label) => Some(label.text.as_str()),
                Shape::Box { .. }
                | Shape::Line { .. }
                | Shape::Curve { .. }
                | Shape::Mark { .. } => None,
            })
            .collect()
    }
}

impl Shape {
    /// Moves it down by so many units.
    pub(crate) fn lowered(mut self, by: f64) -> Self {
        match &mut self {
            Self::Box { area, .. } => area.y += by,
            Self::Line { from, to, .. } => {
                from.1 += by;
                to.1 += by;
            }
            Self::Curve { points, .. } => {
                for point in points {
                    point.1 += by;
                }
            }
            Self::Mark { at, .. } => at.1 += by,
            Self::Text(label) => label.at.1 += by,
        }
        self
    }

    fn scale(&mut self, factor: f64) {
        let point = |at: &mut (f64, f64)| *at = (at.0 * factor, at.1 * factor);
        match self {
            Self::Box { area, outline, .. } => {
                area.scale(factor);
                if let Some(stroke) = outline {
                    stroke.width *= factor;
                }
            }
            Self::Line { from, to, stroke } => {
                point(from);
                point(to);
                stroke.width *= factor;
            }
            Self::Curve { points, stroke, .. } => {
                points.iter_mut().for_each(point);
                stroke.width *= factor;
            }
            Self::Mark { at, radius, .. } => {
                point(at);
                *radius *= factor;
            }
            Self::Text(label) => {
                point(&mut label.at);
                label.size *= factor;
            }
        }
    }
}

/// How words look.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextStyle {
    pub(crate) size: f64,
    pub(crate) ink: Ink,
    pub(crate) anchor: Anchor,
    pub(crate) bold: bool,
    pub(crate) upright: bool,
}

impl TextStyle {
    pub(crate) const fn new(size: f64, ink: Ink) -> Self {
        Self {
            size,
            ink,
            anchor: Anchor::Start,
            bold: false,
            upright: false,
        }
    }

    pub(crate) const fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    /// Reads upwards.
    pub(crate) const fn upright(self) -> Self {
        Self {
            upright: true,
            ..self
        }
    }

    pub(crate) const fn anchored(self, anchor: Anchor) -> Self {
        Self { anchor, ..self }
    }
}
