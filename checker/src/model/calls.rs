//! Operations → the calls of each lock, or of each guarded resource, for a model.
//!
//! What certainly never executed is left out, and so is what can neither change nor tell anything:
//! an indeterminate read, or an indeterminate renewal of a lock without a lease.

use std::collections::HashMap;
use std::num::NonZeroU64;

use lockstorm_linearizability::{
    Call, CallId, Datum, LeaseId, ModelName, Reply, Request, Time, Values,
};

use super::fit::Unfit;
use crate::history::Nanos;
use crate::operations::{
    Access, Action, Digest, Drift, KeyId, Lease, OpId, Operation, Outcome, OwnerId, ValueId,
};

/// All calls of one lock or resource, in order of invocation.
#[derive(Debug)]
pub(crate) struct Partition {
    pub(crate) key: KeyId,
    pub(crate) calls: Vec<Call>,
}

/// The calls that a model speaks of among these operations, lock by lock.
///
/// # Errors
/// When they ask for what the model does not know.
pub(crate) fn partitions(
    digest: &Digest,
    operations: impl Iterator<Item = OpId>,
    model: ModelName,
    drift: Drift,
    values: &mut Values,
) -> Result<Vec<Partition>, Unfit> {
    let place = |id: OpId| {
        let operation = digest.operation(id);
        let detail = digest.detail(operation);
        (operation.key, detail.and_then(|detail| detail.resource))
    };
    let mut ids: Vec<OpId> = operations
        .filter(|&id| speaks_of(model, digest.operation(id)))
        .collect();
    // Nearly sorted by nature, which the standard stable sort turns to account.
    ids.sort_by_key(|&id| (place(id), digest.operation(id).invoked, id));
    ids.chunk_by(|&a, &b| place(a) == place(b))
        .map(|group| {
            let mut builder = Builder {
                digest,
                model,
                drift,
                values,
                calls: Vec::with_capacity(group.len()),
                leases: Vec::new(),
                asked_for: HashMap::new(),
                last: HashMap::new(),
            };
            for &id in group {
                builder.take(id)?;
            }
            Ok(Partition {
                key: digest.operation(group[0]).key,
                calls: builder.finish(),
            })
        })
        .collect()
}

fn speaks_of(model: ModelName, operation: &Operation) -> bool {
    let is_lock = match operation.action {
        Action::Acquire | Action::Renew | Action::Release => true,
        Action::Resource(_) => false,
        Action::Other => return false,
    };
    is_lock == model.is_lock() && operation.outcome != Outcome::Failed
}

struct Builder<'a> {
    digest: &'a Digest,
    model: ModelName,
    drift: Drift,
    values: &'a mut Values,
    calls: Vec<Call>,
    /// Each lease with the call that gives it.
    leases: Vec<(Lease, CallId)>,
    /// The lease that the last acquire of an owner asked for.
    asked_for: HashMap<OwnerId, Option<Nanos>>,
    /// The last call of each process that returned.
    last: HashMap<u64, CallId>,
}

impl Builder<'_> {
    fn take(&mut self, id: OpId) -> Result<(), Unfit> {
        let operation = self.digest.operation(id);
        let (request, lease) = match operation.action {
            Action::Acquire | Action::Renew | Action::Release => self.of_lock(operation),
            Action::Resource(access) => (self.of_resource(access, operation)?, None),
            Action::Other => return Ok(()),
        };
        let reply = match operation.outcome {
            Outcome::Ok | Outcome::Unknown => Reply::Done,
            Outcome::Refused | Outcome::NotOwner => Reply::Denied,
            Outcome::Failed => return Ok(()),
        };
        let is_idle = match request {
            Request::Read(_) => true,
            Request::Renew { .. } => lease.is_none(),
            Request::Acquire { .. }
            | Request::Release { .. }
            | Request::Expire(_)
            | Request::Write(_)
            | Request::Cas { .. }
            | Request::Append(_) => false,
        };
        let says_nothing = self.model == ModelName::CasRegister { drop_failed: true }
            && reply == Reply::Denied
            || operation.outcome == Outcome::Unknown && is_idle;
        if says_nothing {
            return Ok(());
        }
        let call = CallId(self.calls.len() as u32);
        // A release that leaves the owner open may have been one of nothing.
        let told = operation
            .answered()
            .filter(|_| !operation.is_ownership_open);
        self.calls.push(Call {
            op: id.into(),
            owner: operation.owner.into(),
            invoked: operation.invoked.into(),
            returned: told.map_or(Time::MAX, Time::from),
            after: self.predecessor(operation),
            request,
            reply,
        });
        if told.is_some() {
            self.last.insert(operation.process, call);
        }
        if let Some(lease) = lease.filter(|_| reply == Reply::Done) {
            self.leases.push((lease, call));
        }
        Ok(())
    }

    /// The call of the same process that returned at this very instant: by program order, and not
    /// by time, it comes first.
    fn predecessor(&self, operation: &Operation) -> Option<CallId> {
        let last = self.last.get(&operation.process).copied();
        last.filter(|last| self.calls[last.0 as usize].returned >= operation.invoked.into())
    }

    fn of_lock(&mut self, operation: &Operation) -> (Request, Option<Lease>) {
        let (mode, permits, never) = (operation.mode.into(), operation.permits, LeaseId::NEVER);
        let length = match operation.action {
            Action::Acquire => {
                let tells = operation.lease.is_some() || !self.asked_for.is_empty();
                if operation.outcome != Outcome::Refused && tells {
                    self.asked_for.insert(operation.owner, operation.lease);
                }
                operation.lease
            }
            Action::Renew => {
                let asked_for = self.asked_for.get(&operation.owner).copied().flatten();
                operation.lease.or(asked_for)
            }
            Action::Release | Action::Resource(_) | Action::Other => None,
        };
        let request = match operation.action {
            Action::Acquire => Request::Acquire {
                mode,
                permits,
                token: operation.token.and_then(NonZeroU64::new),
                lease: never,
            },
            Action::Renew => Request::Renew { mode, lease: never },
            Action::Release | Action::Resource(_) | Action::Other => {
                Request::Release { mode, permits }
            }
        };
        // What is indeterminate may take effect at any time, and its lease ends accordingly late.
        let answered = operation.answered().unwrap_or(Nanos::MAX);
        let lease = length.map(|_| Lease::granted(operation.asked(), answered, length, self.drift));
        (request, lease)
    }

    fn of_resource(&mut self, access: Access, operation: &Operation) -> Result<Request, Unfit> {
        let detail = self.digest.detail(operation);
        let asked = detail.and_then(|detail| detail.asked);
        let replied = detail.and_then(|detail| detail.replied);
        match (self.model, access) {
            (ModelName::Register | ModelName::Append, Access::Cas) => {
                return Err(Unfit::Access("cas", "cas-register"));
            }
            (ModelName::Register | ModelName::CasRegister { .. }, Access::Append) => {
                return Err(Unfit::Access("append", "append"));
            }
            (_, Access::Read | Access::Write | Access::Cas | Access::Append) => {}
        }
        Ok(match access {
            Access::Read => Request::Read(self.datum(replied)),
            Access::Write => Request::Write(self.datum(asked)),
            Access::Append => Request::Append(self.datum(asked)),
            Access::Cas => {
                let pair = asked.and_then(|asked| self.values.pair(self.digest.value(asked)));
                let (expected, new) = pair.ok_or(Unfit::Cas(operation.invoke))?;
                Request::Cas { expected, new }
            }
        })
    }

    /// The number of a value; one that is absent counts as `null`.
    fn datum(&mut self, value: Option<ValueId>) -> Datum {
        value.map_or(Datum::NULL, |value| {
            self.values.of_text(self.digest.value(value))
        })
    }

    /// Adds the ends of the leases, each at its place.
    fn finish(mut self) -> Vec<Call> {
        if self.leases.is_empty() {
            return self.calls;
        }
        self.leases
            .sort_by_key(|&(lease, call)| (lease.ceiling, call));
        let mut calls = std::mem::take(&mut self.calls);
        for (number, &(lease, giver)) in (0..).map(LeaseId).zip(&self.leases) {
            let call = &mut calls[giver.0 as usize];
            match &mut call.request {
                Request::Acquire { lease, .. } | Request::Renew { lease, .. } => *lease = number,
                Request::Release { .. }
                | Request::Expire(_)
                | Request::Read(_)
                | Request::Write(_)
                | Request::Cas { .. }
                | Request::Append(_) => {}
            }
            let expiry = Call {
                // A lease shorter than its drift guarantees nothing.
                invoked: Time::from(lease.floor).max(call.invoked),
                returned: lease.ceiling.into(),
                after: Some(giver),
                request: Request::Expire(number),
                reply: Reply::Done,
                ..*call
            };
            calls.push(expiry);
        }
        in_order(&calls)
    }
}

/// The calls in order of invocation, an expiry after the calls of its instant; predecessors follow.
fn in_order(calls: &[Call]) -> Vec<Call> {
    let mut order: Vec<u32> = (0..calls.len() as u32).collect();
    order.sort_by_key(|&at| (calls[at as usize].invoked, at));
    let mut places = vec![0; calls.len()];
    for (place, &at) in (0..).zip(&order) {
        places[at as usize] = place;
    }
    let moved = |&at: &u32| {
        let call = calls[at as usize];
        let after = call.after.map(|after| CallId(places[after.0 as usize]));
        Call { after, ..call }
    };
    order.iter().map(moved).collect()
}
