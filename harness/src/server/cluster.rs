//! A Redis Cluster: who is who from the start, when it is ready, and who leads which slots.
//!
//! For: what is a matter of a Cluster only. Not for: the life of its processes, nor how clients
//! find their way, which they do by themselves.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::{join_all, try_join_all};
use lockstorm_nemesis::{FaultError, ProcessState, process_state};
use lockstorm_scenarios::{Cluster, FailoverMode};
use tokio::time::{Instant, sleep};

use super::node::Node;
use super::role::{DataRole, Role};
use super::shape::{Shape, check_peer_port, peer, places, start_each};
use crate::connection::{Route, SLOTS, probe, slot_of};
use crate::environment_error::EnvironmentError;

/// Time that the servers may take to find each other. Redis itself takes no write for the first two
/// seconds (`CLUSTER_WRITABLE_DELAY`).
const READY_WITHIN: Duration = Duration::from_secs(20);
/// Pause between two questions whether they have.
const POLL: Duration = Duration::from_millis(20);
/// Tags tried for a key in a given shard; each hits one of 31 shards with some luck.
const TAGS_MAX: u32 = 10_000;

/// A Cluster, and who leads in it.
pub struct Sharded {
    spec: Cluster,
    leaders: Leaders,
}

impl Sharded {
    /// State of a Cluster when it starts.
    pub fn new(spec: Cluster) -> Self {
        Self {
            leaders: Leaders::new(&spec),
            spec,
        }
    }
}

#[async_trait]
impl Shape for Sharded {
    fn check_port(&self, port: u16) -> Result<(), EnvironmentError> {
        check_peer_port(port)
    }

    fn doors(&self, address: SocketAddr) -> Vec<SocketAddr> {
        vec![address, peer(address)]
    }

    fn roles(&self, public: &[SocketAddr]) -> Vec<Role> {
        let role = |(n, address): (usize, &SocketAddr)| {
            Role::Data(DataRole {
                follows: None,
                persistence: self.spec.persistence,
                settings: settings(&self.spec, *address),
                introduction: Some(nodes_conf(&self.spec, public, n)),
            })
        };
        public.iter().enumerate().map(role).collect()
    }

    fn route(&self, nodes: &[Node]) -> Route {
        Route::by_shards(places(nodes), self.spec.shards as usize)
    }

    async fn start(&self, nodes: &[Node]) -> Result<(), EnvironmentError> {
        start_each(nodes).await?;
        wait_until(Stage::Whole, &self.spec, nodes).await?;
        for node in nodes {
            allow_takeover(node).await?;
        }
        wait_until(Stage::TakeoversKnown, &self.spec, nodes).await
    }

    async fn started_again(&self, node: &Node) -> Result<(), EnvironmentError> {
        allow_takeover(node).await
    }

    fn governs_itself(&self) -> bool {
        true
    }

    async fn writable(&self, nodes: &[Node], _route: &Route) -> Vec<String> {
        self.leaders.look(nodes).await;
        let all = self.leaders.all().into_iter();
        all.map(|n| nodes[n].name.clone()).collect()
    }

    async fn fail_over(
        &self,
        _nodes: &[Node],
        _route: &Route,
        node: &Node,
        mode: FailoverMode,
    ) -> Result<(), FaultError> {
        let command: &[&str] = match mode {
            FailoverMode::Agreed => &["CLUSTER", "FAILOVER"],
            FailoverMode::Force => &["CLUSTER", "FAILOVER", "FORCE"],
            FailoverMode::Takeover => &["CLUSTER", "FAILOVER", "TAKEOVER"],
        };
        node.ask(command).await.map(|_| ())
    }

    async fn keepers(&self, nodes: &[Node], _route: &Route, key: &str) -> Vec<String> {
        self.leaders.look(nodes).await;
        vec![nodes[self.leaders.of(key)].name.clone()]
    }

    /// A master that has not heard that it leads no more, cut off or just awake, asks nobody.
    async fn agree_on(&self, nodes: &[Node], key: &str) -> bool {
        let leader = nodes[self.leaders.of(key)].public;
        let slot = slot_of(key.as_bytes());
        let views = join_all(telling(nodes).map(|(_, node)| view_of(node))).await;
        views.into_iter().flatten().all(|view| {
            let mut lines = view.into_iter();
            let leads = |line: &Line| line.slots.iter().any(|slots| slots.contains(&slot));
            let named = lines.find(|line| line.master && leads(line));
            named.is_some_and(|line| line.myself || line.address == leader)
        })
    }
}

/// Setting by which a replica never takes its master's place, however long it hears nothing of it.
const NO_TAKEOVER: &str = "cluster-replica-no-failover";

/// Lets a replica take its master's place, from now on. While the servers of a Cluster find each
/// other on a busy machine, one may seem dead for longer than they wait for each other.
async fn allow_takeover(node: &Node) -> Result<(), EnvironmentError> {
    let asked = node.ask(&["CONFIG", "SET", NO_TAKEOVER, "no"]).await;
    asked
        .map(|_| ())
        .map_err(|error| node.not_ready(&error.to_string()))
}

/// Settings of the server that others find at `public`.
fn settings(cluster: &Cluster, public: SocketAddr) -> Vec<(&'static str, String)> {
    vec![
        ("cluster-enabled", "yes".to_owned()),
        (
            "cluster-node-timeout",
            cluster.node_timeout.as_millis().to_string(),
        ),
        // However long a replica has heard nothing, it may take its master's place: the wait for
        // fresher ones, which there are not, would only make a run longer.
        ("cluster-replica-validity-factor", "0".to_owned()),
        (NO_TAKEOVER, "yes".to_owned()),
        ("cluster-announce-ip", public.ip().to_string()),
        ("cluster-announce-port", public.port().to_string()),
        ("cluster-announce-bus-port", peer(public).port().to_string()),
        (
            "min-replicas-to-write",
            cluster.min_replicas_to_write.to_string(),
        ),
        (
            "min-replicas-max-lag",
            cluster.min_replicas_max_lag.0.as_secs().to_string(),
        ),
    ]
}

/// Text of the `nodes.conf` of server number `me`: what it knows of all of them when it starts for
/// the first time. Written in advance, nobody has to be introduced to anybody.
///
/// The masters come first in `addresses`, then the replicas of each, as in the topology.
fn nodes_conf(cluster: &Cluster, addresses: &[SocketAddr], me: usize) -> String {
    let shards = cluster.shards as usize;
    let mut text = String::new();
    for (n, address) in addresses.iter().enumerate() {
        let shard = shard_of(cluster, n);
        let myself = if n == me { "myself," } else { "" };
        let (flags, slots) = if n < shards {
            let slots = slots_of(shard, cluster.shards);
            (
                "master -".to_owned(),
                format!(" {}-{}", slots.start(), slots.end()),
            )
        } else {
            (format!("slave {}", id(shard)), String::new())
        };
        let (id, bus, epoch) = (id(n), peer(*address).port(), shard + 1);
        writeln!(
            text,
            "{id} {address}@{bus} {myself}{flags} 0 0 {epoch} connected{slots}"
        )
        .expect("a string takes any text");
    }
    text + &format!("vars currentEpoch {shards} lastVoteEpoch 0\n")
}

/// The shard of server number `n`, both from 0.
fn shard_of(cluster: &Cluster, n: usize) -> usize {
    let shards = cluster.shards as usize;
    if n < shards {
        n
    } else {
        (n - shards) / cluster.replicas.max(1) as usize
    }
}

/// The fixed id of server number `n`.
fn id(n: usize) -> String {
    format!("{:040x}", n + 1)
}

/// An equal share of the slots for shard number `shard`, from 0.
fn slots_of(shard: usize, shards: u32) -> RangeInclusive<u16> {
    let start = |shard: usize| (shard as u32 * u32::from(SLOTS) / shards) as u16;
    start(shard)..=start(shard + 1) - 1
}

/// Server that is not ready yet, and the reason.
type Unready<'a> = (&'a Node, String);

/// Condition that is waited for when a Cluster starts.
#[derive(Clone, Copy)]
enum Stage {
    /// Every server finds the Cluster whole and sees all others, each replica is in step, and each
    /// shard has taken a write.
    Whole,
    /// Every server has heard that replicas may take over. Redisson 3.10 cannot read CLUSTER NODES
    /// until then.
    TakeoversKnown,
}

impl Stage {
    async fn reached<'a>(self, cluster: &Cluster, nodes: &'a [Node]) -> Result<(), Unready<'a>> {
        match self {
            Self::Whole => {
                try_join_all(nodes.iter().map(|node| whole(node, nodes.len()))).await?;
                let shards = (0..).zip(&nodes[..cluster.shards as usize]);
                let written = shards.map(|(shard, master)| takes_writes(cluster, shard, master));
                try_join_all(written).await?;
            }
            Self::TakeoversKnown => {
                try_join_all(nodes.iter().map(knows_of_takeovers)).await?;
            }
        }
        Ok(())
    }
}

async fn wait_until(
    stage: Stage,
    cluster: &Cluster,
    nodes: &[Node],
) -> Result<(), EnvironmentError> {
    let deadline = Instant::now() + READY_WITHIN;
    while let Err((node, reason)) = stage.reached(cluster, nodes).await {
        if Instant::now() > deadline {
            return Err(node.not_ready(&reason));
        }
        sleep(POLL).await;
    }
    Ok(())
}

/// Answer of a node to CLUSTER and this word.
async fn asked_of<'a>(node: &'a Node, what: &str) -> Result<String, Unready<'a>> {
    let asked = probe::ask(node.private, &["CLUSTER", what]).await;
    asked.map_err(|reason| (node, reason))
}

/// Checks that a node has heard of all others that they may take over.
async fn knows_of_takeovers(node: &Node) -> Result<(), Unready<'_>> {
    if asked_of(node, "NODES").await?.contains("nofailover") {
        return Err((node, "it knows a server that may not take over".to_owned()));
    }
    Ok(())
}

/// Checks that a node sees all `count` of them, and a Cluster that is whole.
async fn whole(node: &Node, count: usize) -> Result<(), Unready<'_>> {
    let info = asked_of(node, "INFO").await?;
    if probe::info_field(&info, "cluster_state") != Some("ok") {
        return Err((node, "cluster_state is not ok".to_owned()));
    }
    let view = asked_of(node, "NODES").await?;
    let seen = view.lines().filter_map(Line::read);
    let well = seen.filter(|line| line.well).count();
    if well != count {
        return Err((node, format!("it sees {well} of {count} servers")));
    }
    Ok(())
}

/// Checks that a master has all its replicas in step and takes writes of its slots.
async fn takes_writes<'a>(
    cluster: &Cluster,
    shard: usize,
    master: &'a Node,
) -> Result<(), Unready<'a>> {
    let fail = |reason| (master, reason);
    let reached = probe::replicas_in_step(master.private)
        .await
        .map_err(fail)?;
    if reached != i64::from(cluster.replicas) {
        let reason = format!("{reached} of {} replicas are in step", cluster.replicas);
        return Err(fail(reason));
    }
    // What deletes nothing is a write all the same, and leaves nothing behind.
    let key = key_in(&slots_of(shard, cluster.shards));
    let written = probe::ask(master.private, &["DEL", &key]).await;
    written.map(|_| ()).map_err(fail)
}

/// A key that no lock has, in one of these slots.
fn key_in(slots: &RangeInclusive<u16>) -> String {
    let keys = (0..TAGS_MAX).map(|n| format!("lockstorm-is-ready:{{{n}}}"));
    let mut fitting = keys.filter(|key| slots.contains(&slot_of(key.as_bytes())));
    fitting.next().expect("so many keys hit every shard")
}

/// Leader of each slot, as the servers say.
#[derive(Debug)]
struct Leaders {
    /// For each slot the epoch of the claim and the number of the node that makes it.
    claims: Mutex<Vec<(u64, usize)>>,
}

impl Leaders {
    /// As `nodes.conf` says.
    fn new(cluster: &Cluster) -> Self {
        let claims = (0..cluster.shards as usize).flat_map(|shard| {
            let epoch = shard as u64 + 1;
            slots_of(shard, cluster.shards).map(move |_| (epoch, shard))
        });
        Self {
            claims: Mutex::new(claims.collect()),
        }
    }

    /// Asks all living servers. Of two that claim a slot, the one with the greater epoch has it:
    /// the other has not heard yet. A slot that nobody claims stays with whom it was.
    async fn look(&self, nodes: &[Node]) {
        let views = telling(nodes).map(|(n, node)| async move {
            let line = view_of(node).await?.into_iter().find(|line| line.myself)?;
            line.master.then_some((line.epoch, n, line.slots))
        });
        let views = join_all(views).await;
        let mut claims = self.claims.lock().expect("no holder of this lock panics");
        for (epoch, n, slots) in views.into_iter().flatten() {
            for slot in slots.into_iter().flatten() {
                let claim = &mut claims[usize::from(slot)];
                *claim = (epoch, n).max(*claim);
            }
        }
    }

    /// The numbers of the nodes that lead any slot, in order.
    fn all(&self) -> Vec<usize> {
        let claims = self.claims.lock().expect("no holder of this lock panics");
        let mut all: Vec<_> = claims.iter().map(|(_, n)| *n).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The number of the node that leads the slot of `key`.
    fn of(&self, key: &str) -> usize {
        let claims = self.claims.lock().expect("no holder of this lock panics");
        claims[usize::from(slot_of(key.as_bytes()))].1
    }
}

/// The nodes that can tell anything, with their numbers. One that is stopped cannot, and waiting
/// for it would only take time.
fn telling(nodes: &[Node]) -> impl Iterator<Item = (usize, &Node)> {
    let tells = |node: &Node| {
        let pid = node.pid();
        pid.is_some_and(|pid| process_state(pid) == ProcessState::Alive)
    };
    let all = nodes.iter().enumerate();
    all.filter(move |(_, node)| tells(node))
}

/// View that a node has of all of them; `None` where it does not answer.
async fn view_of(node: &Node) -> Option<Vec<Line>> {
    let view = probe::ask(node.private, &["CLUSTER", "NODES"]).await.ok()?;
    Some(view.lines().filter_map(Line::read).collect())
}

/// One line of CLUSTER NODES.
struct Line {
    address: SocketAddr,
    myself: bool,
    master: bool,
    /// The server that tells is connected to it, and does not think that it fails.
    well: bool,
    epoch: u64,
    slots: Vec<RangeInclusive<u16>>,
}

impl Line {
    /// Reads `id address flags master ping pong epoch link slots...`; slots on the move, in
    /// brackets, are left out.
    fn read(line: &str) -> Option<Self> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, address, flags, _, _, _, epoch, state, slots @ ..] = words.as_slice() else {
            return None;
        };
        let has = |flag: &str| flags.split(',').any(|known| known == flag);
        Some(Self {
            address: address.split('@').next()?.parse().ok()?,
            myself: has("myself"),
            master: has("master"),
            well: *state == "connected" && !["fail", "fail?", "handshake"].into_iter().any(has),
            epoch: epoch.parse().ok()?,
            slots: slots.iter().filter_map(|range| range_of(range)).collect(),
        })
    }
}

/// `5-9`, or `5` alone.
fn range_of(text: &str) -> Option<RangeInclusive<u16>> {
    let (start, end) = text.split_once('-').unwrap_or((text, text));
    let end: u16 = end.parse().ok()?;
    (end < SLOTS).then_some(start.parse().ok()?..=end)
}

#[cfg(test)]
mod tests {
    use lockstorm_scenarios::{DurationSpec, Persistence};

    use super::*;

    const fn cluster(shards: u32, replicas: u32) -> Cluster {
        Cluster {
            shards,
            replicas,
            persistence: Persistence::None,
            node_timeout: DurationSpec::from_millis(500),
            min_replicas_to_write: 0,
            min_replicas_max_lag: DurationSpec::from_secs(10),
        }
    }

    #[test]
    fn every_slot_has_one_shard_and_every_shard_a_key() {
        for shards in 3..=31 {
            let mut next = 0;
            for shard in 0..shards as usize {
                let slots = slots_of(shard, shards);
                assert_eq!(*slots.start(), next);
                next = *slots.end() + 1;
                assert!(slots.contains(&slot_of(key_in(&slots).as_bytes())));
            }
            assert_eq!(next, SLOTS);
        }
    }

    #[test]
    fn a_replica_is_introduced_with_its_own_master() {
        let addresses: Vec<_> = (1..=9).map(|n| ([127, 0, 0, n], 7000).into()).collect();
        let text = nodes_conf(&cluster(3, 2), &addresses, 8);
        let last = text.lines().nth(8).expect("a line for each server");
        let wanted = format!(
            "{} 127.0.0.9:7000@17000 myself,slave {} 0 0 3",
            id(8),
            id(2)
        );
        assert!(last.starts_with(&wanted), "{last}");
    }

    #[test]
    fn what_a_server_says_of_itself_is_read_with_slots_on_the_move_left_out() {
        let line = "07c3 127.0.0.1:1@2 myself,master - 0 14 7 connected 0-9 12 [93->-07c4]";
        let line = Line::read(line).expect("a whole line");
        assert!(line.myself && line.master && line.well);
        assert_eq!((line.epoch, line.slots), (7, vec![0..=9, 12..=12]));
        assert!(Line::read("vars currentEpoch 3").is_none());
    }
}
