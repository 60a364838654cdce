//! The font of the pictures: Noto Sans, carried along, for a machine may have no font at all.
//!
//! plotters places glyphs on whole pixels and ignores their left bearing, which squeezes small
//! text; words are therefore outlined here, from the same font, and only blended by plotters.

use std::sync::LazyLock;

use ab_glyph::{Font as _, FontRef, PxScale, ScaleFont as _, point};

use super::drawing::Anchor;
use crate::inert::visible;

static REGULAR: LazyLock<FontRef<'static>> = LazyLock::new(|| {
    FontRef::try_from_slice(include_bytes!("../../assets/NotoSans-Regular.ttf"))
        .expect("the font that is compiled in is a valid font")
});
static SEMI_BOLD: LazyLock<FontRef<'static>> = LazyLock::new(|| {
    FontRef::try_from_slice(include_bytes!("../../assets/NotoSans-SemiBold.ttf"))
        .expect("the font that is compiled in is a valid font")
});

/// How much wider than the font of the pictures the system fonts run that a page is read with.
const PAGE_FONT_FACTOR: f64 = 1.2;

fn font(bold: bool) -> &'static FontRef<'static> {
    if bold { &SEMI_BOLD } else { &REGULAR }
}

/// Tells whether the font can draw `c`.
pub(super) fn has_glyph(c: char) -> bool {
    REGULAR.glyph_id(c).0 != 0 && SEMI_BOLD.glyph_id(c).0 != 0
}

/// `text` with what the font lacks replaced: arrows by `>`, anything else by `?`.
pub(super) fn drawable(text: &str) -> String {
    visible(text)
        .chars()
        .map(|c| match c {
            known if has_glyph(known) => known,
            '→' => '>',
            _ => '?',
        })
        .collect()
}

/// The scale at which an em is `size` pixels: `ab_glyph` counts from ascent to descent instead.
fn scale(font: &FontRef, size: f64) -> PxScale {
    let units = font.units_per_em().unwrap_or(1000.0);
    PxScale::from(size as f32 * font.height_unscaled() / units)
}

/// Width of `text` in pixels.
pub(super) fn width(text: &str, size: f64, bold: bool) -> f64 {
    let font = font(bold);
    let scaled = font.as_scaled(scale(font, size));
    let mut width = 0.0;
    let mut last = None;
    for c in drawable(text).chars() {
        let glyph = scaled.glyph_id(c);
        width += last.map_or(0.0, |last| scaled.kern(last, glyph)) + scaled.h_advance(glyph);
        last = Some(glyph);
    }
    f64::from(width)
}

/// Width of `text` in whatever font a page is read with.
pub(super) fn width_in_page(text: &str, size: f64, bold: bool) -> f64 {
    width(text, size, bold) * PAGE_FONT_FACTOR
}

/// `text` cut to `room` pixels of a PNG, with an ellipsis where something is missing.
pub(super) fn fitted(text: &str, size: f64, bold: bool, room: f64) -> String {
    if width(text, size, bold) <= room {
        return text.to_owned();
    }
    // A longer beginning is wider, so the longest that fits is found by halving: foreign text may
    // be of any length.
    let ends: Vec<usize> = text.char_indices().map(|(end, _)| end).collect();
    let cut = |end: usize| format!("{}…", text[..end].trim_end());
    let fitting = ends.partition_point(|end| width(&cut(*end), size, bold) <= room);
    fitting
        .checked_sub(1)
        .map_or_else(String::new, |longest| cut(ends[longest]))
}

/// Fits a text that is shown in a page as well.
pub(super) fn fitted_in_page(text: &str, size: f64, bold: bool, room: f64) -> String {
    fitted(text, size, bold, room / PAGE_FONT_FACTOR)
}

/// Covers the pixels of `text` with its baseline at `at`; `draw` gets position and coverage.
pub(super) fn rasterize(
    text: &str,
    (size, bold): (f64, bool),
    at: (f64, f64),
    anchor: Anchor,
    mut draw: impl FnMut(i32, i32, f32),
) {
    let font = font(bold);
    let scaled = font.as_scaled(scale(font, size));
    let text = drawable(text);
    let shift = match anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => -width(&text, size, bold) / 2.0,
        Anchor::End => -width(&text, size, bold),
    };
    let mut x = (at.0 + shift) as f32;
    let mut last = None;
    for c in text.chars() {
        let mut glyph = scaled.scaled_glyph(c);
        if let Some(last) = last {
            x += scaled.kern(last, glyph.id);
        }
        last = Some(glyph.id);
        glyph.position = point(x, at.1 as f32);
        x += scaled.h_advance(glyph.id);
        if let Some(outline) = scaled.outline_glyph(glyph) {
            let bounds = outline.px_bounds();
            outline.draw(|dx, dy, coverage| {
                let (left, top) = (bounds.min.x as i32, bounds.min.y as i32);
                draw(left + dx.cast_signed(), top + dy.cast_signed(), coverage);
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measures::Measures;
    use crate::{plots, sample};

    #[test]
    fn the_font_has_every_glyph_of_the_fixed_labels() {
        // The records are plain, but for the arrow of a link: whatever else the font lacks would
        // come from our own labels.
        let (run, suite) = (sample::failover_run(), sample::suite());
        let (trace, faults) = (sample::failover_trace(), &run.analysis.faults);
        let judged = run.analysis.properties.values();
        let witnesses: Vec<_> = judged.flat_map(|judgement| &judgement.witnesses).collect();
        let drawings = [
            plots::matrix(&suite),
            plots::around(witnesses[0], faults, &trace).drawing,
            plots::whole(&witnesses, faults, &trace).drawing,
        ];
        let pictures = crate::gallery::of_run(&run, &Measures::of(&trace));
        let pictures = pictures.iter().map(|picture| &picture.drawing);
        for label in drawings
            .iter()
            .chain(pictures)
            .flat_map(|drawing| drawing.words())
        {
            let missing: Vec<char> = label
                .chars()
                .filter(|c| *c != '→' && !has_glyph(*c))
                .collect();
            assert!(missing.is_empty(), "{label}: {missing:?}");
        }
    }

    #[test]
    fn what_the_font_lacks_is_replaced_by_what_it_has() {
        assert_eq!(drawable("primary→replica 锁 ✗"), "primary>replica ? ?");
        assert_eq!(drawable("n × µ – …"), "n × µ – …");
    }

    #[test]
    fn a_text_that_does_not_fit_ends_in_an_ellipsis() {
        let cut = fitted("a rather long label", 14.0, false, 60.0);
        assert!(cut.ends_with('…'), "{cut}");
        assert!(width(&cut, 14.0, false) <= 60.0);
        assert_eq!(fitted("short", 14.0, false, 60.0), "short");
    }
}
