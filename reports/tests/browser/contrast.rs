//! Contrast, measured from the styles that the browser computed: words at least 4.5 to 1, colours
//! that stand for something at least 3 to 1, as WCAG 2 asks at level AA.

use serde_json::Value;

use crate::driver::{Page, Scheme};
use crate::report::Report;

/// Least contrast of words.
const WORDS: f64 = 4.5;
/// Least contrast of lines and areas that stand for something.
const GRAPHICS: f64 = 3.0;
/// The colours of the style sheet that stand for something.
const MEANINGS: &str =
    r#"["--hold", "--wait", "--lease", "--violation", "--unknown", "--valid", "--fault"]"#;

fn measure(page: &Page) -> Value {
    // All words count, those in folded parts too.
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })");
    page.evaluate(&include_str!("contrast.js").replace("MEANINGS", MEANINGS))
}

fn contrast_is_enough(report: &Report) {
    for scheme in [Scheme::Light, Scheme::Dark] {
        let Some(page) = Page::new() else { return };
        page.prefers(scheme, false);
        page.visit(&report.file, "");
        let found = measure(&page);
        let words = found["measured"].as_array().expect("words were measured");
        assert!(words.len() > 60, "a page has many words: {}", words.len());
        let faint: Vec<String> = words
            .iter()
            .filter(|word| word["ratio"].as_f64().is_none_or(|ratio| ratio < WORDS))
            .map(|word| format!("{} in {}: {}", word["text"], word["place"], word["ratio"]))
            .collect();
        assert!(
            faint.is_empty(),
            "{scheme:?}, below {WORDS}:\n{}",
            faint.join("\n")
        );
        let palette = found["palette"].as_object().expect("colours were measured");
        assert_eq!(palette.len(), 7);
        for (name, ratio) in palette {
            let ratio = ratio.as_f64().expect("it is a number");
            assert!(
                ratio >= GRAPHICS,
                "{scheme:?}: {name} has {ratio:.2} of {GRAPHICS}"
            );
        }
        report.was_quiet(&page);
    }
}

#[test]
fn words_and_colours_of_a_run_stand_out_in_both_schemes() {
    contrast_is_enough(&Report::of_failover());
}

#[test]
fn words_and_colours_of_a_suite_stand_out_in_both_schemes() {
    contrast_is_enough(&Report::of_suite());
}
