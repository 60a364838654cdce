//! Options of `mysql-get-lock`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::options::{LockOptions, OptionMistake};
use crate::model::duration::DurationSpec;

/// Shortest time that a server waits for the next statement.
const IDLE_MIN: DurationSpec = DurationSpec::from_secs(1);

/// Options of [`Lock::MysqlGetLock`](super::Lock::MysqlGetLock).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct MysqlGetLock {
    /// Time after which the server ends a connection on which nothing is asked, in whole seconds:
    /// its `wait_timeout`. Absent: the server's own, 8 hours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_timeout: Option<DurationSpec>,
}

impl LockOptions for MysqlGetLock {
    fn lease(&self) -> Option<DurationSpec> {
        None
    }

    fn renew_every(&self) -> Option<DurationSpec> {
        None
    }

    fn mistakes(&self) -> Vec<OptionMistake> {
        let is_wrong = |time: &DurationSpec| {
            *time < IDLE_MIN || !time.as_millis().is_multiple_of(IDLE_MIN.as_millis())
        };
        let wrong = self.idle_timeout.filter(is_wrong);
        let mistake = wrong.map(|time| OptionMistake {
            option: "idle-timeout",
            message: format!("the server counts whole seconds, and not {time}"),
            help: "take one or more of them, such as \"1s\"",
        });
        mistake.into_iter().collect()
    }
}
