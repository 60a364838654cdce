//! Without JavaScript: all that a reader must know is there, and nothing is a button that does
//! nothing.

use crate::driver::Page;
use crate::report::Report;

#[test]
fn every_verdict_finding_and_table_is_there_without_scripts() {
    let report = Report::of_failover();
    let Some(page) = Page::new() else { return };
    page.without_scripts();
    page.visit(&report.file, "");

    let verdict = page.text("document.querySelector('#verdict').innerText");
    for said in [
        "PASS · mutual exclusion violated, as expected",
        "a and b both held",
        "lost lock",
        "lease overrun",
    ] {
        assert!(verdict.contains(said), "{said} in {verdict}");
    }
    for section in [
        "findings", "timeline", "faults", "latency", "hand-off", "coverage",
    ] {
        assert_eq!(page.seen(&format!("#{section}")), 1, "{section}");
    }
    let cards = page.count(".card");
    assert_eq!(cards, 2, "one for each violation");
    for part in [
        "svg[role=img]",
        ".claim",
        ".story li.contradiction",
        "table",
    ] {
        let having = page.number(&format!(
            "[...document.querySelectorAll('.card')]
               .filter((card) => card.querySelector({part:?})).length"
        ));
        assert_eq!(having as u64, cards, "every card has {part}");
    }
    assert_eq!(page.count(".faults tbody tr"), 3);
    assert_eq!(page.seen("button"), 0, "a button would do nothing");
    assert_eq!(page.seen("canvas"), 0, "nothing would be drawn on it");
    assert!(
        page.seen("#timeline svg[role=img]") > 0,
        "the timeline is a picture"
    );
    report.was_quiet(&page);
}

#[test]
fn the_table_of_a_suite_is_there_without_scripts() {
    let report = Report::of_suite();
    let Some(page) = Page::new() else { return };
    page.without_scripts();
    page.visit(&report.file, "");

    assert_eq!(page.seen(".matrix tbody tr"), 3);
    assert_eq!(page.seen(".matrix td.bad a[href]"), 2);
    assert_eq!(page.seen(".matrix td.unexpected"), 1);
    assert!(page.count(".card svg[role=img]") > 0);
    report.was_quiet(&page);
}
