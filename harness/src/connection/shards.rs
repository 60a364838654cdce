//! A client's way through a Cluster: to the shard of each key, and after it when it moves.
//!
//! Source: the Redis Cluster specification, "Clients first connection and handling of
//! redirections". A client is configured with all servers, asks one of them who leads which slots,
//! and believes it until a redirection or a silence says otherwise. A redirection means that the
//! command was not executed: it is sent again where the server says, and the history tells of it.
//! Nothing else is ever sent twice: a command that fails has failed.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use lockstorm_checker::history::{Name, RouteNote};
use redis::{Cmd, Value};
use tokio::time::timeout;

use super::dialer::{CallError, Connection, Dialer};
use super::redirect::Redirect;
use super::slot::slot_of_command;
use super::slot_map::SlotMap;
use super::wire::WireError;

/// Redirections that one command follows, as in Redis' own clients; a Cluster in order needs two.
const REDIRECTS_MAX: usize = 5;
/// Servers that are asked, one after the other, who leads which slots: more than one may be gone,
/// and a client that asks forever does not come to its command.
const ASKED_MAX: usize = 3;
/// Word with which a server refuses when it finds the Cluster broken.
const CLUSTERDOWN: &str = "CLUSTERDOWN";

/// One client's connections to the servers of a Cluster.
pub struct Shards {
    dialer: Dialer,
    /// Names and public addresses of all servers.
    servers: Vec<(String, SocketAddr)>,
    map: Option<SlotMap>,
    connections: BTreeMap<SocketAddr, Connection>,
    /// The server that the last command went to.
    asked: Option<Name>,
    /// Index of the server that is asked next, modulo their number.
    next: usize,
    /// Reason to doubt the map, if there is one.
    doubt: Option<Doubt>,
    /// Number of times that it learned who leads which slots.
    lessons: u64,
}

/// A server was not what the client believed it to be.
struct Doubt {
    at: Option<SocketAddr>,
    why: String,
}

/// Replies to several commands sent in one go.
type Replies = Vec<Result<Value, CallError>>;

impl Shards {
    /// Knows only where the servers are.
    pub const fn new(dialer: Dialer, servers: Vec<(String, SocketAddr)>) -> Self {
        Self {
            dialer,
            servers,
            map: None,
            connections: BTreeMap::new(),
            asked: None,
            next: 0,
            doubt: None,
            lessons: 0,
        }
    }

    /// Learns who leads which slots. Where that fails, the first command tries again.
    pub async fn connect(&mut self) {
        let _ = self.learn().await;
    }

    /// Sends commands in one go to the shard of the first one's key, or of the key of `beside`.
    ///
    /// # Errors
    /// See [`CallError`]; the outer one tells that some have no reply.
    pub async fn call(&mut self, commands: &[&Cmd], beside: &Cmd) -> Result<Replies, CallError> {
        self.dialer.gate.pass().await?;
        let slot = slot_of_command(beside);
        let mut at = self.leader(slot).await?;
        let mut asking = false;
        for _ in 0..REDIRECTS_MAX {
            let replies = self.send(at, commands, asking).await?;
            let Some(redirect) = redirection(&replies) else {
                return Ok(replies);
            };
            self.follow(at, redirect).await?;
            (at, asking) = (redirect.to(), matches!(redirect, Redirect::Ask { .. }));
        }
        self.send(at, commands, asking).await
    }

    /// Returns the address of the server that leads the slot of a key, as far as the client knows.
    pub fn address(&self, slot: Option<u16>) -> SocketAddr {
        let known = self.map.as_ref().map(|map| map.leader(slot));
        known.unwrap_or(self.servers[0].1)
    }

    /// Drops the connections on which a reply is late.
    pub fn drop_late(&mut self) {
        for connection in self.connections.values_mut() {
            connection.drop_late();
        }
    }

    /// The server that the last command went to.
    pub fn asked(&self) -> Option<Name> {
        self.asked.clone()
    }

    /// Changes whenever the client learns who leads which slots.
    pub const fn version(&self) -> u64 {
        self.lessons
    }

    /// Sends commands to the server at `at`, which must take them even for a slot that it is about
    /// to lead when it is told that the client was `asking`.
    async fn send(
        &mut self,
        at: SocketAddr,
        commands: &[&Cmd],
        asking: bool,
    ) -> Result<Replies, CallError> {
        let ask = redis::cmd("ASKING");
        let all: Vec<&Cmd> = asking
            .then_some(&ask)
            .into_iter()
            .chain(commands.iter().copied())
            .collect();
        let name = self.name_of(at);
        let connection = self
            .connections
            .entry(at)
            .or_insert_with(|| Connection::new(self.dialer.clone(), &name, at));
        self.asked = Some(connection.shared_name());
        let mut replies = connection.call_all(&all).await;
        if let Ok(replies) = &mut replies {
            replies.drain(..usize::from(asking));
        }
        self.doubt_after(at, &replies);
        replies
    }

    /// A server that is silent, or finds the Cluster broken, may lead no more.
    fn doubt_after(&mut self, at: SocketAddr, replies: &Result<Replies, CallError>) {
        let why = match replies.as_deref() {
            Err(CallError::Unknown(text)) => text,
            Ok([Err(CallError::Failed(text)), ..]) if text.starts_with(CLUSTERDOWN) => text,
            Ok(_) | Err(CallError::Failed(_) | CallError::Killed) => return,
        };
        self.doubt = Some(Doubt {
            at: Some(at),
            why: why.clone(),
        });
        // Whoever is asked first next time, it is another.
        let place = self.servers.iter().position(|(_, known)| *known == at);
        self.next = place.map_or(0, |place| place + 1);
    }

    /// Learns from a redirection that `from` gave.
    async fn follow(&mut self, from: SocketAddr, redirect: Redirect) -> Result<(), CallError> {
        let to = redirect.to();
        let mut why = format!("{} by {}", redirect.word(), self.name_of(from));
        if let Redirect::Moved { slot, .. } = redirect {
            match self.learn_from(to).await {
                Ok(()) => why += "; it tells who leads what",
                Err(CallError::Killed) => return Err(CallError::Killed),
                Err(CallError::Failed(_) | CallError::Unknown(_)) => {
                    if let Some(map) = &mut self.map {
                        map.moved(slot, to);
                    }
                }
            }
        }
        self.note(Some(from), to, why).await;
        Ok(())
    }

    /// Returns the leader of `slot`: the one that is known, unless there is reason to ask.
    async fn leader(&mut self, slot: Option<u16>) -> Result<SocketAddr, CallError> {
        let doubt = match (&self.map, self.doubt.take()) {
            (Some(map), None) => return Ok(map.leader(slot)),
            (None, None) => Doubt {
                at: None,
                why: "first use".to_owned(),
            },
            (_, Some(doubt)) => doubt,
        };
        match (self.learn().await, &self.map) {
            (Ok(by), Some(map)) => {
                let leader = map.leader(slot);
                let why = format!("{}; {by} names it", doubt.why);
                self.note(doubt.at, leader, why).await;
                Ok(leader)
            }
            (Err(CallError::Killed), _) => Err(CallError::Killed),
            // Nobody knows better: it goes on by what it knows, and asks again next time.
            (_, Some(map)) => {
                let leader = map.leader(slot);
                self.doubt = Some(doubt);
                Ok(leader)
            }
            (Err(error), None) => Err(error),
            (Ok(_), None) => unreachable!("whoever has learned has a map"),
        }
    }

    /// Asks one server after the other who leads which slots; gives the name of who answered.
    async fn learn(&mut self) -> Result<String, CallError> {
        let mut last = CallError::Unknown("there are no servers".to_owned());
        for _ in 0..ASKED_MAX.min(self.servers.len()) {
            let (name, address) = self.servers[self.next % self.servers.len()].clone();
            match self.learn_from(address).await {
                Ok(()) => return Ok(name),
                Err(CallError::Killed) => return Err(CallError::Killed),
                Err(error) => last = error,
            }
            self.next += 1;
        }
        Err(last)
    }

    /// Asks the server at `address` who leads which slots, over a connection of its own.
    async fn learn_from(&mut self, address: SocketAddr) -> Result<(), CallError> {
        let within = self.dialer.reply_timeout;
        let asked = async {
            let mut wire = self.dialer.dial(address).await?;
            wire.send(redis::cmd("CLUSTER").arg("SLOTS")).await
        };
        let asked = timeout(within, asked).await.unwrap_or_else(|_| {
            let text = format!("no reply within {} ms", within.as_millis());
            Err(WireError::Lost(text))
        });
        self.dialer.gate.pass().await?;
        let name = self.name_of(address);
        let unknown =
            |why: &str| CallError::Unknown(format!("{name} does not tell who leads: {why}"));
        let reply = asked.map_err(|error| unknown(&error.to_string()))?;
        let map = SlotMap::read(&reply, address);
        self.map = Some(map.ok_or_else(|| unknown("its reply makes no sense"))?);
        self.lessons += 1;
        Ok(())
    }

    async fn note(&self, from: Option<SocketAddr>, to: SocketAddr, why: String) {
        let note = RouteNote {
            from: from.map(|from| self.name_of(from).into()),
            to: self.name_of(to).into(),
            why: why.into(),
        };
        self.dialer.trail.routed(note).await;
    }

    /// Returns the name of the server at `address`.
    fn name_of(&self, address: SocketAddr) -> String {
        let known = self.servers.iter().find(|(_, at)| *at == address);
        known.map_or_else(|| address.to_string(), |(name, _)| name.clone())
    }
}

/// The redirection that the first command was given, if it was given one.
fn redirection(replies: &Replies) -> Option<Redirect> {
    match replies.first() {
        Some(Err(CallError::Failed(text))) => Redirect::read(text),
        Some(Ok(_) | Err(CallError::Unknown(_) | CallError::Killed)) | None => None,
    }
}
