//! Writes a [`Drawing`] as PNG.
//!
//! plotters does not smooth lines and circles. The picture is therefore drawn at twice its size
//! and each block of four pixels becomes one.

use plotters::backend::{BitMapBackend, DrawingBackend};
use plotters::style::{RGBAColor, ShapeStyle};
use png::{BitDepth, ColorType, Encoder, FilterType};

use super::drawing::{Area, Drawing, Fill, Label, Mark, Shape, Stroke};
use super::font;
use super::ink::Ink;

/// How many times larger than the result a picture is drawn before it is smoothed.
const SMOOTHING: u32 = 2;
/// Pixels of the result for each CSS pixel of the drawing: a picture of the usual width is 1800
/// pixels wide, which is sharp on a projector and on a dense screen.
const ZOOM: f64 = 1.875;
/// Pixels of the large picture for each CSS pixel of the drawing.
const SCALE: f64 = ZOOM * SMOOTHING as f64;
/// Distance between the lines of a hatch, and their width.
const HATCH: (f64, f64) = (9.0, 2.0);
/// Length of a dash, and of the blank after it.
const DASH: (f64, f64) = (6.0, 4.0);

type Backend<'a> = BitMapBackend<'a>;
type Failure = String;

/// The bytes of a PNG file, or why it cannot be drawn.
pub(crate) fn png(drawing: &Drawing) -> Result<Vec<u8>, String> {
    let zoomed = |length: f64| (length * ZOOM).round() as u32;
    let (width, height) = (zoomed(drawing.width), zoomed(drawing.height));
    let large = (width * SMOOTHING, height * SMOOTHING);
    let mut pixels = vec![0xff; (large.0 * large.1 * 3) as usize];
    {
        let mut backend = Backend::with_buffer(&mut pixels, large);
        for shape in &drawing.shapes {
            draw(&mut backend, shape)?;
        }
        backend.present().map_err(|error| error.to_string())?;
    }
    let small = halved(&pixels, width as usize);
    encode(&small, width, height).map_err(|error| error.to_string())
}

/// The mean of each block of two by two pixels. By position and not by iterators: without
/// optimisation, as in tests, those are several times as slow, and there are millions of pixels.
/// Most rows are the same as those above, and copied.
fn halved(pixels: &[u8], width: usize) -> Vec<u8> {
    const { assert!(SMOOTHING == 2, "blocks have two rows of two pixels") };
    let row = width * 2 * 3;
    let mut small = Vec::with_capacity(pixels.len() / 4);
    let mut above: &[u8] = &[];
    for rows in pixels.chunks_exact(2 * row) {
        if rows == above {
            small.extend_from_within(small.len() - width * 3..);
            continue;
        }
        above = rows;
        let (upper, lower) = rows.split_at(row);
        for pixel in (0..row).step_by(2 * 3) {
            for left in pixel..pixel + 3 {
                let right = left + 3;
                let sum = u16::from(upper[left])
                    + u16::from(upper[right])
                    + u16::from(lower[left])
                    + u16::from(lower[right]);
                small.push((sum / 4) as u8);
            }
        }
    }
    small
}

fn encode(pixels: &[u8], width: u32, height: u32) -> Result<Vec<u8>, png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, width, height);
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    // Most rows are the same as the one above: this halves the size, and the time with it.
    encoder.set_filter(FilterType::Up);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    Ok(bytes)
}

fn scaled(value: f64) -> i32 {
    (value * SCALE).round() as i32
}

fn point(at: (f64, f64)) -> (i32, i32) {
    (scaled(at.0), scaled(at.1))
}

fn style(ink: Ink, opacity: f64, width: f64, filled: bool) -> ShapeStyle {
    let (r, g, b) = ink.rgb();
    ShapeStyle {
        color: RGBAColor(r, g, b, opacity),
        filled,
        stroke_width: scaled(width).max(1) as u32,
    }
}

fn draw(backend: &mut Backend, shape: &Shape) -> Result<(), Failure> {
    match shape {
        Shape::Box {
            area,
            fill,
            outline,
            title: _,
        } => {
            match fill {
                Some(Fill::Plain(ink, opacity)) => rectangle(backend, *area, *ink, *opacity)?,
                Some(Fill::Hatch(ink)) => hatch(backend, *area, *ink)?,
                None => {}
            }
            outline.map_or(Ok(()), |stroke| frame(backend, *area, stroke))
        }
        Shape::Line { from, to, stroke } => line(backend, *from, *to, *stroke),
        Shape::Curve {
            points,
            stroke,
            title: _,
        } => curve(backend, points, *stroke),
        Shape::Mark {
            at,
            radius,
            mark,
            ink,
            title: _,
        } => draw_mark(backend, *at, *radius, *mark, *ink),
        Shape::Text(label) => text(backend, label),
    }
}

fn rectangle(backend: &mut Backend, area: Area, ink: Ink, opacity: f64) -> Result<(), Failure> {
    let from = point((area.x, area.y));
    // plotters paints the last row and column as well.
    let to = point((area.x + area.width, area.y + area.height));
    let to = (to.0.max(from.0 + 1) - 1, to.1.max(from.1 + 1) - 1);
    backend
        .draw_rect(from, to, &style(ink, opacity, 1.0, true), true)
        .map_err(|error| error.to_string())
}

fn frame(backend: &mut Backend, area: Area, stroke: Stroke) -> Result<(), Failure> {
    let (right, bottom) = (area.x + area.width, area.y + area.height);
    let corners = [
        (area.x, area.y),
        (right, area.y),
        (right, bottom),
        (area.x, bottom),
        (area.x, area.y),
    ];
    for edge in corners.windows(2) {
        line(backend, edge[0], edge[1], stroke)?;
    }
    Ok(())
}

/// Lines from the lower left to the upper right, cut at the edges of the area.
fn hatch(backend: &mut Backend, area: Area, ink: Ink) -> Result<(), Failure> {
    let (step, width) = HATCH;
    let (right, bottom) = (area.x + area.width, area.y + area.height);
    // Multiples of the step from the origin, so that neighbouring areas fit together.
    let mut sum = ((area.x + area.y) / step).ceil() * step;
    while sum < right + bottom {
        let from = (sum - bottom).max(area.x);
        let to = (sum - area.y).min(right);
        let stroke = Stroke::new(ink, width);
        line(backend, (from, sum - from), (to, sum - to), stroke)?;
        sum += step;
    }
    Ok(())
}

fn line(
    backend: &mut Backend,
    from: (f64, f64),
    to: (f64, f64),
    stroke: Stroke,
) -> Result<(), Failure> {
    if !stroke.dashed {
        return segment(backend, from, to, stroke);
    }
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy);
    let along = |at: f64| {
        let share = (at / length).min(1.0);
        (from.0 + dx * share, from.1 + dy * share)
    };
    let mut at = 0.0;
    while at < length {
        segment(backend, along(at), along(at + DASH.0), stroke)?;
        at += DASH.0 + DASH.1;
    }
    Ok(())
}

/// Lines with round joints, as plotters leaves gaps at them. Dashes go on from line to line.
fn curve(backend: &mut Backend, points: &[(f64, f64)], stroke: Stroke) -> Result<(), Failure> {
    let mut begun = 0.0;
    for pair in points.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let length = dx.hypot(dy);
        if length == 0.0 {
            continue;
        }
        let along = |at: f64| (from.0 + dx * at / length, from.1 + dy * at / length);
        let mut at = 0.0;
        while at < length {
            let (is_drawn, left) = if stroke.dashed {
                let phase = (begun + at) % (DASH.0 + DASH.1);
                let drawn = DASH.0 - phase;
                // A hair at least, or rounding would go on forever.
                (
                    drawn > 0.0,
                    if drawn > 0.0 { drawn } else { drawn + DASH.1 }.max(0.01),
                )
            } else {
                (true, length)
            };
            let end = (at + left).min(length);
            if is_drawn {
                segment(backend, along(at), along(end), stroke)?;
            }
            at += left;
        }
        begun += length;
        if !stroke.dashed {
            joint(backend, to, stroke)?;
        }
    }
    Ok(())
}

fn joint(backend: &mut Backend, at: (f64, f64), stroke: Stroke) -> Result<(), Failure> {
    // Rounded off, not up, or the joints would stand out.
    let radius = ((stroke.width * SCALE / 2.0) as u32).max(1);
    backend
        .draw_circle(point(at), radius, &style(stroke.ink, 1.0, 1.0, true), true)
        .map_err(|error| error.to_string())
}

fn segment(
    backend: &mut Backend,
    from: (f64, f64),
    to: (f64, f64),
    stroke: Stroke,
) -> Result<(), Failure> {
    let half = stroke.width / 2.0;
    // Upright and level lines are rectangles: exact, where plotters' wide lines are not.
    if (from.0 - to.0).abs() < f64::EPSILON {
        let (top, bottom) = (from.1.min(to.1), from.1.max(to.1));
        let area = Area::between((from.0 - half, from.0 + half), top, bottom - top);
        return rectangle(backend, area, stroke.ink, 1.0);
    }
    if (from.1 - to.1).abs() < f64::EPSILON {
        let (left, right) = (from.0.min(to.0), from.0.max(to.0));
        let area = Area::between((left, right), from.1 - half, stroke.width);
        return rectangle(backend, area, stroke.ink, 1.0);
    }
    backend
        .draw_line(
            point(from),
            point(to),
            &style(stroke.ink, 1.0, stroke.width, false),
        )
        .map_err(|error| error.to_string())
}

fn draw_mark(
    backend: &mut Backend,
    (x, y): (f64, f64),
    radius: f64,
    mark: Mark,
    ink: Ink,
) -> Result<(), Failure> {
    for (from, to) in mark.strokes() {
        let at = |(dx, dy): (f64, f64)| (x + dx * radius, y + dy * radius);
        line(backend, at(*from), at(*to), Stroke::new(ink, radius * 0.36))?;
    }
    let style = style(ink, 1.0, 1.0, true);
    match mark {
        Mark::Disc => backend
            .draw_circle(point((x, y)), scaled(radius) as u32, &style, true)
            .map_err(|error| error.to_string()),
        Mark::Triangle => {
            let corners = [
                (x, y - radius),
                (x + radius, y + radius * 0.8),
                (x - radius, y + radius * 0.8),
            ];
            backend
                .fill_polygon(corners.map(point), &style)
                .map_err(|error| error.to_string())
        }
        Mark::Question => {
            let label = Label {
                at: (x, y + radius * 0.85),
                text: "?".to_owned(),
                size: radius * 2.4,
                ink,
                anchor: super::drawing::Anchor::Middle,
                bold: true,
                upright: false,
            };
            text(backend, &label)
        }
        Mark::Cross | Mark::Check | Mark::Dash | Mark::Ring | Mark::Half => Ok(()),
    }
}

fn text(backend: &mut Backend, label: &Label) -> Result<(), Failure> {
    let at = (label.at.0 * SCALE, label.at.1 * SCALE);
    let (r, g, b) = label.ink.rgb();
    let mut failure = None;
    // What reads upwards is set on the level at the origin, and each of its pixels turned.
    let corner = (at.0.round() as i32, at.1.round() as i32);
    let turned = |x: i32, y: i32| (corner.0 + y, corner.1 - x);
    font::rasterize(
        &label.text,
        (label.size * SCALE, label.bold),
        if label.upright { (0.0, 0.0) } else { at },
        label.anchor,
        |x, y, coverage| {
            let color = plotters::prelude::RGBAColor(r, g, b, f64::from(coverage));
            let pixel = plotters::style::Color::to_backend_color(&color);
            let place = if label.upright { turned(x, y) } else { (x, y) };
            if let Err(error) = backend.draw_pixel(place, pixel) {
                failure = Some(error.to_string());
            }
        },
    );
    failure.map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::super::drawing::{Anchor, TextStyle};
    use super::*;

    /// Decodes a PNG into its size and its pixels.
    fn decoded(bytes: &[u8]) -> ((u32, u32), Vec<u8>) {
        let decoder = png::Decoder::new(bytes);
        let mut reader = decoder.read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size()];
        let info = reader.next_frame(&mut pixels).unwrap();
        ((info.width, info.height), pixels)
    }

    fn inked(pixels: &[u8]) -> usize {
        pixels
            .chunks(3)
            .filter(|pixel| *pixel != [255, 255, 255])
            .count()
    }

    #[test]
    fn an_area_covers_exactly_its_pixels() {
        // Multiples of 16 fall on whole pixels: 16 × 1.875 = 30.
        let mut drawing = Drawing::new(64.0, 32.0, String::new());
        let area = Area::between((16.0, 32.0), 0.0, 16.0);
        drawing.area(area, Fill::Plain(Ink::Hold, 1.0));
        let (size, pixels) = decoded(&png(&drawing).unwrap());
        assert_eq!(size, (120, 60));
        assert_eq!(inked(&pixels), 30 * 30);
    }

    #[test]
    fn words_leave_ink_where_they_stand_and_nowhere_else() {
        let mut drawing = Drawing::new(160.0, 32.0, String::new());
        let style = TextStyle::new(16.0, Ink::Text).anchored(Anchor::End);
        drawing.text((150.0, 20.0), "held by both", style);
        let ((width, _), pixels) = decoded(&png(&drawing).unwrap());
        let row = width as usize * 3;
        let left: Vec<u8> = pixels
            .chunks(row)
            .flat_map(|row| &row[..100])
            .copied()
            .collect();
        assert_eq!(inked(&left), 0);
        assert!(inked(&pixels) > 300);
    }

    #[test]
    fn words_that_read_upwards_stand_on_end_above_their_point() {
        let ink_of = |style: TextStyle| {
            let mut drawing = Drawing::new(160.0, 160.0, String::new());
            drawing.text((80.0, 80.0), "held by both", style);
            let ((width, _), pixels) = decoded(&png(&drawing).unwrap());
            let dark = pixels.chunks(3).enumerate();
            let dark = dark.filter(|(_, pixel)| **pixel != [255, 255, 255]);
            let places = dark.map(|(at, _)| (at % width as usize, at / width as usize));
            places.collect::<Vec<_>>()
        };
        let level = ink_of(TextStyle::new(16.0, Ink::Text));
        let upright = ink_of(TextStyle::new(16.0, Ink::Text).upright());
        let rows = |places: &[(usize, usize)]| places.iter().map(|at| at.1).min().unwrap();
        // 80 × 1.875 = 150: the level words begin a line's height above it, the others a word's.
        assert!(rows(&level) > 120 && rows(&upright) < 60);
        let below = upright.iter().filter(|at| at.1 > 151).count();
        assert_eq!(below, 0);
        assert!(upright.len() > 300);
    }

    #[test]
    fn a_hatch_is_neither_empty_nor_full_and_stays_inside() {
        let mut drawing = Drawing::new(64.0, 64.0, String::new());
        let area = Area::between((16.0, 48.0), 16.0, 32.0);
        drawing.area(area, Fill::Hatch(Ink::Violation));
        let (_, pixels) = decoded(&png(&drawing).unwrap());
        let inked = inked(&pixels);
        // 60 × 60 pixels lie inside; the ends of the lines reach over by their width.
        assert!(inked > 600 && inked < 64 * 64, "{inked}");
    }

    /// Which columns have ink, of a curve from the left to the right edge.
    fn columns(stroke: Stroke) -> Vec<bool> {
        let mut drawing = Drawing::new(160.0, 32.0, String::new());
        let points = vec![(0.0, 8.0), (80.0, 24.0), (80.0, 8.0), (160.0, 8.0)];
        drawing.curve(points, stroke, None);
        let ((width, height), pixels) = decoded(&png(&drawing).unwrap());
        let pixel = |x: u32, y: u32| {
            let at = (y * width + x) as usize * 3;
            pixels[at..at + 3] != [255, 255, 255]
        };
        let has_ink = |x| (0..height).any(|y| pixel(x, y));
        (0..width).map(has_ink).collect()
    }

    #[test]
    fn a_curve_has_no_gap_and_a_dashed_one_has_many() {
        let solid = columns(Stroke::new(Ink::Hold, 2.0));
        assert!(solid.iter().all(|has_ink| *has_ink));
        let dashed = columns(Stroke::dashed(Ink::Hold, 2.0));
        let gaps = dashed.windows(2).filter(|pair| pair[0] && !pair[1]).count();
        // A dash and its blank are ten long, and the curve is 160 wide.
        assert!((12..=20).contains(&gaps), "{gaps}");
    }

    #[test]
    fn a_curve_that_stands_still_or_leaves_the_paper_is_drawn_all_the_same() {
        let mut drawing = Drawing::new(32.0, 32.0, String::new());
        for stroke in [Stroke::new(Ink::Hold, 2.0), Stroke::dashed(Ink::Hold, 2.0)] {
            drawing.curve(vec![(8.0, 8.0), (8.0, 8.0), (90.0, -40.0)], stroke, None);
        }
        assert!(inked(&decoded(&png(&drawing).unwrap()).1) > 20);
    }

    #[test]
    fn equal_drawings_make_equal_bytes() {
        let mut drawing = Drawing::new(50.0, 50.0, String::new());
        drawing.mark((25.0, 25.0), 10.0, Mark::Disc, Ink::Valid, None);
        assert_eq!(png(&drawing).unwrap(), png(&drawing).unwrap());
    }
}
