//! Links with a rule in force, and the proof that the rule has met something.
//!
//! Between nodes there is always something to meet: an empty PUBLISH makes a primary write to its
//! replicas without touching any key, a replica acknowledges every second by itself. A client may
//! stay silent for long, so a rule on its links is proved when it next speaks.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::time::{Instant, timeout};

use crate::deployment::Deployment;
use crate::error::FaultError;
use crate::fault::{Evidence, Sighting};
use crate::network::{LinkGuard, Network};

/// Replication of Redis is never silent for longer than a second (acknowledgements, and the
/// primary's PING at the period that deployments set); with some leave for a loaded machine.
const NODES_SPEAK_WITHIN: Duration = Duration::from_secs(2);

/// Time that a node may take for the word that makes it speak; a paused one never answers.
const PROVOKED_WITHIN: Duration = Duration::from_millis(200);

/// Links that evidence names, at most; of the others it tells how many they are.
const NAMED_MAX: usize = 6;

/// A directed pair of names.
pub(super) type Pair = (String, String);

/// Rule that is laid on a link.
pub(super) trait Rule: Send + Sync {
    /// Puts it in force.
    ///
    /// # Errors
    /// Where this network cannot do it.
    fn lay(&self, network: &dyn Network, pair: &Pair) -> Result<LinkGuard, FaultError>;

    /// How much it has met so far, together with all rules of its sort.
    fn count(&self, network: &dyn Network, pair: &Pair) -> u64;

    /// Unit of the count: `bytes held back`.
    fn unit(&self) -> &'static str;
}

/// The links of one fault.
pub(super) struct Links<R> {
    rule: R,
    ruled: Vec<Ruled>,
    /// Until when some traffic between nodes has to meet the rule.
    expected_until: Option<Instant>,
}

/// One link with the rule in force.
struct Ruled {
    pair: Pair,
    /// The network's count before.
    before: u64,
    _guard: LinkGuard,
}

impl<R: Rule> Links<R> {
    pub(super) fn new(rule: R) -> Self {
        Self {
            rule,
            ruled: Vec::new(),
            expected_until: None,
        }
    }

    /// Puts the rule in force on these links, and makes their nodes speak.
    pub(super) async fn lay(
        &mut self,
        on: &dyn Deployment,
        pairs: Vec<Pair>,
    ) -> Result<(), FaultError> {
        let Some(network) = on.network() else {
            return Err(FaultError::NoNetwork);
        };
        for pair in pairs {
            self.ruled.push(Ruled {
                before: self.rule.count(network, &pair),
                _guard: self.rule.lay(network, &pair)?,
                pair,
            });
        }
        let speakers = self.speakers(on);
        for node in &speakers {
            // Whether it can speak shows in what is counted; a dead node is no reason to fail.
            if let Ok(server) = on.server(node) {
                let _ = timeout(PROVOKED_WITHIN, server.speak()).await;
            }
        }
        self.expected_until = (!speakers.is_empty()).then(|| Instant::now() + NODES_SPEAK_WITHIN);
        Ok(())
    }

    /// See [`Fault::observe`](crate::Fault::observe).
    pub(super) fn observe(&self, on: &dyn Deployment) -> Sighting {
        if let Some(met) = self.met(on) {
            return Sighting::seen(met);
        }
        let nothing = "nothing has tried to pass".to_owned();
        match self.expected_until {
            Some(until) if Instant::now() < until => Sighting::NotYet(nothing),
            Some(_) | None => Sighting::Later(nothing),
        }
    }

    /// Takes the rule away: what it has met.
    pub(super) fn heal(&mut self, on: &dyn Deployment) -> Evidence {
        let met = self.met(on);
        self.ruled.clear();
        met.map_or_else(
            || "passes again; nothing had tried to pass".into(),
            |met| format!("passes again, after {met}").into(),
        )
    }

    /// The links on which the rule has met something, with how much; `None` where it has met
    /// nothing.
    fn met(&self, on: &dyn Deployment) -> Option<String> {
        let network = on.network()?;
        let unit = self.rule.unit();
        let counts = self.ruled.iter().map(|link| {
            let count = self.rule.count(network, &link.pair) - link.before;
            (&link.pair, count)
        });
        let met: Vec<(&Pair, u64)> = counts.filter(|(_, count)| *count > 0).collect();
        let (named, rest) = met.split_at(met.len().min(NAMED_MAX));
        let mut told: Vec<String> = named
            .iter()
            .map(|((from, to), count)| format!("{count} {unit} on {from}→{to}"))
            .collect();
        if !rest.is_empty() {
            let count: u64 = rest.iter().map(|(_, count)| count).sum();
            told.push(format!("{count} on {} more links", rest.len()));
        }
        (!told.is_empty()).then(|| told.join(", "))
    }

    /// The nodes that have a link to other nodes among these.
    fn speakers(&self, on: &dyn Deployment) -> BTreeSet<String> {
        let nodes = on.nodes();
        let among = |link: &&Ruled| nodes.contains(&link.pair.0) && nodes.contains(&link.pair.1);
        let between = self.ruled.iter().filter(among);
        between.map(|link| link.pair.0.clone()).collect()
    }
}

/// The names behind one end of a link: those of a group, or the one name itself.
pub(super) async fn members(on: &dyn Deployment, end: &str) -> Result<Vec<String>, FaultError> {
    let (nodes, clients) = (on.nodes(), on.clients().names());
    match end {
        "nodes" => Ok(nodes),
        "clients" => Ok(clients),
        "replicas" => {
            let writable = on.writable().await;
            let sentinels = on.without_data();
            let is_replica = |node: &String| !writable.contains(node) && !sentinels.contains(node);
            Ok(nodes.into_iter().filter(is_replica).collect())
        }
        "sentinels" => Ok(on.without_data()),
        name if nodes.iter().chain(&clients).any(|known| known == name) => {
            Ok(vec![name.to_owned()])
        }
        name => Err(FaultError::no_client(name)),
    }
}
