//! A primary with replicas, and sentinels that put one of them in its place.
//!
//! Source of the settings: measured, and explained by reading `sentinel.c`. A sentinel finds a
//! replica fit to be promoted only if it heard from it within five ping periods, yet asks it once
//! a second: so the period of pings is 200 ms at least, and the time after which a server counts
//! as down is longer still, or a mere reconnection would look like a death.

use std::net::SocketAddr;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::join_all;
use lockstorm_nemesis::FaultError;
use lockstorm_scenarios::{FailoverMode, Sentinel, Timers};
use tokio::time::{Instant, sleep, timeout};

use super::family::{Family, wait_until_in_step};
use super::node::Node;
use super::role::Role;
use super::shape::{Shape, places, start_each};
use crate::connection::{Route, Sentinels};
use crate::environment_error::EnvironmentError;

/// Name of the primary, whoever it is, among sentinels.
pub const MASTER: &str = "mymaster";
/// Time that sentinels may take to know each other and all replicas.
const AGREED_WITHIN: Duration = Duration::from_secs(30);
/// Time that servers may take to sort out who leads once all is healed. With stock timers a primary
/// learns of its replacement after ten seconds, and a failover that came to nothing is tried again
/// after twice the failover-timeout.
const RECOVERED_WITHIN: Duration = Duration::from_secs(30);
/// Pause between two questions whether they do.
const POLL: Duration = Duration::from_millis(10);

/// Milliseconds between two tellings of what a sentinel knows. After four of them a primary that
/// was replaced, and goes on, is told to follow.
const PUBLISH_PERIOD: &str = "200";
/// Longer period during a planned failover. The sentinel that carries it out sees only at its next
/// INFO, after a second or later on a busy machine, that the replica has become primary; with the
/// shorter period the others, who find the old primary in good health, would have made a replica of
/// it again by then. It delays nothing: who has carried out a failover tells of it at once.
const PUBLISH_PERIOD_PLANNED: &str = "2000";
/// Time that a planned failover may take.
const FAILS_OVER_WITHIN: Duration = Duration::from_secs(5);

/// Command that sentinels get when they have started, for they keep none of it on disk. The long
/// tilt-trigger lets a machine that stands still for a while not stop all failovers for half a
/// minute.
const SHARP: [&str; 14] = [
    "SENTINEL",
    "DEBUG",
    "INFO-PERIOD",
    "100",
    "PING-PERIOD",
    "200",
    "ASK-PERIOD",
    "100",
    "PUBLISH-PERIOD",
    PUBLISH_PERIOD,
    "TILT-TRIGGER",
    "20000",
    "TILT-PERIOD",
    "500",
];

/// A primary with replicas under the eyes of sentinels.
pub struct Watched(pub Sentinel);

#[async_trait]
impl Shape for Watched {
    fn roles(&self, public: &[SocketAddr]) -> Vec<Role> {
        let family = Family {
            replicas: self.0.replicas,
            persistence: self.0.persistence,
            replica_persistence: self.0.replica_persistence,
            min_replicas: self.0.min_replicas_to_write,
            max_lag: self.0.min_replicas_max_lag,
        };
        let mut roles = family.roles(public[0]);
        let (data, sentinels) = public.split_at(roles.len());
        let watches = (0..sentinels.len()).map(|n| Role::Sentinel(self.lines(data, sentinels, n)));
        roles.extend(watches);
        roles
    }

    fn route(&self, nodes: &[Node]) -> Route {
        let (data, sentinels) = self.split(nodes);
        Route::by_sentinels(Sentinels {
            master: MASTER.to_owned(),
            sentinels: places(sentinels),
            servers: places(data),
        })
    }

    async fn start(&self, nodes: &[Node]) -> Result<(), EnvironmentError> {
        let (data, sentinels) = self.split(nodes);
        start_each(data).await?;
        // Only now: sentinels learn of replicas from the primary, and ask again after seconds.
        wait_until_in_step(&data[0], self.0.replicas).await?;
        start_each(sentinels).await?;
        for sentinel in sentinels {
            self.sharpen(sentinel).await?;
        }
        for sentinel in sentinels {
            self.wait_until_agreed(&data[0], sentinel).await?;
        }
        Ok(())
    }

    async fn started_again(&self, node: &Node) -> Result<(), EnvironmentError> {
        match node.role {
            Role::Sentinel(_) => self.sharpen(node).await,
            Role::Data(_) | Role::Pooler => Ok(()),
        }
    }

    fn governs_itself(&self) -> bool {
        true
    }

    /// Asks the first sentinel that answers. Which replica takes over is for it to say.
    async fn fail_over(
        &self,
        nodes: &[Node],
        _route: &Route,
        node: &Node,
        _mode: FailoverMode,
    ) -> Result<(), FaultError> {
        let (_, sentinels) = self.split(nodes);
        self.publish_every(sentinels, PUBLISH_PERIOD_PLANNED).await;
        let mut asked = Err(FaultError::UnknownNode(node.name.clone()));
        for sentinel in sentinels.iter().filter(|sentinel| sentinel.pid().is_some()) {
            asked = sentinel.ask(&["SENTINEL", "FAILOVER", MASTER]).await;
            if asked.is_ok() {
                break;
            }
        }
        if asked.is_ok() {
            // Whether it came to anything is for the nemesis to see.
            let _ = timeout(FAILS_OVER_WITHIN, agreed(sentinels, node)).await;
        }
        self.publish_every(sentinels, PUBLISH_PERIOD).await;
        asked.map(|_| ())
    }

    async fn recover(&self, nodes: &[Node]) -> Result<(), String> {
        let (data, sentinels) = self.split(nodes);
        let deadline = Instant::now() + RECOVERED_WITHIN;
        loop {
            let Some(wrong) = wrong(data, sentinels).await else {
                return Ok(());
            };
            if Instant::now() > deadline {
                let within = RECOVERED_WITHIN.as_secs();
                return Err(format!("{wrong}, {within} s after all was healed"));
            }
            sleep(POLL).await;
        }
    }

    /// The node that all sentinels that answer name. Until they agree it is the one it was.
    async fn writable(&self, nodes: &[Node], route: &Route) -> Vec<String> {
        let (data, sentinels) = self.split(nodes);
        let named: Vec<SocketAddr> = named_by(sentinels).await.into_iter().flatten().collect();
        let by_all = |node: &&Node| named.iter().all(|&at| at == node.public);
        if !named.is_empty()
            && let Some(leader) = data.iter().find(by_all)
        {
            let leader = places(std::slice::from_ref(leader));
            if route.nodes() != leader {
                route.replace(leader);
            }
        }
        route.nodes().into_iter().map(|(name, _)| name).collect()
    }
}

impl Watched {
    /// The nodes that keep data, and those that watch over them.
    fn split<'a, T>(&self, nodes: &'a [T]) -> (&'a [T], &'a [T]) {
        nodes.split_at(1 + self.0.replicas as usize)
    }

    /// Configuration of sentinel number `n`: it knows everything, so that there is a quorum from
    /// the beginning and nothing has to be found out.
    fn lines(&self, data: &[SocketAddr], sentinels: &[SocketAddr], n: usize) -> Vec<String> {
        let at = |address: &SocketAddr| format!("{} {}", address.ip(), address.port());
        let quorum = sentinels.len() / 2 + 1;
        let (down_after, failover_timeout) = match self.0.timers {
            Timers::Sharp => (500, 3000),
            // A link that is lost is made again after a ping period, of a second here.
            Timers::Stock => (1500, 3000),
        };
        let mut lines = vec![
            format!("monitor {MASTER} {} {quorum}", at(&data[0])),
            format!("down-after-milliseconds {MASTER} {down_after}"),
            format!("failover-timeout {MASTER} {failover_timeout}"),
            format!("parallel-syncs {MASTER} {}", self.0.replicas),
            format!("myid {}", id(n)),
        ];
        lines.extend(data[1..].iter().map(|replica| {
            let replica = at(replica);
            format!("known-replica {MASTER} {replica}")
        }));
        let others = sentinels
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != n);
        lines.extend(others.map(|(other, address)| {
            let (address, id) = (at(address), id(other));
            format!("known-sentinel {MASTER} {address} {id}")
        }));
        lines
    }

    /// Changes how often sentinels tell what they know, unless their timers are not ours.
    async fn publish_every(&self, sentinels: &[Node], period_ms: &str) {
        let command = ["SENTINEL", "DEBUG", "PUBLISH-PERIOD", period_ms];
        if self.0.timers == Timers::Sharp {
            // One that does not answer takes no part in what comes.
            join_all(sentinels.iter().map(|sentinel| sentinel.ask(&command))).await;
        }
    }

    async fn sharpen(&self, sentinel: &Node) -> Result<(), EnvironmentError> {
        match self.0.timers {
            Timers::Stock => Ok(()),
            Timers::Sharp => match sentinel.ask(&SHARP).await {
                Ok(_) => Ok(()),
                Err(error) => Err(sentinel.not_ready(&format!(
                    "it does not take sharp timers ({error}); take timers = \"stock\""
                ))),
            },
        }
    }

    /// Waits until the sentinel names the primary, and knows a quorum and healthy replicas.
    async fn wait_until_agreed(
        &self,
        primary: &Node,
        sentinel: &Node,
    ) -> Result<(), EnvironmentError> {
        let deadline = Instant::now() + AGREED_WITHIN;
        loop {
            let Some(missing) = self.missing(primary, sentinel).await else {
                return Ok(());
            };
            if Instant::now() > deadline {
                return Err(sentinel.not_ready(&missing));
            }
            sleep(POLL).await;
        }
    }

    /// Obstacle that keeps the sentinel from being able to do its work, if there is one.
    async fn missing(&self, primary: &Node, sentinel: &Node) -> Option<String> {
        let quorum = match sentinel.ask(&["SENTINEL", "CKQUORUM", MASTER]).await {
            Ok(quorum) => quorum,
            Err(error) => return Some(error.to_string()),
        };
        if !quorum.starts_with(&format!("OK {} usable", self.0.sentinels)) {
            return Some(quorum);
        }
        if named(sentinel).await != Some(primary.public) {
            return Some(format!("it does not name {}", primary.public));
        }
        let replicas = sentinel.ask(&["SENTINEL", "REPLICAS", MASTER]).await;
        let replicas = replicas.unwrap_or_default();
        let linked = count_fields(&replicas, "master-link-status", "ok");
        let unfit = self.0.replicas as usize - linked.min(self.0.replicas as usize);
        (unfit > 0).then(|| format!("{unfit} replicas are not known to follow the primary"))
    }
}

/// Waits until all sentinels name the node.
async fn agreed(sentinels: &[Node], node: &Node) {
    while named_by(sentinels)
        .await
        .iter()
        .any(|at| *at != Some(node.public))
    {
        sleep(POLL).await;
    }
}

/// Problem with servers of which none is broken: they are well when there is one primary, which
/// takes writes and which all sentinels name.
async fn wrong(data: &[Node], sentinels: &[Node]) -> Option<String> {
    let roles = join_all(data.iter().map(|node| node.ask(&["ROLE"]))).await;
    let is_primary = |role: &Result<String, FaultError>| {
        role.as_ref().is_ok_and(|role| role.starts_with("master"))
    };
    let primaries: Vec<&Node> = data
        .iter()
        .zip(&roles)
        .filter(|(_, role)| is_primary(role))
        .map(|(node, _)| node)
        .collect();
    let [primary] = primaries.as_slice() else {
        return Some(format!("{} servers are primaries", primaries.len()));
    };
    let named = named_by(sentinels).await;
    if named.iter().any(|at| *at != Some(primary.public)) {
        return Some(format!("not all sentinels name {}", primary.name));
    }
    // What deletes nothing is a write all the same, and leaves nothing behind.
    let written = primary.ask(&["DEL", "lockstorm-takes-writes"]).await;
    written.err().map(|error| error.to_string())
}

/// Number of times that a list of fields and values, line by line, has this pair.
fn count_fields(lines: &str, field: &str, value: &str) -> usize {
    let lines: Vec<&str> = lines.lines().collect();
    lines
        .windows(2)
        .filter(|pair| pair == &[field, value])
        .count()
}

/// The primary that each sentinel names, if it answers.
pub async fn named_by(sentinels: &[Node]) -> Vec<Option<SocketAddr>> {
    join_all(sentinels.iter().map(named)).await
}

async fn named(sentinel: &Node) -> Option<SocketAddr> {
    sentinel.pid()?;
    let asked = sentinel.ask(&["SENTINEL", "GET-MASTER-ADDR-BY-NAME", MASTER]);
    let reply = asked.await.ok()?;
    let (ip, port) = reply.split_once('\n')?;
    Some(SocketAddr::new(ip.parse().ok()?, port.parse().ok()?))
}

/// The name of sentinel number `n` among its like.
fn id(n: usize) -> String {
    format!("{:040x}", n + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_counted_as_pairs_and_not_as_words() {
        let reply = "name\nok\nmaster-link-status\nok\nflags\nslave\nmaster-link-status\nerr";
        assert_eq!(count_fields(reply, "master-link-status", "ok"), 1);
    }
}
