//! Options of `etcd-mutex`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::options::{LockOptions, OptionMistake, judge_whole_seconds, takes_whole_seconds, third};
use crate::model::duration::DurationSpec;

/// Options of [`Lock::EtcdMutex`](super::Lock::EtcdMutex).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct EtcdMutex {
    /// Time to live of a session, in whole seconds; members take no less than two of them, with
    /// sharp timers one.
    #[serde(default = "default_lease")]
    pub lease: DurationSpec,
    /// Keep a session alive, at every third of its lease, for as long as the lock is held, as
    /// etcd's library does.
    #[serde(default = "default_keep_alive")]
    pub keep_alive: bool,
}

impl LockOptions for EtcdMutex {
    fn lease(&self) -> Option<DurationSpec> {
        Some(self.lease)
    }

    fn renew_every(&self) -> Option<DurationSpec> {
        self.keep_alive.then(|| third(self.lease))
    }

    fn take_lease(&mut self, lease: DurationSpec, renewed: bool) -> Result<(), &'static str> {
        takes_whole_seconds(lease)?;
        self.lease = lease;
        self.keep_alive = renewed;
        Ok(())
    }

    fn mistakes(&self) -> Vec<OptionMistake> {
        judge_whole_seconds(self.lease).into_iter().collect()
    }
}

const fn default_lease() -> DurationSpec {
    DurationSpec::from_secs(3)
}

const fn default_keep_alive() -> bool {
    true
}
