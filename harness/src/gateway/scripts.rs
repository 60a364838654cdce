//! Scripts that pass: what a script touches cannot be seen from outside, whatever keys it is
//! given.
//!
//! Those of our own locks are known word by word. Any other needs a scenario that allows scripts,
//! on servers whose access list proves that the user can touch nothing outside of the prefix.

use std::collections::HashMap;

use redis::Script;

use crate::locks::own_scripts;

/// The commands that a script of ours may be told to call.
const TOLD: [&[u8]; 2] = [b"PUBLISH", b"SPUBLISH"];

/// The scripts that may pass.
#[derive(Debug)]
pub struct Scripts {
    /// True if all may.
    any: bool,
    /// Those of ours, by text and by digest: each with the arguments, from 1, that it calls as
    /// commands.
    known: HashMap<Vec<u8>, Vec<usize>>,
}

impl Scripts {
    /// Those of our own locks, or any.
    pub fn new(any: bool) -> Self {
        let mut known = HashMap::new();
        for text in own_scripts().chain([TRIAL.to_owned()]) {
            let called = called_arguments(&text);
            let digest = Script::new(&text).get_hash().to_owned();
            known.insert(digest.into_bytes(), called.clone());
            known.insert(text.into_bytes(), called);
        }
        Self { any, known }
    }

    /// Tells whether a script may run with these arguments: `script` is its text, or its digest.
    pub fn may_run(&self, script: &[u8], arguments: &[Vec<u8>]) -> bool {
        if self.any {
            return true;
        }
        let known = self.known.get(script);
        let known = known.or_else(|| self.known.get(&script.to_ascii_lowercase()));
        known.is_some_and(|called| {
            called.iter().all(|n| {
                let told = arguments.get(n - 1).map(|word| word.to_ascii_uppercase());
                told.is_none_or(|word| TOLD.contains(&word.as_slice()))
            })
        })
    }

    /// Tells whether a script may be kept by the server, to be run later by its digest.
    pub fn may_load(&self, text: &[u8]) -> bool {
        self.any || self.known.contains_key(text)
    }
}

/// Script that tries the right to run scripts, and does nothing.
pub const TRIAL: &str = "return 1";

/// The arguments of a script that it calls as commands: `redis.call(ARGV[4], ...)`.
fn called_arguments(text: &str) -> Vec<usize> {
    let calls = text.split("call(ARGV[").skip(1);
    let numbers = calls.filter_map(|rest| rest.split(']').next()?.parse().ok());
    numbers.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<Vec<u8>> {
        let words = line.split(' ');
        words.map(|word| word.as_bytes().to_vec()).collect()
    }

    #[test]
    fn only_our_own_scripts_pass_unless_all_may() {
        let scripts = Scripts::new(false);
        let ours = own_scripts().next().expect("there are some");
        let digest = Script::new(&ours).get_hash().to_owned();
        for known in [ours.as_str(), &digest, &digest.to_uppercase()] {
            assert!(scripts.may_run(known.as_bytes(), &[]), "{known}");
        }
        assert!(scripts.may_load(ours.as_bytes()));
        let foreign = "return redis.call('flushall')";
        let digest = Script::new(foreign).get_hash().to_owned();
        for unknown in [foreign, &digest, &format!("{ours} "), ""] {
            assert!(!scripts.may_run(unknown.as_bytes(), &[]), "{unknown}");
            assert!(!scripts.may_load(unknown.as_bytes()), "{unknown}");
        }
        assert!(Scripts::new(true).may_run(foreign.as_bytes(), &[]));
    }

    /// Redisson's scripts are told by an argument how to publish.
    #[test]
    fn a_script_of_ours_is_not_told_to_call_anything_else() {
        let scripts = Scripts::new(false);
        let mut seen = 0;
        for script in own_scripts() {
            for n in called_arguments(&script) {
                let told = |word: &str| {
                    let mut arguments = words(&["x"; 9].join(" "));
                    arguments[n - 1] = word.as_bytes().to_vec();
                    for other in called_arguments(&script).into_iter().filter(|m| *m != n) {
                        arguments[other - 1] = b"PUBLISH".to_vec();
                    }
                    scripts.may_run(script.as_bytes(), &arguments)
                };
                assert!(told("PUBLISH") && told("spublish"));
                assert!(!told("rename") && !told("FLUSHALL") && !told(""));
                seen += 1;
            }
            let dynamic = script.matches("call(").count() - script.matches("call('").count();
            assert_eq!(dynamic, called_arguments(&script).len(), "{script}");
        }
        assert!(seen > 5, "the test needs such scripts");
    }
}
