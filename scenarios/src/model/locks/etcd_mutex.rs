//! Options of `etcd-mutex`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::options::{LockOptions, OptionMistake, third};
use crate::model::duration::DurationSpec;

/// etcd counts leases in whole seconds.
const SECOND_MS: u64 = 1000;

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
        if !is_whole(lease) {
            return Err("etcd counts leases in whole seconds");
        }
        self.lease = lease;
        self.keep_alive = renewed;
        Ok(())
    }

    fn mistakes(&self) -> Vec<OptionMistake> {
        let broken = (!is_whole(self.lease)).then(|| OptionMistake {
            option: "lease",
            message: format!(
                "etcd counts leases in whole seconds, and not {}",
                self.lease
            ),
            help: "take whole seconds, such as \"3s\"",
        });
        broken.into_iter().collect()
    }
}

fn is_whole(lease: DurationSpec) -> bool {
    let ms = lease.as_millis();
    ms > 0 && ms.is_multiple_of(SECOND_MS)
}

const fn default_lease() -> DurationSpec {
    DurationSpec::from_secs(3)
}

const fn default_keep_alive() -> bool {
    true
}
