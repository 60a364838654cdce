//! The keyboard alone: everything that can be used is reached in the order of the page, and one
//! sees where one is.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::driver::{Key, Page};
use crate::report::Report;

/// A page with more stops than this has lost its way.
const STOPS_MAX: usize = 400;

/// Marks what can be used with its place in the page, and says how many there are.
const MARK: &str = "(() => {
  const wanted = 'a[href], button, input, select, summary, [tabindex=\"0\"]';
  const usable = [...document.querySelectorAll(wanted)].filter(
    (e) => e.checkVisibility({ visibilityProperty: true }) && !e.disabled);
  usable.forEach((element, place) => { element.dataset.place = place; });
  return usable.length;
})()";

/// Where the focus is: the place, and what a reader sees of it.
const FOCUS: &str = "(() => {
  const element = document.activeElement;
  if (element === document.body || element === null) return null;
  const style = getComputedStyle(element);
  const box = element.getBoundingClientRect();
  return {
    place: Number(element.dataset.place ?? -1),
    what: element.outerHTML.slice(0, 80),
    ring: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2,
    inSight: box.bottom > 0 && box.top < innerHeight && box.width > 0,
  };
})()";

/// Everything that Tab stops at, until the page is left.
fn stops(page: &Page) -> Vec<Value> {
    let mut stops = Vec::new();
    for _ in 0..STOPS_MAX {
        page.press(Key::Tab);
        let stop = page.evaluate(FOCUS);
        if stop.is_null() || stops.first() == Some(&stop) {
            return stops;
        }
        stops.push(stop);
    }
    panic!("Tab never leaves the page");
}

fn tab_leads_through(report: &Report) {
    let Some(page) = report.open() else { return };
    // A page that glides to its place is not there yet when it is asked.
    page.evaluate("document.documentElement.style.scrollBehavior = 'auto'");
    let usable = page.number(MARK) as i64;
    assert!(usable > 10, "there is something to use");
    let stops = stops(&page);
    for stop in &stops {
        assert_eq!(stop["ring"], true, "the focus is seen on {}", stop["what"]);
        assert_eq!(
            stop["inSight"], true,
            "the page has moved to {}",
            stop["what"]
        );
    }
    let places: Vec<i64> = stops.iter().filter_map(|s| s["place"].as_i64()).collect();
    // What scrolls by itself is a stop of the browser's own, without a place.
    let reached: Vec<i64> = places.into_iter().filter(|place| *place >= 0).collect();
    assert!(reached.is_sorted(), "in the order of the page: {reached:?}");
    let missed: BTreeSet<i64> = (0..usable).filter(|n| !reached.contains(n)).collect();
    let what = missed.iter().map(|place| {
        page.text(&format!(
            "document.querySelector('[data-place=\"{place}\"]').outerHTML"
        ))
    });
    assert_eq!(
        what.collect::<Vec<_>>(),
        Vec::<String>::new(),
        "never reached"
    );
    report.was_quiet(&page);
}

#[test]
fn tab_reaches_all_of_a_run_in_order_and_the_focus_is_seen() {
    tab_leads_through(&Report::of_failover());
}

#[test]
fn tab_reaches_all_of_a_suite_in_order_and_the_focus_is_seen() {
    tab_leads_through(&Report::of_suite());
}

#[test]
fn a_card_folds_and_unfolds_by_key() {
    let report = Report::of_failover();
    let Some(page) = report.open() else { return };
    let open = "document.querySelector('.card').open";
    page.evaluate("document.querySelector('.card > summary').focus()");
    assert_eq!(
        page.evaluate(open),
        true,
        "the first is open from the start"
    );
    page.press(Key::Enter);
    page.wait_until("!document.querySelector('.card').open");
    page.press(Key::Enter);
    page.wait_until(open);
    report.was_quiet(&page);
}
