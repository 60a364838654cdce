//! The timeline of the whole run.

use lockstorm_checker::verdict::Witness;
use maud::{Markup, html};

use super::page;
use crate::inert::visible;
use crate::model::RunRecord;
use crate::plots;
use crate::trace::Trace;

const HOW: &str = "A lane for each client. A bar is a hold, from the grant to the release; the \
                   line below it is the lease, up to its tick. Bands are faults. A framed, \
                   hatched box is a violation.";

/// The section of the timeline.
pub(super) fn section(run: &RunRecord, trace: Result<&Trace, &str>) -> Markup {
    let judged = run.analysis.properties.values();
    let witnesses: Vec<&Witness> = judged.flat_map(|judgement| &judgement.witnesses).collect();
    let body = match trace {
        Ok(trace) => {
            let picture = plots::whole(&witnesses, &run.analysis.faults, trace);
            page::figure(&picture.drawing, picture.note.as_deref())
        }
        Err(reason) => html! { p.warning { "No timeline: " (visible(reason)) } },
    };
    page::section("timeline", "Timeline", HOW, &body)
}
