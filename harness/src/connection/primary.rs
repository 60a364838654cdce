//! A connection to the one server that takes writes, wherever the client believes it to be.
//!
//! Nothing is sent twice: a command that fails has failed, and only the next one goes elsewhere.

use std::net::SocketAddr;
use std::sync::Arc;

use lockstorm_checker::history::Name;
use redis::{Cmd, Value};

use super::dialer::{CallError, Connection, Dialer};
use super::route::{Guide, Route};
use super::scan::SentinelScan;
use super::sentinels::Finder;
use super::shards::Shards;
use super::slot::{slot_of, slot_of_command};

/// One client's connection to the primary.
pub struct Primary {
    dialer: Dialer,
    route: Arc<Route>,
    connection: Connection,
    way: Way,
    /// Number of times that it turned to a server named by sentinels, be it another one or the same
    /// again.
    turns: u64,
}

/// Way in which it learns that another server takes writes.
enum Way {
    /// The route says so, in this version of it.
    Told(u64),
    /// It asks the sentinels.
    Asks(Asks),
    /// It finds the shard of each key, in a Cluster.
    Shards(Shards),
}

/// State that a client of sentinels remembers.
struct Asks {
    finder: Finder,
    /// Asks again every second, where its library does.
    scan: Option<SentinelScan>,
    /// Reason to doubt the server that it talks to, if there is one.
    doubt: Option<String>,
}

impl Primary {
    /// Not connected yet. It asks who is primary when it has no connection, or is told by the
    /// server that it is none.
    pub fn new(dialer: Dialer, route: Arc<Route>) -> Self {
        let (name, address) = first(&route);
        let way = match route.guide() {
            Guide::Told => Way::Told(route.version()),
            Guide::Shards(servers) => Way::Shards(Shards::new(dialer.clone(), servers.clone())),
            Guide::Sentinels(sentinels) => Way::Asks(Asks {
                finder: Finder::new(dialer.clone(), sentinels.clone()),
                scan: None,
                doubt: None,
            }),
        };
        Self {
            connection: Connection::new(dialer.clone(), &name, address),
            dialer,
            route,
            way,
            turns: 0,
        }
    }

    /// Makes it ask the sentinels every second besides, where it has any.
    #[must_use]
    pub fn scanning(mut self) -> Self {
        if let Way::Asks(asks) = &mut self.way {
            asks.scan = Some(SentinelScan::start(&self.dialer, asks.finder.sentinels()));
        }
        self
    }

    /// Sends one command.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn call(&mut self, command: &Cmd) -> Result<Value, CallError> {
        self.call_beside(command, command).await
    }

    /// Sends one command to where `beside` would go: for one that names no key.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn call_beside(&mut self, command: &Cmd, beside: &Cmd) -> Result<Value, CallError> {
        if let Way::Shards(shards) = &mut self.way {
            let mut replies = shards.call(&[command], beside).await?;
            return replies.pop().expect("a reply for each command");
        }
        self.follow().await?;
        let result = self.connection.call(command).await;
        self.doubt_after(&result);
        result
    }

    /// Sends two commands in one go, on one connection.
    ///
    /// # Errors
    /// See [`Connection::call_both`].
    pub async fn call_both(
        &mut self,
        commands: [&Cmd; 2],
    ) -> Result<[Result<Value, CallError>; 2], CallError> {
        if let Way::Shards(shards) = &mut self.way {
            let mut replies = shards.call(&commands, commands[0]).await?.into_iter();
            let mut next = || replies.next().expect("a reply for each command");
            return Ok([next(), next()]);
        }
        self.follow().await?;
        let results = self.connection.call_both(commands).await;
        for result in results.iter().flatten() {
            self.doubt_after(result);
        }
        results
    }

    /// Tells whether the last command found a connection, where it goes to one server that is
    /// named; always `true` in a Cluster.
    pub const fn was_sent(&self) -> bool {
        match &self.way {
            Way::Told(_) | Way::Asks(_) => self.connection.was_sent(),
            Way::Shards(_) => true,
        }
    }

    /// From here on, uses a new connection to one server only once that has answered a PING on it.
    pub const fn greet(&mut self) {
        self.connection.greet();
    }

    /// Opens the connection to one server, if it is not open. Those to shards are opened when they
    /// are needed: it learns who leads which slots.
    pub async fn connect(&mut self) {
        if let Way::Shards(shards) = &mut self.way {
            shards.connect().await;
        } else if self.follow().await.is_ok() {
            self.connection.connect().await;
        }
    }

    /// Drops a connection that the server has closed.
    pub fn drop_closed(&mut self) {
        self.connection.drop_closed();
    }

    /// Drops the connections on which a reply is late.
    pub fn drop_late(&mut self) {
        match &mut self.way {
            Way::Told(_) | Way::Asks(_) => self.connection.drop_late(),
            Way::Shards(shards) => shards.drop_late(),
        }
    }

    /// The server that the last command went to.
    pub fn asked(&self) -> Option<Name> {
        match &self.way {
            Way::Told(_) | Way::Asks(_) => Some(self.connection.shared_name()),
            Way::Shards(shards) => shards.asked(),
        }
    }

    /// Returns the address that writes of `key` go to now, as far as the client knows.
    pub fn address(&self, key: &str) -> SocketAddr {
        self.address_of(Some(slot_of(key.as_bytes())))
    }

    /// Returns the address that `command` goes to now, as far as the client knows, and a number
    /// that changes when another server takes writes.
    pub fn place_of(&self, command: &Cmd) -> (SocketAddr, u64) {
        let version = match &self.way {
            Way::Told(_) => self.route.version(),
            Way::Asks(_) => self.turns,
            Way::Shards(shards) => shards.version(),
        };
        (self.address_of(slot_of_command(command)), version)
    }

    /// The slot of the key of `command`, where keys are spread over shards.
    pub fn slot_of(&self, command: &Cmd) -> Option<u16> {
        slot_of_command(command).filter(|_| self.is_sharded())
    }

    /// Tells whether keys are spread over shards.
    pub const fn is_sharded(&self) -> bool {
        matches!(self.way, Way::Shards(_))
    }

    fn address_of(&self, slot: Option<u16>) -> SocketAddr {
        match &self.way {
            Way::Told(_) => first(&self.route).1,
            Way::Asks(_) => self.connection.address(),
            Way::Shards(shards) => shards.address(slot),
        }
    }

    /// Turns to another server where the client has learned of one.
    async fn follow(&mut self) -> Result<(), CallError> {
        // A paused client must not learn of a promotion, and then use what it knew before.
        self.dialer.gate.pass().await?;
        match &mut self.way {
            Way::Told(known) => {
                let version = self.route.version();
                if version != *known {
                    *known = version;
                    let (name, address) = first(&self.route);
                    self.connection.turn(&name, address, "promoted".to_owned());
                }
                Ok(())
            }
            Way::Asks(asks) => {
                if asks.turn(&mut self.connection).await? {
                    self.turns += 1;
                }
                Ok(())
            }
            Way::Shards(_) => Ok(()),
        }
    }

    /// A server that takes no writes is the wrong one.
    fn doubt_after(&mut self, result: &Result<Value, CallError>) {
        if let (Way::Asks(asks), Err(CallError::Failed(text))) = (&mut self.way, result)
            && text.contains(READONLY)
        {
            asks.doubt = Some(format!("{} is read-only", self.connection.name()));
        }
    }
}

/// Word with which a replica refuses a write.
const READONLY: &str = "READONLY";

/// Reason why a client that asks every second turns to another server.
const SCANNED: &str = "it asks every second";

impl Asks {
    /// Finds a primary if there is reason to look for one; whether `connection` goes there now.
    async fn turn(&mut self, connection: &mut Connection) -> Result<bool, CallError> {
        let seen = self.scan.as_ref().and_then(SentinelScan::take);
        let elsewhere = seen.filter(|named| named.address != connection.address());
        let (found, reason) = if let Some(named) = elsewhere {
            // Whatever comes of it: the server so far is primary no more.
            let reason = self.doubt.insert(SCANNED.to_owned()).clone();
            let found = self.finder.greet(named.address, named.by).await?;
            (found, reason)
        } else if let Some(doubt) = self.doubt.clone() {
            (self.finder.find().await?, doubt)
        } else if connection.is_open() {
            return Ok(false);
        } else {
            let reason = connection.why().to_owned();
            (self.finder.find().await?, reason)
        };
        self.doubt = None;
        let why = format!("{reason}; {} names it", found.by);
        connection
            .turn_over(&found.name, found.address, why, found.wire)
            .await;
        Ok(true)
    }
}

fn first(route: &Route) -> (String, SocketAddr) {
    let first = route.nodes().into_iter().next();
    first.expect("a route has at least one node")
}
