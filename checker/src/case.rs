//! What every property looks at, and what it answers.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::digest::Digest;
use crate::groups::Groups;
use crate::history::Mode;
use crate::hold::Hold;
use crate::interval::Interval;
use crate::ledger::{Standing, standings};
use crate::operation::{KeyId, OpId, Operation, OwnerId};
use crate::options::Options;
use crate::verdict::{Coverage, FaultSummary, Property};

/// A history, taken apart.
pub(crate) struct Case<'a> {
    pub(crate) digest: &'a Digest,
    /// Grouped by key.
    pub(crate) holds: &'a [Hold],
    pub(crate) faults: &'a [FaultSummary],
    pub(crate) coverage: &'a Coverage,
    pub(crate) options: &'a Options,
    /// The operations of each owner; made when they are first asked for.
    pub(crate) by_owner: OnceLock<Groups<OpId>>,
    /// What proves holds, by key, owner and mode; made when it is first asked for.
    pub(crate) proofs: OnceLock<Vec<(KeyId, OwnerId, bool, OpId)>>,
    /// Made when it is first asked for.
    pub(crate) standings: OnceLock<Vec<Standing>>,
}

impl<'a> Case<'a> {
    /// The operations of `owner` on all keys, in order of invocation.
    pub(crate) fn operations_of(&self, owner: OwnerId) -> &[OpId] {
        let digest = self.digest;
        let by_owner = self.by_owner.get_or_init(|| {
            let all = digest.ids().collect();
            Groups::new(all, digest.owners.len(), |id| digest.operation(id).owner.0)
        });
        by_owner.of(owner.0)
    }

    /// The first operation after `id` that proves another hold of the owner of `hold`.
    pub(crate) fn proof_after(&self, hold: &Hold, id: OpId) -> Option<OpId> {
        let reads = |hold: &Hold| is_shared(hold) && self.digest.has_two_modes();
        let proofs = self.proofs.get_or_init(|| {
            let proof = |hold: &Hold| Some((hold.key, hold.owner, reads(hold), hold.proof?));
            let mut proofs: Vec<_> = self.holds.iter().filter_map(proof).collect();
            proofs.sort_unstable();
            proofs
        });
        let own = (hold.key, hold.owner, reads(hold));
        let next = proofs.partition_point(|&(key, owner, reads, proof)| {
            ((key, owner, reads), proof) <= (own, id)
        });
        let &(key, owner, reads, id) = proofs.get(next)?;
        ((key, owner, reads) == own).then_some(id)
    }

    /// Whether an operation of the owner of `hold` may be about it, and not about one of the other
    /// mode.
    pub(crate) fn concerns(&self, operation: &Operation, hold: &Hold) -> bool {
        operation.is_vague || self.is_of_mode(operation, hold)
    }

    /// Whether an operation is of the mode of `hold`, where it matters.
    pub(crate) fn is_of_mode(&self, operation: &Operation, hold: &Hold) -> bool {
        operation.mode == hold.mode || !self.digest.has_two_modes()
    }

    /// How often each owner may have held, and must have held, before each of its operations.
    pub(crate) fn standings(&self) -> &[Standing] {
        let drift = self.options.drift(&self.digest.header);
        let (operations, lost) = (&self.digest.operations, &self.digest.lost);
        self.standings
            .get_or_init(|| standings(operations, lost, drift))
    }

    /// The standing before one operation, if it is a granted acquire or an answered release.
    pub(crate) fn standing(&self, op: OpId) -> Option<Standing> {
        let standings = self.standings();
        let at = standings.binary_search_by_key(&op, |standing| standing.op);
        at.ok().map(|at| standings[at])
    }

    /// The position of the hold that each acquire began; reentrant grants begin none.
    pub(crate) fn holds_by_acquire(&self) -> HashMap<OpId, usize> {
        let holds = self.holds.iter().enumerate();
        holds.map(|(at, hold)| (hold.acquire, at)).collect()
    }

    /// The positions of the holds of each key.
    pub(crate) fn keys(&self) -> impl Iterator<Item = std::ops::Range<usize>> + use<'a> {
        let mut start = 0;
        self.holds
            .chunk_by(|a, b| a.key == b.key)
            .map(move |group| {
                let range = start..start + group.len();
                start = range.end;
                range
            })
    }

    /// Permits of the lock, at least one.
    pub(crate) fn permits(&self) -> u32 {
        self.digest.header.permits.unwrap_or(1).max(1)
    }
}

/// One violation, before it is put into words.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    pub(crate) property: Property,
    pub(crate) key: KeyId,
    /// Positions of the holds involved; for a lease overrun the stale one first.
    pub(crate) holds: Vec<usize>,
    /// The operations that show it, where it is not the holds alone.
    pub(crate) operations: Vec<OpId>,
    pub(crate) interval: Interval,
    pub(crate) certain: bool,
}

impl Finding {
    /// The operation that shows it, where there is one.
    pub(crate) fn operation(&self) -> Option<OpId> {
        self.operations.first().copied()
    }
}

/// The answer of a property.
pub(crate) struct Ruling {
    /// Which algorithm decided.
    pub(crate) engine: &'static str,
    /// Whether the history has matter for the property.
    pub(crate) has_matter: bool,
    /// All violations.
    pub(crate) count: u64,
    /// The first of them, by time.
    pub(crate) findings: Vec<Finding>,
    pub(crate) tested: Tested,
}

/// Whether the property was put to the test, by what its rule looks at; what the run must show
/// besides is for [`Rule::weigh`](crate::property::Rule::weigh).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tested {
    Yes,
    /// It was, and there is this to say where nothing is violated.
    Remarked(String),
    /// Why there may be no violation although the lock is bad.
    No(String),
    /// Why the history cannot be judged at all, however it goes on.
    Never(String),
}

/// How many violations are listed with their intervals, for the count of each fault. Ten thousand
/// findings take some megabytes; what lies beyond is counted as a whole.
pub(crate) const FINDINGS_MAX: usize = 10_000;

/// Puts findings of all keys in order of time, and keeps the first of them.
pub(crate) fn keep_first(findings: &mut Vec<Finding>) {
    findings.sort_by_key(|finding| (finding.interval.start, finding.key));
    findings.truncate(FINDINGS_MAX);
}

/// The same while they are gathered: seldom enough to cost nothing, often enough to stay small.
pub(crate) fn keep_few(findings: &mut Vec<Finding>) {
    if findings.len() > 2 * FINDINGS_MAX {
        keep_first(findings);
    }
}

/// Whether a hold tolerates others that do so.
pub(crate) fn is_shared(hold: &Hold) -> bool {
    hold.mode == Mode::Read
}
