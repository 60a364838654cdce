//! A connection to one server.
//!
//! Source: "Client/Server Protocol" of MariaDB's documentation: the handshake of version 4.1 with
//! an empty password, and `COM_QUERY`.

use std::net::{IpAddr, SocketAddr};

use futures_util::{FutureExt as _, SinkExt as _, StreamExt as _};
use tokio::net::TcpStream;
use tokio_util::bytes::Bytes;
use tokio_util::codec::{Framed, LengthDelimitedCodec};

use super::packet::Reader;
use crate::connection::sql::{Answer, SqlWire};
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

/// An open connection.
pub struct MysqlWire {
    frames: Framed<TcpStream, LengthDelimitedCodec>,
}

impl SqlWire for MysqlWire {
    async fn open(source: Option<IpAddr>, address: SocketAddr) -> Result<Self, String> {
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

    async fn ask(&mut self, statement: &str) -> Result<Answer, String> {
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

    fn is_closed(&mut self) -> bool {
        // Nothing comes that was not asked for.
        self.frames.next().now_or_never().is_some()
    }
}

impl MysqlWire {
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
    Some(Answer::Refused(number.to_string(), reader.rest()))
}

fn words(answer: &Answer) -> String {
    match answer {
        Answer::Refused(number, text) => format!("error {number}: {text}"),
        Answer::Changed(_) | Answer::Rows(_) => ODD.to_owned(),
    }
}
