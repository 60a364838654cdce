//! Options of `mysql-unique-index`: there are none.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::options::{LockOptions, OptionMistake};
use crate::model::duration::DurationSpec;

/// Options of [`Lock::MysqlUniqueIndex`](super::Lock::MysqlUniqueIndex).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct MysqlUniqueIndex {}

impl LockOptions for MysqlUniqueIndex {
    fn lease(&self) -> Option<DurationSpec> {
        None
    }

    fn renew_every(&self) -> Option<DurationSpec> {
        None
    }

    fn mistakes(&self) -> Vec<OptionMistake> {
        Vec::new()
    }
}
