//! The plots over time mark what the timeline shows.

use crate::report::Report;

/// Left and right edge of the marks in the plots of latency, as shares of their planes.
const MARKS: &str = "JSON.stringify([...document.querySelectorAll('#latency svg[data-time]')]
  .map((plot) => {
    const [, , x, , width] = JSON.parse(plot.dataset.time);
    const mark = plot.querySelector('rect.shown');
    if (mark.getAttribute('visibility') === 'hidden') return null;
    const [left, length] = ['x', 'width'].map((name) => Number(mark.getAttribute(name)));
    return [(left - x) / width, (left + length - x) / width];
  }))";
/// The last instant of the plots, in seconds.
const END: &str = "JSON.parse(document.querySelector('#latency svg[data-time]').dataset.time)[1]";

#[test]
fn each_plot_over_time_frames_the_view_of_the_timeline() {
    let report = Report::of_failover();
    let Some(page) = report.open() else { return };
    page.wait_until("document.documentElement.dataset.timeline === 'ready'");
    let marks = || -> Vec<Option<(f64, f64)>> {
        serde_json::from_str(&page.text(MARKS)).expect("the marks are numbers")
    };
    assert!(marks().len() >= 2, "each acquire, and the rate");
    assert!(marks().iter().all(Option::is_none), "all of it is shown");

    page.evaluate("location.hash = '#t=1.2..1.6'");
    page.wait_until(&format!("!{MARKS}.includes('null')"));
    let end = page.number(END);
    for (left, right) in marks().into_iter().flatten() {
        assert!((left - 1.2 / end).abs() < 0.02, "{left} of {end} s");
        assert!((right - 1.6 / end).abs() < 0.02, "{right} of {end} s");
    }
    report.was_quiet(&page);
}
