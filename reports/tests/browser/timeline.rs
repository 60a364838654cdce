//! The interactive timeline, as a hand and as a keyboard use it.
//!
//! What a canvas shows cannot be asked for, so the tests read the view in words, which the page
//! says for those who cannot see it, and look whether the picture became another.

use crate::driver::{Key, Page, Scheme};
use crate::report::Report;

/// The view in words.
const STATUS: &str = "document.querySelector('#timeline-status').textContent";
/// The picture, as text that is another as soon as one point of it is.
const PICTURE: &str = "document.querySelector('#timeline-canvas').toDataURL()";

/// The page with its timeline ready and in sight.
fn open(report: &Report, hash: &str) -> Option<Page> {
    let page = Page::new()?;
    page.visit(&report.file, hash);
    page.wait_until("document.documentElement.dataset.timeline !== undefined");
    let state = page.text("document.documentElement.dataset.timeline");
    assert_eq!(state, "ready", "{}", page.text(STATUS));
    page.evaluate(
        "document.querySelector('#timeline-canvas').scrollIntoView({ behavior: 'instant' })",
    );
    Some(page)
}

fn focus(page: &Page) {
    page.evaluate("document.querySelector('#timeline-canvas').focus()");
}

/// Does something to the page, and gives the view in words once it is another.
fn after(page: &Page, deed: impl FnOnce()) -> String {
    let before = page.text(STATUS);
    deed();
    page.wait_until(&format!("{STATUS} !== {before:?}"));
    at_rest(page)
}

/// Gives the view in words once it moves no more: a busy machine would show how it was in the
/// middle of a drag. The page says it a while after it has drawn; a timer that is set after that of
/// the page, and is longer, ends after it.
fn at_rest(page: &Page) -> String {
    loop {
        let said = page.text(STATUS);
        page.wait_until_drawn();
        page.evaluate("new Promise((done) => { setTimeout(() => done(true), 200); })");
        if page.text(STATUS) == said {
            return said;
        }
    }
}

/// Seconds that the view spans, from its words: "1.200 s to 1.600 s, ...".
fn span(status: &str) -> f64 {
    let times: Vec<f64> = status
        .split(" s")
        .filter_map(|part| part.rsplit(' ').next()?.parse().ok())
        .take(2)
        .collect();
    assert_eq!(times.len(), 2, "two times in {status:?}");
    times[1] - times[0]
}

/// A point of the canvas, as shares of its width and height.
fn point(page: &Page, (right, down): (f64, f64)) -> (f64, f64) {
    let place = page.evaluate(&format!(
        "(() => {{
           const box = document.querySelector('#timeline-canvas').getBoundingClientRect();
           return [box.left + box.width * {right}, box.top + box.height * {down}];
         }})()"
    ));
    let along = |axis: usize| place[axis].as_f64().expect("a number of pixels");
    (along(0), along(1))
}

#[test]
fn the_wheel_and_the_keys_zoom_and_zero_shows_the_whole_run() {
    let report = Report::of_failover();
    let Some(page) = open(&report, "") else {
        return;
    };
    let whole = page.text(STATUS);
    let nearer = after(&page, || page.wheel(point(&page, (0.5, 0.5)), -240.0));
    assert!(span(&nearer) < span(&whole), "{whole} → {nearer}");

    focus(&page);
    let nearest = after(&page, || page.press(Key::Letter('+')));
    assert!(span(&nearest) < span(&nearer), "{nearer} → {nearest}");
    let aside = after(&page, || page.press(Key::Right));
    let difference = (span(&aside) - span(&nearest)).abs();
    assert!(difference < 0.002, "moved, not zoomed: {nearest} → {aside}");
    assert_eq!(after(&page, || page.press(Key::Left)), nearest);
    let away = after(&page, || page.press(Key::Letter('-')));
    assert!(span(&away) > span(&nearest), "{nearest} → {away}");
    assert_eq!(after(&page, || page.press(Key::Letter('0'))), whole);
    report.was_quiet(&page);
}

#[test]
fn a_drag_pans_and_with_shift_it_selects() {
    let report = Report::of_failover();
    // Not by a link, to which the page would glide while the hand is on its way.
    let Some(page) = open(&report, "") else {
        return;
    };
    focus(&page);
    after(&page, || page.press(Key::Letter('+')));
    let before = after(&page, || page.press(Key::Letter('+')));
    let [left, right] = [(0.4, 0.5), (0.8, 0.5)].map(|share| point(&page, share));
    let panned = after(&page, || page.drag(right, left, false));
    let difference = (span(&panned) - span(&before)).abs();
    assert!(difference < 0.002, "moved, not zoomed: {before} → {panned}");
    let selected = after(&page, || page.drag(left, right, true));
    let share = span(&selected) / span(&panned);
    assert!((0.3..0.6).contains(&share), "{panned} → {selected}");
    report.was_quiet(&page);
}

#[test]
fn two_fingers_zoom() {
    let report = Report::of_failover();
    // Not by a link, to which the page would glide while the hand is on its way.
    let Some(page) = open(&report, "") else {
        return;
    };
    focus(&page);
    after(&page, || page.press(Key::Letter('+')));
    let before = after(&page, || page.press(Key::Letter('+')));
    let middle = point(&page, (0.5, 0.5));
    let nearer = after(&page, || page.pinch(middle, 100.0, 300.0));
    assert!(span(&nearer) < span(&before), "{before} → {nearer}");
    let away = after(&page, || page.pinch(middle, 300.0, 100.0));
    assert!(span(&away) > span(&nearer), "{nearer} → {away}");
    report.was_quiet(&page);
}

#[test]
fn n_and_p_lead_from_violation_to_violation() {
    let report = Report::of_failover();
    let Some(page) = open(&report, "") else {
        return;
    };
    focus(&page);
    let first = after(&page, || page.press(Key::Letter('n')));
    assert!(first.contains("violation 1 of 2"), "{first}");
    let second = after(&page, || page.press(Key::Letter('n')));
    assert!(second.contains("violation 2 of 2"), "{second}");
    let back = after(&page, || page.press(Key::Letter('p')));
    assert!(back.contains("violation 1 of 2"), "{back}");
    report.was_quiet(&page);
}

#[test]
fn a_filter_leaves_out_and_an_empty_one_brings_back() {
    let report = Report::of_failover();
    let Some(page) = open(&report, "") else {
        return;
    };
    let all = page.text(PICTURE);
    focus(&page);
    page.press(Key::Letter('/'));
    page.wait_until("document.activeElement instanceof HTMLInputElement");
    page.write("client:b");
    page.wait_until(&format!("{PICTURE} !== {all:?}"));
    page.evaluate("document.activeElement.select()");
    page.write(" ");
    page.wait_until(&format!("{PICTURE} === {all:?}"));
    report.was_quiet(&page);
}

#[test]
fn dark_and_light_are_drawn_anew() {
    let report = Report::of_failover();
    let Some(page) = open(&report, "") else {
        return;
    };
    let light = page.text(PICTURE);
    page.prefers(Scheme::Dark, false);
    page.wait_until(&format!("{PICTURE} !== {light:?}"));
    page.evaluate("document.querySelector('button.theme').click()");
    page.wait_until(&format!("{PICTURE} === {light:?}"));
    report.was_quiet(&page);
}

#[test]
fn a_link_holds_the_view_and_evidence_leads_to_its_operation() {
    let report = Report::of_failover();
    let Some(page) = open(&report, "t=1.2..1.6") else {
        return;
    };
    let held = page.text(STATUS);
    assert!((span(&held) - 0.4).abs() < 0.002, "{held}");

    let linked = page.count("a[href='#event=14']");
    assert!(linked > 0, "the story cites its evidence by links");
    page.evaluate("document.querySelector(\"a[href='#event=14']\").click()");
    let details = "document.querySelector('#timeline-details')";
    page.wait_until(&format!("!{details}.hidden"));
    let said = page.text(&format!("{details}.innerText"));
    assert!(said.contains('b') && said.contains("orders"), "{said}");

    // What is selected is in the address, and the address alone leads back to it.
    page.wait_until("location.hash.includes('event=14')");
    let hash = page.text("location.hash.slice(1)");
    let Some(again) = open(&report, &hash) else {
        return;
    };
    again.wait_until(&format!("!{details}.hidden"));
    assert_eq!(again.text(&format!("{details}.innerText")), said);
    report.was_quiet(&page);
    report.was_quiet(&again);
}

#[test]
fn the_details_of_a_hold_name_who_else_held_the_lock_then() {
    let report = Report::of_failover();
    let details = "document.querySelector('#timeline-details')";
    let said = |event: &str| {
        let page = open(&report, event)?;
        page.wait_until(&format!("!{details}.hidden"));
        let said = page.text(&format!("{details}.innerText"));
        report.was_quiet(&page);
        Some(said)
    };
    let Some(of_b) = said("event=14") else { return };
    let (_, others) = of_b.split_once("Others held it then").expect(&of_b);
    assert_eq!(others.trim_start().lines().next(), Some("a"), "{of_b}");
    // When a was granted the lock, it was the only one.
    let of_a = said("event=4").unwrap_or_default();
    assert!(
        of_a.contains("a held") && !of_a.contains("Others"),
        "{of_a}"
    );
}

#[test]
fn a_click_pins_an_operation_and_escape_lets_it_go() {
    let report = Report::of_failover();
    let Some(page) = open(&report, "event=14") else {
        return;
    };
    let hidden = "document.querySelector('#timeline-details').hidden";
    assert_eq!(page.evaluate(hidden), false, "the address names an event");
    focus(&page);
    page.press(Key::Escape);
    page.wait_until(hidden);

    // Its view was led to, so the operation is in the middle of it.
    page.press(Key::Enter);
    page.wait_until(&format!("!{hidden}"));
    page.press(Key::Escape);
    page.wait_until(hidden);
    at_rest(&page);
    // Some place in the middle of the picture holds it, whichever lane that is.
    page.evaluate("window.clicks = 0; addEventListener('pointerup', () => { clicks += 1; })");
    let mut clicks = 0;
    let mut pins = |down: &f64| {
        page.click(point(&page, (0.5, *down)));
        clicks += 1;
        page.wait_until(&format!("window.clicks === {clicks}"));
        page.wait_until_drawn();
        page.evaluate(hidden) == false
    };
    let places: Vec<f64> = (1..40).map(|n| f64::from(n) / 40.0).collect();
    // As a hand that has missed, it tries again.
    assert!(
        (0..3).any(|_| places.iter().any(&mut pins)),
        "a click hits what is drawn there"
    );
    report.was_quiet(&page);
}

#[test]
fn the_order_of_events_is_the_other_axis() {
    let report = Report::of_failover();
    let Some(page) = open(&report, "axis=order") else {
        return;
    };
    assert!(page.text(STATUS).contains("order"), "{}", page.text(STATUS));
    focus(&page);
    let time = after(&page, || page.press(Key::Letter('o')));
    assert!(time.contains("true time"), "{time}");
    report.was_quiet(&page);
}
