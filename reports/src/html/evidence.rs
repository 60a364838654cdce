//! Links to the events that a sentence rests on.

use maud::{Markup, html};

use super::link;
use crate::words::EVENTS_MAX;

/// `events 3, 7`, each a link to its place in the timeline: that of this page, or that of the run
/// in `folder`.
pub(super) fn links(events: &[u64], folder: Option<&str>) -> Markup {
    let page = folder.map(link::report_of).unwrap_or_default();
    html! {
        @if !events.is_empty() {
            @if events.len() == 1 { "event " } @else { "events " }
            @for (n, event) in events.iter().take(EVENTS_MAX).enumerate() {
                @if n > 0 { ", " }
                a href=(format!("{page}#event={event}")) { (event) }
            }
            @if events.len() > EVENTS_MAX { " and " (events.len() - EVENTS_MAX) " more" }
        }
    }
}

/// The link of a single event: its bare number.
pub(super) fn link(event: u64, folder: Option<&str>) -> Markup {
    let page = folder.map(link::report_of).unwrap_or_default();
    html! { a href=(format!("{page}#event={event}")) { (event) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_lead_to_the_timeline_of_their_own_run() {
        let here = links(&[3, 7], None).into_string();
        assert_eq!(
            here,
            "events <a href=\"#event=3\">3</a>, <a href=\"#event=7\">7</a>"
        );
        let there = links(&[3], Some("cells/a")).into_string();
        assert_eq!(there, "event <a href=\"cells/a/report.html#event=3\">3</a>");
    }

    #[test]
    fn more_events_than_links_are_counted() {
        let many: Vec<u64> = (0..EVENTS_MAX as u64 + 5).collect();
        assert!(links(&many, None).into_string().ends_with(" and 5 more"));
        assert_eq!(links(&[], None).into_string(), "");
    }
}
