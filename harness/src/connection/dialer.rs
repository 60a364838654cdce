//! A client's connection to one node: opened when first needed, closed when it disappoints.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use lockstorm_checker::history::{Name, RouteNote};
use redis::{Arg, Cmd, Value};
use tokio::time::{Instant, timeout, timeout_at};

use super::gate::{CLIENT_KILLED, Gate, Killed};
use super::stream::connect;
use super::trail::Trail;
use super::wire::{Wire, WireError};

/// Settings that a client needs to open connections.
#[derive(Clone)]
pub struct Dialer {
    /// Source address: by it the fabric knows who calls.
    pub source: IpAddr,
    /// Passed by every command.
    pub gate: Arc<Gate>,
    /// Time to wait for a connection together with a reply.
    pub reply_timeout: Duration,
    /// Time that several commands in one go may take beyond that: WAIT answers only when its own
    /// time is over.
    pub batch_timeout: Duration,
    /// Treatment of a connection on which a reply is late.
    pub late: LateReply,
    /// Told of every connection that is opened for commands.
    pub trail: Arc<dyn Trail>,
    /// The commands that the lock says it sends, by which users of servers of somebody else are
    /// tried out; empty where nothing is said. A debug build holds the lock to it.
    pub commands: &'static [&'static str],
}

/// Treatment of a connection on which a reply is late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LateReply {
    /// It closes it, and opens another.
    Closes,
    /// It uses it again, and waits for that reply first: as in a pool that gives out what came back
    /// last.
    WaitsBehind,
    /// It takes another that is open already: as in a pool that gives out one after the other.
    TakesSpare,
}

/// Spare connections of a client that [takes one](LateReply::TakesSpare): one for each time that a
/// library sends a command again.
const SPARES: usize = 3;

/// Commands by which a client finds its way, whatever its lock sends.
const OF_THE_WAY: [&str; 4] = ["ASKING", "CLUSTER", "PING", "ROLE"];

/// A connection of one client to one node.
pub struct Connection {
    dialer: Dialer,
    name: Name,
    address: SocketAddr,
    wire: Option<Wire>,
    /// Connections that are open, and were not used yet.
    spares: Vec<Wire>,
    /// `true` if a new connection is used only once the server has answered a PING on it.
    greets: bool,
    /// `true` if the last command found a connection, or a way on which nothing is heard.
    sent: bool,
    /// Node that commands went to so far, if they did; then the reason why they go elsewhere, or to
    /// it over a new connection.
    was_at: Option<Name>,
    why: String,
}

/// Reason given for a connection that there was no reason to open before.
const FIRST_USE: &str = "first use";

/// Outcome of a command that has no reply to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallError {
    /// The server refused to execute it: it certainly had no effect.
    Failed(String),
    /// Nobody knows: it may have an effect, now or later.
    Unknown(String),
    /// The client died waiting.
    Killed,
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(why) | Self::Unknown(why) => f.write_str(why),
            Self::Killed => f.write_str(CLIENT_KILLED),
        }
    }
}

impl From<Killed> for CallError {
    fn from(_: Killed) -> Self {
        Self::Killed
    }
}

impl From<WireError> for CallError {
    fn from(error: WireError) -> Self {
        match error {
            WireError::Server(text) => Self::Failed(text),
            WireError::Lost(text) => Self::Unknown(text),
        }
    }
}

impl Connection {
    /// A connection to the node `name` at `address`, not opened yet.
    pub fn new(dialer: Dialer, name: &str, address: SocketAddr) -> Self {
        Self {
            dialer,
            name: name.into(),
            address,
            wire: None,
            spares: Vec::new(),
            greets: false,
            sent: false,
            was_at: None,
            why: FIRST_USE.to_owned(),
        }
    }

    /// Turns to another node, or to the same again, because of `why`. The connection to it is
    /// opened when first needed.
    pub fn turn(&mut self, name: &str, address: SocketAddr, why: String) {
        self.name = name.into();
        self.address = address;
        self.wire = None;
        self.spares.clear();
        self.why = why;
    }

    /// Turns to a node because of `why`, over a connection that is open already.
    pub async fn turn_over(&mut self, name: &str, address: SocketAddr, why: String, wire: Wire) {
        self.turn(name, address, why);
        self.arrive().await;
        self.wire = Some(wire);
    }

    /// Name of the node.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the name of the node, without a copy of its text.
    pub fn shared_name(&self) -> Name {
        Name::clone(&self.name)
    }

    /// Returns the address of the node.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Tells whether there is a connection that has not failed yet.
    pub const fn is_open(&self) -> bool {
        self.wire.is_some()
    }

    /// From here on, uses a new connection only once the server has answered a PING on it.
    pub const fn greet(&mut self) {
        self.greets = true;
    }

    /// Tells whether the last command was sent, as far as a client with several connections knows:
    /// over a way on which nothing is heard it has another open one. Where there is none to be had
    /// it certainly had no effect.
    pub const fn was_sent(&self) -> bool {
        self.sent
    }

    /// Drops a connection that the server has closed, as a library does that hears of it at once.
    pub fn drop_closed(&mut self) {
        if self.wire.as_ref().is_some_and(Wire::is_closed) {
            self.wire = None;
            "the server closed the connection".clone_into(&mut self.why);
        }
    }

    /// Drops a connection on which a reply is late.
    pub fn drop_late(&mut self) {
        if self.wire.as_ref().is_some_and(Wire::is_late) {
            self.wire = None;
        }
    }

    /// Returns the reason why there is no connection, or why there was none before this one.
    pub fn why(&self) -> &str {
        &self.why
    }

    /// Writes down that commands go to this node from here on.
    async fn arrive(&mut self) {
        let to = Name::clone(&self.name);
        let note = RouteNote {
            from: self.was_at.replace(Name::clone(&to)),
            to,
            why: self.why.as_str().into(),
        };
        self.dialer.trail.routed(note).await;
    }

    /// Sends two commands in one go, the second as soon as the first and on the same connection,
    /// as WAIT asks for; nothing is ever sent twice.
    ///
    /// # Errors
    /// See [`CallError`]; the outer one tells that there is no reply to the second.
    pub async fn call_both(
        &mut self,
        commands: [&Cmd; 2],
    ) -> Result<[Result<Value, CallError>; 2], CallError> {
        let mut replies = self.call_all(&commands).await?.into_iter();
        let mut next = || replies.next().expect("as many replies as commands");
        Ok([next(), next()])
    }

    /// Sends commands in one go, one after the other on the same connection; nothing is ever sent
    /// twice. Gives as many replies.
    ///
    /// # Errors
    /// See [`CallError`]; the outer one tells that some have no reply.
    pub async fn call_all(
        &mut self,
        commands: &[&Cmd],
    ) -> Result<Vec<Result<Value, CallError>>, CallError> {
        self.dialer.gate.pass().await?;
        let within = self.dialer.time_for(commands.len());
        let result = self.exchange(commands, within).await;
        match &result {
            Ok(_) => self.dialer.gate.count_reply(),
            Err(error) => self.why = error.to_string(),
        }
        if let Err(killed) = self.dialer.gate.pass().await {
            self.wire = None;
            return Err(killed.into());
        }
        let replies = result?.into_iter();
        Ok(replies
            .map(|reply| reply.map_err(CallError::from))
            .collect())
    }

    /// Sends one command; nothing is ever sent twice.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn call(&mut self, command: &Cmd) -> Result<Value, CallError> {
        let mut replies = self.call_all(&[command]).await?;
        replies.pop().expect("as many replies as commands")
    }

    /// Opens the connection, if it is not open, and spare ones where the client takes those. Where
    /// that fails, the next command tries again.
    pub async fn connect(&mut self) {
        let within = self.dialer.reply_timeout;
        if let Ok(Ok(wire)) = timeout(within, self.take_wire()).await {
            self.wire = Some(wire);
        }
        if self.dialer.late == LateReply::TakesSpare {
            while self.spares.len() < SPARES
                && let Ok(Ok(spare)) = timeout(within, self.open()).await
            {
                self.spares.push(spare);
            }
        }
    }

    /// Sends commands, and waits for their replies within this time. A connection that gave none is
    /// closed, unless it is to be used again behind them: a late reply must not be taken for that
    /// of a later command.
    async fn exchange(
        &mut self,
        commands: &[&Cmd],
        within: Duration,
    ) -> Result<Vec<Result<Value, WireError>>, WireError> {
        let until = Instant::now() + within;
        let Ok(taken) = timeout_at(until, self.take_wire()).await else {
            self.sent = true;
            return Err(late(within));
        };
        let mut wire = taken?;
        let spoken = timeout_at(until, self.dialer.speak(&mut wire, commands)).await;
        let is_kept = match &spoken {
            Ok(replies) => replies.is_ok(),
            Err(_) => self.dialer.late == LateReply::WaitsBehind,
        };
        if is_kept {
            self.wire = Some(wire);
        }
        spoken.unwrap_or_else(|_| Err(late(within)))
    }

    /// The open connection, or a spare or new one. It is put back only with all its replies read,
    /// or to wait for them: an exchange that is given up half-way closes the connection.
    async fn take_wire(&mut self) -> Result<Wire, WireError> {
        self.sent = false;
        let wire = if let Some(wire) = self.wire.take() {
            wire
        } else if let Some(spare) = self.take_spare() {
            self.arrive().await;
            spare
        } else {
            let wire = self.open().await?;
            self.arrive().await;
            wire
        };
        self.sent = true;
        Ok(wire)
    }

    /// A new connection, which the server has answered on if it is to be greeted.
    async fn open(&self) -> Result<Wire, WireError> {
        let mut wire = self.dialer.dial(self.address).await?;
        if self.greets {
            wire.send(&redis::cmd("PING")).await?;
        }
        Ok(wire)
    }

    /// A spare connection that the server has not closed.
    fn take_spare(&mut self) -> Option<Wire> {
        std::iter::from_fn(|| self.spares.pop()).find(|spare| !spare.is_closed())
    }
}

impl Dialer {
    /// Time to wait for the replies to so many commands in one go.
    pub fn time_for(&self, commands: usize) -> Duration {
        match commands {
            0 | 1 => self.reply_timeout,
            _ => self.reply_timeout + self.batch_timeout,
        }
    }

    /// Stops a debug build where a lock sends a command that the table of locks does not say of it:
    /// users who grant what the table says could not use the lock.
    fn hold_to_table(&self, command: &Cmd) {
        if cfg!(debug_assertions) && !self.commands.is_empty() {
            for name in named(command) {
                let known = self.commands.contains(&&*name) || OF_THE_WAY.contains(&&*name);
                assert!(
                    known,
                    "the table of locks does not say that this one sends {name}"
                );
            }
        }
    }

    /// Sends commands over a connection, one after the other, and gives as many replies.
    async fn speak(
        &self,
        wire: &mut Wire,
        commands: &[&Cmd],
    ) -> Result<Vec<Result<Value, WireError>>, WireError> {
        self.gate.count_command();
        for command in commands {
            self.hold_to_table(command);
            wire.write(command).await?;
        }
        wire.skip_late(commands.len()).await?;
        let mut replies = Vec::with_capacity(commands.len());
        for _ in commands {
            match wire.read().await {
                Err(WireError::Lost(text)) => return Err(WireError::Lost(text)),
                reply => replies.push(reply),
            }
        }
        Ok(replies)
    }

    /// Opens a connection to `address` from the client's own address.
    ///
    /// # Errors
    /// [`WireError::Lost`] when nobody answers.
    pub async fn dial(&self, address: SocketAddr) -> Result<Wire, WireError> {
        let lost =
            |error: std::io::Error| WireError::Lost(format!("no connection to {address}: {error}"));
        let stream = connect(Some(self.source), address).await;
        Ok(Wire::new(stream.map_err(lost)?))
    }
}

/// The name of a command, and those of the commands that its script calls.
fn named(command: &Cmd) -> Vec<String> {
    let texts = command.args_iter().filter_map(|arg| match arg {
        Arg::Simple(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        _ => None,
    });
    let texts: Vec<String> = texts.take(2).collect();
    let mut names: Vec<String> = texts
        .iter()
        .take(1)
        .map(|name| name.to_uppercase())
        .collect();
    if let ([name], Some(script)) = (&*names, texts.get(1))
        && name == "EVAL"
    {
        let calls = script.split("redis.call('").skip(1);
        let calls = calls.filter_map(|rest| rest.split('\'').next());
        names.extend(calls.map(str::to_uppercase).collect::<Vec<_>>());
    }
    names
}

fn late(within: Duration) -> WireError {
    WireError::Lost(format!("no reply within {} ms", within.as_millis()))
}
