//! etcd: members that elect a leader and keep every key on a majority of their disks.
//!
//! Members are asked over HTTP: `/version` and `/metrics`, and the JSON gateway to their API below
//! `/v3/`. Their connections to each other get the source address of their node, so that links can
//! be faulted.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use async_trait::async_trait;
use lockstorm_nemesis::{FaultError, Rank, Redis, Server};
use lockstorm_scenarios::{Etcd, Memory, Persistence, System, Timers};
use serde_json::{Value, json};

use super::binary::{Program, find_etcd};
use super::ensemble::{leader, recover, start_together, wait_until_empty};
use super::node::{Node, absolute};
use super::role::{DataRole, Role};
use super::shape::{Address, NodePlace, Shape, check_peer_port, peer, places};
use super::software::Software;
use crate::connection::{Order, Route, ask_http, encoded, number, one_below};
use crate::environment_error::EnvironmentError;
use crate::process::{Facade, bind_source};

/// Time that members may take to elect their first leader; on a busy machine one took three
/// seconds.
const READY_WITHIN: Duration = Duration::from_secs(20);
/// Time that a member may take to answer what it is asked.
const PATIENCE: Duration = Duration::from_millis(500);

/// Count of the leases that a member has ended, as the leader that it took itself for.
const ENDED_LEASES: &str = "etcd_debugging_server_lease_expired_total";

/// One member.
struct Member {
    name: String,
    public: SocketAddr,
    private: SocketAddr,
    all: Vec<Address>,
    facades: Vec<Facade>,
    timers: Timers,
    folder: PathBuf,
    program: PathBuf,
}

fn url(address: SocketAddr) -> String {
    format!("http://{address}")
}

impl Member {
    fn failure(&self, reason: String) -> FaultError {
        FaultError::Node {
            action: "ask",
            node: self.name.clone(),
            reason,
        }
    }

    async fn get(&self, path: &str) -> Result<String, FaultError> {
        let answer = ask_http(self.private, path, None, PATIENCE).await;
        answer.map_err(|reason| self.failure(reason))
    }

    /// Calls the API through its JSON gateway.
    async fn call(&self, path: &str, body: &Value) -> Result<Value, FaultError> {
        let answer = ask_http(self.private, path, Some(body), PATIENCE).await;
        let answer = answer.map_err(|reason| self.failure(reason))?;
        serde_json::from_str(&answer)
            .map_err(|_| self.failure(format!("{path} was answered '{answer}'")))
    }

    async fn metric(&self, name: &str) -> Result<String, FaultError> {
        let metrics = self.get("/metrics").await?;
        let mut lines = metrics.lines().filter_map(|line| line.split_once(' '));
        let found = lines.find(|(known, _)| *known == name);
        let found = found.map(|(_, value)| value.to_owned());
        found.ok_or_else(|| self.failure(format!("/metrics do not tell {name}")))
    }

    /// Number of keys in a range that this member has, whatever the others do.
    async fn count(&self, mut range: Value) -> Result<u64, FaultError> {
        range["count_only"] = true.into();
        range["serializable"] = true.into();
        let answer = self.call("/v3/kv/range", &range).await?;
        Ok(number(&answer["count"]).unwrap_or_default())
    }
}

#[async_trait]
impl Server for Member {
    fn system(&self) -> System {
        System::Etcd
    }

    /// Unlike `/health` it takes no leader.
    fn greeting(&self) -> &'static str {
        "GET /version"
    }

    async fn greet(&self) -> Result<(), FaultError> {
        self.get("/version").await.map(|_| ())
    }

    async fn run(&self) -> Result<String, FaultError> {
        let at = self.metric("process_start_time_seconds").await?;
        Ok(format!("that began at {at}"))
    }

    async fn rank(&self) -> Result<Rank, FaultError> {
        let status = self.call("/v3/maintenance/status", &json!({})).await?;
        let leader = &status["leader"];
        let leads = leader.is_string() && *leader == status["header"]["member_id"];
        let who = match (leads, leader.is_string()) {
            (true, _) => "it leads",
            (false, true) => "another leads",
            (false, false) => "nobody leads",
        };
        let term = number(&status["raftTerm"]).unwrap_or_default();
        Ok(Rank {
            leads,
            term,
            words: format!("/v3/maintenance/status says that {who}, in term {term}"),
        })
    }

    async fn clock_us(&self) -> Result<i64, FaultError> {
        Err(self.failure("etcd tells nobody the time".to_owned()))
    }

    async fn entries(&self) -> Result<u64, FaultError> {
        // From the first key to the last.
        self.count(json!({ "key": "AA==", "range_end": "AA==" }))
            .await
    }

    /// Locks of etcd's own library are keys below the name of the lock.
    async fn has(&self, key: &str) -> Result<bool, FaultError> {
        let exact = self.count(json!({ "key": encoded(key) })).await?;
        let below = one_below(key, Order::OldestFirst);
        Ok(exact + self.count(below).await? > 0)
    }

    async fn has_no_old_entry(&self) -> Result<bool, FaultError> {
        Ok(self.entries().await? == 0)
    }

    async fn keeps_nothing(&self) -> bool {
        false
    }

    /// A majority takes it, as any write, and of nothing too.
    async fn remove(&self, key: &str) -> Result<u64, FaultError> {
        let below = one_below(key, Order::OldestFirst);
        let below = json!({ "key": below["key"], "range_end": below["range_end"] });
        let mut removed = 0;
        for range in [json!({ "key": encoded(key) }), below] {
            let answer = self.call("/v3/kv/deleterange", &range).await?;
            removed += number(&answer["deleted"]).unwrap_or_default();
        }
        Ok(removed)
    }

    async fn ended_leases(&self) -> Result<Option<u64>, FaultError> {
        let count = self.metric(ENDED_LEASES).await?;
        // The exporter writes a large count as 1e+06.
        let count: f64 = count
            .parse()
            .map_err(|_| self.failure(format!("{ENDED_LEASES} is '{count}'")))?;
        Ok(Some(count as u64))
    }

    /// Members are never silent: a leader beats, and others ask for votes.
    async fn speak(&self) -> Result<(), FaultError> {
        Ok(())
    }

    fn redis(&self) -> Option<&dyn Redis> {
        None
    }
}

#[async_trait]
impl Software for Member {
    fn start_command(&self, _memory: Memory) -> Result<Command, EnvironmentError> {
        let members = self.all.iter();
        let members = members.map(|member| format!("{}={}", member.name, url(peer(member.public))));
        let members: Vec<String> = members.collect();
        let mut command = Command::new(&self.program);
        command
            .args(["--name", &self.name])
            .arg("--data-dir")
            .arg(absolute(&self.folder.join("data"))?)
            .args(["--listen-client-urls", &url(self.private)])
            .args(["--advertise-client-urls", &url(self.public)])
            .args(["--listen-peer-urls", &url(peer(self.private))])
            .args(["--initial-advertise-peer-urls", &url(peer(self.public))])
            .args(["--initial-cluster", &members.join(",")])
            .args(["--logger", "zap", "--log-outputs"])
            .arg(absolute(&self.folder.join("log"))?);
        if let IpAddr::V4(source) = self.public.ip() {
            bind_source(&mut command, source, self.facades.clone())
                .map_err(EnvironmentError::io("start", self.name.clone()))?;
        }
        if self.timers == Timers::Sharp {
            command.args(["--heartbeat-interval", "20", "--election-timeout", "200"]);
        }
        Ok(command)
    }

    fn ready_within(&self) -> Duration {
        READY_WITHIN
    }

    /// It tells nobody its process; but the address is ours alone. Other members are answered at
    /// once, clients only after it has met a leader, and the first of several that come back meets
    /// nobody.
    async fn is_ready(&self, _process: i32) -> Result<(), String> {
        let answer = ask_http(peer(self.private), "/version", None, PATIENCE).await;
        answer.map(|_| ())
    }

    async fn agrees(&self) -> Result<(), String> {
        let health = ask_http(self.private, "/health", None, PATIENCE).await?;
        let health: Value = serde_json::from_str(&health).unwrap_or_default();
        match health["health"].as_str() {
            Some("true") => Ok(()),
            _ => Err(format!("/health was answered {health}")),
        }
    }
}

/// Has the members end every lease and remove every key.
async fn remove_all(member: SocketAddr) -> Result<(), String> {
    let call = async |path: &str, body: Value| {
        let answer = ask_http(member, path, Some(&body), READY_WITHIN).await?;
        serde_json::from_str::<Value>(&answer)
            .map_err(|_| format!("{path} was answered '{answer}'"))
    };
    let known = call("/v3/lease/leases", json!({})).await?;
    for lease in known["leases"].as_array().into_iter().flatten() {
        // One that has just ended is not known any more.
        let _ = call("/v3/lease/revoke", json!({ "ID": lease["ID"] })).await;
    }
    // From the first key to the last.
    let all = json!({ "key": "AA==", "range_end": "AA==" });
    call("/v3/kv/deleterange", all).await.map(|_| ())
}

#[async_trait]
impl Shape for Etcd {
    fn check_port(&self, port: u16) -> Result<(), EnvironmentError> {
        check_peer_port(port)
    }

    fn doors(&self, address: SocketAddr) -> Vec<SocketAddr> {
        vec![address, peer(address)]
    }

    fn roles(&self, public: &[SocketAddr]) -> Vec<Role> {
        let role = Role::Data(DataRole {
            persistence: Persistence::AofAlways,
            ..DataRole::default()
        });
        vec![role; public.len()]
    }

    fn program(&self, _redis: Program) -> Result<Program, EnvironmentError> {
        find_etcd()
    }

    fn software(&self, place: NodePlace<'_>) -> Box<dyn Software> {
        Box::new(Member {
            name: place.name.to_owned(),
            public: place.public,
            private: place.private,
            all: place.all.to_vec(),
            facades: place.facades(),
            timers: self.timers,
            folder: place.folder.to_owned(),
            program: place.program.path.clone(),
        })
    }

    /// Every member takes requests, and passes them on to the leader.
    fn route(&self, nodes: &[Node]) -> Route {
        Route::new(places(nodes))
    }

    async fn start(&self, nodes: &[Node]) -> Result<(), EnvironmentError> {
        start_together(nodes, READY_WITHIN).await
    }

    fn governs_itself(&self) -> bool {
        true
    }

    async fn writable(&self, nodes: &[Node], _route: &Route) -> Vec<String> {
        leader(nodes).await
    }

    async fn recover(&self, nodes: &[Node]) -> Result<(), String> {
        recover(nodes).await
    }

    fn can_be_cleaned(&self) -> bool {
        true
    }

    async fn clean(&self, nodes: &[Node]) -> Result<(), EnvironmentError> {
        let removed = async {
            recover(nodes).await?;
            remove_all(nodes[0].private).await
        };
        let removed = removed.await;
        removed.map_err(|reason| nodes[0].not_ready(&reason))?;
        wait_until_empty(nodes).await
    }
}
