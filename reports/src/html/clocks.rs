//! The section of clocks: how far those were off that a fault put wrong.

use lockstorm_checker::Nanos;
use maud::{Markup, html};

use super::plot::Plot;
use super::{page, table};
use crate::inert::visible;
use crate::measures::Clock;
use crate::model::RunRecord;
use crate::{plots, words};

const HOW: &str = "How far each faulted clock was ahead of the true time, or behind it. Dots were \
                   measured; a dashed line is what was the case as far as anybody can tell.";

/// The section; `None` for a run that leaves clocks alone.
pub(super) fn section(run: &RunRecord, end: Nanos) -> Option<Markup> {
    let faults = &run.analysis.faults;
    let clocks = Clock::all(faults);
    if clocks.is_empty() {
        return None;
    }
    let picture = plots::clocks(&clocks, end, faults);
    let body = picture.map_or_else(
        || {
            html! {
                p.none { "Nobody measured how far they were off." }
                (numbers(&clocks))
            }
        },
        |picture| {
            let plot = Plot {
                title: "Over time",
                how: "One panel for each clock. Bands are faults.",
                drawing: &picture.drawing,
                note: picture.note.as_deref(),
                numbers: numbers(&clocks),
            };
            plot.markup()
        },
    );
    Some(page::section("clocks", "Clocks", HOW, &body))
}

fn numbers(clocks: &[Clock]) -> Markup {
    let look = |stage: Option<(Nanos, Option<i64>)>| {
        let (at, offset) = stage.unzip();
        let at = at.map_or_else(|| "–".to_owned(), words::instant);
        [
            at,
            offset
                .flatten()
                .map_or_else(|| "–".to_owned(), words::offset),
        ]
    };
    let rows = clocks.iter().flat_map(|clock| {
        clock.stretches.iter().map(|stretch| {
            let mut row = vec![visible(clock.name).into_owned()];
            row.push(visible(stretch.fault).into_owned());
            row.push(words::instant(stretch.injected));
            row.extend(look(stretch.observed));
            row.extend(look(stretch.healed));
            row
        })
    });
    let columns = [
        "Clock",
        "Fault",
        "Injected",
        "Seen",
        "Off by",
        "Healed",
        "Off until then by",
    ];
    table::numbers(&columns, rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_run_with_wrong_clocks_has_a_section_and_any_other_has_none() {
        let mut run = sample::failover_run();
        let end = Nanos::from_millis(10_000);
        assert!(section(&run, end).is_none());
        run.analysis.faults = sample::clock_faults();
        let section = section(&run, end).unwrap().into_string();
        for wanted in ["id=\"clocks\"", "<svg", "6.000 s ahead", "2.000 s behind"] {
            assert!(section.contains(wanted), "{wanted}");
        }
    }

    #[test]
    fn of_clocks_that_nobody_measured_the_times_are_told_all_the_same() {
        let mut run = sample::failover_run();
        run.analysis.faults = sample::clock_faults();
        for stage in run
            .analysis
            .faults
            .iter_mut()
            .flat_map(|fault| &mut fault.stages)
        {
            stage.offset_ns = None;
        }
        let section = section(&run, Nanos::from_millis(10_000))
            .unwrap()
            .into_string();
        assert!(section.contains("Nobody measured") && !section.contains("<svg"));
    }
}
