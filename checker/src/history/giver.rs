//! Servers that granted a lock, and what each took itself for: field `by` of a successful reply.
//!
//! For: stories and pictures, and for telling which faults could matter. Not for: deciding whether
//! a property is violated.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::event::Name;

/// One server that granted a lock.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Giver {
    /// Name of the server.
    pub node: Name,
    /// Role that it had as it answered, `primary` or `replica`; absent where nobody knows.
    pub role: Option<Name>,
}

impl Giver {
    /// One of which nobody knows what it was.
    pub const fn unknown(node: Name) -> Self {
        Self { node, role: None }
    }
}

/// The servers that granted a lock: one, or those of a quorum that said yes. Written as a map from
/// the server's name to its role.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Givers(pub Vec<Giver>);

impl Givers {
    /// The names of the servers.
    pub fn nodes(&self) -> impl Iterator<Item = &Name> {
        self.0.iter().map(|giver| &giver.node)
    }

    /// Tells whether `node` is one of them.
    pub fn has(&self, node: &str) -> bool {
        self.nodes().any(|name| &**name == node)
    }
}

impl FromIterator<Giver> for Givers {
    fn from_iter<T: IntoIterator<Item = Giver>>(all: T) -> Self {
        Self(all.into_iter().collect())
    }
}

impl Serialize for Givers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|giver| (&giver.node, &giver.role)))
    }
}

impl<'de> Deserialize<'de> for Givers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Givers;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map from the names of servers to their roles")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Givers, A::Error> {
                let mut givers = Vec::new();
                while let Some((node, role)) = map.next_entry()? {
                    givers.push(Giver { node, role });
                }
                Ok(Givers(givers))
            }
        }
        deserializer.deserialize_map(Each)
    }
}
