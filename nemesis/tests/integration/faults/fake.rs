//! A deployment in memory: a state machine that can be told to do nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::ops::Deref;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use lockstorm_nemesis::{
    ClientState, Clients, Deployment, FaultError, Network, Processes, Redis, Server,
};
use lockstorm_scenarios::{FailoverMode, Memory};
use tokio::time::sleep;

use crate::faults::extras::Extras;
use crate::faults::fake_network::Links;

/// Time for which the fake's commands wait for a stopped server.
const REPLY_WITHIN: Duration = Duration::from_secs(1);

/// Servers are idle processes, so that signals and `/proc` are the real ones.
pub(crate) struct Fake {
    world: World,
    servers: BTreeMap<String, FakeServer>,
    has_network: bool,
}

/// State that the deployment shares with each of its servers.
#[derive(Clone)]
pub(crate) struct World {
    books: Arc<Mutex<Books>>,
    pub(super) links: Arc<Mutex<Links>>,
}

struct FakeServer {
    name: String,
    world: World,
}

/// State of the fake.
struct Books {
    nodes: BTreeMap<String, Node>,
    writable: Vec<String>,
    clients: BTreeMap<String, FakeClient>,
    /// Calls that succeed and do nothing.
    inert: BTreeSet<&'static str>,
    /// Nodes whose start fails.
    broken: BTreeSet<String>,
    runs: u32,
    extras: BTreeMap<String, Extras>,
}

struct Node {
    process: Option<Child>,
    run_id: u32,
    keys: BTreeSet<String>,
    /// Keys written since the start.
    changes: u64,
}

struct FakeClient {
    state: ClientState,
    commands: u64,
    /// Commands until a client due to die dies.
    dies_after: Option<u32>,
    /// True if its watchdog is stalled.
    stalled: bool,
    /// Renewals that it has not sent for that, and those that it has.
    missed: u64,
    renewed: u64,
    thread_is_dead: bool,
}

impl Fake {
    /// A primary and `replicas` replicas, with the clients `a` and `b`.
    pub(crate) fn replicated(replicas: usize) -> Self {
        let names: Vec<_> = (0..=replicas)
            .map(|n| match n {
                0 => "primary".to_owned(),
                n => format!("replica-{n}"),
            })
            .collect();
        Self::new(&names, &names[..1])
    }

    /// Masters `n1`, `n2`, ...
    pub(crate) fn independent(count: usize) -> Self {
        let names: Vec<_> = (1..=count).map(|n| format!("n{n}")).collect();
        Self::new(&names, &names)
    }

    fn new(names: &[String], writable: &[String]) -> Self {
        let mut books = Books {
            nodes: BTreeMap::new(),
            writable: writable.to_vec(),
            clients: ["a", "b"]
                .map(|name| (name.to_owned(), FakeClient::new()))
                .into(),
            inert: BTreeSet::new(),
            broken: BTreeSet::new(),
            runs: 0,
            extras: BTreeMap::new(),
        };
        for name in names {
            let node = books.run(BTreeSet::new());
            books.nodes.insert(name.clone(), node);
        }
        let world = World {
            books: Arc::new(Mutex::new(books)),
            links: Arc::default(),
        };
        let server = |name: &String| FakeServer {
            name: name.clone(),
            world: world.clone(),
        };
        Self {
            servers: names
                .iter()
                .map(|name| (name.clone(), server(name)))
                .collect(),
            world,
            has_network: true,
        }
    }

    /// Takes away the switchable network.
    pub(crate) fn without_network(mut self) -> Self {
        self.has_network = false;
        self
    }

    /// Lets these calls claim success and do nothing.
    pub(crate) fn inert(self, calls: &[&'static str]) -> Self {
        self.books().inert.extend(calls);
        self.links.lock().unwrap().inert = calls.contains(&"cut");
        self
    }
}

impl Deref for Fake {
    type Target = World;

    fn deref(&self) -> &World {
        &self.world
    }
}

impl World {
    pub(crate) fn set_key(&self, node: &str, key: &str) {
        let mut books = self.books();
        let node = books.nodes.get_mut(node).unwrap();
        node.keys.insert(key.to_owned());
        node.changes += 1;
    }

    pub(crate) fn has_key(&self, node: &str, key: &str) -> bool {
        self.books().nodes[node].keys.contains(key)
    }

    /// Tells whether starts of this node fail.
    pub(crate) fn break_start(&self, node: &str, broken: bool) {
        let mut books = self.books();
        if broken {
            books.broken.insert(node.to_owned());
        } else {
            books.broken.remove(node);
        }
    }

    /// Bytes want to pass a link: whether they do.
    pub(crate) fn send(&self, from: &str, to: &str, bytes: u64) -> bool {
        self.links.lock().unwrap().send(from, to, bytes)
    }

    pub(crate) fn cuts_in_force(&self) -> Vec<(String, String)> {
        self.links.lock().unwrap().cuts.clone()
    }

    /// A client sends one command, if it can.
    pub(crate) fn client_sends(&self, client: &str) {
        self.books().clients.get_mut(client).unwrap().send();
    }

    /// A renewal of a client falls due.
    pub(crate) fn client_renews(&self, client: &str) {
        let mut books = self.books();
        let client = books.clients.get_mut(client).unwrap();
        if client.stalled {
            client.missed += 1;
        } else {
            client.renewed += 1;
            client.send();
        }
    }

    /// Looks at or changes what a node has beside its keys.
    pub(crate) fn extras<T>(&self, node: &str, act: impl FnOnce(&mut Extras) -> T) -> T {
        let mut books = self.books();
        act(books.extras.entry(node.to_owned()).or_default())
    }

    pub(crate) fn is_inert(&self, call: &str) -> bool {
        self.books().inert.contains(call)
    }

    pub(crate) fn lose_keys(&self, node: &str) -> usize {
        let mut books = self.books();
        let keys = &mut books.nodes.get_mut(node).unwrap().keys;
        std::mem::take(keys).len()
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap()
    }

    fn stopped(&self, node: &str) -> bool {
        self.pid(node).is_some_and(|pid| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
            stat.is_ok_and(|stat| stat.contains(") T "))
        })
    }

    pub(crate) fn pid(&self, node: &str) -> Option<i32> {
        let books = self.books();
        let process = books.nodes.get(node)?.process.as_ref()?;
        Some(process.id().try_into().unwrap())
    }

    pub(crate) async fn command(&self, node: &str, args: &[&str]) -> Result<String, FaultError> {
        if self.stopped(node) && !self.books().inert.contains("stop") {
            sleep(REPLY_WITHIN).await;
            return Err(refusal("ask", node, "no reply"));
        }
        if let ["PUBLISH", ..] = args {
            let (writable, nodes) = {
                let books = self.books();
                let nodes: Vec<String> = books.nodes.keys().cloned().collect();
                (books.writable.clone(), nodes)
            };
            for replica in nodes {
                if !writable.contains(&replica) {
                    self.send(node, &replica, 30);
                }
            }
        }
        if let Some(reply) = self.extra_reply(node, args) {
            return Ok(reply);
        }
        if self.extras(node, |extras| extras.is_asleep()) {
            sleep(REPLY_WITHIN).await;
            return Err(refusal("ask", node, "it sleeps"));
        }
        if self.extras(node, |extras| extras.is_busy()) {
            let refused = refusal("ask", node, "BUSY Redis is busy running a script.");
            // The script itself is what gets no answer.
            if let ["EVAL", ..] = args {
                sleep(REPLY_WITHIN).await;
            }
            return Err(refused);
        }
        if matches!(args, ["PUBLISH", ..]) && self.extras(node, |extras| extras.puts_off_writes()) {
            sleep(REPLY_WITHIN).await;
            return Err(refusal("ask", node, "it puts off writes"));
        }
        let reply = self.books().reply(node, args);
        reply.map_err(|reason| refusal("ask", node, reason))
    }
}

#[async_trait]
impl Redis for FakeServer {
    fn name(&self) -> &str {
        &self.name
    }

    async fn command(&self, args: &[&str]) -> Result<String, FaultError> {
        self.world.command(&self.name, args).await
    }
}

impl Books {
    /// A new run of a server that remembers `keys`.
    fn run(&mut self, keys: BTreeSet<String>) -> Node {
        self.runs += 1;
        Node {
            process: Some(Command::new("sleep").arg("600").spawn().unwrap()),
            run_id: self.runs,
            keys,
            changes: 0,
        }
    }

    fn reply(&mut self, name: &str, args: &[&str]) -> Result<String, &'static str> {
        let leads = self.writable.iter().any(|leader| leader == name);
        let role = if leads { "master" } else { "slave" };
        let node = self.nodes.get_mut(name).ok_or("there is no such node")?;
        if node.process.is_none() {
            return Err("connection refused");
        }
        let scripts = self.extras.get(name).map_or(0, |extras| extras.scripts);
        match args {
            ["PING"] => Ok("PONG".to_owned()),
            ["PUBLISH", ..] => Ok("0".to_owned()),
            ["DBSIZE"] => Ok(node.keys.len().to_string()),
            ["DEL", key] => Ok(u8::from(node.keys.remove(*key)).to_string()),
            ["EXISTS", key] => Ok(u8::from(node.keys.contains(*key)).to_string()),
            ["INFO", _] => Ok(format!(
                "# All\r\nrun_id:{}\r\nrole:{role}\r\naof_enabled:0\r\n\
                 rdb_changes_since_last_save:{}\r\n\
                 number_of_cached_scripts:{scripts}\r\n",
                node.run_id, node.changes
            )),
            _ => Err("unknown command"),
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }
}

#[async_trait]
impl Deployment for Fake {
    fn nodes(&self) -> Vec<String> {
        self.books().nodes.keys().cloned().collect()
    }

    async fn writable(&self) -> Vec<String> {
        self.books().writable.clone()
    }

    fn processes(&self, node: &str) -> Option<Processes> {
        self.pid(node).map(Processes::of)
    }

    async fn kill(&self, node: &str) -> Result<(), FaultError> {
        let mut books = self.books();
        if books.inert.contains("kill") {
            return Ok(());
        }
        let node = books.nodes.get_mut(node).unwrap();
        if let Some(mut process) = node.process.take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
        Ok(())
    }

    async fn start(&self, node: &str, memory: Memory) -> Result<(), FaultError> {
        let mut books = self.books();
        if books.broken.contains(node) {
            return Err(refusal("start", node, "its disk is full"));
        }
        if books.inert.contains("start") {
            return Ok(());
        }
        let keys = match memory {
            Memory::Lost if !books.inert.contains("forget") => BTreeSet::new(),
            Memory::Lost | Memory::Kept => books.nodes[node].keys.clone(),
        };
        let started = books.run(keys);
        books.nodes.insert(node.to_owned(), started);
        Ok(())
    }

    fn without_data(&self) -> Vec<String> {
        Vec::new()
    }

    async fn keepers(&self, _: &str) -> Vec<String> {
        self.writable().await
    }

    fn rejoins(&self) -> bool {
        false
    }

    async fn promote(&self, node: &str) -> Result<(), FaultError> {
        let mut books = self.books();
        if !books.inert.contains("promote") {
            books.writable = vec![node.to_owned()];
        }
        Ok(())
    }

    async fn failover(&self, node: &str, _: FailoverMode) -> Result<(), FaultError> {
        let mut books = self.books();
        if !books.inert.contains("failover") {
            books.writable = vec![node.to_owned()];
        }
        Ok(())
    }

    fn server(&self, node: &str) -> Result<&dyn Server, FaultError> {
        let server = self.servers.get(node);
        server.map_or_else(
            || Err(FaultError::UnknownNode(node.to_owned())),
            |server| Ok(server as &dyn Server),
        )
    }

    fn own_connections(&self, node: &str) -> Option<BTreeMap<String, IpAddr>> {
        let ours = self.extras(node, |extras| extras.ours.clone())?;
        let from = IpAddr::from([127, 0, 0, 1]);
        Some(ours.iter().map(|id| (id.to_string(), from)).collect())
    }

    fn network(&self) -> Option<&dyn Network> {
        self.has_network.then_some(self)
    }

    fn clients(&self) -> &dyn Clients {
        self
    }

    fn machines(&self) -> Option<&dyn lockstorm_nemesis::Machines> {
        Some(self)
    }

    fn client_address(&self, _client: &str) -> Option<std::net::IpAddr> {
        None
    }
}

pub(crate) fn refusal(action: &'static str, node: &str, reason: &str) -> FaultError {
    FaultError::Node {
        action,
        node: node.to_owned(),
        reason: reason.to_owned(),
    }
}

impl FakeClient {
    fn new() -> Self {
        Self {
            state: ClientState::Running,
            commands: 0,
            dies_after: None,
            stalled: false,
            missed: 0,
            renewed: 0,
            thread_is_dead: false,
        }
    }

    fn send(&mut self) {
        match self.state {
            ClientState::Running => self.commands += 1,
            ClientState::DeathScheduled => {
                self.commands += 1;
                self.dies_after = self.dies_after.map(|left| left - 1);
                if self.dies_after == Some(0) {
                    self.state = ClientState::Dead;
                }
            }
            ClientState::Paused | ClientState::Dead => {}
        }
    }
}

impl Clients for Fake {
    fn names(&self) -> Vec<String> {
        self.books().clients.keys().cloned().collect()
    }

    fn state(&self, client: &str) -> Option<ClientState> {
        Some(self.books().clients.get(client)?.state)
    }

    fn commands(&self, client: &str) -> Option<u64> {
        let mut books = self.books();
        // A client that is paused in name only goes on sending.
        let restless = u64::from(books.inert.contains("stillness"));
        let client = books.clients.get_mut(client)?;
        client.commands += restless;
        Some(client.commands)
    }

    fn pause(&self, client: &str) -> Result<(), FaultError> {
        self.turn(client, "pause-client", ClientState::Paused);
        Ok(())
    }

    fn resume(&self, client: &str) -> Result<(), FaultError> {
        self.turn(client, "resume-client", ClientState::Running);
        Ok(())
    }

    fn stall_watchdog(&self, client: &str, stalled: bool) -> Result<(), FaultError> {
        let mut books = self.books();
        if !books.inert.contains("stall") {
            books.clients.get_mut(client).unwrap().stalled = stalled;
        }
        Ok(())
    }

    fn watchdog_is_stalled(&self, client: &str) -> Option<bool> {
        Some(self.books().clients.get(client)?.stalled)
    }

    fn renewals_missed(&self, client: &str) -> Option<u64> {
        Some(self.books().clients.get(client)?.missed)
    }

    fn renewals_sent(&self, client: &str) -> Option<u64> {
        Some(self.books().clients.get(client)?.renewed)
    }

    fn kill_thread(&self, client: &str) -> Result<(), FaultError> {
        let mut books = self.books();
        if !books.inert.contains("kill-thread") {
            books.clients.get_mut(client).unwrap().thread_is_dead = true;
        }
        Ok(())
    }

    fn thread_is_dead(&self, client: &str) -> Option<bool> {
        Some(self.books().clients.get(client)?.thread_is_dead)
    }

    fn kill(&self, client: &str, after_commands: Option<u32>) -> Result<(), FaultError> {
        let state = match after_commands {
            Some(_) => ClientState::DeathScheduled,
            None => ClientState::Dead,
        };
        self.turn(client, "kill-client", state);
        self.books().clients.get_mut(client).unwrap().dies_after = after_commands;
        Ok(())
    }
}

impl Fake {
    fn turn(&self, client: &str, call: &str, state: ClientState) {
        let mut books = self.books();
        if !books.inert.contains(call) {
            books.clients.get_mut(client).unwrap().state = state;
        }
    }
}
