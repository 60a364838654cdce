//! Role of each server, a primary or a replica, a leader or a follower, from the start of a run to
//! its end.
//!
//! For: saying at each grant what the server was that gave it, and noting when one becomes
//! something else: whoever promotes it, a fault, a sentinel or its Cluster. Not for: finding the
//! primary, which is the clients' own business.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use lockstorm_checker::history::{
    Event, Function, Giver, Givers, Kind, Name, Process, RoleNote, Value as Content,
};
use lockstorm_nemesis::{CONNECTION_NAME, ProcessState, process_state};
use lockstorm_scenarios::System;
use redis::{Cmd, Value};
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::connection::{Wire, WireError};
use crate::recorder::EventSink;
use crate::server::{DataRole, Node, Servers};

/// Role that a server which takes writes reports.
pub const PRIMARY: &str = "primary";
/// Role that a server which follows another reports.
pub const REPLICA: &str = "replica";

/// Role that a member reports which leads the others.
pub const LEADER: &str = "leader";
/// Role that a member reports which another leads, or nobody.
pub const FOLLOWER: &str = "follower";

/// Interval at which a server is asked: a promotion is noted so much later at most.
const ASK_EVERY: Duration = Duration::from_millis(50);
/// Time that it may take to answer.
const ANSWER_WITHIN: Duration = Duration::from_millis(500);

/// Role of each server when it was last heard of. Empty for servers that someone else runs.
pub struct Roles {
    known: Mutex<BTreeMap<String, &'static str>>,
    sink: EventSink,
}

impl Roles {
    /// Roles that the servers have now.
    pub async fn new(servers: &Servers, sink: EventSink) -> Self {
        let mut known = BTreeMap::new();
        for node in ours(servers) {
            let role = if may_change(servers) {
                timeout(ANSWER_WITHIN, look(node)).await.ok().flatten()
            } else {
                Some(PRIMARY)
            };
            known.extend(role.map(|role| (node.name.clone(), role)));
        }
        Self {
            known: Mutex::new(known),
            sink,
        }
    }

    /// Each of the servers that gave a grant, with what it is. A replica takes no writes, so that
    /// one which grants a lock has been promoted since it was last asked; what a member grants, the
    /// leader grants, whichever was asked.
    pub async fn of_givers(&self, nodes: Vec<Name>) -> Givers {
        let mut givers = Givers::default();
        for node in nodes {
            let role = self.known.lock().await.get(&*node).copied();
            if role == Some(REPLICA) {
                self.learn(&node, PRIMARY).await;
            }
            let is_own = role.is_some_and(|role| role == PRIMARY || role == REPLICA);
            givers.0.push(Giver {
                role: is_own.then(|| PRIMARY.into()),
                node,
            });
        }
        givers
    }

    /// Notes it where a server is something else than it was.
    async fn learn(&self, node: &str, role: &'static str) {
        let was = self.known.lock().await.insert(node.to_owned(), role);
        let Some(was) = was.filter(|was| *was != role) else {
            return;
        };
        let change = RoleNote {
            node: node.into(),
            role: role.into(),
            was: was.into(),
        };
        let value = Content {
            role: Some(Box::new(change)),
            ..Content::default()
        };
        self.sink
            .record(Event {
                index: 0,
                time: self.sink.clock().now(),
                kind: Kind::Note,
                process: Process::Nemesis,
                function: Function::Role,
                key: "".into(),
                value,
                error: None,
                extra: None,
            })
            .await;
    }
}

/// Asks all servers again and again what they are; dropping it ends that.
pub struct RoleWatch {
    tasks: JoinSet<()>,
}

impl RoleWatch {
    /// Begins. Where no server follows another, none can become something else, and none is asked.
    pub fn start(roles: &Arc<Roles>, servers: &Arc<Servers>) -> Self {
        let mut tasks = JoinSet::new();
        for (at, node) in servers.nodes().iter().enumerate() {
            if may_change(servers) && node.role.data().is_some() {
                tasks.spawn(follow(roles.clone(), servers.clone(), at));
            }
        }
        Self { tasks }
    }

    /// Asks no more.
    pub async fn stop(mut self) {
        self.tasks.shutdown().await;
    }
}

/// Follows what becomes of server number `at`.
async fn follow(roles: Arc<Roles>, servers: Arc<Servers>, at: usize) {
    let node = &servers.nodes()[at];
    let mut wire = None;
    loop {
        // Whom the system knows not to answer is not asked: the questions would only pile up.
        let is_alive = node.pid().map(process_state) == Some(ProcessState::Alive);
        if is_alive && node.server().redis().is_none() {
            if let Some(role) = look(node).await {
                roles.learn(&node.name, role).await;
            }
        } else if is_alive {
            // After no answer it is asked again over a new connection.
            let asked = timeout(ANSWER_WITHIN, ask(node.private, wire.take())).await;
            if let Ok(Ok((open, role))) = asked {
                wire = Some(open);
                if let Some(role) = role {
                    roles.learn(&node.name, role).await;
                }
            }
        } else {
            wire = None;
        }
        sleep(ASK_EVERY).await;
    }
}

/// Tells whether a server may change its role: where one follows another, all are a Cluster, or
/// they elect a leader.
fn may_change(servers: &Servers) -> bool {
    let mut elected = ours(servers).filter(|node| node.server().redis().is_none());
    let mut data = ours(servers).filter_map(|node| node.role.data());
    let follows = |role: &DataRole| role.follows.is_some() || role.introduction.is_some();
    data.any(follows) || elected.next().is_some()
}

/// The servers that keep data and that we run ourselves.
fn ours(servers: &Servers) -> impl Iterator<Item = &Node> {
    let nodes = servers.nodes().iter().filter(|_| servers.are_ours());
    nodes.filter(|node| node.role.data().is_some())
}

/// Role that a server reports, if it does.
async fn look(node: &Node) -> Option<&'static str> {
    if node.server().redis().is_some() {
        return ask(node.private, None).await.ok()?.1;
    }
    let rank = node.server().rank().await.ok()?;
    Some(match (node.server().system(), rank.leads) {
        (System::Etcd | System::Zookeeper, true) => LEADER,
        (System::Etcd | System::Zookeeper, false) => FOLLOWER,
        (System::Custom, _) => return None,
        (System::Redis | System::Mariadb | System::Postgres, true) => PRIMARY,
        (System::Redis | System::Mariadb | System::Postgres, false) => REPLICA,
    })
}

/// Role that the server at `address` reports, asked over an open connection or a new one; none
/// while it does not say.
async fn ask(
    address: SocketAddr,
    wire: Option<Wire>,
) -> Result<(Wire, Option<&'static str>), WireError> {
    let mut wire = match wire {
        Some(wire) => wire,
        None => connect(address).await?,
    };
    let role = match wire.send(&redis::cmd("ROLE")).await {
        Ok(reply) => role_of(&reply),
        // A server that still loads its data says so.
        Err(WireError::Server(_)) => None,
        Err(lost @ WireError::Lost(_)) => return Err(lost),
    };
    Ok((wire, role))
}

async fn connect(address: SocketAddr) -> Result<Wire, WireError> {
    let stream = TcpStream::connect(address).await;
    let mut wire = Wire::new(stream.map_err(|error| WireError::Lost(error.to_string()))?);
    let mut name = Cmd::new();
    name.arg("CLIENT").arg("SETNAME").arg(CONNECTION_NAME);
    wire.send(&name).await?;
    Ok(wire)
}

/// The reply to ROLE, in our words.
pub fn role_of(reply: &Value) -> Option<&'static str> {
    let Value::Array(items) = reply else {
        return None;
    };
    match items.first() {
        Some(Value::BulkString(word)) if word == b"master" => Some(PRIMARY),
        Some(Value::BulkString(word)) if word == b"slave" => Some(REPLICA),
        Some(_) | None => None,
    }
}
