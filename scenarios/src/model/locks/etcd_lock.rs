//! Options of `etcd-lock`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::options::{LockOptions, OptionMistake, judge_whole_seconds, takes_whole_seconds, third};
use crate::model::duration::DurationSpec;

/// Lease of the session that a member makes by itself.
const OF_THE_MEMBER: DurationSpec = DurationSpec::from_secs(60);

/// Options of [`Lock::EtcdLock`](super::Lock::EtcdLock).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct EtcdLock {
    /// Time to live of a lease of the client's own, in whole seconds, that each request names.
    /// Absent, the member that is asked makes a session of its own: it lives for 60 s from the
    /// request on, whatever the wait, and nobody can keep it alive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<DurationSpec>,
    /// Keep a lease of the client's own alive, at every third of it, for as long as the lock is
    /// held.
    #[serde(default)]
    pub keep_alive: bool,
}

impl LockOptions for EtcdLock {
    fn lease(&self) -> Option<DurationSpec> {
        Some(self.lease.unwrap_or(OF_THE_MEMBER))
    }

    fn renew_every(&self) -> Option<DurationSpec> {
        self.lease.filter(|_| self.keep_alive).map(third)
    }

    fn take_lease(&mut self, lease: DurationSpec, renewed: bool) -> Result<(), &'static str> {
        takes_whole_seconds(lease)?;
        self.lease = Some(lease);
        self.keep_alive = renewed;
        Ok(())
    }

    fn mistakes(&self) -> Vec<OptionMistake> {
        let lease = self.lease.and_then(judge_whole_seconds);
        let idle = (self.keep_alive && self.lease.is_none()).then(|| OptionMistake {
            option: "keep-alive",
            message: "only a lease of the client's own can be kept alive".to_owned(),
            help: "say a `lease` too, such as \"3s\", or leave it out",
        });
        lease.into_iter().chain(idle).collect()
    }
}
