//! The section of hand-offs: how long locks lay free, who got them, and what was left of leases.

use maud::{Markup, html};

use super::plot::Plot;
use super::{page, table};
use crate::inert::visible;
use crate::measures::{Gap, Leases, Measures, Ordered, Shares};
use crate::model::RunRecord;
use crate::{plots, words};

/// Clients whose table is open when the page is.
const OPEN_MAX: usize = 12;

const HOW: &str = "How long a lock lay free between two holders, from the end of a hold or of its \
                   lease to the next grant, and who got it.";
const LENGTHS_HOW: &str = "Bars left of the zero line are overlaps: the next grant came before the \
                           hold before it had ended, so there were two holders at once.";
const OVER_TIME_HOW: &str = "Each mark is one grant, at its time. Above the zero line the lock was \
                             free for so long; below it, another still held it.";
const SHARES_HOW: &str = "What each client had: a share far below the others, or a wait far above \
                          them, is one that was left out.";

/// The section.
pub(super) fn section(run: &RunRecord, measures: Option<&Measures>) -> Markup {
    let body = measures.map_or_else(
        || html! { p.none { "Without a history there is nothing to measure." } },
        |measures| {
            html! {
                (figures(run, measures))
                @if measures.gaps.is_empty() { p.none { (without_gaps(measures)) } }
                (lengths(measures).unwrap_or_default())
                (over_time(run, measures).unwrap_or_default())
                @if let Some(shares) = &measures.shares { (of_clients(shares, measures)) }
            }
        },
    );
    page::section("hand-off", "Hand-off", HOW, &body)
}

fn without_gaps(measures: &Measures) -> String {
    let permits = measures.trace.permits;
    if permits > 1 {
        return format!(
            "The lock has {permits} permits: one that is given back may lie free while others are \
             taken, so there is no hand-off to measure."
        );
    }
    "No lock changed hands.".to_owned()
}

/// One figure with its name and, where it has one, a sentence on what it means.
fn figure(name: &str, value: &str) -> Markup {
    html! { div { dt { (name) } dd { (value) } } }
}

fn figures(run: &RunRecord, measures: &Measures) -> Markup {
    let overlaps = measures.gaps.iter().filter(|gap| gap.length < 0).count();
    let free = measures
        .gaps
        .iter()
        .filter_map(|gap| u64::try_from(gap.length).ok());
    let free = Ordered::of(free);
    html! {
        dl.counters {
            (figure("hand-offs", &measures.gaps.len().to_string()))
            (figure("of them with an overlap", &overlaps.to_string()))
            @if let Some(free) = &free {
                (figure("median gap", &words::length(free.at(0.5))))
                (figure("longest gap", &words::length(free.most())))
            }
            @if let Some(shares) = &measures.shares {
                (figure("longest wait", &words::length(shares.longest_wait)))
            }
            @if let Some(availability) = &run.analysis.availability {
                (figure("longest time without a grant", &words::length(availability.longest.0)))
            }
            @if let Some(leases) = &measures.leases { (of_leases(leases)) }
        }
    }
}

fn of_leases(leases: &Leases) -> Markup {
    html! {
        (figure("holds with a lease", &leases.holds.to_string()))
        (figure("acted on after the lease", &leases.past.to_string()))
        @if leases.past > 0 {
            (figure("longest after a lease", &words::length(leases.longest_past)))
        }
        @if let Some(slack) = &leases.slack {
            (figure("median left of a lease", &words::length(slack.at(0.5))))
            (figure("least left of a lease", &words::length(slack.least())))
        }
    }
}

fn lengths(measures: &Measures) -> Option<Markup> {
    let handoff = plots::handoff(&measures.gaps)?;
    let rows = handoff.bins.iter();
    let rows = rows.map(|(name, count)| vec![name.clone(), count.to_string()]);
    let plot = Plot {
        title: "By length",
        how: LENGTHS_HOW,
        drawing: &handoff.drawing,
        note: None,
        numbers: table::numbers(&["Length", "Hand-offs"], rows),
    };
    Some(plot.markup())
}

fn over_time(run: &RunRecord, measures: &Measures) -> Option<Markup> {
    let faults = &run.analysis.faults;
    let points = plots::handoff_over_time(&measures.gaps, measures.end, faults)?;
    let windows = &measures.windows;
    let mut by_window: Vec<Vec<&Gap>> = vec![Vec::new(); windows.count()];
    for gap in &measures.gaps {
        by_window[windows.at(gap.hold.granted)].push(gap);
    }
    let told = by_window.iter().enumerate();
    let rows = told.filter(|(_, gaps)| !gaps.is_empty());
    let rows = rows.map(|(window, gaps)| {
        let lengths = || gaps.iter().map(|gap| gap.length);
        let longest = |of: Option<i64>| {
            of.map_or_else(
                || "–".to_owned(),
                |length| words::length(length.unsigned_abs()),
            )
        };
        vec![
            words::instant(windows.span(window).0),
            gaps.len().to_string(),
            longest(lengths().filter(|length| *length >= 0).max()),
            lengths().filter(|length| *length < 0).count().to_string(),
            longest(lengths().filter(|length| *length < 0).min()),
        ]
    });
    let columns = [
        "From",
        "Hand-offs",
        "Longest gap",
        "Overlaps",
        "Longest overlap",
    ];
    let plot = Plot {
        title: "Over time",
        how: OVER_TIME_HOW,
        drawing: &points.drawing,
        note: points.note.as_deref(),
        numbers: table::numbers(&columns, rows),
    };
    Some(plot.markup())
}

fn of_clients(shares: &Shares, measures: &Measures) -> Markup {
    let of_all = |part: u64, all: u64| format!("{:.1} %", part as f64 * 100.0 / all.max(1) as f64);
    let rows = shares.told.iter().map(|share| {
        vec![
            visible(&share.client).into_owned(),
            share.acquires.to_string(),
            share.grants.to_string(),
            of_all(share.grants, shares.grants),
            words::length(share.longest_wait),
            words::length(share.held),
            of_all(share.held, measures.end.0),
        ]
    });
    let columns = [
        "Client",
        "Acquires",
        "Granted",
        "Share of grants",
        "Longest wait",
        "Held for",
        "Share of the run",
    ];
    html! {
        h3 { "By client" }
        p.how { (SHARES_HOW) }
        details.data open[shares.clients <= OPEN_MAX] {
            summary { (words::count(shares.clients as u64, "client")) }
            (table::numbers(&columns, rows))
            @if let Some(note) = shares.note() { p.detail { (note) } }
        }
    }
}
