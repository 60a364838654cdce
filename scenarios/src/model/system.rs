//! Systems of servers.

/// A system whose servers keep locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum System {
    /// Redis and its kin.
    Redis,
    /// etcd.
    Etcd,
    /// ZooKeeper.
    Zookeeper,
    /// MariaDB, the database that came of MySQL.
    Mariadb,
    /// PostgreSQL.
    Postgres,
    /// One that Lockstorm does not know.
    Custom,
}

impl System {
    /// Name in sentences.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Redis => "Redis",
            Self::Etcd => "etcd",
            Self::Zookeeper => "ZooKeeper",
            Self::Mariadb => "MariaDB",
            Self::Postgres => "PostgreSQL",
            Self::Custom => "a custom system",
        }
    }
}
