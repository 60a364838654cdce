//! gRPC, as far as it takes to tell one message from the next.
//!
//! Sources: HTTP/2 (RFC 9113): a frame is its length, type, flags and stream, and its content;
//! gRPC's "PROTOCOL-HTTP2": each call is a stream, and each message in it a byte, its length and
//! itself. An error comes without a message.

use std::collections::{HashMap, VecDeque};

use lockstorm_scenarios::Message;
use loona_hpack::Decoder;

use super::pieces::{number_at, whole};
use super::{Heard, Language, Request};
use crate::resp::Malformed;

/// Beginning of what a client says.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Bytes before the content of a frame.
const HEAD: usize = 9;
/// Bytes before a message in the content of frames.
const MESSAGE_HEAD: usize = 5;

/// Types of frames.
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RESET: u8 = 3;
const CONTINUATION: u8 = 9;

/// Flags of frames.
const END_OF_STREAM: u8 = 0x1;
const END_OF_HEADERS: u8 = 0x4;
const PADDED: u8 = 0x8;
const PRIORITY: u8 = 0x20;

/// Services of etcd that have to do with locks.
const OF_LOCKS: [&str; 4] = ["KV", "Lease", "Lock", "Election"];

/// The call that keeps a lease alive.
const KEEP_ALIVE: &str = "Lease/LeaseKeepAlive";

/// The call that begins a session, and says nothing of a lock.
const GRANT: &str = "Lease/LeaseGrant";

/// A connection of gRPC.
#[derive(Default)]
pub(super) struct Grpc {
    decoder: Decoder<'static>,
    has_begun: bool,
    /// Headers of the stream that begins, as far as they are there.
    headers: Vec<u8>,
    calls: HashMap<u32, Call>,
    begun: u64,
}

/// A call that is under way.
#[derive(Debug, Default)]
struct Call {
    /// Its service and itself, such as `KV/Txn`; `None` if it has nothing to do with a lock.
    method: Option<String>,
    /// Numbers of the requests that were not answered.
    asked: VecDeque<u64>,
    /// Bytes that are left of the message that the client, or the server, has begun.
    left: [usize; 2],
}

/// A frame.
struct Frame<'a> {
    kind: u8,
    flags: u8,
    stream: u32,
    content: &'a [u8],
}

impl<'a> Frame<'a> {
    fn of(piece: &'a [u8]) -> Option<Self> {
        let head = piece.get(..HEAD)?;
        let flags = head[4];
        let mut content = &piece[HEAD..];
        if flags & PADDED != 0 && matches!(head[3], DATA | HEADERS) {
            let (padding, rest) = content.split_first()?;
            content = rest.get(..rest.len().checked_sub(usize::from(*padding))?)?;
        }
        if flags & PRIORITY != 0 && head[3] == HEADERS {
            content = content.get(5..)?;
        }
        Some(Self {
            kind: head[3],
            flags,
            stream: number_at(head, 5)? & 0x7fff_ffff,
            content,
        })
    }

    fn is_last(&self) -> bool {
        let ends = matches!(self.kind, DATA | HEADERS) && self.flags & END_OF_STREAM != 0;
        ends || self.kind == RESET
    }
}

/// Tells whether a message begins in the content of a frame; `left` is what is missing of the one
/// before it.
fn begins(left: &mut usize, content: &[u8]) -> bool {
    let mut begins = false;
    let mut rest = content;
    while !rest.is_empty() {
        if *left > 0 {
            let taken = rest.len().min(*left);
            *left -= taken;
            rest = &rest[taken..];
        } else {
            let Some(length) = number_at(rest, 1) else {
                break;
            };
            begins = true;
            *left = length as usize;
            rest = &rest[MESSAGE_HEAD..];
        }
    }
    begins
}

/// The service and the call of a path, such as `KV/Txn` of `/etcdserverpb.KV/Txn`, if it has to do
/// with a lock.
fn method(path: &[u8]) -> Option<String> {
    let path = std::str::from_utf8(path).ok()?;
    let (service, call) = path.strip_prefix('/')?.split_once('/')?;
    let service = service.rsplit('.').next()?;
    let method = format!("{service}/{call}");
    (OF_LOCKS.contains(&service) && method != GRANT).then_some(method)
}

impl Grpc {
    /// Takes note of the headers of a stream once all are there.
    fn open(&mut self, frame: &Frame<'_>) {
        self.headers.extend_from_slice(frame.content);
        if frame.flags & END_OF_HEADERS == 0 {
            return;
        }
        let block = std::mem::take(&mut self.headers);
        // Those of all streams are needed to read the next. What cannot be read has no path.
        let fields = self.decoder.decode(&block).unwrap_or_default();
        let path = fields.iter().find(|(name, _)| name == b":path");
        let call = Call {
            method: path.and_then(|(_, path)| method(path)),
            ..Call::default()
        };
        self.calls.insert(frame.stream, call);
    }
}

impl Language for Grpc {
    fn cut(&mut self, from: Message, bytes: &[u8]) -> Result<Option<usize>, Malformed> {
        if from == Message::Request && !self.has_begun {
            return match bytes.get(..PREFACE.len()) {
                Some(PREFACE) => Ok(Some(PREFACE.len())),
                Some(_) => Err(Malformed),
                None => Ok(None),
            };
        }
        match bytes.get(..3) {
            Some(&[high, mid, low]) => {
                let length = u32::from_be_bytes([0, high, mid, low]);
                whole(HEAD, length as usize, bytes)
            }
            _ => Ok(None),
        }
    }

    fn request(&mut self, piece: &[u8]) -> Heard {
        if !self.has_begun {
            self.has_begun = true;
            return Heard::Aside;
        }
        let Some(frame) = Frame::of(piece) else {
            return Heard::Stream;
        };
        match frame.kind {
            HEADERS | CONTINUATION => self.open(&frame),
            RESET => {
                self.calls.remove(&frame.stream);
            }
            _ => {}
        }
        let Some(call) = self.calls.get_mut(&frame.stream) else {
            return Heard::Aside;
        };
        let Some(command) = call.method.clone().filter(|_| frame.kind == DATA) else {
            return Heard::Aside;
        };
        if !begins(&mut call.left[0], frame.content) {
            return Heard::Aside;
        }
        self.begun += 1;
        call.asked.push_back(self.begun);
        Heard::Request(Request {
            number: self.begun,
            keeps_alive: command == KEEP_ALIVE,
            command,
        })
    }

    fn reply(&mut self, piece: &[u8]) -> Heard {
        let Some(frame) = Frame::of(piece) else {
            return Heard::Stream;
        };
        let Some(call) = self.calls.get_mut(&frame.stream) else {
            return Heard::Aside;
        };
        let is_answer = frame.kind == DATA && begins(&mut call.left[1], frame.content);
        let answered = call.asked.front().copied();
        let heard = match answered {
            Some(number) if is_answer => {
                call.asked.pop_front();
                Heard::Reply(number)
            }
            Some(number) if frame.is_last() => Heard::Error(number),
            Some(_) | None => Heard::Aside,
        };
        if frame.is_last() {
            self.calls.remove(&frame.stream);
        }
        heard
    }
}

#[cfg(test)]
mod tests {
    use loona_hpack::Encoder;

    use super::super::tests::asks;
    use super::*;

    fn frame(kind: u8, flags: u8, stream: u32, content: &[u8]) -> Vec<u8> {
        let length = u32::try_from(content.len()).unwrap().to_be_bytes();
        [&length[1..], &[kind, flags], &stream.to_be_bytes(), content].concat()
    }

    fn message(content: &[u8]) -> Vec<u8> {
        let length = u32::try_from(content.len()).unwrap().to_be_bytes();
        [&[0], &length[..], content].concat()
    }

    /// A connection that has begun, and the frame that opens a call on a stream.
    struct Client {
        grpc: Grpc,
        encoder: Encoder<'static>,
    }

    impl Client {
        fn new() -> Self {
            let mut grpc = Grpc::default();
            assert_eq!(grpc.cut(Message::Request, PREFACE), Ok(Some(PREFACE.len())));
            assert_eq!(grpc.request(PREFACE), Heard::Aside);
            Self {
                grpc,
                encoder: Encoder::new(),
            }
        }

        fn opens(&mut self, stream: u32, path: &str) {
            let fields = [(&b":method"[..], &b"POST"[..]), (b":path", path.as_bytes())];
            let block = self.encoder.encode(fields);
            let headers = frame(HEADERS, END_OF_HEADERS, stream, &block);
            assert_eq!(self.grpc.request(&headers), Heard::Aside);
        }

        fn says(&mut self, stream: u32, flags: u8) -> Heard {
            self.grpc
                .request(&frame(DATA, flags, stream, &message(b"txn")))
        }

        fn is_told(&mut self, kind: u8, flags: u8, stream: u32, content: &[u8]) -> Heard {
            self.grpc.reply(&frame(kind, flags, stream, content))
        }
    }

    #[test]
    fn a_call_is_known_by_its_stream_and_an_error_has_no_message() {
        let mut client = Client::new();
        for (stream, number) in [(1, 1), (3, 2)] {
            client.opens(stream, "/etcdserverpb.KV/Txn");
            let asked = client.says(stream, END_OF_STREAM);
            assert_eq!(asked, asks(number, "KV/Txn"));
        }
        assert_eq!(
            client.is_told(HEADERS, END_OF_HEADERS, 3, b""),
            Heard::Aside
        );
        assert_eq!(
            client.is_told(DATA, 0, 3, &message(b"yes")),
            Heard::Reply(2)
        );
        assert_eq!(client.is_told(HEADERS, END_OF_STREAM, 3, b""), Heard::Aside);
        assert_eq!(
            client.is_told(HEADERS, END_OF_STREAM, 1, b""),
            Heard::Error(1)
        );
        assert!(client.grpc.calls.is_empty(), "both are over");
    }

    #[test]
    fn a_message_in_two_frames_is_one_and_padding_is_none() {
        let mut client = Client::new();
        client.opens(1, "/etcdserverpb.KV/Put");
        let whole = message(b"a long one");
        let (half, rest) = whole.split_at(8);
        assert_eq!(
            client.grpc.request(&frame(DATA, 0, 1, half)),
            asks(1, "KV/Put")
        );
        assert_eq!(client.grpc.request(&frame(DATA, 0, 1, rest)), Heard::Aside);
        let padded = [&[2][..], &whole, &[0, 0]].concat();
        assert_eq!(client.is_told(DATA, PADDED, 1, &padded), Heard::Reply(1));
    }

    #[test]
    fn leases_are_kept_alive_over_one_stream_and_watches_and_sessions_are_no_requests() {
        let mut client = Client::new();
        client.opens(1, "/etcdserverpb.Lease/LeaseKeepAlive");
        for number in 1..=2 {
            let Heard::Request(asked) = client.says(1, 0) else {
                panic!("it is one");
            };
            assert_eq!((asked.number, asked.keeps_alive), (number, true));
            assert_eq!(
                client.is_told(DATA, 0, 1, &message(b"")),
                Heard::Reply(number)
            );
        }
        for (stream, call) in [(3, "Watch/Watch"), (5, "Lease/LeaseGrant")] {
            client.opens(stream, &format!("/etcdserverpb.{call}"));
            assert_eq!(client.says(stream, 0), Heard::Aside);
            let told = client.is_told(DATA, 0, stream, &message(b"event"));
            assert_eq!(told, Heard::Aside);
        }
    }

    #[test]
    fn headers_that_cannot_be_read_do_no_harm() {
        let mut state = 7_u64;
        for length in 0..2_000 {
            let mut byte = || {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                (state >> 56) as u8
            };
            let block: Vec<u8> = (0..length % 60).map(|_| byte()).collect();
            let mut client = Client::new();
            client
                .grpc
                .request(&frame(HEADERS, END_OF_HEADERS, 1, &block));
            let asked = client.says(1, END_OF_STREAM);
            assert_eq!(asked, Heard::Aside, "{block:?}");
        }
    }

    #[test]
    fn what_is_no_frame_is_no_message() {
        let mut client = Client::new();
        let padded = frame(DATA, PADDED, 1, &[9, 0]);
        assert_eq!(client.grpc.request(&padded), Heard::Stream);
        assert_eq!(
            Grpc::default().cut(Message::Request, &[b'x'; 24]),
            Err(Malformed)
        );
    }
}
