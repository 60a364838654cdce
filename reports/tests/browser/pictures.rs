//! The pictures of the documentation: real runs, looked at in the browser, light and dark.
//!
//! `make pictures` makes the runs and calls this with the folder in which they are.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::driver::{Page, Scheme};
use crate::palette::reduced;

/// Height of the window at least, in CSS pixels; and pixels of the picture for each.
const HEIGHT: u32 = 1400;
const SCALE: f64 = 1.25;
/// Bytes that one picture may add to a page of the documentation.
const BYTES_MAX: usize = 400_000;

/// A name, the width of the window, and from the top of which element to the bottom of which other
/// the picture goes.
const PICTURES: [(&str, u32, &str, &str); 3] = [
    ("failover", 1180, ".top", ".card .picture"),
    ("comparison", 1280, "#comparison", "#comparison table"),
    ("storm", 1060, "#timeline", "#timeline-frame"),
];

/// Moves the page down by the part of a pixel that its canvas is away from a whole one, which would
/// blur it.
fn on_whole_pixels() -> String {
    format!(
        "(() => {{
           const canvas = document.querySelector('#timeline-canvas');
           const top = canvas === null ? 0 : canvas.getBoundingClientRect().top + scrollY;
           const away = Math.ceil(top * {SCALE}) / {SCALE} - top;
           document.body.style.paddingTop = `${{away}}px`;
         }})()"
    )
}

/// Left, top, width and height of the stretch of the page between two elements.
fn area(page: &Page, first: &str, last: &str) -> [f64; 4] {
    let found = page.evaluate(&format!(
        "(() => {{
           const top = document.querySelector({first:?}).getBoundingClientRect().top;
           const end = document.querySelector({last:?}).getBoundingClientRect().bottom;
           const space = 16;
           return [0, top + scrollY - space, innerWidth, end - top + 2 * space];
         }})()"
    ));
    // Whole pixels of the picture: a part of one would blur all of it.
    let whole = |length: f64| (length * SCALE).round() / SCALE;
    let number = |at: usize| whole(found[at].as_f64().expect("it is a length"));
    [number(0), number(1), number(2), number(3)]
}

#[test]
#[ignore = "wants the runs of 'make pictures'"]
fn the_pictures_of_the_documentation() {
    let runs = env::var("LOCKSTORM_PICTURES").expect("LOCKSTORM_PICTURES names the runs");
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/pictures");
    for (name, width, first, last) in PICTURES {
        let report: PathBuf = [&runs, name, "latest", "report.html"].iter().collect();
        let report = fs::canonicalize(report).expect("the run has a report");
        for (scheme, word) in [(Scheme::Light, "light"), (Scheme::Dark, "dark")] {
            let page = Page::new().expect("pictures want a browser");
            page.resize((width, HEIGHT), SCALE);
            page.prefers(scheme, false);
            page.hide_scrollbars();
            page.visit(&report, "");
            page.wait_until(
                "document.querySelector('#timeline-canvas') === null ||
                 document.documentElement.dataset.timeline === 'ready'",
            );
            page.evaluate(&on_whole_pixels());
            // What is outside of the window is not painted.
            let [.., height] = area(&page, first, last);
            page.resize((width, HEIGHT.max(height.ceil() as u32)), SCALE);
            let area = area(&page, first, last);
            page.evaluate(&format!(
                "scrollTo({{ top: {}, behavior: 'instant' }})",
                area[1]
            ));
            page.evaluate(
                "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))",
            );
            let picture = reduced(&page.picture(area));
            assert!(
                picture.len() <= BYTES_MAX,
                "{name}-{word}: {} bytes",
                picture.len()
            );
            assert_eq!(page.complaints(), Vec::<String>::new());
            fs::write(place.join(format!("{name}-{word}.png")), picture)
                .expect("the picture can be written");
        }
    }
}
