//! Options of `none`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::options::LockOptions;

/// Options of [`Lock::NoLock`](super::Lock::NoLock): there are none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct NoLock {}

impl LockOptions for NoLock {}
