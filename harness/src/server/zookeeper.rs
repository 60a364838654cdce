//! ZooKeeper: members that elect a leader and keep every node on a majority of their disks.
//!
//! Members are asked by words of four letters, which take no session; only a removal does. Their
//! connections to each other get the source address of their node, so that links can be faulted,
//! and see each other as if no network stood between: a member tells the others where it listens,
//! and one that takes an accepted connection for a leader that leads holds up the election.

use std::fmt::Write as _;
use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use lockstorm_nemesis::{FaultError, Rank, Redis, Server};
use lockstorm_scenarios::{Memory, Persistence, System, Timers, Zookeeper};

use super::binary::{Program, class_path, find_zookeeper};
use super::ensemble::{leader, recover, start_together, wait_until_empty};
use super::node::{Node, absolute};
use super::role::{DataRole, Role};
use super::shape::{Address, NodePlace, Shape, check_peer_port, peer, places};
use super::software::Software;
use crate::connection::{Ephemerals, Route, four_letters, remove, remove_all};
use crate::environment_error::EnvironmentError;
use crate::process::{Facade, bind_source};

/// Time that members may take to elect their first leader: three virtual machines of Java took ten
/// seconds on a busy machine.
const READY_WITHIN: Duration = Duration::from_secs(60);
/// Time that a member may take to answer what it is asked.
const PATIENCE: Duration = Duration::from_millis(500);

/// One member.
struct Member {
    /// Its number, from 1 on.
    number: usize,
    name: String,
    public: SocketAddr,
    private: SocketAddr,
    all: Vec<Address>,
    facades: Vec<Facade>,
    timers: Timers,
    /// Number of starts so far.
    starts: AtomicU64,
    folder: PathBuf,
    jar: PathBuf,
}

/// Address by which members elect a leader; the next above it is that by which they follow it.
const fn election(address: SocketAddr) -> SocketAddr {
    let mut election = peer(address);
    election.set_port(election.port() - 1);
    election
}

impl Member {
    fn failure(&self, reason: String) -> FaultError {
        FaultError::Node {
            action: "ask",
            node: self.name.clone(),
            reason,
        }
    }

    async fn say(&self, word: &str) -> Result<String, FaultError> {
        let answer = four_letters(self.private, word, PATIENCE).await;
        answer.map_err(|reason| self.failure(reason))
    }

    async fn ephemerals(&self) -> Result<Ephemerals, FaultError> {
        let said = self.say("dump").await?;
        Ephemerals::read(&said).map_err(|reason| self.failure(reason))
    }

    fn write_config(&self, data: &Path) -> std::io::Result<()> {
        // A session lives for two of the ticks at least.
        let (tick_ms, start_ticks) = match self.timers {
            Timers::Sharp => (200, 50),
            Timers::Stock => (2000, 10),
        };
        let (ip, port) = (self.private.ip(), self.private.port());
        let data_dir = data.display();
        let mut config = format!(
            "tickTime={tick_ms}\n\
             initLimit={start_ticks}\n\
             syncLimit=5\n\
             maxSessionTimeout=60000\n\
             maxClientCnxns=0\n\
             dataDir={data_dir}\n\
             clientPortAddress={ip}\n\
             clientPort={port}\n\
             admin.enableServer=false\n\
             4lw.commands.whitelist=*\n"
        );
        for (at, member) in self.all.iter().enumerate() {
            let is_own = at + 1 == self.number;
            let reached = if is_own {
                member.private
            } else {
                member.public
            };
            let (follows, elects) = (peer(reached), election(reached));
            let (ip, follows, elects) = (follows.ip(), follows.port(), elects.port());
            // Writing to a text cannot fail.
            let _ = writeln!(config, "server.{}={ip}:{follows}:{elects}", at + 1);
        }
        fs::write(self.folder.join("conf"), config)?;
        fs::write(data.join("myid"), self.number.to_string())
    }

    /// Members that wait for an election send their votes again after a pause that doubles each
    /// time, up to a minute: far beyond the sharp ticks.
    fn election_settings(&self) -> Option<&'static str> {
        let sharp = "-Dzookeeper.fastleader.maxNotificationInterval=400";
        (self.timers == Timers::Sharp).then_some(sharp)
    }
}

/// Value of a line `name: value` of what a member says of itself.
fn field<'a>(said: &'a str, name: &str) -> Option<&'a str> {
    let mut fields = said.lines().filter_map(|line| line.split_once(": "));
    fields
        .find(|(known, _)| *known == name)
        .map(|(_, value)| value.trim())
}

/// Number of the election in which a change was made: the upper half of the change's number.
fn election_of(change: &str) -> Option<u64> {
    let change = u64::from_str_radix(change.strip_prefix("0x")?, 16).ok()?;
    Some(change >> 32)
}

#[async_trait]
impl Server for Member {
    fn system(&self) -> System {
        System::Zookeeper
    }

    /// Unlike `srvr` it takes no leader.
    fn greeting(&self) -> &'static str {
        "ruok"
    }

    async fn greet(&self) -> Result<(), FaultError> {
        match &*self.say("ruok").await? {
            "imok" => Ok(()),
            other => Err(self.failure(format!("ruok was answered '{other}'"))),
        }
    }

    /// It tells nobody when it began, but its class path, where each start leaves a mark.
    async fn run(&self) -> Result<String, FaultError> {
        let said = self.say("envi").await?;
        let mark = said.split(RUN_MARK).nth(1);
        let mark: Option<String> =
            mark.map(|mark| mark.chars().take_while(char::is_ascii_digit).collect());
        let mark = mark.ok_or_else(|| self.failure("envi does not tell its run".to_owned()))?;
        Ok(format!("number {mark}"))
    }

    async fn rank(&self) -> Result<Rank, FaultError> {
        let said = self.say("srvr").await?;
        let mode = field(&said, "Mode");
        let term = field(&said, "Zxid").and_then(election_of);
        let words = match mode {
            Some(mode) => format!("srvr says that it is {mode}"),
            None => "srvr says that it serves nobody".to_owned(),
        };
        Ok(Rank {
            // One alone stands for all.
            leads: matches!(mode, Some("leader" | "standalone")),
            term: term.unwrap_or_default(),
            words,
        })
    }

    async fn clock_us(&self) -> Result<i64, FaultError> {
        Err(self.failure("ZooKeeper tells nobody the time".to_owned()))
    }

    /// Only nodes that go with a session: those of locks.
    async fn entries(&self) -> Result<u64, FaultError> {
        Ok(self.ephemerals().await?.count() as u64)
    }

    /// Places in the queue of a lock are nodes below the one that has its name.
    async fn has(&self, key: &str) -> Result<bool, FaultError> {
        Ok(!self.ephemerals().await?.of(key).is_empty())
    }

    async fn has_no_old_entry(&self) -> Result<bool, FaultError> {
        Ok(self.entries().await? == 0)
    }

    async fn keeps_nothing(&self) -> bool {
        false
    }

    async fn remove(&self, key: &str) -> Result<u64, FaultError> {
        let places = self.ephemerals().await?.of(key);
        let removed = remove(self.private, &places, PATIENCE).await;
        removed.map_err(|reason| self.failure(reason))
    }

    /// Members are never silent: a leader asks its followers twice a tick whether they are there.
    async fn speak(&self) -> Result<(), FaultError> {
        Ok(())
    }

    fn redis(&self) -> Option<&dyn Redis> {
        None
    }
}

/// Begin of an entry of the class path that stands for a run, and is nothing else.
const RUN_MARK: &str = "lockstorm-run-";

#[async_trait]
impl Software for Member {
    fn start_command(&self, _memory: Memory) -> Result<Command, EnvironmentError> {
        let data = absolute(&self.folder.join("data"))?;
        self.write_config(&data).map_err(EnvironmentError::io(
            "write the files of",
            self.name.clone(),
        ))?;
        let start = self.starts.fetch_add(1, Ordering::Relaxed);
        let log = absolute(&self.folder.join("log"))?;
        let mut command = Command::new("java");
        command
            // Small and started soon, rather than fast.
            .args(["-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"])
            .arg("-Djava.net.preferIPv4Stack=true")
            .args(self.election_settings())
            .arg(format!(
                "-Dorg.slf4j.simpleLogger.logFile={}",
                log.display()
            ))
            .arg("-Dorg.slf4j.simpleLogger.showDateTime=true")
            .arg("-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS")
            .arg("-cp")
            .arg(format!("{}:{RUN_MARK}{start}", class_path(&self.jar)))
            .arg("org.apache.zookeeper.server.quorum.QuorumPeerMain")
            .arg(absolute(&self.folder.join("conf"))?);
        if let IpAddr::V4(source) = self.public.ip() {
            bind_source(&mut command, source, self.facades.clone())
                .map_err(EnvironmentError::io("start", self.name.clone()))?;
        }
        Ok(command)
    }

    fn ready_within(&self) -> Duration {
        READY_WITHIN
    }

    /// It tells nobody its process; but the address is ours alone.
    async fn is_ready(&self, _process: i32) -> Result<(), String> {
        self.greet().await.map_err(|error| error.to_string())
    }

    async fn agrees(&self) -> Result<(), String> {
        let said = four_letters(self.private, "srvr", PATIENCE).await?;
        match field(&said, "Mode") {
            Some(_) => Ok(()),
            None => Err(format!("srvr was answered '{}'", said.trim())),
        }
    }
}

#[async_trait]
impl Shape for Zookeeper {
    fn check_port(&self, port: u16) -> Result<(), EnvironmentError> {
        check_peer_port(port)
    }

    fn doors(&self, address: SocketAddr) -> Vec<SocketAddr> {
        vec![address, peer(address), election(address)]
    }

    fn roles(&self, public: &[SocketAddr]) -> Vec<Role> {
        let role = Role::Data(DataRole {
            persistence: Persistence::AofAlways,
            ..DataRole::default()
        });
        vec![role; public.len()]
    }

    fn program(&self, _redis: Program) -> Result<Program, EnvironmentError> {
        find_zookeeper()
    }

    fn software(&self, place: NodePlace<'_>) -> Box<dyn Software> {
        let own = place
            .all
            .iter()
            .position(|member| member.name == place.name);
        Box::new(Member {
            number: own.map_or(1, |at| at + 1),
            name: place.name.to_owned(),
            public: place.public,
            private: place.private,
            all: place.all.to_vec(),
            facades: place.facades(),
            timers: self.timers,
            starts: AtomicU64::new(1),
            folder: place.folder.to_owned(),
            jar: place.program.path.clone(),
        })
    }

    /// Every member takes requests, and passes writes on to the leader.
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

    /// Sessions that nobody has ended have no nodes any more, and end by themselves.
    async fn clean(&self, nodes: &[Node]) -> Result<(), EnvironmentError> {
        let removed = async {
            recover(nodes).await?;
            remove_all(nodes[0].private, READY_WITHIN).await
        };
        let removed = removed.await;
        removed.map_err(|reason| nodes[0].not_ready(&reason))?;
        wait_until_empty(nodes).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_member_says_of_itself_is_read() {
        let said = "Zookeeper version: 3.8.0, built on x\nZxid: 0x30000002a\nMode: leader\n";
        assert_eq!(field(said, "Mode"), Some("leader"));
        assert_eq!(field(said, "Zxid").and_then(election_of), Some(3));
        assert_eq!(field("it is not currently serving requests", "Mode"), None);
        assert_eq!(election_of("nonsense"), None);
    }
}
