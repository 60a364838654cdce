//! Which stretch of a run becomes a picture, and what had to be left out of it.

use lockstorm_checker::Nanos;
use lockstorm_checker::verdict::{FaultSummary, Witness};

use super::super::drawing::Drawing;
use super::view::{LANES_AROUND_MAX, LANES_MAX, OPERATIONS_MAX, View, unheld};
use super::window::window_of;
use crate::trace::Trace;
use crate::words;

/// Violations that get a box in the picture of a whole run.
const BOXES_MAX: usize = 40;

/// A picture, and what had to be left out of it.
pub(crate) struct Timeline {
    pub(crate) drawing: Drawing,
    /// Says so where something is left out, with counts.
    pub(crate) note: Option<String>,
}

/// The picture around one violation, with the numbers of its story.
pub(crate) fn around(witness: &Witness, faults: &[FaultSummary], trace: &Trace) -> Timeline {
    let mut view = View::new(window_of(witness, trace), trace, |_, key| {
        key == witness.lock_key
    });
    let names: Vec<&str> = witness.holders.iter().map(|h| h.client.as_str()).collect();
    view.order_lanes(&names, names.len().max(LANES_AROUND_MAX));
    let label = format!("Timeline around a violation: {}", witness.claim);
    view.draw(label, faults, &[witness], true)
}

/// The picture of a whole story, with cause and effect in one; `None` where [`around`] shows all of
/// it. Only those have a lane who take part.
pub(crate) fn whole_story(
    witness: &Witness,
    faults: &[FaultSummary],
    trace: &Trace,
) -> Option<Timeline> {
    let (from, to) = window_of(witness, trace);
    let mut outside = witness.story.iter().filter(|s| s.t < from || s.t > to);
    outside.next()?;
    let steps = || witness.story.iter().map(|step| step.t);
    let (first, last) = (steps().min()?.min(from), steps().max()?.max(to));
    let margin = Nanos((last - first).0 / 25 + 1);
    let holders = witness.holders.iter().map(|holder| holder.client.as_str());
    let actors = witness.story.iter().map(|step| step.actor.as_str());
    let names: Vec<&str> = holders.chain(actors).collect();
    // The others are left out before anything is counted: a crowd would push out what matters.
    let window = (first - margin, last + margin);
    let mut view = View::new(window, trace, |client, key| {
        key == witness.lock_key && names.contains(&client)
    });
    view.order_lanes(&names, names.len());
    let label = format!("Timeline of the whole story: {}", witness.claim);
    Some(view.draw(label, faults, &[witness], true))
}

/// The picture of a whole run, or of as much of its beginning as can be drawn.
pub(crate) fn whole(witnesses: &[&Witness], faults: &[FaultSummary], trace: &Trace) -> Timeline {
    let end = end_of_drawable(trace);
    let mut view = View::new((Nanos(0), end), trace, |_, _| true);
    view.order_lanes(&[], LANES_MAX);
    let total = trace.holds.len() + unheld(trace).count();
    if end < trace.end {
        view.notes.push(format!(
            "Showing only the first {} of {total} operations, up to {}.",
            view.holds.len() + view.requests.len(),
            words::instant(end)
        ));
    }
    let shown = &witnesses[..witnesses.len().min(BOXES_MAX)];
    if shown.len() < witnesses.len() {
        view.notes.push(format!(
            "Marking only the first {} of {} violations.",
            shown.len(),
            witnesses.len()
        ));
    }
    let label = format!("Timeline of the run up to {}", words::instant(end));
    view.draw(label, faults, shown, false)
}

/// Up to where the operations of a run fit into one picture.
fn end_of_drawable(trace: &Trace) -> Nanos {
    let mut starts: Vec<Nanos> = trace.holds.iter().map(|hold| hold.invoked).collect();
    starts.extend(unheld(trace).map(|request| request.invoked));
    starts.sort_unstable();
    starts
        .get(OPERATIONS_MAX)
        .map_or(trace.end, |first_left_out| *first_left_out - Nanos(1))
}

#[cfg(test)]
mod tests {
    use super::super::super::axis::WIDTH;
    use super::super::super::drawing::Shape;
    use super::*;
    use crate::sample;
    use crate::trace::{Hold, Request};
    use lockstorm_checker::Property;

    fn first_witness(run: &crate::model::RunRecord) -> &Witness {
        &run.analysis.properties[&Property::MutualExclusion].witnesses[0]
    }

    #[test]
    fn the_picture_of_a_violation_names_its_holders_faults_and_length() {
        let run = sample::failover_run();
        let picture = around(
            first_witness(&run),
            &run.analysis.faults,
            &sample::failover_trace(),
        );
        let words = picture.drawing.words();
        for wanted in [
            "a",
            "b",
            "2 holders, at once · 1.078 s",
            "F2 kill primary",
            "6",
        ] {
            assert!(words.contains(&wanted), "{wanted} is missing of {words:?}");
        }
        assert!(picture.note.is_none());
        let story = whole_story(
            first_witness(&run),
            &run.analysis.faults,
            &sample::failover_trace(),
        );
        assert!(story.is_none(), "all of the story is in it");
    }

    #[test]
    fn a_long_run_is_cut_and_says_so_with_counts() {
        let mut trace = sample::failover_trace();
        let hold = trace.holds[0].clone();
        trace.requests.clear();
        trace.holds = (0..OPERATIONS_MAX as u64 + 500)
            .map(|n| Hold {
                invoked: Nanos(n * 1_000),
                granted: Nanos(n * 1_000 + 100),
                release_invoked: Some(Nanos(n * 1_000 + 500)),
                release_answered: Some(Nanos(n * 1_000 + 600)),
                ..hold.clone()
            })
            .collect();
        let picture = whole(&[], &[], &trace);
        let note = picture.note.expect("the limit bites");
        assert!(
            note.starts_with("Showing only the first 1500 of 2000 operations"),
            "{note}"
        );
    }

    #[test]
    fn a_long_lease_is_cut_and_its_end_is_said() {
        let run = sample::failover_run();
        let mut witness = first_witness(&run).clone();
        let mut trace = sample::failover_trace();
        let late = Some(Nanos::from_millis(61_500));
        for hold in &mut trace.holds {
            (hold.lease_floor, hold.lease_ceiling) = (late, late);
        }
        for holder in &mut witness.holders {
            (holder.lease_floor, holder.lease_ceiling) = (late, late);
        }
        witness.interval.1 = witness.interval.0 + Nanos::from_millis(10);
        let picture = around(&witness, &run.analysis.faults, &trace);
        let words = picture.drawing.words();
        assert!(words.contains(&"lease to 61.500 s"), "{words:?}");
        let story = whole_story(&witness, &run.analysis.faults, &trace);
        let story = story.expect("the beginning of the story is cut");
        let words = story.drawing.words();
        assert!(
            ["1", "2"].iter().all(|step| words.contains(step)),
            "{words:?}"
        );
        // A crowd that only asks pushes nobody out who takes part.
        let request = trace.requests.first().cloned();
        let request = request.expect("somebody was refused");
        trace.requests = (0..2 * OPERATIONS_MAX)
            .map(|_| Request {
                client: "crowd".into(),
                ..request.clone()
            })
            .collect();
        let crowded = whole_story(&witness, &run.analysis.faults, &trace);
        let crowded = crowded.expect("the story is as long as before");
        let words = crowded.drawing.words();
        assert!(words.contains(&"a") && words.contains(&"b"), "{words:?}");
        assert!(!words.contains(&"crowd"), "{words:?}");
        assert_eq!(crowded.note, None);
    }

    #[test]
    fn a_violation_without_end_is_drawn_to_the_edge() {
        let run = sample::failover_run();
        let mut witness = first_witness(&run).clone();
        witness.interval.1 = Nanos::MAX;
        for holder in &mut witness.holders {
            holder.release_invoked = None;
            holder.lease_floor = None;
            holder.lease_ceiling = None;
        }
        let trace = Trace::of_witness(&witness);
        let picture = around(&witness, &run.analysis.faults, &trace);
        let words = picture.drawing.words();
        assert!(
            words.contains(&"2 holders, at once, without end"),
            "{words:?}"
        );
        assert!(picture.drawing.shapes.iter().all(|shape| match shape {
            Shape::Box { area, .. } => area.width <= WIDTH && area.width.is_finite(),
            Shape::Line { .. } | Shape::Curve { .. } | Shape::Mark { .. } | Shape::Text(_) => true,
        }));
    }

    #[test]
    fn more_clients_than_lanes_are_counted() {
        let mut trace = sample::failover_trace();
        let hold = trace.holds[0].clone();
        trace.holds = (0..LANES_MAX + 6)
            .map(|n| Hold {
                client: format!("c{n}").into(),
                ..hold.clone()
            })
            .collect();
        let note = whole(&[], &[], &trace).note.expect("the limit bites");
        assert!(note.contains("the first 24 of 31 clients"), "{note}");
    }

    #[test]
    fn an_empty_run_makes_a_picture_all_the_same() {
        let picture = whole(&[], &[], &Trace::default());
        assert!(picture.drawing.height > 0.0 && picture.note.is_none());
    }
}
