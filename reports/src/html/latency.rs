//! The section of latency: over time, by percentile, call by call, and how many calls there were.

use maud::{Markup, html};

use super::plot::Plot;
use super::{page, table};
use crate::measures::{CALLS_FOR_QUANTILES, Latency, Measures, Ordered, Quantiles};
use crate::model::RunRecord;
use crate::trace::{Answer, CallKind};
use crate::{plots, words};

const HOW: &str = "How long calls took, from their sending to their answer. Bands are faults, \
                   named above; higher is slower, on a logarithmic scale. Where the page runs \
                   scripts, a dashed frame is what the timeline shows, unless it shows all.";
const OVER_TIME_HOW: &str = "Each line is a quantile of the calls sent in a window: the thick one \
                             is the median, the thinnest the 99th percentile, the dashed one the \
                             slowest. A line is broken where no call was granted.";
const PERCENTILES_HOW: &str = "How slow the slowest calls were: at 99 % stands what one call in a \
                               hundred exceeded. A flat line that ends steeply: few calls were \
                               slow, but those were very slow.";
const POINTS_HOW: &str = "Each mark is one acquire, at the time it was sent; its shape tells \
                          how it was answered.";
const RATE_HOW: &str = "How many calls came to their end in each second, a line for each way to \
                        end. What has no answer counts when its client gave up.";

/// Shares of the calls that the table of percentiles tells of.
const SHARES: [(f64, &str); 6] = [
    (0.5, "50 %"),
    (0.9, "90 %"),
    (0.95, "95 %"),
    (0.99, "99 %"),
    (0.999, "99.9 %"),
    (0.9999, "99.99 %"),
];

/// The section.
pub(super) fn section(run: &RunRecord, measures: Option<&Measures>) -> Markup {
    let measures = measures.filter(|measures| !measures.rates.is_empty());
    let body = measures.map_or_else(
        || html! { p.none { "No call to measure." } },
        |measures| {
            html! {
                (summary(measures))
                (over_time(run, measures).unwrap_or_default())
                (percentiles(measures).unwrap_or_default())
                (points(run, measures).unwrap_or_default())
                (rate(run, measures).unwrap_or_default())
            }
        },
    );
    page::section("latency", "Latency", HOW, &body)
}

fn length(ns: u64) -> String {
    words::length(ns)
}

fn cells(quantiles: &Quantiles) -> [String; 5] {
    let of = quantiles;
    // A quantile beyond which no call lies would be the longest by another name.
    let known = |quantile: u64, least: u64| {
        let known = (of.count >= least).then(|| length(quantile));
        known.unwrap_or_else(|| "–".to_owned())
    };
    [
        of.count.to_string(),
        known(of.p50, 2),
        known(of.p95, 20),
        known(of.p99, CALLS_FOR_QUANTILES),
        length(of.most),
    ]
}

/// Renders what to know without looking at a picture.
fn summary(measures: &Measures) -> Markup {
    let rows = measures.latencies.iter().map(|latency| {
        let mut row = vec![words::call(latency.kind).to_owned()];
        row.extend(cells(&Quantiles::from(&latency.whole)));
        row.push(latency.others.to_string());
        row
    });
    let columns = [
        "Call",
        "Granted",
        "Median",
        "95 %",
        "99 %",
        "Longest",
        "Not granted",
    ];
    html! {
        (table::numbers(&columns, rows))
        p.detail {
            "What was refused or never answered is in no quantile of these, and counted in the \
             last column."
        }
    }
}

fn has_quantiles(measures: &Measures) -> bool {
    measures.latencies.iter().any(Latency::has_quantiles)
}

fn over_time(run: &RunRecord, measures: &Measures) -> Option<Markup> {
    let (windows, faults) = (&measures.windows, &run.analysis.faults);
    let drawing = has_quantiles(measures)
        .then(|| plots::quantiles(&measures.latencies, windows, measures.end, faults))??;
    let rows = measures.latencies.iter().flat_map(|latency| {
        let told = latency.over_time.iter().enumerate();
        told.filter_map(|(window, quantiles)| {
            let mut row = vec![words::instant(windows.span(window).0)];
            row.push(words::call(latency.kind).to_owned());
            row.extend(cells(quantiles.as_ref()?));
            Some(row)
        })
    });
    let columns = [
        "From", "Call", "Granted", "Median", "95 %", "99 %", "Longest",
    ];
    let title = format!("Over time, in windows of {}", length(windows.length().0));
    let plot = Plot {
        title: &title,
        how: OVER_TIME_HOW,
        drawing: &drawing,
        note: None,
        numbers: table::numbers(&columns, rows),
    };
    Some(plot.markup())
}

fn percentiles(measures: &Measures) -> Option<Markup> {
    let drawing = has_quantiles(measures).then(|| plots::percentiles(&measures.latencies))??;
    let row = |name: String, lengths: &Ordered| {
        let shares = SHARES.iter().map(|(share, _)| length(lengths.at(*share)));
        let mut row = vec![name, lengths.count().to_string()];
        row.extend(shares);
        row.push(length(lengths.most()));
        row
    };
    let rows = measures.latencies.iter().flat_map(|latency: &Latency| {
        let word = words::call(latency.kind);
        let served = latency.served.as_ref();
        let served = served.map(|served| row(format!("{word}, last try alone"), served));
        [Some(row(word.to_owned(), &latency.whole)), served]
    });
    let mut columns = vec!["Call", "Granted"];
    columns.extend(SHARES.map(|(_, name)| name));
    columns.push("Longest");
    let plot = Plot {
        title: "By percentile",
        how: PERCENTILES_HOW,
        drawing: &drawing,
        note: None,
        numbers: table::numbers(&columns, rows.flatten()),
    };
    Some(plot.markup())
}

fn points(run: &RunRecord, measures: &Measures) -> Option<Markup> {
    let points = plots::latency(measures.trace, &run.analysis.faults)?;
    let rows = measures.answers.iter().map(|(answer, quantiles)| {
        let mut row = vec![words::answer(CallKind::Acquire, *answer).to_owned()];
        row.extend(cells(quantiles));
        row
    });
    let columns = ["Answer", "Acquires", "Median", "95 %", "99 %", "Longest"];
    let plot = Plot {
        title: "Each acquire",
        how: POINTS_HOW,
        drawing: &points.drawing,
        note: points.note.as_deref(),
        numbers: table::numbers(&columns, rows),
    };
    Some(plot.markup())
}

fn rate(run: &RunRecord, measures: &Measures) -> Option<Markup> {
    let (windows, faults) = (&measures.windows, &run.analysis.faults);
    let drawing = plots::rate(&measures.rates, windows, measures.end, faults)?;
    let rows = measures.rates.iter().flat_map(|rates| {
        (0..windows.count()).map(|window| {
            let span = windows.span(window);
            let rate = |answer: Answer| {
                let series = rates.series.iter().find(|(of, _)| *of == answer);
                let count = series.map_or(0, |(_, counts)| counts[window]);
                format!("{:.1}", plots::per_second(count, span))
            };
            let mut row = vec![words::instant(span.0), words::call(rates.kind).to_owned()];
            row.extend(Answer::ALL.map(rate));
            row
        })
    });
    let columns = [
        "From",
        "Call",
        "Granted/s",
        "Refused/s",
        "Not executed/s",
        "No answer/s",
    ];
    let plot = Plot {
        title: "Calls per second",
        how: RATE_HOW,
        drawing: &drawing,
        note: None,
        numbers: table::numbers(&columns, rows),
    };
    Some(plot.markup())
}
