//! Subscriptions of the threads of one program: a connection for messages, and one subscription for
//! each channel while anybody waits there.
//!
//! For: waking as many of the waiting threads as a message means. Not for: one thread's part in it,
//! see [`Listener`](super::Listener). There is no task that reads: of those that wait one reads for
//! all, and where it is the one to wake, nobody stands between it and the message.
//!
//! Invariant: a message, once read, wakes somebody who then asks the server. Where nobody sits and
//! waits, the next one to wait is woken at once; whoever is woken and does not come to ask passes
//! the wake-up on; and when the connection is lost, all are woken.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::{Arc, Mutex as StdMutex, MutexGuard};

use redis::{PushKind, Value};
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{Instant, timeout_at};

use super::dialer::Dialer;
use super::gate::Gate;
use super::wire::{Wire, WireError, WireReader, WireWriter};

/// The message that wakes one who waits; any other wakes all.
const WAKES_ONE: &[u8] = b"0";

/// Opens a connection when first needed, and a new one where the old one is lost.
#[derive(Default)]
pub struct Subscriptions {
    /// One to the server that takes writes, or one to each shard.
    lines: Mutex<BTreeMap<SocketAddr, Arc<Line>>>,
}

/// Subscribers that a message goes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// To whoever subscribes, in a Cluster at any of its servers.
    #[default]
    All,
    /// To whoever subscribes at the shard to which the channel belongs as a key would.
    Shard,
}

impl Reach {
    /// The command that publishes.
    pub const fn publish(self) -> &'static str {
        match self {
            Self::All => "PUBLISH",
            Self::Shard => "SPUBLISH",
        }
    }

    const fn subscribe(self) -> &'static str {
        match self {
            Self::All => "SUBSCRIBE",
            Self::Shard => "SSUBSCRIBE",
        }
    }

    const fn unsubscribe(self) -> &'static str {
        match self {
            Self::All => "UNSUBSCRIBE",
            Self::Shard => "SUNSUBSCRIBE",
        }
    }
}

/// One connection that hears.
struct Line {
    address: SocketAddr,
    reach: Reach,
    reader: Mutex<WireReader>,
    /// Held while channels come and go, so that the server hears of it in the same order.
    writer: Mutex<WireWriter>,
    /// `None` when the connection is lost.
    channels: StdMutex<Option<BTreeMap<String, Channel>>>,
}

/// A channel on which somebody waits.
struct Channel {
    seats: usize,
    /// Wake-ups that nobody has taken yet.
    wakes: Arc<Semaphore>,
    /// `true` once the server has confirmed the subscription.
    confirmed: watch::Sender<bool>,
}

/// A thread's place among those that wait on a channel; dropping it gives it up.
pub(super) struct Seat {
    line: Arc<Line>,
    channel: String,
    wakes: Arc<Semaphore>,
    confirmed: watch::Receiver<bool>,
}

/// Wake-up that a message gives to one thread. Dropped, it wakes another one.
#[must_use = "whoever drops it passes the wake-up on"]
#[derive(Debug)]
pub struct Wake(OwnedSemaphorePermit);

impl Wake {
    /// The server was asked and has answered, so that nobody else need ask.
    pub fn acknowledge(self) {
        self.0.forget();
    }
}

impl Subscriptions {
    /// A place on a channel of the server at `address`, from whose confirmation on everything is
    /// heard; by `deadline`, or whoever waits on the connection is told that it is lost.
    pub(super) async fn seat(
        &self,
        dialer: &Dialer,
        (address, reach): (SocketAddr, Reach),
        channel: &str,
        deadline: Instant,
    ) -> Result<Seat, WireError> {
        let late = || WireError::Lost("no subscription in time".to_owned());
        let line = timeout_at(deadline, self.line(dialer, address, reach));
        let line = line.await.map_err(|_| late())??;
        let seat = timeout_at(deadline, line.seat(channel, &dialer.gate)).await;
        let seat = seat.unwrap_or_else(|_| Err(late()));
        if seat.is_err() {
            line.lose();
        }
        seat
    }

    /// The connection to `address`. A lost one is given up, and so is one to another server,
    /// unless that is another shard.
    async fn line(
        &self,
        dialer: &Dialer,
        address: SocketAddr,
        reach: Reach,
    ) -> Result<Arc<Line>, WireError> {
        let mut lines = self.lines.lock().await;
        for line in lines.values() {
            if line.address != address && reach == Reach::All {
                line.lose();
            }
        }
        lines.retain(|_, line| !line.is_lost());
        if let Some(line) = lines.get(&address) {
            return Ok(line.clone());
        }
        let mut wire = dialer.dial(address).await?;
        wire.send(redis::cmd("HELLO").arg(3)).await?;
        let line = Arc::new(Line::new(address, reach, wire));
        lines.insert(address, line.clone());
        Ok(line)
    }
}

impl Line {
    fn new(address: SocketAddr, reach: Reach, wire: Wire) -> Self {
        let (reader, writer) = wire.split();
        Self {
            address,
            reach,
            reader: Mutex::new(reader),
            writer: Mutex::new(writer),
            channels: StdMutex::new(Some(BTreeMap::new())),
        }
    }

    async fn seat(self: &Arc<Self>, channel: &str, gate: &Gate) -> Result<Seat, WireError> {
        let mut seat = self.sit_down(channel, gate).await?;
        let confirmed = async { seat.confirmed.wait_for(|yes| *yes).await.is_ok() };
        if self.listen_until(confirmed).await {
            Ok(seat)
        } else {
            Err(lost())
        }
    }

    /// Takes a place; who is the first on the channel subscribes to it.
    async fn sit_down(self: &Arc<Self>, name: &str, gate: &Gate) -> Result<Seat, WireError> {
        let mut writer = self.writer.lock().await;
        let (seat, first) = {
            let mut channels = self.channels();
            let channels = channels.as_mut().ok_or_else(lost)?;
            let first = !channels.contains_key(name);
            let channel = channels.entry(name.to_owned()).or_insert_with(Channel::new);
            channel.seats += 1;
            let seat = Seat {
                line: self.clone(),
                channel: name.to_owned(),
                wakes: channel.wakes.clone(),
                confirmed: channel.confirmed.subscribe(),
            };
            (seat, first)
        };
        if first {
            let command = self.reach.subscribe();
            gate.count_subscription();
            writer.write(redis::cmd(command).arg(name)).await?;
        }
        Ok(seat)
    }

    /// Waits for `end`. Meanwhile it reads for all that wait, unless another one does so.
    async fn listen_until<T>(&self, end: impl Future<Output = T>) -> T {
        let mut end = pin!(end);
        let mut reader = tokio::select! {
            biased;
            ended = &mut end => return ended,
            reader = self.reader.lock() => reader,
        };
        while !self.is_lost() {
            tokio::select! {
                biased;
                ended = &mut end => return ended,
                read = reader.read() => match read {
                    Ok(push) => self.take_in(&push),
                    Err(_) => self.lose(),
                },
            }
        }
        drop(reader);
        end.await
    }

    /// Wakes whom a message is for. What was published before the confirmation is not: whoever
    /// subscribes looks once more after it.
    fn take_in(&self, push: &Value) {
        let Value::Push { kind, data } = push else {
            return;
        };
        let [Value::BulkString(name), content, ..] = data.as_slice() else {
            return;
        };
        let Ok(name) = std::str::from_utf8(name) else {
            return;
        };
        let mut channels = self.channels();
        let Some(channel) = channels.as_mut().and_then(|all| all.get_mut(name)) else {
            return;
        };
        let confirmed = *channel.confirmed.borrow();
        if matches!(kind, PushKind::Subscribe | PushKind::SSubscribe) {
            channel.confirmed.send_replace(true);
        } else if *kind == PushKind::SUnsubscribe && confirmed {
            // Nobody asked for that: the slot has gone to another shard, and so must who waits.
            drop(channels);
            self.lose();
        } else if matches!(kind, PushKind::Message | PushKind::SMessage) && confirmed {
            match content {
                Value::BulkString(text) if text == WAKES_ONE => channel.wake(1),
                _ => channel.wake(channel.seats),
            }
        }
    }

    /// Closes the connection as far as those who wait are concerned: all are woken.
    fn lose(&self) {
        let channels = self.channels().take();
        for channel in channels.into_iter().flat_map(BTreeMap::into_values) {
            channel.wakes.close();
        }
    }

    fn is_lost(&self) -> bool {
        self.channels().is_none()
    }

    fn channels(&self) -> MutexGuard<'_, Option<BTreeMap<String, Channel>>> {
        self.channels.lock().expect("no holder of this lock panics")
    }
}

impl Channel {
    fn new() -> Self {
        Self {
            seats: 0,
            wakes: Arc::new(Semaphore::new(0)),
            confirmed: watch::Sender::new(false),
        }
    }

    /// Wakes so many, now or when they wait next. More than there are threads is of no use: each
    /// asks when it is woken, and learns all there is to know.
    fn wake(&self, threads: usize) {
        let room = self.seats.saturating_sub(self.wakes.available_permits());
        self.wakes.add_permits(threads.min(room));
    }
}

impl Seat {
    /// Tells whether it is a place on this channel, on a connection that is not known to be lost.
    pub(super) fn is_at(&self, address: SocketAddr, channel: &str) -> bool {
        self.line.address == address && self.channel == channel && !self.line.is_lost()
    }

    /// Waits to be woken; `None` when the connection is lost.
    pub(super) async fn wake(&self) -> Option<Wake> {
        let wake = self.wakes.clone().acquire_owned();
        self.line.listen_until(wake).await.ok().map(Wake)
    }

    /// Gives up the place; who is the last on the channel ends the subscription. Nobody waits for
    /// the confirmation: whatever comes until the next one is confirmed counts for nothing.
    pub(super) async fn leave(self, deadline: Instant) {
        let line = self.line.clone();
        let name = self.channel.clone();
        let left = async {
            let mut writer = line.writer.lock().await;
            drop(self);
            let emptied = line.channels().as_mut().is_some_and(|channels| {
                let empty = channels
                    .get(&name)
                    .is_some_and(|channel| channel.seats == 0);
                empty && channels.remove(&name).is_some()
            });
            if emptied {
                let command = line.reach.unsubscribe();
                return writer.write(redis::cmd(command).arg(&name)).await;
            }
            Ok(())
        };
        if !matches!(timeout_at(deadline, left).await, Ok(Ok(()))) {
            line.lose();
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        if let Some(channels) = &mut *self.line.channels()
            && let Some(channel) = channels.get_mut(&self.channel)
        {
            channel.seats -= 1;
        }
    }
}

fn lost() -> WireError {
    WireError::Lost("the subscription was lost".to_owned())
}
