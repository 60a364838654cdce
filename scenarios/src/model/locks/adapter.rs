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
    /// Extend the lease this often while the lock is held; absent means never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renew_every: Option<DurationSpec>,
    /// Time that any of its answers may take, beside the time that the request itself says: longer
    /// than the library tries again where a server is away.
    #[serde(default = "default_answers_within")]
    pub answers_within: DurationSpec,
    /// Promises of the library beyond what every lock promises.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub promises: Vec<Promise>,
}

impl Adapter {
    /// Time that any of its answers may take unless the scenario says: far above the time that a
    /// library gives a server, unless it tries again and again.
    pub const ANSWERS_WITHIN: DurationSpec = DurationSpec::from_secs(10);
}

impl LockOptions for Adapter {
    fn lease(&self) -> Option<DurationSpec> {
        Some(self.lease)
    }

    fn renew_every(&self) -> Option<DurationSpec> {
        self.renew_every
    }

    fn promises(&self) -> &[Promise] {
        &self.promises
    }

    fn take_lease(&mut self, lease: DurationSpec, renewed: bool) -> Result<(), &'static str> {
        self.lease = lease;
        self.renew_every = renewed.then(|| third(lease));
        Ok(())
    }

    fn answers_within(&self) -> DurationSpec {
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
        nameless.into_iter().chain(program).collect()
    }
}

const fn default_answers_within() -> DurationSpec {
    Adapter::ANSWERS_WITHIN
}
