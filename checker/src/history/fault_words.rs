//! Faults of version 1 of the format: one string for the target, and no class.
//!
//! For: reading old histories. The words are those of version 1 and grow no more; later versions
//! write values. Where a string can be read in two ways it stays words, of which nothing is drawn
//! and nothing concluded.

use super::event::Name;
use super::fault::{FaultClass, FaultTarget};

/// The class of a kind of fault of version 1.
pub(super) fn class_of_word(kind: &str) -> FaultClass {
    match kind {
        "kill" | "stop" | "restart" | "power-cut" | "kill-client" | "kill-thread" => {
            FaultClass::Death
        }
        "pause" | "pause-client" | "stall-watchdog" | "sleep" | "busy-script"
        | "pause-commands" | "slow-fsync" => FaultClass::Stall,
        "cut" | "partition" | "kill-connections" => FaultClass::Cut,
        "delay" | "throttle" | "lose" | "reorder" => FaultClass::Packet,
        "clock" => FaultClass::Clock,
        "delete-key" | "evict" | "flush-all" => FaultClass::Data,
        "flush-scripts" => FaultClass::Scripts,
        "promote" | "failover" => FaultClass::Promotion,
        "migrate-slot" => FaultClass::Migration,
        _ => FaultClass::Other,
    }
}

/// The target of a fault of version 1.
pub(super) fn target_of_words(kind: &str, words: &Name) -> FaultTarget {
    let name = || Name::clone(words);
    let read = match kind {
        "pause-client" | "kill-client" | "kill-thread" | "stall-watchdog" => {
            Some(FaultTarget::Client(name()))
        }
        "cut" | "delay" | "throttle" | "lose" | "reorder" => link(words),
        "partition" => sides(words),
        "delete-key" | "evict" | "migrate-slot" => key(words),
        "kill-connections" => connections(words),
        "kill" | "stop" | "restart" | "power-cut" | "pause" | "sleep" | "busy-script"
        | "pause-commands" | "slow-fsync" | "flush-all" | "flush-scripts" | "promote"
        | "failover" => Some(FaultTarget::Node(name())),
        // Of a server or of a client: version 1 does not say.
        _ => None,
    };
    read.unwrap_or_else(|| FaultTarget::Words(name()))
}

/// Both parts of `words`, if `separator` is in it exactly once.
fn split_once<'w>(words: &'w str, separator: &str) -> Option<(&'w str, &'w str)> {
    let (left, right) = words.split_once(separator)?;
    (!right.contains(separator)).then_some((left, right))
}

fn link(words: &str) -> Option<FaultTarget> {
    let (from, to) = split_once(words, "→")?;
    Some(FaultTarget::Link {
        from: vec![from.into()],
        to: vec![to.into()],
    })
}

fn sides(words: &str) -> Option<FaultTarget> {
    let side = |side: &str| side.split(',').map(Name::from).collect();
    let sides: Vec<Vec<Name>> = words.split(" | ").map(side).collect();
    (sides.len() > 1).then_some(FaultTarget::Sides(sides))
}

fn key(words: &str) -> Option<FaultTarget> {
    if !words.contains(" on ") {
        return Some(FaultTarget::Key {
            key: words.into(),
            node: None,
        });
    }
    let (key, node) = split_once(words, " on ")?;
    Some(FaultTarget::Key {
        key: key.into(),
        node: Some(node.into()),
    })
}

fn connections(words: &str) -> Option<FaultTarget> {
    if !words.contains(" on ") {
        return Some(FaultTarget::Node(words.into()));
    }
    let (client, node) = split_once(words, " on ")?;
    Some(FaultTarget::Connections {
        client: client.into(),
        node: node.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::FaultNote;

    fn target(kind: &str, words: &str) -> FaultTarget {
        let text =
            format!(r#"{{"id":"F1","kind":"{kind}","phase":"injected","target":"{words}"}}"#);
        let note: FaultNote = serde_json::from_str(&text).unwrap();
        note.target
    }

    #[test]
    fn strings_of_version_1_are_read_by_the_kind_of_the_fault() {
        assert_eq!(target("kill", "n1"), FaultTarget::Node("n1".into()));
        assert_eq!(target("kill-client", "a"), FaultTarget::Client("a".into()));
        let link = FaultTarget::Link {
            from: vec!["primary".into()],
            to: vec!["replica-1".into()],
        };
        assert_eq!(target("cut", "primary→replica-1"), link);
        let sides = vec![vec!["a".into(), "n1".into()], vec!["n2".into()]];
        assert_eq!(target("partition", "a,n1 | n2"), FaultTarget::Sides(sides));
        let key = |key: &str, node: Option<&str>| FaultTarget::Key {
            key: key.into(),
            node: node.map(Name::from),
        };
        assert_eq!(target("delete-key", "lock on n1"), key("lock", Some("n1")));
        let arrow = "primary→replica-1";
        assert_eq!(target("delete-key", arrow), key(arrow, None));
    }

    #[test]
    fn strings_that_can_be_read_in_two_ways_stay_words() {
        for (kind, words) in [
            ("cut", "a→b→c"),
            ("delete-key", "on on on on n1"),
            ("partition", "isolate-primary"),
            ("clock", "n1"),
            ("meteor", "n1"),
        ] {
            assert_eq!(target(kind, words), FaultTarget::Words(words.into()));
        }
    }
}
