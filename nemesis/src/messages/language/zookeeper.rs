//! The language of ZooKeeper.
//!
//! Source: ZooKeeper's `zookeeper.jute` and `ZooDefs.java`: each message is its length and itself;
//! the header of a request is its number and its type, that of a reply is the number of the
//! request, a transaction, and an error.

use lockstorm_scenarios::Message;

use super::pieces::{number_at, whole};
use super::{Heard, Language, Request};
use crate::resp::Malformed;

/// Bytes of the length of a message.
const LENGTH: usize = 4;
/// Where in a request its type is.
const TYPE: usize = LENGTH + 4;
/// Where in a reply its error is: behind the number of the request and that of a transaction.
const ERROR: usize = LENGTH + 4 + 8;

/// Number of every ping; no other request has it.
const PING: i32 = -2;

/// Types of requests that may have to do with a lock.
const COMMANDS: [(i32, &str); 17] = [
    (1, "create"),
    (2, "delete"),
    (3, "exists"),
    (4, "getData"),
    (5, "setData"),
    (6, "getACL"),
    (7, "setACL"),
    (8, "getChildren"),
    (9, "sync"),
    (12, "getChildren2"),
    (13, "check"),
    (14, "multi"),
    (15, "create2"),
    (19, "createContainer"),
    (21, "createTTL"),
    (22, "multiRead"),
    (-11, "closeSession"),
];

/// A connection to a member of ZooKeeper.
#[derive(Debug, Default)]
pub(super) struct Zookeeper {
    /// Sides that have said how they connect, which comes first and has no header.
    is_client_known: bool,
    is_server_known: bool,
}

/// A number that may be below zero.
fn signed_at(piece: &[u8], at: usize) -> Option<i32> {
    number_at(piece, at).map(u32::cast_signed)
}

/// Number of a request, as languages number them.
fn numbered(xid: i32) -> u64 {
    u64::from(xid.cast_unsigned())
}

impl Language for Zookeeper {
    fn cut(&mut self, _: Message, bytes: &[u8]) -> Result<Option<usize>, Malformed> {
        match number_at(bytes, 0) {
            Some(length) => whole(LENGTH, length as usize, bytes),
            None => Ok(None),
        }
    }

    fn request(&mut self, piece: &[u8]) -> Heard {
        let was_known = std::mem::replace(&mut self.is_client_known, true);
        let (Some(xid), Some(kind)) = (signed_at(piece, LENGTH), signed_at(piece, TYPE)) else {
            return Heard::Aside;
        };
        let known = COMMANDS.iter().find(|(number, _)| *number == kind);
        let command = match known {
            _ if !was_known => return Heard::Aside,
            _ if xid == PING => "ping",
            Some((_, name)) => name,
            None => return Heard::Aside,
        };
        Heard::Request(Request {
            number: numbered(xid),
            command: command.to_owned(),
            keeps_alive: xid == PING,
        })
    }

    fn reply(&mut self, piece: &[u8]) -> Heard {
        let was_known = std::mem::replace(&mut self.is_server_known, true);
        let (Some(xid), Some(error)) = (signed_at(piece, LENGTH), signed_at(piece, ERROR)) else {
            return Heard::Aside;
        };
        match error {
            _ if !was_known => Heard::Aside,
            0 => Heard::Reply(numbered(xid)),
            _ => Heard::Error(numbered(xid)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::asks;
    use super::*;

    fn message(parts: &[&[u8]]) -> Vec<u8> {
        let body = parts.concat();
        let length = u32::try_from(body.len()).unwrap().to_be_bytes();
        [&length[..], &body].concat()
    }

    fn request(xid: i32, kind: i32) -> Vec<u8> {
        message(&[&xid.to_be_bytes(), &kind.to_be_bytes(), b"/lock"])
    }

    fn reply(xid: i32, error: i32) -> Vec<u8> {
        message(&[
            &xid.to_be_bytes(),
            &7_u64.to_be_bytes(),
            &error.to_be_bytes(),
        ])
    }

    #[test]
    fn replies_name_their_requests_and_what_was_not_asked_for_names_none() {
        let mut zookeeper = Zookeeper::default();
        assert_eq!(zookeeper.request(&request(0, 0)), Heard::Aside, "a session");
        assert_eq!(zookeeper.reply(&reply(0, 3000)), Heard::Aside, "its answer");
        assert_eq!(zookeeper.request(&request(1, 15)), asks(1, "create2"));
        assert_eq!(zookeeper.request(&request(2, 2)), asks(2, "delete"));
        assert_eq!(zookeeper.reply(&reply(1, 0)), Heard::Reply(1));
        assert_eq!(
            zookeeper.reply(&reply(2, -101)),
            Heard::Error(2),
            "no such node"
        );
        assert_eq!(
            zookeeper.request(&request(-4, 100)),
            Heard::Aside,
            "a password"
        );
    }

    #[test]
    fn a_ping_keeps_a_session_alive() {
        let mut zookeeper = Zookeeper::default();
        zookeeper.request(&request(0, 0));
        let Heard::Request(ping) = zookeeper.request(&request(-2, 11)) else {
            panic!("it is one");
        };
        assert!(ping.keeps_alive);
        zookeeper.reply(&reply(0, 3000));
        assert_eq!(zookeeper.reply(&reply(-2, 0)), Heard::Reply(ping.number));
    }

    #[test]
    fn a_message_is_whole_when_its_length_is_there() {
        let mut zookeeper = Zookeeper::default();
        let both = [request(1, 1), request(2, 2)].concat();
        let first = request(1, 1).len();
        for end in 0..first {
            assert_eq!(zookeeper.cut(Message::Request, &both[..end]), Ok(None));
        }
        assert_eq!(zookeeper.cut(Message::Request, &both), Ok(Some(first)));
        assert_eq!(zookeeper.cut(Message::Request, b"ruok"), Err(Malformed));
    }
}
