//! A server closes connections: of clients, subscribers or replicas, or those of one client.

use std::collections::BTreeSet;
use std::net::IpAddr;

use async_trait::async_trait;
use lockstorm_scenarios as scenarios;

use super::table::Kind;
use crate::deployment::{CONNECTION_NAME, Deployment};
use crate::error::FaultError;
use crate::fault::{Ends, Evidence, Fault, Sighting};
use crate::probe::{NOTHING_TO_UNDO, live, redis};
use crate::server::redis::Redis;

impl Kind for scenarios::KillConnections {
    const ENDS: Ends = Ends::ByItself;

    fn fault(self) -> Box<dyn Fault> {
        Box::new(KillConnections {
            spec: self,
            killed: BTreeSet::new(),
        })
    }
}

struct KillConnections {
    spec: scenarios::KillConnections,
    /// Redis's ids of the connections that were there before; an id is never given twice.
    killed: BTreeSet<String>,
}

impl KillConnections {
    fn redis<'d>(&self, on: &'d dyn Deployment) -> Result<&'d dyn Redis, FaultError> {
        redis(on, &self.spec.node, "close connections of")
    }

    /// The address from which the client that is meant connects, if one is.
    fn source(&self, on: &dyn Deployment) -> Result<Option<IpAddr>, FaultError> {
        let Some(client) = &self.spec.client else {
            return Ok(None);
        };
        let address = on.client_address(client);
        let unknown = || FaultError::no_client(client);
        address.ok_or_else(unknown).map(Some)
    }

    /// The ids of the connections that are meant, without the one that asks, and on servers that
    /// others use without theirs.
    async fn open(&self, on: &dyn Deployment) -> Result<BTreeSet<String>, FaultError> {
        let kind = self.spec.of.name();
        let asked = ["CLIENT", "LIST", "TYPE", kind];
        let list = self.redis(on)?.command(&asked).await?;
        let source = self.source(on)?;
        let own = on.own_connections(&self.spec.node);
        let meant = |line: &&str| {
            let from = match &own {
                Some(own) => match field(line, "id").and_then(|id| own.get(id)) {
                    Some(from) => Some(*from),
                    None => return false,
                },
                None => {
                    field(line, "addr").and_then(|address| address.rsplit_once(':')?.0.parse().ok())
                }
            };
            let from_source = source.is_none_or(|source| from == Some(source));
            let is_ours = field(line, "name") == Some(CONNECTION_NAME);
            from_source && !is_ours && field(line, "cmd") != Some("client|list")
        };
        let ids = list
            .lines()
            .filter(meant)
            .filter_map(|line| field(line, "id"));
        Ok(ids.map(str::to_owned).collect())
    }
}

/// A field of a line of CLIENT LIST: `id=5 addr=127.0.0.1:4711 ...`.
fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let mut fields = line.split(' ').filter_map(|field| field.split_once('='));
    fields.find(|(key, _)| *key == name).map(|(_, value)| value)
}

#[async_trait]
impl Fault for KillConnections {
    async fn inject(&mut self, on: &dyn Deployment) -> Result<(), FaultError> {
        live(on, &self.spec.node, "close connections of")?;
        self.killed = self.open(on).await?;
        for id in &self.killed {
            // One that has just been closed by its other end is gone as well.
            self.redis(on)?
                .command(&["CLIENT", "KILL", "ID", id])
                .await?;
        }
        Ok(())
    }

    async fn observe(&mut self, on: &dyn Deployment) -> Sighting {
        if self.killed.is_empty() {
            return Sighting::Never("there was no such connection".to_owned());
        }
        match self.open(on).await {
            Ok(open) => match open.intersection(&self.killed).count() {
                0 => Sighting::seen(format!(
                    "connections closed: {}; CLIENT LIST knows none of them",
                    self.killed.len()
                )),
                left => Sighting::NotYet(format!("{left} are still open")),
            },
            Err(error) => Sighting::NotYet(error.to_string()),
        }
    }

    async fn heal(&mut self, _on: &dyn Deployment) -> Result<Evidence, FaultError> {
        Ok(NOTHING_TO_UNDO.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_of_a_line_are_found_by_name() {
        let line = "id=7 addr=127.4.0.1:41022 laddr=127.3.0.1:6379 name= cmd=client|list";
        assert_eq!(field(line, "id"), Some("7"));
        assert_eq!(field(line, "name"), Some(""));
        assert_eq!(field(line, "addr"), Some("127.4.0.1:41022"));
        assert_eq!(field(line, "user"), None);
    }
}
