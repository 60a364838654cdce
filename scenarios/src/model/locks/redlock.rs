//! Options of `redlock`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::options::{LockOptions, OptionMistake, default_lease, third};
use crate::model::duration::{DurationRange, DurationSpec};
use crate::model::mutant::Mutant;

/// Options of [`Lock::Redlock`](super::Lock::Redlock).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Redlock {
    /// Time to live of the key on each node.
    #[serde(default = "default_lease")]
    pub lease: DurationSpec,
    /// Extend the lease this often while the lock is held; absent means never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renew_every: Option<DurationSpec>,
    /// Time that one node may take to answer; far below the lease.
    #[serde(default = "default_node_timeout")]
    pub node_timeout: DurationSpec,
    /// Pause between two tries of a waiting acquire, drawn at random from this range.
    #[serde(default = "default_retry_delay")]
    pub retry_delay: DurationRange,
    /// A mistake to make on purpose, one of `lockstorm list mutants` for this lock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutant: Option<Mutant>,
}

impl LockOptions for Redlock {
    fn lease(&self) -> Option<DurationSpec> {
        Some(self.lease)
    }

    fn renew_every(&self) -> Option<DurationSpec> {
        self.renew_every
    }

    fn retry_delay(&self) -> Option<DurationRange> {
        Some(self.retry_delay)
    }

    fn take_lease(&mut self, lease: DurationSpec, renewed: bool) -> Result<(), &'static str> {
        self.lease = lease;
        self.renew_every = renewed.then(|| third(lease));
        Ok(())
    }

    fn take_node_timeout(&mut self, timeout: DurationSpec) {
        self.node_timeout = timeout;
    }

    fn mutant(&self) -> Option<Mutant> {
        self.mutant
    }

    fn mutant_mut(&mut self) -> Option<&mut Option<Mutant>> {
        Some(&mut self.mutant)
    }

    fn mistakes(&self) -> Vec<OptionMistake> {
        let (timeout, lease) = (self.node_timeout, self.lease);
        let wrong = if timeout == DurationSpec::default() {
            Some((
                "`node-timeout` must be greater than 0".to_owned(),
                "take a few times a round trip, such as \"50ms\"",
            ))
        } else if timeout >= lease {
            Some((
                format!("a node may take {timeout}, the lease is {lease}"),
                "keep the node-timeout far below the lease, or no grant is ever valid",
            ))
        } else {
            None
        };
        let wrong = wrong.map(|(message, help)| OptionMistake {
            option: "node-timeout",
            message,
            help,
        });
        wrong.into_iter().collect()
    }
}

const fn default_node_timeout() -> DurationSpec {
    DurationSpec::from_millis(50)
}

const fn default_retry_delay() -> DurationRange {
    DurationRange::from_millis(10, 50)
}
