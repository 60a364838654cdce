//! What pictures need of a history: holds with their leases, and requests with their answers.
//!
//! For: drawing and measuring latency. Not for: judging; the intervals are the checker's own.

use lockstorm_checker::verdict::{Holder, Witness};
use lockstorm_checker::{Action, Digest, Drift, Nanos, Operation, Outcome};

/// The drawable part of a history.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Trace {
    /// Time of the last event.
    pub(crate) end: Nanos,
    /// In order of their grant.
    pub(crate) holds: Vec<Hold>,
    /// Acquires, in order of their invocation.
    pub(crate) requests: Vec<Request>,
}

/// One hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hold {
    pub(crate) client: String,
    pub(crate) key: String,
    /// Index of the invocation of its acquire.
    pub(crate) index: u64,
    pub(crate) invoked: Nanos,
    pub(crate) granted: Nanos,
    pub(crate) release_invoked: Option<Nanos>,
    /// When the release was answered; absent while unknown.
    pub(crate) release_answered: Option<Nanos>,
    pub(crate) lease_floor: Option<Nanos>,
    pub(crate) lease_ceiling: Option<Nanos>,
    /// When the service's promise to this hold ended: at its release or with its lease.
    pub(crate) promised_to: Nanos,
    pub(crate) token: Option<u64>,
}

/// How an acquire was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Answer {
    Granted,
    Refused,
    /// It was certainly never executed.
    Failed,
    /// No reply of the server.
    Indeterminate,
}

/// One acquire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) client: String,
    pub(crate) key: String,
    pub(crate) index: u64,
    pub(crate) invoked: Nanos,
    /// When it was answered or given up; the end of the trace if neither.
    pub(crate) ended: Nanos,
    pub(crate) answer: Answer,
}

impl Hold {
    fn of_holder(holder: &Holder, key: &str) -> Self {
        let released = holder.release_invoked.unwrap_or(Nanos::MAX);
        Self {
            client: holder.client.clone(),
            key: key.to_owned(),
            index: holder.op_acquire,
            invoked: holder.acquire_invoked,
            granted: holder.granted,
            release_invoked: holder.release_invoked,
            release_answered: holder.release_invoked,
            lease_floor: holder.lease_floor,
            lease_ceiling: holder.lease_ceiling,
            promised_to: released.min(holder.lease_floor.unwrap_or(Nanos::MAX)),
            token: holder.token,
        }
    }

    fn of_history(hold: &lockstorm_checker::Hold, digest: &Digest) -> Self {
        let acquire = digest.operation(hold.acquire);
        let finite = |at: Nanos| (at != Nanos::MAX).then_some(at);
        Self {
            client: digest.owner(hold.owner).to_owned(),
            key: digest.key(hold.key).to_owned(),
            index: acquire.invoke,
            invoked: acquire.invoked,
            granted: hold.core.start,
            release_invoked: finite(hold.core.end),
            release_answered: finite(hold.hull.end),
            lease_floor: finite(hold.lease.floor),
            lease_ceiling: finite(hold.lease.ceiling),
            promised_to: hold.guaranteed().end,
            token: hold.token,
        }
    }
}

impl Request {
    /// The request behind an acquire; `None` for any other operation.
    fn of(operation: &Operation, digest: &Digest) -> Option<Self> {
        let answer = match (operation.action, operation.outcome) {
            (Action::Acquire, Outcome::Ok) => Answer::Granted,
            (Action::Acquire, Outcome::Refused) => Answer::Refused,
            (Action::Acquire, Outcome::Failed | Outcome::NotOwner) => Answer::Failed,
            (Action::Acquire, Outcome::Unknown) => Answer::Indeterminate,
            (Action::Renew | Action::Release | Action::Resource(_) | Action::Other, _) => {
                return None;
            }
        };
        let ended = operation.completion.map(|completion| completion.time);
        Some(Self {
            client: digest.owner(operation.owner).to_owned(),
            key: digest.key(operation.key).to_owned(),
            index: operation.invoke,
            invoked: operation.invoked,
            ended: ended.unwrap_or(digest.end),
            answer,
        })
    }
}

impl Trace {
    /// What a history tells, with leases as the checker reckons them.
    pub(crate) fn of(digest: &Digest) -> Self {
        let drift = Drift::of_header(&digest.header);
        let mut holds: Vec<Hold> = lockstorm_checker::holds(digest, drift)
            .iter()
            .filter(|hold| hold.is_granted())
            .map(|hold| Hold::of_history(hold, digest))
            .collect();
        holds.sort_by_key(|hold| (hold.granted, hold.index));
        let operations = digest.operations.iter();
        Self {
            end: digest.end,
            holds,
            requests: operations
                .filter_map(|operation| Request::of(operation, digest))
                .collect(),
        }
    }

    /// As much as a witness tells by itself, for a run whose history is not at hand.
    pub(crate) fn of_witness(witness: &Witness) -> Self {
        let holds: Vec<Hold> = witness
            .holders
            .iter()
            .map(|holder| Hold::of_holder(holder, &witness.lock_key))
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
            requests: Vec::new(),
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
            .map(|hold| (hold.client.as_str(), hold.granted, hold.lease_floor))
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
