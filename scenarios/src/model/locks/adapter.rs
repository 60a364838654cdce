//! Options of `adapter`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::options::{LockOptions, OptionMistake, default_lease, third};
use crate::model::duration::DurationSpec;
use crate::model::promise::Promise;

/// Options of [`Lock::Adapter`](super::Lock::Adapter).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Adapter {
    /// Name of the lock in reports, such as `redis-py`.
    pub name: String,
    /// The program and its arguments; it is started once for each client, in the folder from which
    /// Lockstorm was started.
    pub command: Vec<String>,
    /// Time to live of a grant.
    #[serde(default = "default_lease")]
    pub lease: DurationSpec,
    /// False for a lock that is taken without a lease, and stays until it is given back.
    #[serde(default = "yes", skip_serializing_if = "Clone::clone")]
    pub expires: bool,
    /// Extend the lease this often while the lock is held; absent means never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renew_every: Option<DurationSpec>,
    /// Time that any of its answers may take, beside the time that the request itself says: longer
    /// than the library tries again where a server is away. Absent: as its program says, or 10 s.
    /// Each is given 5 s more, so that no library is accused of a busy machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers_within: Option<DurationSpec>,
    /// Patience with one of several servers that are asked for one lock; absent: the library's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_timeout: Option<DurationSpec>,
    /// Number of permits of a semaphore; 1 for a mutex.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub permits: u32,
    /// Promises of the library beyond what every lock promises.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub promises: Vec<Promise>,
    /// Promises of every lock that the library does not make.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denies: Vec<Promise>,
}

const fn yes() -> bool {
    true
}

const fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
const fn is_one(permits: &u32) -> bool {
    *permits == 1
}

impl LockOptions for Adapter {
    fn lease(&self) -> Option<DurationSpec> {
        self.expires.then_some(self.lease)
    }

    fn renew_every(&self) -> Option<DurationSpec> {
        self.renew_every
    }

    fn permits(&self) -> u32 {
        self.permits
    }

    fn take_permits(&mut self, permits: u32) {
        if self.promises.contains(&Promise::Permits) {
            self.permits = permits;
        }
    }

    fn promises(&self) -> &[Promise] {
        &self.promises
    }

    fn denies(&self) -> &[Promise] {
        &self.denies
    }

    fn node_timeout(&self) -> Option<DurationSpec> {
        self.node_timeout
    }

    fn take_lease(&mut self, lease: DurationSpec, renewed: bool) -> Result<(), &'static str> {
        if renewed && !self.expires {
            return Err("it has no lease that could be renewed");
        }
        self.lease = lease;
        self.renew_every = renewed.then(|| third(lease));
        Ok(())
    }

    fn take_node_timeout(&mut self, timeout: DurationSpec) {
        self.node_timeout = Some(timeout);
    }

    fn answers_within(&self) -> Option<DurationSpec> {
        self.answers_within
    }

    fn mistakes(&self) -> Vec<OptionMistake> {
        let nameless = self.name.trim().is_empty().then(|| OptionMistake {
            option: "name",
            message: "`name` must not be empty".to_owned(),
            help: "such as \"redis-py\"",
        });
        let program = self.command.first().is_none_or(String::is_empty);
        let program = program.then(|| OptionMistake {
            option: "command",
            message: "`command` must name a program".to_owned(),
            help: "the program, then its arguments, such as [\"python3\", \"adapter.py\"]",
        });
        let renewed = self.renew_every.filter(|_| !self.expires);
        let renewed = renewed.map(|_| OptionMistake {
            option: "renew-every",
            message: "`renew-every` must be left out of a lock that never expires".to_owned(),
            help: "there is no lease to extend",
        });
        nameless.into_iter().chain(program).chain(renewed).collect()
    }
}
