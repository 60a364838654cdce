//! Nothing passes from one place to another, while the way back stays open.
//!
//! A cut is proved by what it held back or reset, as the network counts it. Between nodes there
//! is always something to hold back: an empty PUBLISH makes a primary write to its replicas
//! without touching any key, a replica acknowledges every second by itself. A client may stay
//! silent for long, so a cut of its links is proved when it next speaks.

use std::collections::BTreeSet;
use std::time::Duration;

use async_trait::async_trait;
use lockstorm_scenarios::{self as scenarios, CutMode};
use tokio::time::{Instant, timeout};

use super::table::Kind;
use crate::deployment::Deployment;
use crate::error::FaultError;
use crate::fault::{Ends, Evidence, Fault, Sighting};
use crate::network::LinkGuard;

impl Kind for scenarios::Cut {
    const ENDS: Ends = Ends::Healed;

    fn fault(self) -> Box<dyn Fault> {
        Box::new(Cut::new(self))
    }
}

/// Replication is never silent for longer than a second (acknowledgements, and the primary's
/// PING at the period that deployments set); with some leave for a loaded machine.
const NODES_SPEAK_WITHIN: Duration = Duration::from_secs(2);

/// How long a node may take for the PUBLISH that makes it speak; a paused one never answers.
const PROVOKED_WITHIN: Duration = Duration::from_millis(200);

/// A link as notes name it.
fn link_name(from: &str, to: &str) -> String {
    format!("{from}→{to}")
}

struct Cut {
    spec: scenarios::Cut,
    links: Vec<CutLink>,
    /// Until when some traffic between nodes has to be held back.
    expected_until: Option<Instant>,
}

/// One directed pair of names, cut.
struct CutLink {
    from: String,
    to: String,
    /// The network's count before the cut.
    held_before: u64,
    _guard: LinkGuard,
}

impl Cut {
    fn new(spec: scenarios::Cut) -> Self {
        Self {
            spec,
            links: Vec::new(),
            expected_until: None,
        }
    }

    async fn cut(&mut self, on: &dyn Deployment) -> Result<(), FaultError> {
        let network = on.network().ok_or_else(|| FaultError::NoNetwork {
            from: self.spec.from.clone(),
            to: self.spec.to.clone(),
        })?;
        let (sources, sinks) = (
            members(on, &self.spec.from).await?,
            members(on, &self.spec.to).await?,
        );
        for from in &sources {
            for to in sinks.iter().filter(|to| *to != from) {
                self.links.push(CutLink {
                    held_before: network.held_back(from, to),
                    _guard: network.cut(from, to, self.spec.mode),
                    from: from.clone(),
                    to: to.clone(),
                });
            }
        }
        if self.links.is_empty() {
            return Err(FaultError::Node {
                action: "cut a link of",
                node: self.spec.from.clone(),
                reason: format!("it has no link to '{}'", self.spec.to),
            });
        }
        Ok(())
    }

    /// The links that have held something back, with how much.
    fn held_back(&self, on: &dyn Deployment) -> Vec<String> {
        let Some(network) = on.network() else {
            return Vec::new();
        };
        let unit = match self.spec.mode {
            CutMode::Stall => "bytes or connections held back",
            CutMode::Reset => "connections reset",
        };
        self.links
            .iter()
            .filter_map(|link| {
                let count = network.held_back(&link.from, &link.to) - link.held_before;
                let name = link_name(&link.from, &link.to);
                (count > 0).then(|| format!("{count} {unit} on {name}"))
            })
            .collect()
    }

    /// The nodes that were cut off from other nodes.
    fn speakers(&self, on: &dyn Deployment) -> BTreeSet<String> {
        let nodes = on.nodes();
        self.links
            .iter()
            .filter(|link| nodes.contains(&link.from) && nodes.contains(&link.to))
            .map(|link| link.from.clone())
            .collect()
    }
}

#[async_trait]
impl Fault for Cut {
    async fn inject(&mut self, on: &dyn Deployment) -> Result<(), FaultError> {
        self.cut(on).await.inspect_err(|_| self.links.clear())?;
        let speakers = self.speakers(on);
        for node in &speakers {
            // Whether it can speak shows in what is held back; a dead node is no reason to fail.
            let publish = on.command(node, &["PUBLISH", "lockstorm", ""]);
            let _ = timeout(PROVOKED_WITHIN, publish).await;
        }
        self.expected_until = (!speakers.is_empty()).then(|| Instant::now() + NODES_SPEAK_WITHIN);
        Ok(())
    }

    async fn observe(&mut self, on: &dyn Deployment) -> Sighting {
        let held_back = self.held_back(on);
        if !held_back.is_empty() {
            return Sighting::seen(held_back.join(", "));
        }
        let nothing = "nothing has tried to pass".to_owned();
        match self.expected_until {
            Some(until) if Instant::now() < until => Sighting::NotYet(nothing),
            Some(_) | None => Sighting::Later(nothing),
        }
    }

    async fn heal(&mut self, on: &dyn Deployment) -> Result<Evidence, FaultError> {
        let held_back = self.held_back(on);
        self.links.clear();
        Ok(if held_back.is_empty() {
            "passes again; nothing had tried to pass".into()
        } else {
            format!("passes again, after {}", held_back.join(", ")).into()
        })
    }
}

/// The names behind one end of a link: those of a group, or the one name itself.
async fn members(on: &dyn Deployment, end: &str) -> Result<Vec<String>, FaultError> {
    let (nodes, clients) = (on.nodes(), on.clients().names());
    match end {
        "nodes" => Ok(nodes),
        "clients" => Ok(clients),
        "replicas" => {
            let writable = on.writable().await;
            let is_replica = |node: &String| !writable.contains(node);
            Ok(nodes.into_iter().filter(is_replica).collect())
        }
        name if nodes.iter().chain(&clients).any(|known| known == name) => {
            Ok(vec![name.to_owned()])
        }
        name => Err(FaultError::UnknownClient(name.to_owned())),
    }
}
