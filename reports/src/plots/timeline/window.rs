//! Which stretch of time the picture of a violation shows.
//!
//! For: a violation that can be seen. A lease that outlasts it by far is cut at the edge, and so is
//! a long history before it. Not for: the interactive timeline, which shows any stretch.

use lockstorm_checker::Nanos;
use lockstorm_checker::verdict::Witness;

use crate::trace::Trace;

/// The violation takes at least one part in so many of the width.
const PARTS: u64 = 5;
/// With a smaller part than this it is a sliver, for which the beginning of the story gives way.
const PARTS_MAX: u64 = 10;
/// Part of the window that the time after a violation takes at most, one in so many of the time
/// before it, where there is no room for all.
const TAIL_PARTS: u64 = 8;
/// Shorter pictures show nothing but the network.
const LENGTH_MIN: Nanos = Nanos(1_000_000);

/// From shortly before the story begins to shortly after everything that it speaks of ended, as
/// far as that leaves the violation wide enough to be read.
pub(super) fn window_of(witness: &Witness, trace: &Trace) -> (Nanos, Nanos) {
    let finite = |at: Nanos| if at == Nanos::MAX { trace.end } else { at };
    let begins = witness.interval.0;
    let ends = finite(witness.interval.1).max(begins);
    let (from, to) = framed(stretch_of(witness, trace), (begins, ends));
    let margin = Nanos((to - from).0 / 25 + 1);
    (from - margin, to + margin)
}

/// All that the story speaks of.
fn stretch_of(witness: &Witness, trace: &Trace) -> (Nanos, Nanos) {
    let finite = |at: Nanos| if at == Nanos::MAX { trace.end } else { at };
    let first = witness
        .holders
        .iter()
        .map(|holder| holder.acquire_invoked)
        .min()
        .unwrap_or(witness.interval.0);
    let last = witness
        .holders
        .iter()
        .flat_map(|holder| [holder.release_invoked, holder.lease_ceiling])
        .flatten()
        .chain([witness.interval.0, witness.interval.1])
        .map(finite)
        .max()
        .unwrap_or(first);
    let length = last - first;
    // A fault long before the first grant must not squeeze the holds into a corner.
    let earliest = first - Nanos(length.0 / 2);
    let begins = witness
        .story
        .iter()
        .map(|step| step.t)
        .min()
        .unwrap_or(first);
    (begins.clamp(earliest, first), last)
}

/// The part of `stretch` that leaves the violation its share: first the end is cut, for what led
/// to a violation says more than what came after it, and then the beginning.
fn framed((from, to): (Nanos, Nanos), (begins, ends): (Nanos, Nanos)) -> (Nanos, Nanos) {
    let length = ends - begins;
    let takes = |parts: u64, stretch: Nanos| length.0.saturating_mul(parts) >= stretch.0;
    if takes(PARTS, to - from) {
        return (from, to);
    }
    let cut = to.min(ends + Nanos((ends - from).0 / TAIL_PARTS).max(LENGTH_MIN));
    // A violation of one moment has no width to be made wider.
    if length == Nanos(0) || takes(PARTS_MAX, cut - from) {
        return (from, cut);
    }
    let room = Nanos(length.0.saturating_mul(PARTS)).max(LENGTH_MIN);
    let to = to.min(ends + Nanos(length.0 / 2));
    (from.max(to - room), to)
}

#[cfg(test)]
mod tests {
    use lockstorm_checker::Property;

    use super::*;
    use crate::sample;

    fn ms(ms: u64) -> Nanos {
        Nanos::from_millis(ms)
    }

    #[test]
    fn a_violation_that_is_wide_enough_is_shown_with_all_that_its_story_tells() {
        let all = (ms(1_000), ms(2_000));
        assert_eq!(framed(all, (ms(1_400), ms(1_600))), all);
    }

    #[test]
    fn a_long_lease_is_cut_before_the_beginning_is() {
        let shown = framed((ms(1_000), ms(31_000)), (ms(1_600), ms(1_800)));
        assert_eq!(shown, (ms(1_000), ms(1_900)));
    }

    #[test]
    fn a_sliver_takes_a_fifth_of_the_picture() {
        let shown = framed((ms(1_000), ms(31_000)), (ms(1_600), ms(1_620)));
        assert_eq!(shown, (ms(1_530), ms(1_630)));
        let near_the_end = framed((ms(1_000), ms(1_625)), (ms(1_600), ms(1_620)));
        assert_eq!(near_the_end, (ms(1_525), ms(1_625)));
    }

    #[test]
    fn a_violation_of_one_moment_keeps_its_story_and_loses_the_rest_of_the_lease() {
        let shown = framed((ms(1_000), ms(31_000)), (ms(1_400), ms(1_400)));
        assert_eq!(shown, (ms(1_000), ms(1_450)));
    }

    #[test]
    fn a_violation_of_microseconds_is_shown_in_a_millisecond_at_least() {
        let begins = ms(1_600);
        let (from, to) = framed((ms(1_000), ms(9_000)), (begins, begins + Nanos(2_000)));
        assert_eq!(to - from, ms(1));
        assert!(from < begins && begins + Nanos(2_000) < to);
    }

    #[test]
    fn holders_without_end_are_shown_to_the_end_of_the_run() {
        let run = sample::failover_run();
        let trace = sample::failover_trace();
        let mut witness = run.analysis.properties[&Property::MutualExclusion].witnesses[0].clone();
        witness.interval.1 = Nanos::MAX;
        witness.holders[0].lease_ceiling = Some(Nanos::MAX);
        let (from, to) = window_of(&witness, &trace);
        assert!(from < witness.interval.0 && to > trace.end);
        assert!(to < trace.end + ms(1_000));
    }
}
