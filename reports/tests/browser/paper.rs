//! The page on paper: what a decision rests on, on a few sheets, with nothing that can only be
//! clicked, and dark words on white.

use crate::driver::Scheme;
use crate::report::Report;

#[test]
fn on_paper_each_finding_has_its_claim_and_nothing_is_left_to_click() {
    let report = Report::of_failover();
    let Some(page) = report.open() else { return };
    let cards = page.count("details.card");
    let folded = page.count("details.card:not([open])");
    assert!(folded > 0, "a card is folded, or this proves nothing");
    page.prefers(Scheme::Dark, true);

    for gone in ["button", "nav", "canvas", "input"] {
        assert_eq!(page.seen(gone), 0, "{gone} is of no use on paper");
    }
    assert_eq!(page.seen("details.card .claim"), cards, "folded or not");
    assert_eq!(page.seen(".definition, .raw, #latency"), 0, "no statistics");
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
fn a_page_prints_on_six_sheets_at_most() {
    for report in [Report::of_failover(), Report::of_suite()] {
        let Some(page) = report.open() else { return };
        let document = page.printed();
        assert!(document.starts_with(b"%PDF-"));
        let text = String::from_utf8_lossy(&document);
        let sheets = text.matches("/Type /Page\n").count();
        assert!((1..=6).contains(&sheets), "{sheets} sheets");
        report.was_quiet(&page);
    }
}
