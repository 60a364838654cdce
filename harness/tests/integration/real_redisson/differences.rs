//! Differences that are known, each with its reason.

use std::fs;

use serde::Deserialize;

use super::pair::Pair;
use crate::support::root;

/// All of them, in the order of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Differences {
    #[serde(default)]
    difference: Vec<Difference>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Difference {
    /// Names of situations; all of them where there is none, so below.
    #[serde(default)]
    situations: Vec<String>,
    #[serde(default)]
    locks: Vec<String>,
    #[serde(default)]
    eras: Vec<String>,
    #[serde(default)]
    topologies: Vec<String>,
    /// True if it depends on luck; then it may be missing.
    #[serde(default)]
    sometimes: bool,
    reason: String,
}

impl Differences {
    pub fn read() -> Self {
        let path = root().join("harness/tests/integration/real_redisson/differences.toml");
        let text = fs::read_to_string(path).expect("the table is there");
        let read: Self = toml::from_str(&text).expect("the table is well-formed");
        for known in &read.difference {
            assert!(
                known.reason.len() > 20,
                "{:?}: a reason is a sentence",
                known.situations
            );
        }
        read
    }

    /// The entry for this pair.
    pub fn of(&self, pair: &Pair) -> Option<usize> {
        self.difference.iter().position(|known| known.is_of(pair))
    }

    /// Entries of which some of these pairs could have shown the difference, and none did.
    pub fn unused(&self, pairs: &[Pair], used: &[usize]) -> Vec<String> {
        let entries = self.difference.iter().enumerate();
        let unused = entries.filter(|(at, known)| {
            !known.sometimes && !used.contains(at) && pairs.iter().any(|pair| known.is_of(pair))
        });
        unused
            .map(|(_, known)| format!("{:?}: {}", known.situations, known.reason))
            .collect()
    }
}

impl Difference {
    fn is_of(&self, pair: &Pair) -> bool {
        let allows = |list: &[String], name: &str| {
            list.is_empty() || list.iter().any(|allowed| allowed == name)
        };
        allows(&self.situations, &pair.case.name)
            && allows(&self.locks, pair.case.lock.kind().name())
            && allows(&self.eras, pair.era_name())
            && allows(&self.topologies, pair.case.topology.kind().name())
    }
}
