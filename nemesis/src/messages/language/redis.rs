//! The language of Redis.
//!
//! Source: the Redis serialization protocol, versions 2 and 3; [`crate::resp`] cuts it.

use lockstorm_scenarios::Message;

use super::queue::Queue;
use super::{Heard, Language};
use crate::messages::ports::Ports;
use crate::resp::{Malformed, command, end_of_frame};

/// Commands that set up a connection or find a server, and say nothing of a lock.
const OF_THE_WAY: [&str; 20] = [
    "ASKING",
    "AUTH",
    "CLIENT",
    "CLUSTER",
    "COMMAND",
    "CONFIG",
    "ECHO",
    "HELLO",
    "INFO",
    "PING",
    "QUIT",
    "READONLY",
    "READWRITE",
    "RESET",
    "ROLE",
    "SCRIPT",
    "SELECT",
    "SENTINEL",
    "TIME",
    "UNWATCH",
];

/// Commands after which a server sends messages that nobody has asked for.
const SUBSCRIPTIONS: [&str; 3] = ["PSUBSCRIBE", "SSUBSCRIBE", "SUBSCRIBE"];

/// Commands after which a server sends whatever it likes.
const STREAMS: [&str; 3] = ["MONITOR", "PSYNC", "SYNC"];

/// Commands whose replies say where servers are.
const DIRECTORIES: [&str; 4] = ["CLUSTER", "INFO", "ROLE", "SENTINEL"];

/// Errors that say where else to ask.
const REDIRECTIONS: [&[u8]; 2] = [b"-ASK ", b"-MOVED "];

/// A connection to a server of Redis.
#[derive(Debug, Default)]
pub(super) struct Redis {
    asked: Queue<String>,
    /// True from the first subscription on: replies need not be to any request.
    is_subscribed: bool,
    /// The command that the last reply is to; `None` where it is to none.
    answered: Option<String>,
}

impl Language for Redis {
    fn cut(&mut self, _: Message, bytes: &[u8]) -> Result<Option<usize>, Malformed> {
        end_of_frame(bytes)
    }

    fn request(&mut self, piece: &[u8]) -> Heard {
        let Some(command) = command(piece) else {
            return Heard::Stream;
        };
        if STREAMS.contains(&&*command) {
            return Heard::Stream;
        }
        if SUBSCRIPTIONS.contains(&&*command) {
            self.is_subscribed = true;
            return Heard::Aside;
        }
        let number = self.asked.ask(command.clone());
        let is_of_the_way = OF_THE_WAY.contains(&&*command);
        Heard::asked(number, (!is_of_the_way).then_some(command))
    }

    /// An error says that nothing was done, and QUEUED that nothing was done yet.
    fn reply(&mut self, piece: &[u8]) -> Heard {
        self.answered = None;
        if piece.first() == Some(&b'>') || self.is_subscribed {
            return Heard::Aside;
        }
        let Some((number, command)) = self.asked.answer() else {
            return Heard::Aside;
        };
        self.answered = Some(command);
        if piece.first() == Some(&b'-') || piece == b"+QUEUED\r\n" {
            return Heard::Error(number);
        }
        Heard::Reply(number)
    }

    fn translate(&self, piece: &mut [u8], ports: &Ports) {
        // What is pushed to a subscriber may come from a sentinel.
        let command = self.answered.as_deref();
        let tells = command.is_none_or(|command| DIRECTORIES.contains(&command))
            || REDIRECTIONS.iter().any(|error| piece.starts_with(error));
        if tells {
            ports.translate(piece);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{asks, request};
    use super::*;

    #[test]
    fn a_reply_belongs_to_the_oldest_request_without_one() {
        let mut redis = Redis::default();
        assert_eq!(redis.request(&request(&["HELLO", "3"])), Heard::Aside);
        assert_eq!(
            redis.request(&request(&["set", "lock", "a"])),
            asks(2, "SET")
        );
        assert_eq!(
            redis.request(&request(&["EVALSHA", "x", "0"])),
            asks(3, "EVALSHA")
        );
        assert_eq!(redis.request(&request(&["DEL", "lock"])), asks(4, "DEL"));
        // Nobody has asked for the number of what only sets up a connection.
        assert_eq!(redis.reply(b"%0\r\n"), Heard::Reply(1));
        assert_eq!(
            redis.reply(b">1\r\n+invalidate\r\n"),
            Heard::Aside,
            "a push"
        );
        assert_eq!(redis.reply(b"+OK\r\n"), Heard::Reply(2));
        assert_eq!(redis.reply(b"-NOSCRIPT none\r\n"), Heard::Error(3));
        assert_eq!(redis.reply(b":1\r\n"), Heard::Reply(4));
        assert_eq!(redis.reply(b":1\r\n"), Heard::Aside, "nothing was asked");
    }

    #[test]
    fn what_was_subscribed_to_or_watched_is_no_reply() {
        let mut redis = Redis::default();
        assert_eq!(redis.request(&request(&["SUBSCRIBE", "x"])), Heard::Aside);
        assert_eq!(redis.reply(b"*1\r\n+message\r\n"), Heard::Aside);
        assert_eq!(redis.request(&request(&["MONITOR"])), Heard::Stream);
        assert_eq!(redis.request(b"PING\r\n"), Heard::Stream);
    }
}
