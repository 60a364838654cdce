//! A connection to one server.
//!
//! Source: "Client/Server Protocol" of MariaDB's documentation: the handshake of version 4.1 with
//! an empty password, and `COM_QUERY`.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use futures_util::{FutureExt as _, SinkExt as _, StreamExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_util::bytes::Bytes;
use tokio_util::codec::{Framed, LengthDelimitedCodec};

use super::packet::Reader;
use crate::connection::stream::connect;

/// Name under which clients come; servers of a run ask for no password.
const USER: &str = "lockstorm";
/// Things that the client can: the protocol of version 4.1, longer passwords, transactions, and
/// scrambles that are not from before 4.1.
const ABILITIES: u32 = 0x200 | 0x1 | 0x2000 | 0x8000;
/// Greatest packet that either side sends.
const PACKET_MAX: u32 = 1 << 20;
/// UTF-8, by the number of a collation.
const UTF8: u8 = 33;
/// Command that carries a statement.
const QUERY: u8 = 3;

const CLOSED: &str = "the server closed the connection";
const ODD: &str = "the server sent a packet that makes no sense";

/// Answer to a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is carried out; so many rows were changed.
    Changed(u64),
    /// Rows that were asked for, each with its values.
    Rows(Vec<Vec<Option<String>>>),
    /// The server refused it, by a number of its own.
    Refused(u16, String),
}

impl Answer {
    /// The first value of the first row.
    pub fn value(&self) -> Option<&str> {
        self.of_row(0)
    }

    /// A value of the first row, counted from 0.
    pub fn of_row(&self, at: usize) -> Option<&str> {
        match self {
            Self::Rows(rows) => rows.first()?.get(at)?.as_deref(),
            Self::Changed(_) | Self::Refused(..) => None,
        }
    }
}

/// An open connection. One that gave no answer is of no more use, and is to be dropped.
pub struct SqlWire {
    frames: Framed<TcpStream, LengthDelimitedCodec>,
}

impl SqlWire {
    /// Connects to `address`, from `source` if that is said.
    ///
    /// # Errors
    /// In words, why there is no connection.
    pub async fn open(source: Option<IpAddr>, address: SocketAddr) -> Result<Self, String> {
        let stream = connect(source, address)
            .await
            .map_err(|error| format!("no connection to {address}: {error}"))?;
        // Three bytes of length, one that numbers packets, and the packet.
        let codec = LengthDelimitedCodec::builder()
            .little_endian()
            .length_field_length(3)
            .length_adjustment(1)
            .max_frame_length(PACKET_MAX as usize)
            .new_codec();
        let mut wire = Self {
            frames: Framed::new(stream, codec),
        };
        let greeting = wire.next().await?;
        if let Some(refused) = refused(&greeting) {
            return Err(words(&refused));
        }
        let mut hello = ABILITIES.to_le_bytes().to_vec();
        hello.extend(PACKET_MAX.to_le_bytes());
        hello.push(UTF8);
        hello.extend([0; 23]);
        hello.extend(USER.as_bytes());
        // The end of the name, and a password of no length.
        hello.extend([0, 0]);
        wire.send(1, &hello).await?;
        let welcome = wire.next().await?;
        match (welcome.first(), refused(&welcome)) {
            (Some(0), _) => Ok(wire),
            (_, Some(refused)) => Err(words(&refused)),
            _ => Err(ODD.to_owned()),
        }
    }

    /// Sends one statement and waits for its answer.
    ///
    /// # Errors
    /// In words, why there is none.
    pub async fn ask(&mut self, statement: &str) -> Result<Answer, String> {
        let mut query = vec![QUERY];
        query.extend(statement.as_bytes());
        self.send(0, &query).await?;
        let first = self.next().await?;
        if let Some(refused) = refused(&first) {
            return Ok(refused);
        }
        let mut reader = Reader(&first);
        if first.first() == Some(&0) {
            reader.byte();
            let changed = reader.number().ok_or(ODD)?;
            return Ok(Answer::Changed(changed));
        }
        let columns = reader.number().ok_or(ODD)?;
        // Their descriptions, and the end of those.
        for _ in 0..=columns {
            self.next().await?;
        }
        self.rows(columns).await.map(Answer::Rows)
    }

    async fn rows(&mut self, columns: u64) -> Result<Vec<Vec<Option<String>>>, String> {
        /// First byte of the packet after the last row, which is shorter than any long number.
        const END: (u8, usize) = (0xfe, 9);
        let mut rows = Vec::new();
        loop {
            let packet = self.next().await?;
            if packet.first() == Some(&END.0) && packet.len() < END.1 {
                return Ok(rows);
            }
            if let Some(refused) = refused(&packet) {
                return Err(words(&refused));
            }
            let mut reader = Reader(&packet);
            rows.push(reader.values(columns).ok_or(ODD)?);
        }
    }

    /// Tells whether the server has closed it, as far as that has come here.
    pub fn is_closed(&mut self) -> bool {
        // Nothing comes that was not asked for.
        self.frames.next().now_or_never().is_some()
    }

    async fn send(&mut self, number: u8, packet: &[u8]) -> Result<(), String> {
        let mut frame = vec![number];
        frame.extend(packet);
        let sent = self.frames.send(Bytes::from(frame)).await;
        sent.map_err(|error| error.to_string())
    }

    async fn next(&mut self) -> Result<Bytes, String> {
        match self.frames.next().await {
            // Without its number.
            Some(Ok(frame)) => Ok(frame.freeze().slice(1..)),
            Some(Err(error)) => Err(error.to_string()),
            None => Err(CLOSED.to_owned()),
        }
    }
}

/// Sends one statement over a connection of its own.
///
/// # Errors
/// In words, why there is no answer, or what the server refused.
pub async fn ask_sql(
    address: SocketAddr,
    statement: &str,
    within: Duration,
) -> Result<Answer, String> {
    let asked = async { SqlWire::open(None, address).await?.ask(statement).await };
    match timeout(within, asked).await {
        Ok(Ok(refused @ Answer::Refused(..))) => Err(words(&refused)),
        Ok(answer) => answer,
        Err(_) => Err(format!("no reply within {} ms", within.as_millis())),
    }
}

/// An error of the server.
fn refused(packet: &[u8]) -> Option<Answer> {
    const ERROR: u8 = 0xff;
    /// A mark and five letters of SQL's own, which say less than the number.
    const STATE: usize = 6;
    let mut reader = Reader(packet);
    if reader.byte()? != ERROR {
        return None;
    }
    let number = reader.short()?;
    if reader.0.first() == Some(&b'#') {
        reader.take(STATE)?;
    }
    Some(Answer::Refused(number, reader.rest()))
}

fn words(answer: &Answer) -> String {
    match answer {
        Answer::Refused(number, text) => format!("error {number}: {text}"),
        Answer::Changed(_) | Answer::Rows(_) => ODD.to_owned(),
    }
}
