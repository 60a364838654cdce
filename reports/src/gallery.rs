//! The pictures that a run or a suite leaves as files, each with its fixed name.
//!
//! For: which pictures there are, what they are called and what stands above them. Not for:
//! drawing or writing them.

use lockstorm_checker::verdict::Witness;

use crate::assessment::is_assessment;
use crate::head::Head;
use crate::measures::{Clock, Latency, Measures};
use crate::model::{RunRecord, SuiteRecord};
use crate::plots::{self, Drawing};
use crate::words;

/// Violations that get a picture of their own, as files; the page has one for each finding.
const VIOLATIONS_MAX: usize = 5;

/// One picture.
pub(crate) struct Picture {
    /// Name of its file, without the ending.
    pub(crate) name: String,
    pub(crate) drawing: Drawing,
    /// Says so where something is left out, with counts.
    pub(crate) note: Option<String>,
}

/// The pictures of a run, in a fixed order. What a run has nothing of it has no picture of.
pub(crate) fn of_run(run: &RunRecord, measures: &Measures) -> Vec<Picture> {
    let faults = &run.analysis.faults;
    let trace = measures.trace;
    let below = format!(
        "{} · seed {} · {} · {}",
        words::cell_name(&run.labels),
        run.seed,
        run.started,
        run.environment.server
    );
    let witnesses = witnesses(run);
    let whole = plots::whole(&witnesses, faults, trace);
    let whole = Picture {
        name: "timeline".to_owned(),
        drawing: plots::headed(whole.drawing, &Head::of_run(run), &below),
        note: whole.note,
    };
    let mut pictures = vec![whole];
    let mut add = |name: &str, title: &str, drawing: Option<Drawing>, note: Option<String>| {
        pictures.extend(drawing.map(|drawing| Picture {
            name: name.to_owned(),
            drawing: plots::titled(drawing, title, &below),
            note,
        }));
    };
    // Of a handful of calls there is one thing to see: what happened when.
    let has_figures = measures.latencies.iter().any(Latency::has_quantiles);
    let violations = if has_figures { VIOLATIONS_MAX } else { 1 };
    for (n, witness) in (1..).zip(witnesses.iter().take(violations)) {
        let around = plots::around(witness, faults, trace);
        let name = format!("timeline-{n}");
        // On a slide, cause and effect belong into one picture.
        let (drawing, note) = match plots::whole_story(witness, faults, trace) {
            Some(story) => {
                let notes: Vec<String> = story.note.into_iter().chain(around.note).collect();
                let note = (!notes.is_empty()).then(|| notes.join(" "));
                (story.drawing.over(around.drawing), note)
            }
            None => (around.drawing, around.note),
        };
        add(&name, &witness.claim, Some(drawing), note);
    }
    let (windows, end) = (&measures.windows, measures.end);
    let points = plots::clocks(&Clock::all(faults), end, faults);
    let (drawing, note) = points.map_or((None, None), |points| (Some(points.drawing), points.note));
    add("clocks", "How far clocks were off", drawing, note);
    if has_figures {
        let points = plots::latency(trace, faults);
        let (drawing, note) =
            points.map_or((None, None), |points| (Some(points.drawing), points.note));
        add("latency", "Latency of each acquire", drawing, note);
        let drawing = plots::quantiles(&measures.latencies, windows, end, faults);
        add("latency-quantiles", "Latency over time", drawing, None);
        let drawing = plots::percentiles(&measures.latencies);
        add(
            "latency-percentiles",
            "Latency by percentile",
            drawing,
            None,
        );
        let drawing = plots::rate(&measures.rates, windows, end, faults);
        add("rate", "Calls per second", drawing, None);
        let drawing = plots::handoff(&measures.gaps).map(|handoff| handoff.drawing);
        add("hand-off", "Hand-offs by length", drawing, None);
        let points = plots::handoff_over_time(&measures.gaps, end, faults);
        let (drawing, note) =
            points.map_or((None, None), |points| (Some(points.drawing), points.note));
        add("hand-off-over-time", "Hand-offs over time", drawing, note);
    }
    pictures
}

/// The pictures of a suite.
pub(crate) fn of_suite(suite: &SuiteRecord) -> Vec<Picture> {
    let (name, drawing) = if is_assessment(suite) {
        ("comparison", plots::fates(suite))
    } else {
        ("matrix", plots::matrix(suite))
    };
    vec![Picture {
        name: name.to_owned(),
        drawing,
        note: None,
    }]
}

/// The violations of a run, first one of each kind, then those that are like another.
fn witnesses(run: &RunRecord) -> Vec<&Witness> {
    let judged = run.analysis.properties.values();
    let all = judged.flat_map(|judgement| &judgement.witnesses);
    let (mut first, mut like): (Vec<&Witness>, Vec<&Witness>) = (Vec::new(), Vec::new());
    for witness in all {
        let is_known = first.iter().any(|known| {
            (known.property, &known.signature) == (witness.property, &witness.signature)
        });
        if is_known {
            like.push(witness);
        } else {
            first.push(witness);
        }
    }
    first.extend(like);
    first
}

#[cfg(test)]
mod tests {
    use lockstorm_checker::Property;

    use super::*;
    use crate::sample;
    use crate::trace::Trace;

    fn names(run: &RunRecord, trace: &Trace) -> Vec<String> {
        let pictures = of_run(run, &Measures::of(trace));
        pictures.into_iter().map(|picture| picture.name).collect()
    }

    /// The trace of the failover, in which each call was made a hundred times.
    fn busy_trace() -> Trace {
        let mut trace = sample::failover_trace();
        let calls = trace.calls.len() * 100;
        trace.calls = trace.calls.iter().cycle().take(calls).copied().collect();
        trace
    }

    #[test]
    fn a_handful_of_calls_has_its_timeline_and_its_violation() {
        let names = names(&sample::failover_run(), &sample::failover_trace());
        assert_eq!(names, ["timeline", "timeline-1"]);
    }

    #[test]
    fn a_run_has_a_picture_of_everything_that_happened_in_it() {
        let names = names(&sample::failover_run(), &busy_trace());
        assert_eq!(
            names,
            [
                "timeline",
                "timeline-1",
                "timeline-2",
                "latency",
                "latency-quantiles",
                "latency-percentiles",
                "rate",
                "hand-off",
                "hand-off-over-time"
            ]
        );
    }

    #[test]
    fn clocks_that_were_put_wrong_have_a_picture() {
        let mut run = sample::control_run();
        run.analysis.faults = sample::clock_faults();
        let names = names(&run, &sample::failover_trace());
        assert_eq!(names.last().unwrap(), "clocks");
    }

    #[test]
    fn a_run_in_which_nothing_happened_has_its_timeline_only() {
        assert_eq!(
            names(&sample::control_run(), &Trace::default()),
            ["timeline"]
        );
    }

    #[test]
    fn of_many_violations_the_first_of_each_kind_are_drawn() {
        let mut run = sample::failover_run();
        let exclusion = run.analysis.properties.get_mut(&Property::MutualExclusion);
        let exclusion = exclusion.unwrap();
        exclusion.witnesses = vec![exclusion.witnesses[0].clone(); 9];
        let order: Vec<Property> = witnesses(&run).iter().map(|w| w.property).collect();
        assert_eq!(order[..2], [Property::MutualExclusion, Property::LostLock]);
        let pictures = names(&run, &busy_trace());
        let timelines = pictures.iter().filter(|name| name.starts_with("timeline-"));
        assert_eq!(timelines.count(), VIOLATIONS_MAX);
    }
}
