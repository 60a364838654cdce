//! Trace of a history for pictures: holds with their leases, and requests with their answers.
//!
//! For: drawing and measuring latency. Not for: judging; the intervals are the checker's own.

use lockstorm_checker::history::{Mode, Name};
use lockstorm_checker::verdict::{Holder, Witness};
use lockstorm_checker::{Action, Digest, Nanos, Operation, Outcome};

/// The drawable part of a history.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Trace {
    /// Time of the last event.
    pub(crate) end: Nanos,
    /// In order of their grant.
    pub(crate) holds: Vec<Hold>,
    /// Acquires, in order of their invocation.
    pub(crate) requests: Vec<Request>,
    /// Renewals and releases, in order of their invocation.
    pub(crate) calls: Vec<Call>,
    /// Number of permits that the lock has; with more than one, holds may overlap.
    pub(crate) permits: u32,
}

/// One hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hold {
    pub(crate) client: Name,
    pub(crate) key: Name,
    /// Index of the invocation of its acquire.
    pub(crate) index: u64,
    pub(crate) invoked: Nanos,
    pub(crate) granted: Nanos,
    pub(crate) release_invoked: Option<Nanos>,
    /// Time at which its client stopped to take itself for the holder, if it did.
    pub(crate) left: Option<Nanos>,
    /// Time at which the release was answered; absent while unknown.
    pub(crate) release_answered: Option<Nanos>,
    pub(crate) lease_floor: Option<Nanos>,
    pub(crate) lease_ceiling: Option<Nanos>,
    /// Time at which the service's promise to this hold ended: at its release or with its lease.
    pub(crate) promised_to: Nanos,
    /// Up to when its owner is known to have acted as holder.
    pub(crate) believed_to: Nanos,
    /// True if it shares the lock with other readers.
    pub(crate) is_reader: bool,
    pub(crate) token: Option<u64>,
}

/// Answer to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Answer {
    /// Done as it was asked for.
    Granted,
    /// The server's own no: somebody holds the lock or, to a renewal or release, the caller does
    /// not.
    Refused,
    /// It was certainly never executed.
    Failed,
    /// No reply of the server.
    Indeterminate,
}

/// One acquire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) client: Name,
    pub(crate) key: Name,
    pub(crate) index: u64,
    pub(crate) invoked: Nanos,
    /// When the try was sent that was granted; its invocation, unless it tried more than once.
    pub(crate) asked: Nanos,
    /// Time at which it was answered or given up; the end of the trace if neither.
    pub(crate) ended: Nanos,
    pub(crate) answer: Answer,
}

/// Kind of a call to the lock service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CallKind {
    Acquire,
    Renew,
    Release,
}

/// One call of the lock service, without who made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) kind: CallKind,
    pub(crate) invoked: Nanos,
    /// As in [`Request::asked`].
    pub(crate) asked: Nanos,
    /// As in [`Request::ended`].
    pub(crate) ended: Nanos,
    pub(crate) answer: Answer,
}

impl CallKind {
    /// All of them, in the order of reports.
    pub(crate) const ALL: [Self; 3] = [Self::Acquire, Self::Renew, Self::Release];

    /// The kind of an operation; `None` for one that asks nothing of the lock.
    const fn of(action: Action) -> Option<Self> {
        match action {
            Action::Acquire => Some(Self::Acquire),
            Action::Renew => Some(Self::Renew),
            Action::Release => Some(Self::Release),
            Action::Resource(_) | Action::Other => None,
        }
    }
}

impl Answer {
    /// All of them, in the order of reports.
    pub(crate) const ALL: [Self; 4] = [
        Self::Granted,
        Self::Refused,
        Self::Failed,
        Self::Indeterminate,
    ];

    const fn of(outcome: Outcome, kind: CallKind) -> Self {
        match (outcome, kind) {
            (Outcome::Ok, _) => Self::Granted,
            // No server says to an acquire that its caller is not the owner.
            (Outcome::Failed, _) | (Outcome::NotOwner, CallKind::Acquire) => Self::Failed,
            (Outcome::Refused | Outcome::NotOwner, _) => Self::Refused,
            (Outcome::Unknown, _) => Self::Indeterminate,
        }
    }
}

impl Call {
    /// The call behind an operation; `None` for one that asks nothing of the lock.
    fn of(operation: &Operation, digest: &Digest) -> Option<Self> {
        let kind = CallKind::of(operation.action)?;
        let ended = operation.completion.map(|completion| completion.time);
        Some(Self {
            kind,
            invoked: operation.invoked,
            asked: operation.asked(),
            ended: ended.unwrap_or(digest.end),
            answer: Answer::of(operation.outcome, kind),
        })
    }

    /// From its invocation to its end.
    pub(crate) fn took(&self) -> u64 {
        (self.ended - self.invoked).0
    }

    /// From the try that was granted to its answer.
    pub(crate) fn served_in(&self) -> u64 {
        (self.ended - self.asked).0
    }
}

impl Hold {
    fn of_holder(holder: &Holder, key: &Name) -> Self {
        let released = holder.release_invoked.unwrap_or(Nanos::MAX);
        Self {
            client: holder.client.as_str().into(),
            key: Name::clone(key),
            index: holder.op_acquire,
            invoked: holder.acquire_invoked,
            granted: holder.granted,
            release_invoked: holder.release_invoked,
            left: holder.told_lost.or(holder.release_invoked),
            release_answered: holder.release_invoked,
            lease_floor: holder.lease_floor,
            lease_ceiling: holder.lease_ceiling,
            promised_to: released.min(holder.lease_floor.unwrap_or(Nanos::MAX)),
            believed_to: holder.told_lost.unwrap_or(released),
            is_reader: false,
            token: holder.token,
        }
    }

    fn of_history(hold: &lockstorm_checker::Hold, digest: &Digest) -> Self {
        let acquire = digest.operation(hold.acquire);
        let finite = |at: Nanos| (at != Nanos::MAX).then_some(at);
        let lease = hold.own_lease(digest);
        Self {
            client: Name::clone(digest.owners.shown(hold.owner.0)),
            key: Name::clone(digest.keys.shown(hold.key.0)),
            index: acquire.invoke,
            invoked: acquire.invoked,
            granted: hold.core.start,
            release_invoked: finite(hold.core.end),
            left: finite(hold.left()),
            release_answered: finite(hold.hull.end),
            lease_floor: finite(lease.floor),
            lease_ceiling: finite(lease.ceiling),
            promised_to: hold.guaranteed().end,
            believed_to: hold.belief().end,
            is_reader: hold.mode == Mode::Read,
            token: hold.token,
        }
    }
}

impl Request {
    /// The request behind an acquire.
    fn of(call: Call, operation: &Operation, digest: &Digest) -> Self {
        Self {
            client: Name::clone(digest.owners.shown(operation.owner.0)),
            key: Name::clone(digest.keys.shown(operation.key.0)),
            index: operation.invoke,
            invoked: call.invoked,
            asked: call.asked,
            ended: call.ended,
            answer: call.answer,
        }
    }

    fn call(&self) -> Call {
        Call {
            kind: CallKind::Acquire,
            invoked: self.invoked,
            asked: self.asked,
            ended: self.ended,
            answer: self.answer,
        }
    }
}

impl Trace {
    /// Reads the trace of a history, given its holds as the checker derives them.
    pub(crate) fn of_holds(digest: &Digest, holds: &[lockstorm_checker::Hold]) -> Self {
        let granted = holds.iter().filter(|hold| hold.is_granted());
        let mut granted: Vec<_> = granted
            .map(|hold| (hold.core.start, hold.acquire, hold))
            .collect();
        granted.sort_unstable_by_key(|&(start, acquire, _)| (start, acquire));
        let holds = granted
            .into_iter()
            .map(|(_, _, hold)| Hold::of_history(hold, digest))
            .collect();
        let (mut requests, mut calls) = (Vec::new(), Vec::new());
        for operation in &digest.operations {
            match Call::of(operation, digest) {
                Some(call) if call.kind == CallKind::Acquire => {
                    requests.push(Request::of(call, operation, digest));
                }
                Some(call) => calls.push(call),
                None => {}
            }
        }
        Self {
            end: digest.end,
            holds,
            requests,
            calls,
            permits: digest.header.permits.unwrap_or(1),
        }
    }

    /// Every call of one kind, in order of invocation.
    pub(crate) fn calls_of(&self, kind: CallKind) -> impl Iterator<Item = Call> {
        let requests = self
            .requests
            .iter()
            .filter(move |_| kind == CallKind::Acquire);
        let calls = self.calls.iter().filter(move |call| call.kind == kind);
        requests.map(Request::call).chain(calls.copied())
    }

    /// As much as a witness tells by itself, for a run whose history is not at hand.
    pub(crate) fn of_witness(witness: &Witness) -> Self {
        let key = Name::from(witness.lock_key.as_str());
        let holds: Vec<Hold> = witness
            .holders
            .iter()
            .map(|holder| Hold::of_holder(holder, &key))
            .collect();
        let known = holds.iter().flat_map(|hold| {
            let times = [
                Some(hold.granted),
                hold.release_invoked,
                hold.lease_ceiling,
                Some(witness.interval.0),
                Some(witness.interval.1),
            ];
            times.into_iter().flatten()
        });
        Self {
            end: known
                .filter(|at| *at != Nanos::MAX)
                .max()
                .unwrap_or_default(),
            holds,
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_history_becomes_holds_with_leases_and_requests_with_answers() {
        let trace = sample::failover_trace();

        let holds: Vec<(&str, Nanos, Option<Nanos>)> = trace
            .holds
            .iter()
            .map(|hold| (&*hold.client, hold.granted, hold.lease_floor))
            .collect();
        let us = |micros: u64| Nanos(micros * 1_000);
        assert_eq!(
            holds,
            [
                ("a", us(1_001_200), Some(us(2_978_000))),
                ("b", us(1_522_000), Some(us(3_498_000))),
                ("c", us(3_601_400), Some(us(5_578_000))),
            ],
            "the drift of 1 % and 2 ms is taken off each lease of 2 s"
        );
        let answers: Vec<Answer> = trace.requests.iter().map(|r| r.answer).collect();
        let (granted, refused) = (Answer::Granted, Answer::Refused);
        assert_eq!(answers, [granted, refused, granted, refused, granted]);
    }

    #[test]
    fn a_witness_alone_is_enough_for_a_picture_of_it() {
        let run = sample::failover_run();
        let witness = &run.analysis.properties[&lockstorm_checker::Property::MutualExclusion];
        let trace = Trace::of_witness(&witness.witnesses[0]);
        assert_eq!(trace.holds.len(), 2);
        assert_eq!(trace.end, Nanos(3_544_000_000), "the later ceiling");
    }
}
