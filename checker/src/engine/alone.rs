//! The frontier by itself, so that it can be measured.

use lockstorm_linearizability::{Budget, Decision, ModelName, Specification, Values, search};

use crate::model::partitions;
use crate::operations::{Digest, Drift};
use crate::verdict::Verdict;

/// Judges a history by the frontier, with no other engine before it and no witness after it. For
/// benchmarks; [`check_digest`](crate::check_digest) is what answers users.
#[doc(hidden)]
pub fn frontier_alone(digest: &Digest, model: ModelName) -> Verdict {
    let mut values = Values::default();
    let operations = digest.ids();
    let drift = Drift::of_header(&digest.header);
    let Ok(parts) = partitions(digest, operations, model, drift, &mut values) else {
        return Verdict::Unknown;
    };
    let permits = digest.header.permits.unwrap_or(1);
    let specification = Specification::new(model, permits, &mut values);
    let budget = Budget::of_steps(u64::MAX);
    let verdict =
        |part: &crate::model::Partition| match search(&specification, part.calls.iter(), &budget) {
            Decision::Legal => Verdict::Valid,
            Decision::Unknown { .. } => Verdict::Unknown,
            Decision::Illegal { .. } => Verdict::Violated,
        };
    let all = parts.iter().map(verdict);
    all.reduce(Verdict::merge).unwrap_or_default()
}
