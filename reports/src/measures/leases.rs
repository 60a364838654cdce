//! Rest of the leases that holders left, and those who went on beyond one.
//!
//! It accuses nobody: who acts as a holder after its lease is what a lease cannot prevent. The
//! checker says where that did harm.

use lockstorm_checker::Nanos;

use super::order::Ordered;
use crate::trace::Trace;

/// The leases of a run.
pub(crate) struct Leases {
    /// Holds with a lease.
    pub(crate) holds: u64,
    /// Of those, the ones whose owner acted as holder after the lease was certainly over.
    pub(crate) past: u64,
    /// The longest time by which one did, in nanoseconds.
    pub(crate) longest_past: u64,
    /// Rest of the lease when the owner had done, of those that certainly kept to it.
    pub(crate) slack: Option<Ordered>,
}

impl Leases {
    /// `None` for a run without leases.
    pub(crate) fn of(trace: &Trace) -> Option<Self> {
        let leases = trace.holds.iter().filter_map(|hold| {
            let ends = (hold.lease_floor?, hold.lease_ceiling?);
            Some((hold.believed_to.min(trace.end), ends))
        });
        let leases: Vec<(Nanos, (Nanos, Nanos))> = leases.collect();
        if leases.is_empty() {
            return None;
        }
        let past = leases.iter().filter(|(done, (_, ceiling))| done > ceiling);
        let past: Vec<u64> = past
            .map(|(done, (_, ceiling))| (*done - *ceiling).0)
            .collect();
        let kept = leases.iter().filter(|(done, (floor, _))| done <= floor);
        Some(Self {
            holds: leases.len() as u64,
            past: past.len() as u64,
            longest_past: past.into_iter().max().unwrap_or_default(),
            slack: Ordered::of(kept.map(|(done, (floor, _))| (*floor - *done).0)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use crate::trace::Hold;

    fn leases_of(done_ms: &[u64]) -> Leases {
        let mut trace = sample::failover_trace();
        let hold = trace.holds[0].clone();
        trace.end = Nanos::from_millis(9_000);
        trace.holds = done_ms
            .iter()
            .map(|done| Hold {
                believed_to: Nanos::from_millis(*done),
                lease_floor: Some(Nanos::from_millis(2_000)),
                lease_ceiling: Some(Nanos::from_millis(2_100)),
                ..hold.clone()
            })
            .collect();
        Leases::of(&trace).unwrap()
    }

    #[test]
    fn slack_is_what_is_left_of_a_lease_and_doubt_is_neither_slack_nor_past() {
        let leases = leases_of(&[1_500, 1_900, 2_050, 2_400]);
        assert_eq!((leases.holds, leases.past), (4, 1));
        assert_eq!(leases.longest_past, 300_000_000);
        let slack = leases.slack.unwrap();
        assert_eq!((slack.count(), slack.least()), (2, 100_000_000));
    }

    #[test]
    fn a_run_without_leases_has_none_to_measure() {
        let mut trace = sample::failover_trace();
        for hold in &mut trace.holds {
            hold.lease_floor = None;
        }
        assert!(Leases::of(&trace).is_none());
    }
}
