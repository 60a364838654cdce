//! The words that stand for nodes where a fault names one.

/// A node by name, `all`, `replicas`, `sentinels`, `holder-of:KEY` (where a lock's key is now), or
/// drawn at random: `one`, `minority`, `majority`, and `primary` of those that take writes. A
/// script means by `primary` the node of that name, where there is one.
pub type NodeTarget = String;

/// Before the key, in the word for the nodes that hold it.
const HOLDER_OF: &str = "holder-of:";

/// A word that stands for nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeWord<'a> {
    /// Every node.
    All,
    /// Every node that keeps data and takes no writes.
    Replicas,
    /// Every node that watches over others.
    Sentinels,
    /// The nodes, of those that take writes, on which this key exists at the moment.
    HolderOf(&'a str),
    /// A node that takes writes at the moment.
    Primary,
    /// One node, at random.
    One,
    /// As many nodes as are less than half of all, at random.
    Minority,
    /// As many nodes as are just more than half of all, at random.
    Majority,
}

impl<'a> NodeWord<'a> {
    /// Reads the word, if `target` is one.
    pub fn read(target: &'a str) -> Option<Self> {
        match target {
            "all" => Some(Self::All),
            "replicas" => Some(Self::Replicas),
            "sentinels" => Some(Self::Sentinels),
            "primary" => Some(Self::Primary),
            "one" => Some(Self::One),
            "minority" => Some(Self::Minority),
            "majority" => Some(Self::Majority),
            name => name.strip_prefix(HOLDER_OF).map(Self::HolderOf),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_holder_is_named_by_its_key() {
        let word = NodeWord::read("holder-of:lock-0");
        assert_eq!(word, Some(NodeWord::HolderOf("lock-0")));
        assert_eq!(NodeWord::read("holder-of"), None);
        assert_eq!(NodeWord::read("n1"), None);
    }
}
