//! Nodes that go with a session, as a member tells them by the word `dump`.

/// Answer of a member that has no leader.
const SERVES_NOBODY: &str = "This ZooKeeper instance is not currently serving requests";

/// The paths of these nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ephemerals(Vec<String>);

impl Ephemerals {
    /// Reads what a member said: below a line for each session its nodes, one a line, with a tab
    /// before them.
    ///
    /// # Errors
    /// When it says that it serves nobody, as one does that has no leader.
    pub fn read(said: &str) -> Result<Self, String> {
        if said.starts_with(SERVES_NOBODY) {
            return Err("it has no leader, and serves nobody".to_owned());
        }
        let nodes = said.lines().filter_map(|line| line.strip_prefix('\t'));
        let paths = nodes.filter(|node| node.starts_with('/'));
        Ok(Self(paths.map(str::to_owned).collect()))
    }

    /// Number of them.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Paths of those in the queue for a lock, the first in line first.
    pub fn of(&self, lock: &str) -> Vec<String> {
        let below = format!("{}/", node_of(lock));
        let of_lock = self.0.iter().filter(|path| path.starts_with(&below));
        let mut paths: Vec<String> = of_lock.cloned().collect();
        paths.sort_by(|a, b| number_of(a).cmp(number_of(b)));
        paths
    }
}

/// Digits of the number that members put behind the name of a node in line.
const DIGITS: usize = 10;

/// Path of the node below which the queue for a lock is.
pub fn node_of(lock: &str) -> String {
    format!("/{}", lock.replace('/', "%2F"))
}

/// The number in line that members have given to a node.
pub fn number_of(name: &str) -> &str {
    let begin = name.len().saturating_sub(DIGITS);
    name.get(begin..).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_of_a_lock_are_told_in_the_order_of_their_numbers() {
        let said = "ephemeral nodes dump:\nSessions with Ephemerals (2):\n0x100:\n\
                    \t/lock/_c_b-lock-0000000010\n0x200:\n\t/lock/_c_c-lock-0000000009\n\
                    \t/locks/_c_d-lock-0000000001\nConnections dump:\n\tip: /127.0.0.1:1\n";
        let read = Ephemerals::read(said).unwrap();
        assert_eq!(read.count(), 3);
        assert_eq!(
            read.of("lock"),
            ["/lock/_c_c-lock-0000000009", "/lock/_c_b-lock-0000000010"]
        );
        assert!(read.of("other").is_empty());
    }

    #[test]
    fn a_member_without_a_leader_tells_nothing_of_nodes() {
        let said = format!("{SERVES_NOBODY}\n");
        let error = Ephemerals::read(&said).unwrap_err();
        assert!(error.contains("no leader"), "{error}");
    }

    #[test]
    fn a_lock_is_one_node_whatever_its_name() {
        assert_eq!(node_of("orders/1"), "/orders%2F1");
        assert_eq!(number_of("short"), "short");
    }
}
