//! The languages of etcd: gRPC, or JSON to its gateway.
//!
//! Sources: etcd's API reference, version 3; HTTP/1.1 (RFC 9112). Each request of a client on a
//! connection to the gateway waits for the answer to the one before, so that what is said changes
//! hands with each message.

use lockstorm_scenarios::Message;

use super::grpc::Grpc;
use super::{Heard, Language, Request};
use crate::resp::Malformed;

/// Beginning of a connection of gRPC.
const PREFACE: &[u8] = b"PRI ";

/// Groups of calls that have to do with locks.
const OF_LOCKS: [&str; 4] = ["kv", "lease", "lock", "election"];

/// Where the calls are, below which the groups come.
const VERSION: &str = "/v3/";

/// The call that keeps a lease alive.
const KEEP_ALIVE: &str = "lease/keepalive";

/// The call that begins a session, and says nothing of a lock.
const GRANT: &str = "lease/grant";

/// A connection to a member of etcd.
#[derive(Default)]
pub(super) enum Etcd {
    /// The client has said nothing yet.
    #[default]
    New,
    /// It speaks gRPC.
    Grpc(Box<Grpc>),
    /// It speaks JSON.
    Gateway(Gateway),
}

/// A connection to the gateway.
#[derive(Debug, Default)]
pub(super) struct Gateway {
    begun: u64,
    turn: Turn,
}

/// Side that is to speak next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Turn {
    /// The client: the server has answered, or nothing was asked.
    #[default]
    Client,
    /// The server, to answer a request; `true` if that has to do with a lock.
    Server(bool),
}

impl Etcd {
    /// The language, once the first bytes of the client show it.
    fn known(&mut self, bytes: &[u8]) {
        let is_new = matches!(self, Self::New);
        if is_new && bytes.starts_with(PREFACE) {
            *self = Self::Grpc(Box::default());
        } else if is_new && bytes.len() >= PREFACE.len() {
            *self = Self::Gateway(Gateway::default());
        }
    }
}

impl Language for Etcd {
    fn cut(&mut self, from: Message, bytes: &[u8]) -> Result<Option<usize>, Malformed> {
        if from == Message::Request {
            self.known(bytes);
        }
        match (self, from) {
            (Self::Grpc(grpc), _) => grpc.cut(from, bytes),
            (Self::New, Message::Request) => Ok(None),
            (Self::New | Self::Gateway(_), _) => Ok((!bytes.is_empty()).then_some(bytes.len())),
        }
    }

    fn request(&mut self, piece: &[u8]) -> Heard {
        match self {
            Self::New => Heard::Aside,
            Self::Grpc(grpc) => grpc.request(piece),
            Self::Gateway(gateway) => gateway.request(piece),
        }
    }

    fn reply(&mut self, piece: &[u8]) -> Heard {
        match self {
            Self::New => Heard::Aside,
            Self::Grpc(grpc) => grpc.reply(piece),
            Self::Gateway(gateway) => gateway.reply(piece),
        }
    }
}

/// The call that a request is, such as `kv/txn`; `None` if it has nothing to do with a lock.
fn call(request: &[u8]) -> Option<String> {
    let line = request.split(|&byte| byte == b'\r').next()?;
    let line = String::from_utf8_lossy(line);
    let path = line.split(' ').nth(1)?;
    let call = path.strip_prefix(VERSION)?;
    let (group, _) = call.split_once('/')?;
    let is_of_lock = OF_LOCKS.contains(&group) && call != GRANT;
    is_of_lock.then(|| call.to_owned())
}

impl Gateway {
    fn request(&mut self, piece: &[u8]) -> Heard {
        if self.turn != Turn::Client {
            return Heard::Aside;
        }
        let call = call(piece);
        self.turn = Turn::Server(call.is_some());
        let Some(command) = call else {
            return Heard::Aside;
        };
        self.begun += 1;
        Heard::Request(Request {
            number: self.begun,
            keeps_alive: command == KEEP_ALIVE,
            command,
        })
    }

    fn reply(&mut self, piece: &[u8]) -> Heard {
        match std::mem::take(&mut self.turn) {
            Turn::Server(true) if is_good(piece) => Heard::Reply(self.begun),
            Turn::Server(true) => Heard::Error(self.begun),
            Turn::Server(false) | Turn::Client => Heard::Aside,
        }
    }
}

/// Tells whether an answer says in its first line that all is well.
fn is_good(answer: &[u8]) -> bool {
    answer.get(9).is_some_and(|&hundreds| hundreds == b'2')
}

#[cfg(test)]
mod tests {
    use super::super::tests::asks;
    use super::*;

    fn post(path: &str) -> Vec<u8> {
        format!("POST {path} HTTP/1.1\r\ncontent-length: 2\r\n\r\n{{}}").into_bytes()
    }

    const GOOD: &[u8] = b"HTTP/1.1 200 OK\r\n\r\n{}";
    const BAD: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\n\r\n{}";

    #[test]
    fn a_call_of_the_gateway_is_answered_by_what_comes_next() {
        let mut etcd = Etcd::default();
        let txn = post("/v3/kv/txn");
        assert_eq!(etcd.cut(Message::Request, b"PO"), Ok(None), "not known yet");
        assert_eq!(etcd.cut(Message::Request, &txn), Ok(Some(txn.len())));
        assert_eq!(etcd.request(&txn), asks(1, "kv/txn"));
        assert_eq!(etcd.request(b"{}"), Heard::Aside, "the rest of it");
        assert_eq!(etcd.reply(GOOD), Heard::Reply(1));
        assert_eq!(etcd.reply(b"{}"), Heard::Aside, "the rest of it");
        assert_eq!(etcd.request(&post("/v3/maintenance/status")), Heard::Aside);
        assert_eq!(etcd.reply(GOOD), Heard::Aside);
        assert_eq!(etcd.request(&post("/v3/lock/lock")), asks(2, "lock/lock"));
        assert_eq!(etcd.reply(BAD), Heard::Error(2));
    }

    #[test]
    fn a_renewal_keeps_alive_and_neither_a_watch_nor_a_session_is_a_request() {
        let mut etcd = Etcd::default();
        etcd.known(&post("/v3/watch"));
        for path in ["/v3/watch", "/v3/lease/grant"] {
            assert_eq!(etcd.request(&post(path)), Heard::Aside);
            assert_eq!(etcd.reply(GOOD), Heard::Aside);
        }
        let Heard::Request(renewal) = etcd.request(&post("/v3/lease/keepalive")) else {
            panic!("it is one");
        };
        assert!(renewal.keeps_alive);
    }
}
