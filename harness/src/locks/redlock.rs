//! The Redlock algorithm on N independent masters.
//!
//! Source: the Redis documentation, "Distributed locks with Redis": set the same random value on
//! all nodes with a short time-out each; hold the lock iff a majority agreed and the time used,
//! with an allowance for clock drift, is less than the lease; otherwise release on all nodes,
//! those that seem to have failed included.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use lockstorm_checker::history::Name;
use lockstorm_scenarios::{self as scenarios, Mutant};
use rand_chacha::ChaCha8Rng;
use redis::Cmd;

use super::batch_renewal::BatchRenewal;
use super::context::{LockContext, random_value};
use super::lock::{Grant, Lock, LockRequest, Outcome, Released};
use super::mutation::Mutation;
use super::provenance::Provenance;
use super::token::{delete_if_equal, extend_if_equal, keep, set_if_absent, took_effect};
use super::waiting::Waiting;
use crate::connection::{CallError, Connection, Dialer, Route};

/// Fixed part of the drift allowance; with 1 % of the lease the de-facto standard of libraries.
const DRIFT_FIXED: Duration = Duration::from_millis(2);

/// One client's side of the lock.
pub struct Redlock {
    route: Arc<Route>,
    /// The version of the route that `nodes` are of.
    known: u64,
    nodes: Vec<Connection>,
    lease: Duration,
    rng: ChaCha8Rng,
    /// The random value of the latest try for each key that may have taken effect.
    values: HashMap<String, String>,
    /// The nodes that said yes to the last command.
    agreed: Vec<Name>,
    mutation: Mutation,
}

/// Answers of the nodes to one command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Votes {
    /// It took effect there.
    yes: usize,
    /// It certainly did not.
    no: usize,
    /// Nobody knows.
    unknown: usize,
}

impl Redlock {
    /// Holds nothing yet.
    pub fn new(spec: &scenarios::Redlock, context: LockContext) -> Self {
        let dialer = Dialer {
            reply_timeout: spec.node_timeout.0,
            ..context.dialer
        };
        let nodes = context
            .route
            .nodes()
            .into_iter()
            .map(|(name, address)| Connection::new(dialer.clone(), &name, address))
            .collect();
        Self {
            known: context.route.version(),
            route: context.route,
            nodes,
            lease: spec.lease.0,
            rng: context.rng,
            values: HashMap::new(),
            agreed: Vec::new(),
            mutation: Mutation::of(spec.mutant),
        }
    }

    /// Sends `command` to all nodes at once.
    async fn ask_all(&mut self, command: &Cmd) -> Result<Votes, CallError> {
        self.ask(usize::MAX, command).await
    }

    /// Sends `command` to as many of the first nodes at once.
    async fn ask(&mut self, nodes: usize, command: &Cmd) -> Result<Votes, CallError> {
        self.follow();
        let nodes = self.nodes.iter_mut().take(nodes);
        let replies = join_all(nodes.map(|node| node.call(command))).await;
        let mut votes = Votes::default();
        self.agreed.clear();
        for (node, reply) in self.nodes.iter().zip(replies) {
            match (took_effect(&reply), reply) {
                (_, Err(CallError::Killed)) => return Err(CallError::Killed),
                (Some(true), _) => {
                    votes.yes += 1;
                    self.agreed.push(node.shared_name());
                }
                (Some(false), _) | (None, Err(CallError::Failed(_))) => votes.no += 1,
                (None, _) => votes.unknown += 1,
            }
        }
        Ok(votes)
    }

    /// Turns to the replicas that have been promoted.
    fn follow(&mut self) {
        let version = self.route.version();
        if version == self.known {
            return;
        }
        self.known = version;
        for (node, (name, address)) in self.nodes.iter_mut().zip(self.route.nodes()) {
            if node.address() != address {
                node.turn(&name, address, "promoted".to_owned());
            }
        }
    }

    fn value(&self, key: &str) -> &str {
        self.values.get(key).map_or("", String::as_str)
    }

    /// Returns the decision of the votes, for a command sent at `start`.
    fn decide(&self, votes: Votes, start: Instant) -> Outcome<Grant> {
        let quorum = if self.mutation.is(Mutant::HalfIsAMajority) {
            votes.all() / 2
        } else {
            votes.quorum()
        };
        let drift = if self.mutation.is(Mutant::DriftIgnored) {
            Duration::ZERO
        } else {
            self.lease / 100 + DRIFT_FIXED
        };
        let in_time =
            self.mutation.is(Mutant::TimeNotChecked) || start.elapsed() + drift < self.lease;
        if votes.yes >= quorum && in_time {
            Outcome::Done(Grant::of(self.lease))
        } else if votes.yes + votes.unknown < quorum {
            Outcome::Denied
        } else {
            Outcome::Unknown(votes.describe(in_time))
        }
    }
}

impl Votes {
    const fn quorum(self) -> usize {
        self.all() / 2 + 1
    }

    const fn all(self) -> usize {
        self.yes + self.no + self.unknown
    }

    fn describe(self, in_time: bool) -> String {
        let late = if in_time {
            ""
        } else {
            ", and the lease was used up"
        };
        format!(
            "{} nodes agreed, {} refused, {} silent{late}",
            self.yes, self.no, self.unknown
        )
    }
}

impl Lock for Redlock {
    async fn acquire(&mut self, key: &str, _: LockRequest) -> Outcome<Grant> {
        let start = Instant::now();
        let value = random_value(&mut self.rng);
        let command = set_if_absent(key, &value, self.lease);
        let withdraw = delete_if_equal(key, &value);
        let votes = match self.ask_all(&command).await {
            Ok(votes) => votes,
            Err(error) => return error.into(),
        };
        let outcome = self.decide(votes, start);
        keep(&mut self.values, key, value, &outcome);
        if !matches!(outcome, Outcome::Done(_)) && !self.mutation.is(Mutant::FailedTryNotWithdrawn)
        {
            // What the nodes answer changes nothing: the lock was not had.
            if let Err(CallError::Killed) = self.ask_all(&withdraw).await {
                return Outcome::Killed;
            }
        }
        outcome
    }

    async fn renew(&mut self, key: &str, _: LockRequest) -> Outcome<Grant> {
        let start = Instant::now();
        let command = extend_if_equal(key, self.value(key), self.lease);
        match self.ask_all(&command).await {
            Ok(votes) => self.decide(votes, start),
            Err(error) => error.into(),
        }
    }

    async fn release(&mut self, key: &str, _: LockRequest) -> Outcome<Released> {
        let command = delete_if_equal(key, self.value(key));
        let nodes = if self.mutation.is(Mutant::ReleaseOnOneNode) {
            1
        } else {
            self.nodes.len()
        };
        match self.ask(nodes, &command).await {
            Ok(votes) if votes.yes >= votes.quorum() => Outcome::Done(Released::default()),
            Ok(votes) if votes.yes + votes.unknown < votes.quorum() => Outcome::Denied,
            Ok(votes) => Outcome::Unknown(votes.describe(true)),
            Err(error) => error.into(),
        }
    }
}

impl BatchRenewal for Redlock {}

impl Waiting for Redlock {}

impl Provenance for Redlock {
    fn granted_by(&self) -> Vec<Name> {
        self.agreed.clone()
    }

    fn marks(&self, key: &str) -> Vec<String> {
        self.values.get(key).cloned().into_iter().collect()
    }
}
