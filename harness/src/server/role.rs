//! Role that a server is to have, and its configuration file.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::Path;

use lockstorm_scenarios::Persistence;

/// Role of a server when it is first started.
#[derive(Clone, Debug)]
pub enum Role {
    /// Keeps data, and with it locks.
    Data(DataRole),
    /// Watches over those that do: the lines of its configuration that say over whom.
    Sentinel(Vec<String>),
    /// Lends connections to one that does.
    Pooler,
}

/// A server that keeps data.
#[derive(Clone, Debug, Default)]
pub struct DataRole {
    /// Public address of the primary that it follows, if it is a replica.
    pub follows: Option<SocketAddr>,
    /// Data that it keeps on disk.
    pub persistence: Persistence,
    /// Settings that only its topology has.
    pub settings: Vec<(&'static str, String)>,
    /// Knowledge of its Cluster when it starts for the first time. From then on it keeps that
    /// itself, in a file that survives even a loss of its memory: it forgets keys, and not who it
    /// is.
    pub introduction: Option<String>,
}

impl Role {
    /// A primary without settings of its own.
    pub fn primary(persistence: Persistence) -> Self {
        Self::Data(DataRole {
            persistence,
            ..DataRole::default()
        })
    }

    /// The role of a server that keeps data; `None` for any other.
    pub const fn data(&self) -> Option<&DataRole> {
        match self {
            Self::Data(data) => Some(data),
            Self::Sentinel(_) | Self::Pooler => None,
        }
    }
}

/// Addresses of a server, and places of its files.
pub struct Place<'a> {
    /// Address on which it listens.
    pub bind: SocketAddr,
    /// Address where others find it: the same, or the fabric's listener in front of it.
    pub public: SocketAddr,
    /// Folder for its files.
    pub data: &'a Path,
    /// Its log.
    pub log: &'a Path,
    /// File where it keeps what it knows of a Cluster, if it is a part of one.
    pub cluster: &'a Path,
}

impl Place<'_> {
    /// The configuration file of a server with that role.
    pub fn config(&self, role: &Role) -> String {
        let mut text = String::new();
        let mut set = |key: &str, value: &str| {
            writeln!(text, "{key} {value}").expect("a string takes any text");
        };
        set("port", &self.bind.port().to_string());
        set("bind", &self.bind.ip().to_string());
        // Outgoing connections come from the public address, so that the fabric knows the caller.
        set("bind-source-addr", &self.public.ip().to_string());
        set("protected-mode", "no");
        set("daemonize", "no");
        set("dir", &quoted(self.data));
        set("logfile", &quoted(self.log));
        set("pidfile", "\"\"");
        match role {
            Role::Data(data) => self.data_settings(data, set),
            Role::Pooler => {}
            Role::Sentinel(lines) => {
                set("sentinel announce-ip", &self.public.ip().to_string());
                set("sentinel announce-port", &self.public.port().to_string());
                for line in lines {
                    set("sentinel", line);
                }
            }
        }
        text
    }

    fn data_settings(&self, role: &DataRole, mut set: impl FnMut(&str, &str)) {
        set("replica-announce-ip", &self.public.ip().to_string());
        set("replica-announce-port", &self.public.port().to_string());
        set("enable-debug-command", "yes");
        // From disk: after a diskless synchronisation a primary holds its writes back until the
        // replica speaks, which it does once a second.
        set("repl-diskless-sync", "no");
        // A cut replication link shows within a second, at the primary's next ping.
        set("repl-ping-replica-period", "1");
        for (key, value) in persistence(role.persistence) {
            set(key, value);
        }
        for (key, value) in &role.settings {
            set(key, value);
        }
        if role.introduction.is_some() {
            set("cluster-config-file", &quoted(self.cluster));
        }
        if let Some(primary) = role.follows {
            set("replicaof", &format!("{} {}", primary.ip(), primary.port()));
        }
    }
}

/// Settings of each kind of persistence.
const fn persistence(kind: Persistence) -> &'static [(&'static str, &'static str)] {
    match kind {
        Persistence::None => &[("save", "\"\""), ("appendonly", "no")],
        Persistence::AofEverysec => &[
            ("save", "\"\""),
            ("appendonly", "yes"),
            ("appendfsync", "everysec"),
        ],
        Persistence::AofAlways => &[
            ("save", "\"\""),
            ("appendonly", "yes"),
            ("appendfsync", "always"),
        ],
        // As eager as snapshots get: one change, one second.
        Persistence::Rdb => &[("save", "1 1"), ("appendonly", "no")],
    }
}

/// A path as the server's parser takes it, blanks and quotes included.
fn quoted(path: &Path) -> String {
    let text = path
        .to_string_lossy()
        .replace('\\', "\\\\")
        .replace('"', "\\\"");
    format!("\"{text}\"")
}
