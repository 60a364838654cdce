//! Options of `zookeeper-mutex`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::options::{LockOptions, OptionMistake, third};
use crate::model::duration::DurationSpec;

/// Shortest session that members with sharp timers take: two of their ticks.
const SESSION_MIN: DurationSpec = DurationSpec::from_millis(400);
/// Longest session that members take.
const SESSION_MAX: DurationSpec = DurationSpec::from_secs(60);

/// Options of [`Lock::ZookeeperMutex`](super::Lock::ZookeeperMutex).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ZookeeperMutex {
    /// Time for which members keep the session of a client that they do not hear of. A holder
    /// relies on two thirds of it: after that long without an answer ZooKeeper's own client takes
    /// its connection for lost. Members with stock timers take no less than 4 s.
    #[serde(default = "default_session")]
    pub session: DurationSpec,
    /// Send a ping, at every third of the session, for as long as a lock is held, as every real
    /// client does; without it a session is good for one short hold.
    #[serde(default = "default_keep_alive")]
    pub keep_alive: bool,
}

impl LockOptions for ZookeeperMutex {
    fn lease(&self) -> Option<DurationSpec> {
        Some(DurationSpec::from_millis(self.session.as_millis() * 2 / 3))
    }

    fn renew_every(&self) -> Option<DurationSpec> {
        self.keep_alive.then(|| third(self.session))
    }

    fn take_lease(&mut self, lease: DurationSpec, renewed: bool) -> Result<(), &'static str> {
        let session = DurationSpec::from_millis(lease.as_millis().saturating_mul(3) / 2);
        judge(session)?;
        self.session = session;
        self.keep_alive = renewed;
        Ok(())
    }

    fn mistakes(&self) -> Vec<OptionMistake> {
        let wrong = judge(self.session).err().map(|why| OptionMistake {
            option: "session",
            message: format!("{why}, and not {}", self.session),
            help: "take one in between, such as \"3s\"",
        });
        wrong.into_iter().collect()
    }
}

/// Checks whether members take such a session.
fn judge(session: DurationSpec) -> Result<(), &'static str> {
    if (SESSION_MIN..=SESSION_MAX).contains(&session) {
        Ok(())
    } else {
        Err("members take sessions of 400ms to 60s")
    }
}

const fn default_keep_alive() -> bool {
    true
}

const fn default_session() -> DurationSpec {
    DurationSpec::from_secs(3)
}
