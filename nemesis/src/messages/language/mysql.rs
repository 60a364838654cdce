//! The language of MySQL and MariaDB.
//!
//! Source: MariaDB's "Clients & servers" protocol pages: each packet is three bytes of length, the
//! lowest first, and a number that begins at 0 with each command; what the server answers goes on
//! with 1.

use lockstorm_scenarios::Message;

use super::pieces::whole;
use super::queue::Queue;
use super::{Heard, Language, sql};
use crate::resp::Malformed;

/// Bytes before the content of a packet.
const HEAD: usize = 4;

/// Commands, by their first byte.
const QUERY: u8 = 0x03;
const EXECUTE: u8 = 0x17;
/// Those that are not answered: the end, a long value, and the end of a prepared statement.
const UNANSWERED: [u8; 3] = [0x01, 0x18, 0x19];

/// First byte of a packet of the server that says that all is well, or that nothing was done.
const OK: u8 = 0x00;
const ERROR: u8 = 0xff;

/// Abilities with which a client goes on in TLS, if it says no more than them, or sends packets of
/// another make as soon as it is let in: compressed ones, by zlib or zstd.
const TLS: u32 = 1 << 11;
const COMPRESSED: u32 = 1 << 5 | 1 << 26;
/// Bytes of a packet that says no more than the abilities.
const TLS_PACKET: usize = HEAD + 32;

/// A connection to a server of MySQL or MariaDB.
#[derive(Debug, Default)]
pub(super) struct Mysql {
    /// True once the client has said what it is able to.
    is_known: bool,
    /// True once the server has let the client in.
    is_in: bool,
    /// Those that were not answered, with whether they have to do with a lock.
    asked: Queue<bool>,
}

/// Tells whether the abilities of a client make a stream of what it goes on with.
fn is_not_plain(piece: &[u8]) -> bool {
    let Some(&[a, b, c, d]) = piece.get(HEAD..HEAD + 4) else {
        return false;
    };
    let abilities = u32::from_le_bytes([a, b, c, d]);
    let is_tls = piece.len() == TLS_PACKET && abilities & TLS != 0;
    is_tls || abilities & COMPRESSED != 0
}

impl Language for Mysql {
    fn cut(&mut self, _: Message, bytes: &[u8]) -> Result<Option<usize>, Malformed> {
        match bytes.get(..3) {
            Some(&[low, mid, high]) => {
                let length = u32::from_le_bytes([low, mid, high, 0]);
                whole(HEAD, length as usize, bytes)
            }
            _ => Ok(None),
        }
    }

    fn request(&mut self, piece: &[u8]) -> Heard {
        if !self.is_in {
            let was_known = std::mem::replace(&mut self.is_known, true);
            return if !was_known && is_not_plain(piece) {
                Heard::Stream
            } else {
                Heard::Aside
            };
        }
        let (Some(0), Some(&command)) = (piece.get(3), piece.get(HEAD)) else {
            return Heard::Aside;
        };
        if UNANSWERED.contains(&command) {
            return Heard::Aside;
        }
        let command = match command {
            QUERY => sql::command(&piece[HEAD + 1..]),
            EXECUTE => Some("EXECUTE".to_owned()),
            _ => None,
        };
        let number = self.asked.ask(command.is_some());
        Heard::asked(number, command)
    }

    fn reply(&mut self, piece: &[u8]) -> Heard {
        let first = piece.get(HEAD).copied();
        if !self.is_in {
            self.is_in = first == Some(OK);
            return Heard::Aside;
        }
        // The first of its packets stands for a reply.
        if piece.get(3) != Some(&1) {
            return Heard::Aside;
        }
        match (self.asked.answer(), first) {
            (Some((number, true)), Some(ERROR)) => Heard::Error(number),
            (Some((number, true)), _) => Heard::Reply(number),
            (Some((_, false)) | None, _) => Heard::Aside,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::asks;
    use super::*;

    fn packet(number: u8, content: &[u8]) -> Vec<u8> {
        let length = u32::try_from(content.len()).unwrap().to_le_bytes();
        [&length[..3], &[number], content].concat()
    }

    /// A connection whose client was let in.
    fn let_in() -> Mysql {
        let mut mysql = Mysql::default();
        assert_eq!(mysql.reply(&packet(0, b"\x0a10.11")), Heard::Aside);
        assert_eq!(
            mysql.request(&packet(1, b"\x0d\xa2\x3a\x00login")),
            Heard::Aside
        );
        assert_eq!(mysql.reply(&packet(2, b"\x00\x00\x00")), Heard::Aside);
        mysql
    }

    #[test]
    fn the_first_packet_of_what_is_answered_is_the_reply() {
        let mut mysql = let_in();
        assert_eq!(
            mysql.request(&packet(0, b"\x03SET NAMES utf8mb4")),
            Heard::Aside
        );
        assert_eq!(mysql.reply(&packet(1, b"\x00\x00")), Heard::Aside);
        let asked = mysql.request(&packet(0, b"\x03SELECT GET_LOCK('x', 0)"));
        assert_eq!(asked, asks(2, "SELECT"));
        assert_eq!(mysql.reply(&packet(1, b"\x01")), Heard::Reply(2));
        assert_eq!(
            mysql.reply(&packet(2, b"\x03def")),
            Heard::Aside,
            "the rest"
        );
        assert_eq!(
            mysql.request(&packet(0, b"\x19\x01\x00\x00\x00")),
            Heard::Aside
        );
        assert_eq!(mysql.request(&packet(0, b"\x17\x01")), asks(3, "EXECUTE"));
        assert_eq!(mysql.reply(&packet(1, b"\xff\x26\x04")), Heard::Error(3));
    }

    #[test]
    fn requests_that_are_sent_before_the_last_is_answered_have_replies_of_their_own() {
        let mut mysql = let_in();
        assert_eq!(
            mysql.request(&packet(0, b"\x03INSERT INTO locks")),
            asks(1, "INSERT")
        );
        assert_eq!(mysql.request(&packet(0, b"\x03COMMIT")), asks(2, "COMMIT"));
        assert_eq!(mysql.reply(&packet(1, b"\x00")), Heard::Reply(1));
        assert_eq!(mysql.reply(&packet(1, b"\x00")), Heard::Reply(2));
    }

    #[test]
    fn what_goes_on_in_tls_or_compressed_has_no_messages() {
        let begins = |abilities: u32, more: &[u8]| {
            let mut mysql = Mysql::default();
            mysql.reply(&packet(0, b"\x0a10.11"));
            let abilities = abilities.to_le_bytes();
            mysql.request(&packet(1, &[&abilities[..], more].concat()))
        };
        assert_eq!(begins(TLS, &[0; 28]), Heard::Stream);
        assert_eq!(
            begins(TLS, b"and the login, for this one need not"),
            Heard::Aside
        );
        assert_eq!(begins(1 << 5, b"login"), Heard::Stream);
        assert_eq!(begins(1 << 26, b"login"), Heard::Stream);
    }
}
