//! The language of PostgreSQL.
//!
//! Source: PostgreSQL's documentation, "Frontend/Backend Protocol", "Message Formats": each message
//! is a letter, its length, which counts itself, and its content; the first of a client has no
//! letter.

use std::collections::HashMap;

use lockstorm_scenarios::Message;

use super::pieces::{number_at, whole};
use super::queue::Queue;
use super::{Heard, Language, sql};
use crate::resp::Malformed;

/// Bytes of a length.
const LENGTH: usize = 4;

/// Codes of what a client may ask for instead of beginning: TLS, GSSAPI, or the end of another's
/// query.
const TLS: u32 = 80_877_103;
const GSSAPI: u32 = 80_877_104;
const CANCEL: u32 = 80_877_102;

/// A connection to a server of PostgreSQL.
#[derive(Debug, Default)]
pub(super) struct Postgres {
    stage: Stage,
    /// Those that were not answered, each with how far its answer has got.
    asked: Queue<Asked>,
    /// Command of each prepared statement, by its name; none if it says nothing of a lock.
    prepared: HashMap<Vec<u8>, Option<String>>,
    /// Command of the statement that was bound last.
    bound: Option<String>,
}

/// How far a connection has got.
#[derive(Debug, Default, PartialEq, Eq)]
enum Stage {
    /// The client has not begun.
    #[default]
    New,
    /// The client has asked to go on in another way, and is answered with one letter.
    AskedOtherwise,
    /// Messages have letters.
    Begun,
}

/// Progress of an answer.
#[derive(Debug, PartialEq, Eq)]
enum Asked {
    /// It has to do with a lock, and was not answered.
    Open,
    /// Nothing more of it counts.
    Over,
}

/// The length of the first message, if it is there: what counts itself.
fn message(bytes: &[u8], letter: usize) -> Result<Option<usize>, Malformed> {
    match number_at(bytes, letter).map(|length| length as usize) {
        Some(length) if length < LENGTH => Err(Malformed),
        Some(length) => whole(letter, length, bytes),
        None => Ok(None),
    }
}

/// The text at the beginning of these bytes, and what is behind its end.
fn text(bytes: &[u8]) -> (&[u8], &[u8]) {
    match bytes.iter().position(|&byte| byte == 0) {
        Some(end) => (&bytes[..end], &bytes[end + 1..]),
        None => (bytes, &[]),
    }
}

/// The messages of a piece: the letter and the content of each.
fn messages(piece: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    let mut rest = piece;
    std::iter::from_fn(move || {
        let end = message(rest, 1).ok()??;
        let (one, behind) = rest.split_at(end);
        rest = behind;
        Some((one[0], &one[1 + LENGTH..]))
    })
}

impl Postgres {
    /// A piece of a client goes up to what makes the server answer: what it parses, binds and
    /// executes before is one request.
    fn cut_request(bytes: &[u8]) -> Result<Option<usize>, Malformed> {
        let mut end = 0;
        while let Some(length) = message(&bytes[end..], 1)? {
            let letter = bytes[end];
            end += length;
            if !matches!(letter, b'P' | b'B' | b'D' | b'E' | b'C') {
                return Ok(Some(end));
            }
        }
        Ok(None)
    }

    /// The statement of a request, if it has to do with a lock, and executes it.
    fn executed(&mut self, piece: &[u8]) -> Option<String> {
        let mut executed = None;
        for (letter, content) in messages(piece) {
            let (first, rest) = text(content);
            let second = text(rest).0;
            match letter {
                b'Q' => return sql::command(first),
                b'P' => {
                    self.prepared.insert(first.to_vec(), sql::command(second));
                }
                b'B' => self.bound = self.prepared.get(second).cloned().flatten(),
                b'E' => executed = executed.or_else(|| self.bound.clone()),
                _ => {}
            }
        }
        executed
    }
}

impl Language for Postgres {
    fn cut(&mut self, from: Message, bytes: &[u8]) -> Result<Option<usize>, Malformed> {
        match (from, &self.stage) {
            (Message::Request, Stage::New | Stage::AskedOtherwise) => message(bytes, 0),
            (Message::Request, Stage::Begun) => Self::cut_request(bytes),
            (Message::Reply, Stage::AskedOtherwise) => Ok((!bytes.is_empty()).then_some(1)),
            (Message::Reply, Stage::New | Stage::Begun) => message(bytes, 1),
        }
    }

    fn request(&mut self, piece: &[u8]) -> Heard {
        if self.stage != Stage::Begun {
            self.stage = match number_at(piece, LENGTH) {
                Some(TLS | GSSAPI) => Stage::AskedOtherwise,
                Some(CANCEL) => return Heard::Stream,
                _ => Stage::Begun,
            };
            return Heard::Aside;
        }
        let last = messages(piece).last().map(|(letter, _)| letter);
        let executed = self.executed(piece);
        // What is only flushed is answered together with what is sent next.
        if !matches!(last, Some(b'Q' | b'S' | b'F')) {
            return Heard::Aside;
        }
        let asked = match &executed {
            Some(_) => Asked::Open,
            None => Asked::Over,
        };
        let number = self.asked.ask(asked);
        Heard::asked(number, executed)
    }

    fn reply(&mut self, piece: &[u8]) -> Heard {
        let letter = piece.first().copied();
        if self.stage == Stage::AskedOtherwise {
            self.stage = Stage::New;
            return match letter {
                Some(b'N') => Heard::Aside,
                _ => Heard::Stream,
            };
        }
        let Some((number, asked)) = self.asked.oldest() else {
            return Heard::Aside;
        };
        let number = *number;
        match letter {
            // It is ready for the next.
            Some(b'Z') => {
                self.asked.answer();
                Heard::Aside
            }
            // A row, the end of a statement, or an error: what describes a row comes before.
            Some(b'D' | b'C' | b'I' | b's' | b'E') if *asked == Asked::Open => {
                *asked = Asked::Over;
                if letter == Some(b'E') {
                    Heard::Error(number)
                } else {
                    Heard::Reply(number)
                }
            }
            _ => Heard::Aside,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::asks;
    use super::*;

    fn say(letter: u8, content: &[u8]) -> Vec<u8> {
        let length = u32::try_from(content.len() + LENGTH).unwrap().to_be_bytes();
        [&[letter], &length[..], content].concat()
    }

    fn first(code: u32) -> Vec<u8> {
        [8_u32.to_be_bytes(), code.to_be_bytes()].concat()
    }

    /// A connection on which messages have letters, and nothing was asked.
    fn begun() -> Postgres {
        let mut postgres = Postgres::default();
        assert_eq!(postgres.request(&first(196_608)), Heard::Aside);
        for letter in [b'R', b'S', b'K', b'Z'] {
            assert_eq!(postgres.reply(&say(letter, b"")), Heard::Aside);
        }
        postgres
    }

    #[test]
    fn a_query_is_answered_by_its_first_row_or_its_end() {
        let mut postgres = begun();
        let query = say(b'Q', b"SELECT pg_try_advisory_lock(1)\0");
        assert_eq!(postgres.request(&query), asks(1, "SELECT"));
        assert_eq!(postgres.reply(&say(b'T', b"")), Heard::Aside);
        assert_eq!(postgres.reply(&say(b'D', b"t")), Heard::Reply(1));
        assert_eq!(postgres.reply(&say(b'C', b"")), Heard::Aside, "once");
        assert_eq!(postgres.reply(&say(b'Z', b"I")), Heard::Aside);
        assert_eq!(postgres.request(&say(b'Q', b"BEGIN\0")), Heard::Aside);
        assert_eq!(postgres.reply(&say(b'C', b"")), Heard::Aside);
        postgres.reply(&say(b'Z', b"T"));
        assert_eq!(
            postgres.request(&say(b'Q', b"DELETE FROM l\0")),
            asks(3, "DELETE")
        );
        assert_eq!(postgres.reply(&say(b'E', b"no")), Heard::Error(3));
        assert_eq!(
            postgres.reply(&say(b'A', b"")),
            Heard::Aside,
            "a notification"
        );
    }

    #[test]
    fn what_is_parsed_bound_and_executed_is_one_request() {
        let mut postgres = begun();
        let parse = say(b'P', b"\0select 1\0\0\0");
        let bind = say(b'B', b"\0\0");
        let all = [parse.clone(), bind, say(b'E', b""), say(b'S', b"")].concat();
        assert_eq!(
            postgres.cut(Message::Request, &all[..all.len() - 1]),
            Ok(None)
        );
        assert_eq!(postgres.cut(Message::Request, &all), Ok(Some(all.len())));
        assert_eq!(postgres.request(&all), asks(1, "SELECT"));
        for (letter, heard) in [
            (b'1', Heard::Aside),
            (b'2', Heard::Aside),
            (b'D', Heard::Reply(1)),
            (b'Z', Heard::Aside),
        ] {
            assert_eq!(postgres.reply(&say(letter, b"")), heard);
        }
        let begin = say(b'P', b"other\0begin\0\0\0");
        let only_prepared = [parse, begin, say(b'S', b"")].concat();
        assert_eq!(postgres.request(&only_prepared), Heard::Aside);
        let run = |name: &[u8]| {
            let bind = say(b'B', &[&b"\0"[..], name, b"\0"].concat());
            [bind, say(b'E', b""), say(b'S', b"")].concat()
        };
        assert_eq!(postgres.request(&run(b"")), asks(3, "SELECT"));
        assert_eq!(postgres.request(&run(b"other")), Heard::Aside);
    }

    #[test]
    fn who_may_not_go_on_in_tls_begins_anew_and_who_may_sends_no_messages() {
        let mut postgres = Postgres::default();
        assert_eq!(postgres.request(&first(TLS)), Heard::Aside);
        assert_eq!(postgres.cut(Message::Reply, b"N"), Ok(Some(1)));
        assert_eq!(postgres.reply(b"N"), Heard::Aside);
        assert_eq!(postgres.request(&first(196_608)), Heard::Aside);
        let mut postgres = Postgres::default();
        postgres.request(&first(TLS));
        assert_eq!(postgres.reply(b"S"), Heard::Stream);
    }
}
