//! One connection through a door: commands in, replies out.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::{SinkExt as _, StreamExt as _};
use redis::{Cmd, Value, ValueCodec};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio_util::codec::{Framed, FramedRead};

use super::commands::{Caller, pass};
use super::doors::Shared;
use super::frames::{Frames, without_prefix};
use super::peer::may_enter;
use super::upstream::Upstream;

/// What is said to those who may not enter.
const STRANGER: &[u8] =
    b"-NOAUTH only processes of the user that runs Lockstorm may enter here\r\n";

/// A client that has come to a door.
pub struct Passage {
    /// What all doors share.
    pub shared: Arc<Shared>,
    /// The server behind the door.
    pub upstream: Arc<Upstream>,
    /// Who came.
    pub caller: Caller,
    /// Where from.
    pub from: IpAddr,
}

impl Passage {
    /// Lets commands and replies pass until either side has had enough; then both are told.
    pub async fn run(self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let (here, there, caller) = (stream.local_addr()?, stream.peer_addr()?, self.caller);
        let asked = tokio::task::spawn_blocking(move || may_enter(here, there, caller));
        if !asked.await.unwrap_or(false) {
            return stream.write_all(STRANGER).await;
        }
        let mut wire = self.upstream.enter().await.map_err(io::Error::other)?;
        let _known = match self.caller {
            Caller::Client => {
                let id = wire.send(redis::cmd("CLIENT").arg("ID")).await;
                self.make_known(id.ok().as_ref())
            }
            Caller::Harness => None,
        };
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
        tokio::select! {
            ended = inward => ended,
            ended = outward => ended,
        }
    }

    /// Whether a connection is one of this run's clients, by the server's id.
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
