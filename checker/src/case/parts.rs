//! A history with all that is derived from it, as every property looks at it.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::history::Mode;
use crate::holds::{Hold, Standing, standings};
use crate::operations::{Digest, Groups, KeyId, OpId, Operation, OwnerId};
use crate::options::Options;
use crate::verdict::{Coverage, FaultSummary};

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
    /// Operations that prove holds, by key, owner and mode; made when they are first asked for.
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

    /// Tells whether an operation of the owner of `hold` may be about it, and not about a hold of
    /// the other mode.
    pub(crate) fn concerns(&self, operation: &Operation, hold: &Hold) -> bool {
        operation.is_vague || self.is_of_mode(operation, hold)
    }

    /// Tells whether an operation is of the mode of `hold`, where the mode matters.
    pub(crate) fn is_of_mode(&self, operation: &Operation, hold: &Hold) -> bool {
        operation.mode == hold.mode || !self.digest.has_two_modes()
    }

    /// Returns how often each owner may have held, and must have held, before each of its granted
    /// acquires and answered releases.
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

/// Tells whether a hold tolerates others that are shared too.
pub(crate) fn is_shared(hold: &Hold) -> bool {
    hold.mode == Mode::Read
}
