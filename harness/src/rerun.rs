//! Commands that repeat a run, in words that a shell takes as they are.
//!
//! They name program and files as they were typed: what worked once works again in the same
//! folder, and in another checkout too.

use std::path::Path;

use crate::seed::Seed;

/// The name by which this program was called.
pub fn program() -> String {
    let called = std::env::args().next();
    called.map_or_else(|| "lockstorm".to_owned(), |name| quoted(&name))
}

/// The command that runs a stored scenario again, on the same servers and network.
pub fn of_stored(scenario: &Path, seed: Seed, arguments: &[String]) -> String {
    let file = quoted(&scenario.display().to_string());
    let mut words = vec![program(), format!("run {file} --seed {}", seed.0)];
    words.extend_from_slice(arguments);
    words.join(" ")
}

/// `text` as one word of a shell.
pub fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_command_survive_a_shell() {
        assert_eq!(quoted("lock.token.lease=1s"), "lock.token.lease=1s");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }
}
