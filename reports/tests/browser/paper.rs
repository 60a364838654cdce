//! The page on paper: nothing that can only be clicked, nothing folded away, dark words on white.

use crate::driver::Scheme;
use crate::report::Report;

#[test]
fn on_paper_all_is_unfolded_and_nothing_is_left_to_click() {
    let report = Report::of_failover();
    let Some(page) = report.open() else { return };
    let folded = page.count("details:not([open])");
    assert!(folded > 0, "something is folded, or this proves nothing");
    page.prefers(Scheme::Dark, true);

    for gone in ["button", "nav", "canvas", "input"] {
        assert_eq!(page.seen(gone), 0, "{gone} is of no use on paper");
    }
    // What is folded has no height, whatever else it says of itself. The keys of the canvas go with
    // it.
    let flat = page.number(
        "[...document.querySelectorAll('details > :not(summary)')]
           .filter((e) => !e.closest('#timeline-live'))
           .filter((e) => e.getBoundingClientRect().height === 0).length",
    );
    assert_eq!(flat as u64, 0, "parts that stay folded");
    assert!(
        page.seen("#timeline svg[role=img]") > 0,
        "the timeline is a picture"
    );
    report.was_quiet(&page);
}

#[test]
fn paper_is_white_also_for_those_who_read_in_the_dark() {
    let report = Report::of_failover();
    let Some(page) = report.open() else { return };
    page.evaluate("document.documentElement.style.colorScheme = 'dark'");
    page.prefers(Scheme::Dark, true);
    let words = page.text("getComputedStyle(document.querySelector('h1')).color");
    let scheme = page.text("getComputedStyle(document.documentElement).colorScheme");
    assert_eq!(scheme, "light", "the words are {words}");
    report.was_quiet(&page);
}

#[test]
fn the_page_prints_as_a_document_of_several_sheets() {
    let report = Report::of_failover();
    let Some(page) = report.open() else { return };
    let document = page.printed();
    assert!(document.starts_with(b"%PDF-"));
    let text = String::from_utf8_lossy(&document);
    let sheets = text.matches("/Type /Page\n").count();
    assert!((2..40).contains(&sheets), "{sheets} sheets");
    report.was_quiet(&page);
}
