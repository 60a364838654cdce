//! One connection through a door: commands in, replies out.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use redis::{Cmd, Value, ValueCodec};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_util::codec::{Framed, FramedRead};
use tokio_util::sync::CancellationToken;

use super::commands::{Caller, pass};
use super::doors::Shared;
use super::frames::{Frames, without_prefix};
use super::peer::may_enter;
use super::upstream::{Entered, Upstream};

/// Answer to those who may not enter.
const STRANGER: &[u8] =
    b"-NOAUTH only processes of the user that runs Lockstorm may enter here\r\n";

/// Time that a server may take to carry out what it was sent before a connection was closed.
const SETTLES_WITHIN: Duration = Duration::from_secs(10);

/// A client that has come to a door.
pub struct Passage {
    /// State that all doors share.
    pub shared: Arc<Shared>,
    /// The server behind the door.
    pub upstream: Arc<Upstream>,
    /// Caller that came.
    pub caller: Caller,
    /// Where from.
    pub from: IpAddr,
    /// Cancelled when the doors close.
    pub closing: CancellationToken,
}

impl Passage {
    /// Lets commands and replies pass until either side has had enough, or the doors close; then
    /// both are told. By its end the server has carried out all that passed, or is noted as one
    /// that has not.
    pub async fn run(self, mut stream: TcpStream) -> io::Result<()> {
        let closing = self.closing.clone();
        let entered = tokio::select! {
            biased;
            () = closing.cancelled() => None,
            entered = self.enter(&mut stream) => entered?,
        };
        match entered {
            Some((wire, known)) => self.pass(stream, wire, known).await,
            None => Ok(()),
        }
    }

    /// The connection to the server; none for those who may not have one.
    async fn enter(&self, stream: &mut TcpStream) -> io::Result<Option<(Entered, Option<Known>)>> {
        stream.set_nodelay(true)?;
        let (here, there, caller) = (stream.local_addr()?, stream.peer_addr()?, self.caller);
        let asked = tokio::task::spawn_blocking(move || may_enter(here, there, caller));
        if !asked.await.unwrap_or(false) {
            stream.write_all(STRANGER).await?;
            return Ok(None);
        }
        let mut wire = self.upstream.enter().await.map_err(io::Error::other)?;
        let known = match self.caller {
            Caller::Client => {
                let id = wire.send(redis::cmd("CLIENT").arg("ID")).await;
                self.make_known(id.ok().as_ref())
            }
            Caller::Harness => None,
        };
        Ok(Some((wire, known)))
    }

    async fn pass(self, stream: TcpStream, wire: Entered, _known: Option<Known>) -> io::Result<()> {
        // Nothing was read beyond the replies: a server says nothing that it is not asked.
        let (up_read, mut up_write) = tokio::io::split(wire.into_stream());
        let mut replies = FramedRead::new(up_read, Frames);
        let (mut down_write, mut commands) = Framed::new(stream, ValueCodec::default()).split();
        let listens = AtomicBool::new(false);
        // Each way on its own, or both sides could wait for the other to read.
        let inward = async {
            while let Some(command) = commands.next().await {
                let words = words_of(command.map_err(io::Error::other)?)?;
                let is_own = |id: &[u8]| self.is_own(id);
                let passing = pass(words, &self.shared.rules, self.caller, is_own);
                if passing.subscribes {
                    listens.store(true, Ordering::Relaxed);
                }
                self.shared.keys.add(passing.keys);
                up_write.write_all(&packed(&passing.words)).await?;
                up_write.flush().await?;
            }
            Ok(())
        };
        let outward = async {
            while let Some(reply) = replies.next().await {
                let mut reply = reply?;
                if listens.load(Ordering::Relaxed) {
                    reply = without_prefix(reply, &self.shared.rules.prefix);
                }
                let sent = down_write.send(reply.to_vec()).await;
                sent.map_err(io::Error::other)?;
            }
            Ok(())
        };
        let ended = tokio::select! {
            ended = inward => ended,
            // The server has closed it: nothing is under way.
            ended = outward => return ended,
            () = self.closing.cancelled() => Ok(()),
        };
        drop((down_write, commands));
        let settled = timeout(SETTLES_WITHIN, settle(&mut up_write, &mut replies)).await;
        if settled.is_err() {
            self.shared.note_unsettled(&self.upstream.name);
        }
        ended
    }

    /// Tells whether a connection is one of this run's clients, by the server's id.
    fn is_own(&self, id: &[u8]) -> bool {
        let Ok(id) = std::str::from_utf8(id) else {
            return false;
        };
        let connection = (self.upstream.name.clone(), id.to_owned());
        self.shared.connections().contains_key(&connection)
    }

    /// Remembers the connection by the server's id, for as long as it lives.
    fn make_known(&self, id: Option<&Value>) -> Option<Known> {
        let Some(Value::Int(id)) = id else {
            // The user may not ask for it: then its connections cannot be told from others'.
            return None;
        };
        let connection = (self.upstream.name.clone(), id.to_string());
        self.shared
            .connections()
            .insert(connection.clone(), self.from);
        Some(Known {
            shared: Arc::clone(&self.shared),
            connection,
        })
    }
}

/// Sends nothing more, and hears the server out: it closes a connection when it has carried out
/// all that came over it. Whoever removes keys after that removes what these commands made.
async fn settle(
    writer: &mut (impl AsyncWrite + Unpin),
    replies: &mut FramedRead<impl AsyncRead + Unpin, Frames>,
) {
    // Where it fails, the connection is closed already.
    if writer.shutdown().await.is_ok() {
        while let Some(Ok(_)) = replies.next().await {}
    }
}

/// A connection that is known as long as it lives.
struct Known {
    shared: Arc<Shared>,
    connection: (String, String),
}

impl Drop for Known {
    fn drop(&mut self) {
        self.shared.connections().remove(&self.connection);
    }
}

/// The words of a command, which is a list of strings.
fn words_of(command: Value) -> io::Result<Vec<Vec<u8>>> {
    let odd = || io::Error::other("a command is a list of strings");
    let Value::Array(words) = command else {
        return Err(odd());
    };
    let word = |word| match word {
        Value::BulkString(bytes) => Ok(bytes),
        _ => Err(odd()),
    };
    words.into_iter().map(word).collect()
}

fn packed(words: &[Vec<u8>]) -> Vec<u8> {
    let mut command = Cmd::new();
    for word in words {
        command.arg(word);
    }
    command.get_packed_command()
}
