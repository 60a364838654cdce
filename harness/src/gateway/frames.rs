//! The replies of a server, one after the other and byte for byte, but for the names of channels.
//!
//! Source: the Redis serialization protocol, versions 2 and 3.

use std::io;

use lockstorm_nemesis::resp::{FRAME_BYTES_MAX, Malformed, bulk_at, end_of_frame, line_at};
use tokio_util::bytes::{Bytes, BytesMut};
use tokio_util::codec::Decoder;

/// The first word of a push to a subscriber, and how many names follow it.
const PUSHES: [(&[u8], usize); 9] = [
    (b"message", 1),
    (b"smessage", 1),
    (b"pmessage", 2),
    (b"subscribe", 1),
    (b"ssubscribe", 1),
    (b"psubscribe", 1),
    (b"unsubscribe", 1),
    (b"sunsubscribe", 1),
    (b"punsubscribe", 1),
];

/// Cuts what a server sends into replies.
#[derive(Debug, Default)]
pub struct Frames;

impl Decoder for Frames {
    type Item = Bytes;
    type Error = io::Error;

    fn decode(&mut self, source: &mut BytesMut) -> io::Result<Option<Bytes>> {
        match end_of_frame(source) {
            Ok(Some(end)) => Ok(Some(source.split_to(end).freeze())),
            Ok(None) if source.len() <= FRAME_BYTES_MAX => Ok(None),
            Ok(None) => Err(io::Error::other(
                "a reply is longer than any that a lock asks for",
            )),
            Err(Malformed) => Err(io::Error::other("the server does not speak RESP")),
        }
    }
}

/// The frame with `prefix` taken off the channels that it names, if it is a push to a subscriber.
pub fn without_prefix(frame: Bytes, prefix: &str) -> Bytes {
    match renamed(&frame, prefix.as_bytes()) {
        Some(renamed) => renamed.into(),
        None => frame,
    }
}

fn renamed(frame: &[u8], prefix: &[u8]) -> Option<Vec<u8>> {
    let head = line_at(frame, 0).filter(|head| matches!(head.first(), Some(b'>' | b'*')))?;
    let mut at = head.len() + 2;
    let (word, end) = bulk_at(frame, at)?;
    let (_, names) = PUSHES.iter().find(|(push, _)| *push == word)?;
    let mut out = frame[..end].to_vec();
    at = end;
    for _ in 0..*names {
        // Who unsubscribes from nothing is told of no channel.
        let Some((name, end)) = bulk_at(frame, at) else {
            break;
        };
        let name = name.strip_prefix(prefix).unwrap_or(name);
        out.extend(format!("${}\r\n", name.len()).bytes());
        out.extend(name);
        out.extend(b"\r\n");
        at = end;
    }
    out.extend(&frame[at..]);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPLIES: [&str; 11] = [
        "+OK\r\n",
        "-ERR no\r\n",
        ":-12\r\n",
        "$-1\r\n",
        "$4\r\na\r\nb\r\n",
        "*-1\r\n",
        "*0\r\n",
        "*2\r\n*1\r\n:1\r\n$0\r\n\r\n",
        "%1\r\n+a\r\n~2\r\n#t\r\n_\r\n",
        "|1\r\n+a\r\n,1.5\r\n:7\r\n",
        ">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n=5\r\ntxt:m\r\n",
    ];

    #[test]
    fn replies_come_out_one_by_one_however_they_arrive() {
        let stream: Vec<u8> = REPLIES.concat().into_bytes();
        for piece in [1, 3, 7, stream.len()] {
            let mut buffer = BytesMut::new();
            let mut seen = Vec::new();
            for bytes in stream.chunks(piece) {
                buffer.extend_from_slice(bytes);
                while let Some(frame) = Frames.decode(&mut buffer).expect("it is RESP") {
                    seen.push(String::from_utf8(frame.to_vec()).expect("it is text"));
                }
            }
            assert_eq!(seen, REPLIES);
        }
    }

    #[test]
    fn what_is_no_reply_is_an_error_and_no_panic() {
        for odd in ["hello\r\n", "\r\n", "$x\r\n", "*99999999999\r\n", "$-2\r\n"] {
            let decoded = Frames.decode(&mut BytesMut::from(odd));
            assert!(decoded.is_err(), "{odd:?}");
        }
    }

    #[test]
    fn only_the_channels_of_pushes_lose_the_prefix() {
        let taken_off = |frame: &'static str| {
            let bytes = without_prefix(Bytes::from(frame), "p:");
            String::from_utf8(bytes.to_vec()).expect("it is text")
        };
        assert_eq!(
            taken_off(">3\r\n$7\r\nmessage\r\n$3\r\np:c\r\n$3\r\np:m\r\n"),
            ">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$3\r\np:m\r\n"
        );
        assert_eq!(
            taken_off("*3\r\n$9\r\nsubscribe\r\n$3\r\np:c\r\n:1\r\n"),
            "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n"
        );
        for same in ["$3\r\np:c\r\n", "*2\r\n$1\r\na\r\n$3\r\np:c\r\n"] {
            assert_eq!(taken_off(same), same);
        }
        let none = "*3\r\n$11\r\nunsubscribe\r\n$-1\r\n:0\r\n";
        assert_eq!(taken_off(none), none);
    }
}
