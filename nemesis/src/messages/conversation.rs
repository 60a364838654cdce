//! One connection of a client to a server, as messages: requests, and the replies to them.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use lockstorm_scenarios::{Fate, LockOperation, Message};

use super::awaited::Passing;
use super::board::Messages;
use crate::mutex::lock;
use crate::resp::{command, end_of_frame};

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

/// Commands after which a server sends what nobody has asked for: subscriptions and replication.
const STREAMS: [&str; 6] = [
    "MONITOR",
    "PSUBSCRIBE",
    "PSYNC",
    "SSUBSCRIBE",
    "SUBSCRIBE",
    "SYNC",
];

/// A connection on which requests and replies alternate, or a stream of bytes.
pub(crate) struct Conversation {
    messages: Arc<Messages>,
    client: String,
    node: String,
    /// Requests that were not answered yet, the oldest first.
    asked: Mutex<VecDeque<Asked>>,
    /// `true` from the first bytes on that are no message.
    is_stream: AtomicBool,
}

/// A request that waits for its reply.
struct Asked {
    command: String,
    operation: LockOperation,
    serial: u64,
}

impl Conversation {
    /// A connection on which nothing was said yet.
    pub(crate) fn new(messages: Arc<Messages>, client: String, node: String) -> Arc<Self> {
        Arc::new(Self {
            messages,
            client,
            node,
            asked: Mutex::default(),
            is_stream: AtomicBool::new(false),
        })
    }

    /// Listener to one direction of it.
    pub(crate) fn ear(self: &Arc<Self>, message: Message) -> Ear {
        Ear {
            conversation: Arc::clone(self),
            message,
            heard: Vec::new(),
        }
    }

    fn becomes_stream(&self) {
        self.is_stream.store(true, Ordering::SeqCst);
    }

    fn is_stream(&self) -> bool {
        self.is_stream.load(Ordering::SeqCst)
    }

    /// Takes note of a request.
    fn ask(&self, frame: &[u8]) -> Option<Passing> {
        let Some(command) = command(frame) else {
            self.becomes_stream();
            return None;
        };
        if STREAMS.contains(&&*command) {
            self.becomes_stream();
            return None;
        }
        let (operation, serial) = self.messages.doing(&self.client);
        let asked = Asked {
            command,
            operation,
            serial,
        };
        let passing = self.passing(Message::Request, &asked);
        lock(&self.asked).push_back(asked);
        passing
    }

    /// Finds the request that a reply is to.
    fn answer(&self, frame: &[u8]) -> Option<Passing> {
        // A push answers nothing.
        if frame.first() == Some(&b'>') {
            return None;
        }
        let asked = lock(&self.asked).pop_front()?;
        // An error says that nothing was done, and QUEUED that nothing was done yet.
        if frame.first() == Some(&b'-') || frame == b"+QUEUED\r\n" {
            return None;
        }
        self.passing(Message::Reply, &asked)
    }

    fn passing(&self, message: Message, asked: &Asked) -> Option<Passing> {
        if OF_THE_WAY.contains(&&*asked.command) {
            return None;
        }
        Some(Passing {
            client: self.client.clone(),
            node: self.node.clone(),
            message,
            command: asked.command.clone(),
            operation: asked.operation,
            serial: asked.serial,
        })
    }
}

/// One direction of a conversation.
pub(crate) struct Ear {
    conversation: Arc<Conversation>,
    message: Message,
    /// Bytes that are no whole message yet.
    heard: Vec<u8>,
}

impl Ear {
    /// Hears bytes, which are kept until they make a whole message.
    pub(crate) fn hear(&mut self, bytes: &[u8]) {
        self.heard.extend_from_slice(bytes);
    }

    /// The next whole message, or all there is of a stream.
    pub(crate) fn next(&mut self) -> Option<Vec<u8>> {
        if self.heard.is_empty() {
            return None;
        }
        if !self.conversation.is_stream() {
            match end_of_frame(&self.heard) {
                Ok(None) => return None,
                Ok(Some(end)) => {
                    let rest = self.heard.split_off(end);
                    return Some(std::mem::replace(&mut self.heard, rest));
                }
                Err(_) => self.conversation.becomes_stream(),
            }
        }
        Some(self.rest())
    }

    /// Returns what is left when the stream ends.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.heard)
    }

    /// Returns what becomes of a message, once that is certain.
    pub(crate) async fn fate(&self, frame: &[u8]) -> Fate {
        if self.conversation.is_stream() {
            return Fate::Deliver;
        }
        let passing = match self.message {
            Message::Request => self.conversation.ask(frame),
            Message::Reply => self.conversation.answer(frame),
        };
        match passing {
            Some(passing) => self.conversation.messages.pass(&passing).await,
            None => Fate::Deliver,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conversation() -> (Ear, Ear) {
        let messages = Arc::new(Messages::default());
        let conversation = Conversation::new(messages, "a".to_owned(), "n1".to_owned());
        (
            conversation.ear(Message::Request),
            conversation.ear(Message::Reply),
        )
    }

    fn request(words: &[&str]) -> Vec<u8> {
        let words = words
            .iter()
            .map(|word| format!("${}\r\n{word}\r\n", word.len()));
        let count = words.len();
        format!("*{count}\r\n{}", words.collect::<String>()).into_bytes()
    }

    #[test]
    fn messages_are_cut_wherever_their_bytes_are() {
        let (mut requests, _) = conversation();
        let (set, del) = (request(&["SET", "lock", "a"]), request(&["DEL", "lock"]));
        let both = [set.clone(), del.clone()].concat();
        for cut in 0..both.len() {
            requests.hear(&both[..cut]);
            let mut heard: Vec<Vec<u8>> = std::iter::from_fn(|| requests.next()).collect();
            requests.hear(&both[cut..]);
            heard.extend(std::iter::from_fn(|| requests.next()));
            assert_eq!(heard, [set.clone(), del.clone()], "cut at {cut}");
        }
    }

    #[test]
    fn a_reply_belongs_to_the_oldest_request_without_one() {
        let (requests, replies) = conversation();
        let conversation = &requests.conversation;
        assert!(conversation.ask(&request(&["HELLO", "3"])).is_none());
        let asked = conversation.ask(&request(&["set", "lock", "a"])).unwrap();
        assert_eq!(asked.to_string(), "the request SET to n1");
        conversation.ask(&request(&["EVALSHA", "x", "0"]));
        conversation.ask(&request(&["DEL", "lock"]));
        let answer = |frame: &[u8]| replies.conversation.answer(frame);
        assert!(answer(b"%0\r\n").is_none(), "of the way");
        assert!(answer(b">1\r\n+invalidate\r\n").is_none(), "a push");
        let answered = answer(b"+OK\r\n").map(|passing| passing.to_string());
        assert_eq!(answered.as_deref(), Some("the reply to SET from n1"));
        assert!(answer(b"-NOSCRIPT none\r\n").is_none(), "nothing was done");
        assert_eq!(answer(b":1\r\n").unwrap().command, "DEL");
        assert!(answer(b":1\r\n").is_none(), "nothing was asked");
    }

    #[test]
    fn what_is_no_message_passes_as_it_is_in_both_directions() {
        let (mut requests, mut replies) = conversation();
        requests.hear(b"RCmb");
        assert_eq!(requests.next().unwrap(), b"RCmb");
        replies.hear(b"*2\r\nhalf");
        assert_eq!(replies.next().unwrap(), b"*2\r\nhalf");
    }
}
