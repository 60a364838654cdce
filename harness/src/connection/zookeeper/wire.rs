//! A connection to one member of ZooKeeper, by which a client goes on with its session.
//!
//! Source: the classes `ClientCnxn` and `ZooDefs` of ZooKeeper's Java client, version 3.8.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use futures_util::{FutureExt as _, SinkExt as _, StreamExt as _};
use tokio::net::TcpStream;
use tokio_util::bytes::{Bytes, BytesMut};
use tokio_util::codec::{Framed, LengthDelimitedCodec};

use super::jute::{Reader, Writer};
use crate::connection::stream::connect;

/// Bytes of the password of a session.
const PASSWORD: usize = 16;
/// Greatest frame that a member sends by default, `jute.maxbuffer`.
const FRAME_MAX: usize = 1 << 20;
/// Number of an answer that nobody asked for: something that is watched has changed.
const WATCHED: i32 = -1;
/// Number of a ping, and of the answer to it.
const PING: i32 = -2;

const CLOSED: &str = "the server closed the connection";
const ODD: &str = "the server sent a message that makes no sense";

/// A client's standing with the members, which outlasts a connection to one of them.
#[derive(Clone, Debug)]
pub struct Session {
    /// Number that the members gave to it; 0 before they did.
    pub id: i64,
    /// Time for which the members keep it when they do not hear of the client.
    pub lives: Duration,
    password: Vec<u8>,
    /// The latest change that the client has seen: no member serves it that is behind that.
    seen: i64,
}

impl Session {
    /// A session that is asked for.
    pub fn new(lives: Duration) -> Self {
        Self {
            id: 0,
            lives,
            password: vec![0; PASSWORD],
            seen: 0,
        }
    }
}

/// Request to a member.
#[derive(Clone, Copy, Debug)]
pub enum Request<'a> {
    /// Creates a node that stays.
    Create(&'a str),
    /// Creates a node that goes with the session; its name is this with a number of ten digits,
    /// greater than all before below the same parent.
    CreateInLine(&'a str),
    /// Deletes a node without children.
    Delete(&'a str),
    /// Tells whether a node is there, and tells once when that changes.
    Watch(&'a str),
    /// Names the children of a node.
    Children(&'a str),
    /// Has the member learn all that the leader knows before it answers.
    Sync(&'a str),
    /// Keeps the session alive.
    Ping,
    /// Ends the session: all nodes that go with it are gone.
    Close,
}

/// Answer to a request.
#[derive(Clone, Debug)]
pub enum Reply {
    /// It is done; how it is to be read depends on the request.
    Done(Bytes),
    /// There is no such node.
    NoNode,
    /// There is such a node.
    NodeExists,
    /// The session has ended, and nothing was done.
    Ended,
    /// Any other error, by its number.
    Other(i32),
}

/// An open connection. One that gave no answer is of no more use, and is to be dropped.
pub struct Wire {
    frames: Framed<TcpStream, LengthDelimitedCodec>,
    /// Number of the last request.
    number: i32,
    /// Nodes of which a change was told that nobody has waited for yet.
    told: Vec<String>,
}

impl Request<'_> {
    /// Its kind by ZooKeeper's number, and what follows that.
    fn parts(self) -> (i32, Writer) {
        const TO_ALL: i32 = 31;
        const EPHEMERAL_SEQUENTIAL: i32 = 3;
        let create = |path: &str, flags: i32| {
            let body = Writer::default().bytes(path).bytes("");
            let body = body.int(1).int(TO_ALL).bytes("world").bytes("anyone");
            // The second kind of create, whose answer tells the change that made the node.
            (15, body.int(flags))
        };
        let empty = Writer::default();
        match self {
            Self::Create(path) => create(path, 0),
            Self::CreateInLine(path) => create(path, EPHEMERAL_SEQUENTIAL),
            // Whatever its version is.
            Self::Delete(path) => (2, empty.bytes(path).int(-1)),
            Self::Watch(path) => (3, empty.bytes(path).flag(true)),
            Self::Children(path) => (8, empty.bytes(path).flag(false)),
            Self::Sync(path) => (9, empty.bytes(path)),
            Self::Ping => (11, empty),
            Self::Close => (-11, empty),
        }
    }
}

impl Wire {
    /// Connects to the member at `address`, from `source` if that is said, and goes on with
    /// `session` or begins it; `None` where the session has ended.
    ///
    /// # Errors
    /// In words, why there is no connection; a member that has no leader closes it.
    pub async fn open(
        source: Option<IpAddr>,
        address: SocketAddr,
        session: &mut Session,
    ) -> Result<Option<Self>, String> {
        let stream = connect(source, address)
            .await
            .map_err(|error| format!("no connection to {address}: {error}"))?;
        let codec = LengthDelimitedCodec::builder()
            .max_frame_length(FRAME_MAX)
            .new_codec();
        let mut wire = Self {
            frames: Framed::new(stream, codec),
            number: 0,
            told: Vec::new(),
        };
        let hello = Writer::default()
            .int(0)
            .long(session.seen)
            .int(session.lives.as_millis() as i32)
            .long(session.id)
            .bytes(&session.password)
            .flag(false);
        wire.send(hello).await?;
        let answer = wire.next().await?;
        let mut answer = Reader(&answer);
        let read = (answer.int(), answer.int(), answer.long(), answer.bytes());
        let (Some(_), Some(lives), Some(id), Some(password)) = read else {
            return Err(ODD.to_owned());
        };
        // A session that is over lives for no time.
        match u64::try_from(lives) {
            Ok(lives) if lives > 0 => {
                session.id = id;
                session.lives = Duration::from_millis(lives);
                session.password = password.to_vec();
                Ok(Some(wire))
            }
            Ok(_) | Err(_) => Ok(None),
        }
    }

    /// Sends one request and waits for its answer.
    ///
    /// # Errors
    /// In words, why there is none.
    pub async fn ask(
        &mut self,
        session: &mut Session,
        request: Request<'_>,
    ) -> Result<Reply, String> {
        let (kind, body) = request.parts();
        let number = if let Request::Ping = request {
            PING
        } else {
            self.number = self.number.wrapping_add(1).max(1);
            self.number
        };
        let head = Writer::default().int(number).int(kind).done();
        let mut message = BytesMut::from(&*head);
        message.extend_from_slice(&body.done());
        self.frames
            .send(message.freeze())
            .await
            .map_err(|error| error.to_string())?;
        loop {
            let frame = self.next().await?;
            let mut reader = Reader(&frame);
            let read = (reader.int(), reader.long(), reader.int());
            let (Some(answered), Some(seen), Some(code)) = read else {
                return Err(ODD.to_owned());
            };
            if answered == WATCHED {
                self.told.extend(changed(reader));
                continue;
            }
            if answered != number {
                return Err(ODD.to_owned());
            }
            session.seen = session.seen.max(seen);
            let rest = frame.slice(frame.len() - reader.0.len()..);
            return Ok(reply(code, rest));
        }
    }

    /// Waits until a change of a watched node is told.
    ///
    /// # Errors
    /// In words, why nothing will be told any more.
    pub async fn told(&mut self, path: &str) -> Result<(), String> {
        loop {
            if let Some(at) = self.told.iter().position(|told| told == path) {
                self.told.swap_remove(at);
                return Ok(());
            }
            let frame = self.next().await?;
            let mut reader = Reader(&frame);
            let head = (reader.int(), reader.long(), reader.int());
            match head {
                (Some(WATCHED), Some(_), Some(_)) => self.told.extend(changed(reader)),
                _ => return Err(ODD.to_owned()),
            }
        }
    }

    /// Tells whether the member has closed it, as far as that has come here.
    pub fn is_closed(&mut self) -> bool {
        while let Some(come) = self.frames.next().now_or_never() {
            let Some(Ok(frame)) = come else {
                return true;
            };
            let mut reader = Reader(&frame);
            // A late answer is to nobody's question: the rest cannot be trusted either.
            if (reader.int(), reader.long(), reader.int()).0 != Some(WATCHED) {
                return true;
            }
            self.told.extend(changed(reader));
        }
        false
    }

    async fn send(&mut self, message: Writer) -> Result<(), String> {
        let message = Bytes::from(message.done());
        self.frames
            .send(message)
            .await
            .map_err(|error| error.to_string())
    }

    /// The next message; nothing of it is lost where the wait for it is given up.
    async fn next(&mut self) -> Result<Bytes, String> {
        match self.frames.next().await {
            Some(Ok(frame)) => Ok(frame.freeze()),
            Some(Err(error)) => Err(error.to_string()),
            None => Err(CLOSED.to_owned()),
        }
    }
}

/// The node that has changed: what follows the head of such a message is the kind of the change and
/// the state of the session, then the node.
fn changed(mut message: Reader<'_>) -> Option<String> {
    message.int()?;
    message.int()?;
    message.text()
}

/// An answer by its number, as `KeeperException.Code` gives them.
fn reply(code: i32, rest: Bytes) -> Reply {
    match code {
        0 => Reply::Done(rest),
        -101 => Reply::NoNode,
        -110 => Reply::NodeExists,
        -112 => Reply::Ended,
        other => Reply::Other(other),
    }
}
