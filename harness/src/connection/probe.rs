//! Asks a server something, past any fabric, on a connection of its own.

use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use redis::{Cmd, Value};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;

use super::wire::Wire;

/// Time that a probe waits in all, for a connection and its replies together.
pub const PROBE_TIMEOUT: Duration = Duration::from_millis(500);
/// Time that replicas may take to acknowledge, each time they are asked to.
const WAIT_WITHIN: Duration = Duration::from_millis(20);
/// Round trips measured; the median is reported.
const ROUND_TRIPS: usize = 101;

/// Sends one command and gives its reply as text; the error is a reason in words.
pub async fn ask(address: SocketAddr, args: &[&str]) -> Result<String, String> {
    ask_within(address, args, PROBE_TIMEOUT).await
}

/// Variant of [`ask`] with a time limit of its own.
pub async fn ask_within(
    address: SocketAddr,
    args: &[&str],
    within: Duration,
) -> Result<String, String> {
    timeout(within, async {
        let stream = TcpStream::connect(address)
            .await
            .map_err(|error| error.to_string())?;
        let mut wire = Wire::new(stream);
        let mut command = Cmd::new();
        for arg in args {
            command.arg(*arg);
        }
        wire.send(&command)
            .await
            .map(|reply| text_of(&reply))
            .map_err(|error| error.to_string())
    })
    .await
    .unwrap_or_else(|_| Err(format!("no reply within {within:?}")))
}

/// Returns the number of replicas of the primary at `address` that get what is written there, now.
///
/// INFO is no proof: it calls a replica online once the first synchronisation is sent, while
/// writes may wait up to a second more for the replica to say that it is ready for them. What
/// proves it is something that is replicated and touches no key, and WAIT on the same connection.
pub async fn replicas_in_step(address: SocketAddr) -> Result<i64, String> {
    let asked = async {
        let stream = TcpStream::connect(address)
            .await
            .map_err(|error| error.to_string())?;
        let mut wire = Wire::new(stream);
        let mut send =
            async |command: &Cmd| wire.send(command).await.map_err(|error| error.to_string());
        send(redis::cmd("PUBLISH").arg("lockstorm").arg("")).await?;
        let all = i64::from(i32::MAX);
        let within = WAIT_WITHIN.as_millis() as u64;
        match send(redis::cmd("WAIT").arg(all).arg(within)).await? {
            Value::Int(reached) => Ok(reached),
            odd => Err(format!("WAIT was answered {odd:?}")),
        }
    };
    timeout(PROBE_TIMEOUT, asked)
        .await
        .unwrap_or_else(|_| Err(format!("no reply within {PROBE_TIMEOUT:?}")))
}

/// A reply as text: strings as they stand, arrays line by line.
fn text_of(value: &Value) -> String {
    match value {
        Value::Nil => String::new(),
        Value::Int(number) => number.to_string(),
        Value::BulkString(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::SimpleString(text) => text.clone(),
        Value::Okay => "OK".to_owned(),
        Value::Array(items) | Value::Set(items) => {
            items.iter().map(text_of).collect::<Vec<_>>().join("\n")
        }
        other => format!("{other:?}"),
    }
}

/// The value of `field` in a reply to INFO.
pub fn info_field<'a>(info: &'a str, field: &str) -> Option<&'a str> {
    info.lines()
        .find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))
        .map(str::trim)
}

/// Median of some round trips (PING) to `address`, in microseconds, from the address `from` if it
/// is given; `None` if it does not answer.
pub async fn round_trip_us(address: SocketAddr, from: Option<IpAddr>) -> Option<f64> {
    timeout(PROBE_TIMEOUT, async {
        let socket = TcpSocket::new_v4().ok()?;
        if let Some(from) = from {
            socket.bind((from, 0).into()).ok()?;
        }
        let stream = socket.connect(address).await.ok()?;
        stream.set_nodelay(true).ok()?;
        let mut wire = Wire::new(stream);
        let ping = redis::cmd("PING");
        let mut all = Vec::with_capacity(ROUND_TRIPS);
        for _ in 0..ROUND_TRIPS {
            let start = Instant::now();
            wire.send(&ping).await.ok()?;
            all.push(start.elapsed());
        }
        all.sort_unstable();
        Some(all[ROUND_TRIPS / 2].as_secs_f64() * 1e6)
    })
    .await
    .ok()
    .flatten()
}
