//! Servers that someone else runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::server_url::ServerUrl;
use super::topology::TopologyKind;

/// Parameters of [`Topology::External`](super::Topology::External).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct External {
    /// The server that takes writes; or several masters that know nothing of each other.
    pub urls: Vec<ServerUrl>,
    /// Replicas of the one server that takes writes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replicas: Vec<ServerUrl>,
    /// Prefix of every key and channel; a word of the run's own follows it.
    #[serde(default = "usual_prefix")]
    pub prefix: String,
    /// Name of the environment variable with the password, for URLs that bring none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password_env: Option<String>,
    /// How servers of `rediss://` are known, and this client by them.
    #[serde(default, skip_serializing_if = "Tls::is_usual")]
    pub tls: Tls,
    /// Permissions: faults that others who use the servers feel, and scripts of others than
    /// Lockstorm's own locks, are possible only if they are named here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<Disturbance>,
}

fn usual_prefix() -> String {
    "lockstorm:".to_owned()
}

/// TLS: the names of servers are always compared with their certificates.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Tls {
    /// File with the certificates (PEM) of those who are trusted; absent means the system's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca: Option<String>,
    /// File with this client's own certificate (PEM), where servers ask for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cert: Option<String>,
    /// File with the key (PEM) of that certificate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The name that the certificates of the servers have; absent means the host of their URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_name: Option<String>,
}

impl Tls {
    fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

/// Disturbance that others who use a server could feel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Disturbance {
    /// Everybody's scripts are forgotten.
    FlushScripts,
    /// Nobody is answered for a while.
    Sleep,
    /// Nobody's commands are executed for a while.
    PauseCommands,
    /// Another server takes everybody's writes.
    Failover,
    /// A library sends scripts of its own: what they touch only the server's access list can bound.
    Scripts,
}

impl Disturbance {
    /// The word of the fault.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FlushScripts => "flush-scripts",
            Self::Sleep => "sleep",
            Self::PauseCommands => "pause-commands",
            Self::Failover => "failover",
            Self::Scripts => "scripts",
        }
    }
}

impl External {
    /// The topology that it is like, as far as clients and steps can tell.
    pub const fn alike(&self) -> TopologyKind {
        match (self.urls.len(), self.replicas.is_empty()) {
            (0 | 1, true) => TopologyKind::Single,
            (0 | 1, false) => TopologyKind::Replicated,
            (_, _) => TopologyKind::Independent,
        }
    }

    /// All URLs, in the order of the names of the nodes.
    pub fn all_urls(&self) -> impl Iterator<Item = &ServerUrl> {
        self.urls.iter().chain(&self.replicas)
    }

    /// The variables of the environment that hold passwords, or URLs with them.
    pub fn secret_variables(&self) -> Vec<String> {
        let of_urls = self.all_urls().flat_map(ServerUrl::secret_variables);
        of_urls.chain(self.password_env.clone()).collect()
    }

    /// Number of servers, in words.
    pub(super) fn size(&self) -> String {
        match (self.urls.len(), self.replicas.len()) {
            (1, 0) => "1 server".to_owned(),
            (1, 1) => "1 replica".to_owned(),
            (1, replicas) => format!("{replicas} replicas"),
            (masters, _) => format!("{masters} masters"),
        }
    }
}
