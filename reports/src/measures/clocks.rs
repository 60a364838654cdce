//! How far clocks were off while they were faulted, as the faults themselves have measured it.

use std::collections::BTreeMap;

use lockstorm_checker::Nanos;
use lockstorm_checker::history::{FaultClass, FaultPhase, FaultTarget};
use lockstorm_checker::verdict::FaultSummary;

/// One clock and when it was wrong.
pub(crate) struct Clock<'a> {
    /// The server or client whose clock it is.
    pub(crate) name: &'a str,
    /// In order of injection.
    pub(crate) stretches: Vec<Stretch<'a>>,
}

/// A stretch of time in which a clock was wrong.
#[derive(Clone, Copy)]
pub(crate) struct Stretch<'a> {
    /// Name of the fault.
    pub(crate) fault: &'a str,
    pub(crate) injected: Nanos,
    /// When it was first seen to be wrong, and by how many nanoseconds: ahead or (negative) behind.
    pub(crate) observed: Option<(Nanos, Option<i64>)>,
    /// When it was set right, and how far it was off until then.
    pub(crate) healed: Option<(Nanos, Option<i64>)>,
}

/// The server or client whose clock a fault puts wrong.
fn clock_of(fault: &FaultSummary) -> Option<&str> {
    match &fault.target {
        _ if fault.class != FaultClass::Clock => None,
        FaultTarget::Node(name) | FaultTarget::Client(name) | FaultTarget::Words(name) => {
            Some(name)
        }
        FaultTarget::Key { .. }
        | FaultTarget::Link { .. }
        | FaultTarget::Sides(_)
        | FaultTarget::Connections { .. } => None,
    }
}

impl Clock<'_> {
    /// The clocks that were faulted, by name.
    pub(crate) fn all(faults: &[FaultSummary]) -> Vec<Clock<'_>> {
        let mut clocks: BTreeMap<&str, Vec<Stretch>> = BTreeMap::new();
        for fault in faults {
            let injected = fault.at(FaultPhase::Injected);
            let (Some(name), Some(injected)) = (clock_of(fault), injected) else {
                continue;
            };
            let stage = |phase| {
                let stage = fault.stages.iter().find(|stage| stage.phase == phase)?;
                Some((stage.time.max(injected), stage.offset_ns))
            };
            clocks.entry(name).or_default().push(Stretch {
                fault: &fault.id,
                injected,
                observed: stage(FaultPhase::Observed),
                healed: stage(FaultPhase::Healed),
            });
        }
        let clocks = clocks.into_iter();
        clocks
            .map(|(name, stretches)| Clock { name, stretches })
            .collect()
    }

    /// Every offset that was measured, in nanoseconds.
    pub(crate) fn offsets(&self) -> impl Iterator<Item = i64> {
        self.stretches.iter().flat_map(Stretch::offsets)
    }
}

impl Stretch<'_> {
    fn offsets(&self) -> impl Iterator<Item = i64> + use<> {
        let seen = [self.observed, self.healed].into_iter().flatten();
        seen.filter_map(|(_, offset)| offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_clock_has_the_stretches_in_which_it_was_wrong() {
        let faults = sample::clock_faults();
        let clocks = Clock::all(&faults);
        let names: Vec<(&str, usize)> = clocks
            .iter()
            .map(|clock| (clock.name, clock.stretches.len()))
            .collect();
        assert_eq!(names, [("c1", 1), ("primary", 2)]);
        let of = |clock: &Clock| clock.offsets().collect::<Vec<_>>();
        assert_eq!(of(&clocks[0]), [-2_000_000_000]);
        assert_eq!(
            of(&clocks[1]),
            [6_000_000_000, 6_000_000_000, 90_000_000, 900_000_000]
        );
    }

    #[test]
    fn a_run_without_such_faults_has_no_clock_to_tell_of() {
        assert!(Clock::all(&sample::failover_run().analysis.faults).is_empty());
    }
}
