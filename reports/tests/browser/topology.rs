//! The topology follows the timeline: when the view moves, roles, faults and absences are those of
//! the view.

use crate::driver::Page;
use crate::report::Report;

/// Tells the page, as the timeline does, that its view has moved to these seconds.
fn view(page: &Page, from: f64, to: f64) {
    page.evaluate(&format!(
        "document.dispatchEvent(new CustomEvent('timeline-view', {{
           detail: {{ from: {from}, to: {to} }},
         }}))"
    ));
}

/// The words in the boxes and on the links, joined.
fn words(page: &Page) -> String {
    page.text(
        "[...document.querySelectorAll('#topology svg text')].map((t) => t.textContent).join('|')",
    )
}

#[test]
fn roles_faults_and_absences_are_those_of_the_view() {
    let report = Report::of_failover();
    let Some(page) = report.open() else { return };
    // When it is drawn for the first time, the timeline tells its own view.
    page.wait_until("document.documentElement.dataset.timeline === 'ready'");

    view(&page, 0.0, 5.0);
    let whole = words(&page);
    assert!(whole.contains("replica → primary"), "{whole}");
    assert!(whole.contains("F2 kill"), "{whole}");
    assert_eq!(page.count("#topology .absent"), 1);
    assert_eq!(page.count("#topology .cut:not(.healed)"), 1);

    view(&page, 0.0, 0.3);
    let before = words(&page);
    assert!(!before.contains('F'), "no fault yet: {before}");
    assert!(before.contains("|replica|"), "{before}");
    assert_eq!(page.count("#topology .absent"), 0);
    assert_eq!(page.count("#topology .cut:not(.healed)"), 0);

    view(&page, 1.5, 1.6);
    let during = words(&page);
    assert!(during.contains("replica-1|primary|"), "{during}");
    assert_eq!(page.count("#topology .absent"), 1, "the primary is dead");
    let told = page.text("document.querySelector('#topology .view').textContent");
    assert!(told.contains("1.500 s to 1.600 s"), "{told}");
    report.was_quiet(&page);
}
