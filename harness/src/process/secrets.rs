//! The environment of children: without the passwords of servers that someone else runs.
//!
//! They are for this process alone, which enters the servers for everybody. What is left out is
//! what scenarios name, what is usually called so, and any variable with a URL of Redis that has a
//! password.

use std::collections::BTreeSet;
use std::env;
use std::process::Command;
use std::sync::Mutex;

use lockstorm_scenarios::{Case, without_passwords};

/// The variables that scenarios take passwords from. They are known before anything is started, and
/// hold for whatever is started later.
static NAMED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Prefixes of the variables that others use for such passwords.
const USUAL: [&str; 3] = ["REDIS_URL", "REDIS_PASSWORD", "REDISCLI_AUTH"];

/// Notes the variables from which `case` takes passwords.
pub fn note_secrets(case: &Case) {
    let Some(external) = case.topology.external() else {
        return;
    };
    let mut named = NAMED.lock().expect("no holder of this lock panics");
    named.extend(external.secret_variables());
}

/// Leaves the secrets out of the environment of `command`.
pub fn scrub(command: &mut Command) {
    let named = NAMED.lock().expect("no holder of this lock panics");
    for (name, value) in env::vars_os() {
        let is_secret = name.to_str().is_some_and(|name| {
            named.contains(name) || USUAL.iter().any(|usual| name.starts_with(usual))
        });
        let value = value.to_string_lossy();
        let is_url = value.to_ascii_lowercase().starts_with("redis");
        if is_secret || (is_url && without_passwords(&value) != value) {
            command.env_remove(&name);
        }
    }
}
