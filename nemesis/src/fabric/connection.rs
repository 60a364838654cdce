//! One connection through the fabric: admitted, forwarded, and carried in both directions.

use std::borrow::Cow;
use std::future::ready;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd as _;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use lockstorm_scenarios::Message;
use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, recv};
use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest, Ready};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::{sleep, timeout};

use super::gate::Gate;
use super::transit::{Load, Transit};
use crate::link::{Connection, Link};
use crate::messages::{Conversation, Ear};

/// Buffer of one direction of one connection. Redis replies are small; larger buffers gained
/// nothing for bulk copies over loopback and cost memory at thousands of connections.
const BUFFER_BYTES: usize = 16 * 1024;

/// Time that a server may take to accept. On loopback it answers at once unless its backlog is
/// full, and then the caller is better served by a reset than by silence.
const CONNECT_WITHIN: Duration = Duration::from_secs(10);

/// Interval at which a connection that a cut holds back asks whether its caller still waits.
const GIVEN_UP_EVERY: Duration = Duration::from_millis(100);

/// The two directed links that a connection uses, and what is said on it.
pub(super) struct Path {
    /// From the caller to the server.
    pub(super) there: Arc<Link>,
    /// From the server to the caller.
    pub(super) back: Arc<Link>,
    /// The messages on it, where they are read.
    pub(super) conversation: Option<Arc<Conversation>>,
}

impl Path {
    fn direction<'a>(&self, message: Message, talk: &'a Connection<'a>) -> Direction<'a> {
        let conversation = self.conversation.as_ref();
        Direction {
            message,
            talk,
            ear: conversation.map(|conversation| conversation.ear(message)),
        }
    }
}

/// Knowledge of one direction of a connection.
struct Direction<'a> {
    message: Message,
    talk: &'a Connection<'a>,
    /// Hears the messages, where they are read.
    ear: Option<Ear>,
}

impl Direction<'_> {
    /// So many bytes were read; none is the end.
    fn read(&self, size: usize) {
        match (self.message, size) {
            (Message::Request, 0) => self.talk.is_done(),
            (Message::Request, _) => self.talk.asks(),
            (Message::Reply, 0) => {}
            (Message::Reply, _) => self.talk.replies(),
        }
    }
}

/// The ends of a connection behind the fabric.
#[derive(Clone, Copy)]
pub(super) struct Route {
    /// Address that the server sees the caller come from.
    pub(super) from: IpAddr,
    /// Address of the server.
    pub(super) to: SocketAddr,
}

/// Way in which one direction of a connection ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// The source finished, and the destination was told so.
    Finished,
    /// The destination takes nothing any more. The source learns of it from the other direction,
    /// which may be cut.
    DestinationGone,
}

/// The connection is reset: by the source of one direction, or because a message is lost.
struct Broken;

/// Carries one accepted connection from its admission to its end.
pub(super) async fn carry(mut caller: TcpStream, route: Route, path: Path) {
    // Without this, small replies wait for the acknowledgement of the ones before them.
    let _ = caller.set_nodelay(true);
    let admitted = tokio::select! {
        biased;
        by = reset(&path) => {
            note_reset(&by, &caller);
            false
        }
        admitted = admit(&caller, &path) => admitted,
    };
    // A reset waits for the server's side to be connected, so that it arrives there too.
    let server = if admitted {
        // A handshake goes there and back.
        sleep(path.there.slowness().delay + path.back.slowness().delay).await;
        connect(route).await.ok()
    } else {
        None
    };
    let Some(mut server) = server else {
        abort(&caller);
        return;
    };
    let clean = tokio::select! {
        biased;
        by = reset(&path) => {
            note_reset(&by, &caller);
            false
        }
        clean = exchange(&mut caller, &mut server, &path) => clean,
    };
    if !clean {
        abort(&caller);
        abort(&server);
    }
}

/// Returns once either direction resets its connections: the gate of that one.
async fn reset(path: &Path) -> Gate<'_> {
    let (mut there, mut back) = (Gate::of(&path.there), Gate::of(&path.back));
    tokio::select! {
        () = there.reset() => there,
        () = back.reset() => back,
    }
}

/// Counts a connection that is reset. One that its caller had closed by then lost nothing; the
/// system knows of that before the runtime hears of it.
fn note_reset(by: &Gate<'_>, caller: &TcpStream) {
    let flags = MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT;
    let next = recv(caller.as_raw_fd(), &mut [0], flags);
    if !matches!(next, Ok(0) | Err(Errno::ECONNRESET)) {
        by.count_reset();
    }
}

/// Returns once both directions are open, as a handshake needs both: whether the caller, if it
/// had to wait, still waits. Behind a real black hole there would be no connection yet, so what
/// an impatient caller wrote before it gave up must not reach the server after the heal.
async fn admit(caller: &TcpStream, path: &Path) -> bool {
    let mut open = pin!(async {
        let (mut there, mut back) = (Gate::of(&path.there), Gate::of(&path.back));
        while !(there.is_open() && back.is_open()) {
            there.pass(1).await;
            back.pass(1).await;
        }
    });
    tokio::select! {
        biased;
        () = &mut open => return true,
        () = ready(()) => {}
    }
    loop {
        tokio::select! {
            biased;
            () = &mut open => return !gave_up(caller).await,
            () = sleep(GIVEN_UP_EVERY) => if gave_up(caller).await { return false; },
        }
    }
}

/// Tells whether a caller has closed its side, read without taking any of its bytes.
async fn gave_up(caller: &TcpStream) -> bool {
    tokio::select! {
        biased;
        state = caller.ready(Interest::READABLE) => {
            state.map_or(true, Ready::is_read_closed)
        },
        () = ready(()) => false,
    }
}

/// Connects from the caller's own address, so that the server sees who calls.
async fn connect(route: Route) -> io::Result<TcpStream> {
    let socket = match route.to {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    socket.set_nodelay(true)?;
    socket.bind(SocketAddr::new(route.from, 0))?;
    timeout(CONNECT_WITHIN, socket.connect(route.to)).await?
}

/// Pumps both directions until both ended: whether they ended without a reset.
async fn exchange(caller: &mut TcpStream, server: &mut TcpStream, path: &Path) -> bool {
    let (from_caller, to_caller) = caller.split();
    let (from_server, to_server) = server.split();
    let talk = path.back.talks.begin();
    let requests = path.direction(Message::Request, &talk);
    let replies = path.direction(Message::Reply, &talk);
    let there = pump(from_caller, to_server, Gate::of(&path.there), requests);
    let back = pump(from_server, to_caller, Gate::of(&path.back), replies);
    match tokio::try_join!(there, back) {
        Ok((there, back)) => there == End::Finished && back == End::Finished,
        Err(Broken) => false,
    }
}

/// Pumps one direction; a reset of its source ends the whole connection.
async fn pump(
    mut from: ReadHalf<'_>,
    mut to: WriteHalf<'_>,
    mut gate: Gate<'_>,
    mut direction: Direction<'_>,
) -> Result<End, Broken> {
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut transit = Transit::new(gate.lots());
    let mut is_over = false;
    loop {
        let load = tokio::select! {
            biased;
            late = transit.next() => late,
            read = from.read(&mut buffer), if !is_over && transit.has_room() => {
                let load = match read {
                    Err(_) => Load::Reset,
                    Ok(0) => Load::End,
                    Ok(size) => Load::Bytes(Cow::Borrowed(&buffer[..size])),
                };
                is_over = load.size() == 0;
                direction.read(load.size());
                let slowness = gate.slowness();
                if !slowness.is_none() || !transit.is_empty() {
                    gate.count_slowed(load.size());
                    transit.push(load, slowness);
                    continue;
                }
                load
            }
        };
        // The end of a stream travels its link as bytes do, and is held back as they are.
        match load {
            Load::Reset => {
                gate.pass(1).await;
                return Err(Broken);
            }
            Load::End => {
                if let Some(ear) = &mut direction.ear {
                    // Half a message is not awaited by anybody.
                    let _ = deliver(&ear.rest(), &mut to, &mut gate).await;
                }
                gate.pass(1).await;
                return Ok(match to.shutdown().await {
                    Ok(()) => End::Finished,
                    Err(_) => End::DestinationGone,
                });
            }
            Load::Bytes(bytes) => {
                let delivered = match &mut direction.ear {
                    Some(ear) => pass_on(&bytes, ear, &mut to, &mut gate).await?,
                    None => deliver(&bytes, &mut to, &mut gate).await,
                };
                if delivered.is_err() {
                    return Ok(End::DestinationGone);
                }
            }
        }
    }
}

/// Delivers the messages that are whole with these bytes, each once it may go on.
async fn pass_on(
    bytes: &[u8],
    ear: &mut Ear,
    to: &mut WriteHalf<'_>,
    gate: &mut Gate<'_>,
) -> Result<io::Result<()>, Broken> {
    ear.hear(bytes);
    while let Some(message) = ear.next() {
        let message = ear.pass(message).await.ok_or(Broken)?;
        if let Err(error) = deliver(&message, to, gate).await {
            return Ok(Err(error));
        }
    }
    Ok(Ok(()))
}

/// Writes bytes while the gate is open, and holds back the rest of them when it shuts.
async fn deliver(bytes: &[u8], to: &mut WriteHalf<'_>, gate: &mut Gate<'_>) -> io::Result<()> {
    let mut rest = bytes;
    while !rest.is_empty() {
        gate.pass(rest.len()).await;
        tokio::select! {
            biased;
            written = to.write(rest) => rest = &rest[written?..],
            () = gate.shut() => {}
        }
    }
    Ok(())
}

/// Resets a connection when its stream is dropped. If the system refuses, the peer sees an
/// ordinary end of the stream, which is the next best thing.
pub(super) fn abort(stream: &TcpStream) {
    let _ = stream.set_zero_linger();
}
