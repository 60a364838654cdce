//! The configuration file of a server.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::Path;

use lockstorm_scenarios::Persistence;

/// What a server is to be.
pub struct NodeConfig<'a> {
    /// Where it listens.
    pub bind: SocketAddr,
    /// Where others find it: the same, or the fabric's listener in front of it.
    pub public: SocketAddr,
    /// Public address of the primary that it follows, if it is a replica.
    pub primary: Option<SocketAddr>,
    /// What it keeps on disk.
    pub persistence: Persistence,
    /// Folder for its files.
    pub data: &'a Path,
    /// Its log.
    pub log: &'a Path,
    /// Where it keeps what it knows of a Cluster, if it is a part of one.
    pub cluster_file: Option<&'a Path>,
    /// What its topology asks for besides.
    pub settings: &'a [(&'static str, String)],
}

impl NodeConfig<'_> {
    /// The text of the file.
    pub fn render(&self) -> String {
        let mut text = String::new();
        let mut set = |key: &str, value: &str| {
            writeln!(text, "{key} {value}").expect("a string takes any text");
        };
        set("port", &self.bind.port().to_string());
        set("bind", &self.bind.ip().to_string());
        // Outgoing connections come from the public address, so that the fabric knows the caller.
        set("bind-source-addr", &self.public.ip().to_string());
        set("replica-announce-ip", &self.public.ip().to_string());
        set("replica-announce-port", &self.public.port().to_string());
        set("protected-mode", "no");
        set("daemonize", "no");
        set("dir", &quoted(self.data));
        set("logfile", &quoted(self.log));
        set("pidfile", "\"\"");
        set("enable-debug-command", "yes");
        // From disk: after a diskless synchronisation a primary holds its writes back until the
        // replica speaks, which it does once a second.
        set("repl-diskless-sync", "no");
        // A cut replication link shows within a second, at the primary's next ping.
        set("repl-ping-replica-period", "1");
        for (key, value) in persistence(self.persistence) {
            set(key, value);
        }
        if let Some(primary) = self.primary {
            set("replicaof", &format!("{} {}", primary.ip(), primary.port()));
        }
        if let Some(path) = self.cluster_file {
            set("cluster-config-file", &quoted(path));
        }
        for (key, value) in self.settings {
            set(key, value);
        }
        text
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
