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

/// Commands after which a server sends messages that nobody has asked for.
const SUBSCRIPTIONS: [&str; 3] = ["PSUBSCRIBE", "SSUBSCRIBE", "SUBSCRIBE"];

/// Commands after which a server sends whatever it likes.
const STREAMS: [&str; 3] = ["MONITOR", "PSYNC", "SYNC"];

/// Commands whose replies say where servers are.
const DIRECTORIES: [&str; 4] = ["CLUSTER", "INFO", "ROLE", "SENTINEL"];

/// Errors that say where else to ask.
const REDIRECTIONS: [&[u8]; 2] = [b"-ASK ", b"-MOVED "];

/// Ports by which a client and everybody else find the same servers; of as many digits.
pub(crate) struct Ports {
    /// Port that the servers know of.
    pub(crate) of_all: String,
    /// Port that the client knows of.
    pub(crate) own: String,
}

/// A connection on which requests and replies alternate, or a stream of bytes.
pub(crate) struct Conversation {
    messages: Arc<Messages>,
    client: String,
    node: String,
    /// Requests that were not answered yet, the oldest first.
    asked: Mutex<VecDeque<Asked>>,
    /// Where the client finds the servers, if not where all do.
    ports: Option<Ports>,
    /// `true` from the first subscription on: replies need not be to any request.
    is_subscribed: AtomicBool,
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
    pub(crate) fn new(
        messages: Arc<Messages>,
        client: String,
        node: String,
        ports: Option<Ports>,
    ) -> Self {
        Self {
            messages,
            client,
            node,
            asked: Mutex::default(),
            ports,
            is_subscribed: AtomicBool::new(false),
            is_stream: AtomicBool::new(false),
        }
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
        if SUBSCRIPTIONS.contains(&&*command) {
            self.is_subscribed.store(true, Ordering::SeqCst);
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

    /// Finds the request that a reply is to; `None` for what answers nothing.
    fn asked_by(&self, reply: &[u8]) -> Option<Asked> {
        let is_push = reply.first() == Some(&b'>') || self.is_subscribed.load(Ordering::SeqCst);
        if is_push {
            return None;
        }
        lock(&self.asked).pop_front()
    }

    /// The reply to a request that was executed. An error says that nothing was done, and QUEUED
    /// that nothing was done yet.
    fn answer(&self, reply: &[u8], asked: &Asked) -> Option<Passing> {
        if reply.first() == Some(&b'-') || reply == b"+QUEUED\r\n" {
            return None;
        }
        self.passing(Message::Reply, asked)
    }

    /// Puts the port of the client in the place of the one that the servers know of, in what says
    /// where servers are.
    fn translate(&self, reply: &mut [u8], asked: Option<&Asked>) {
        let Some(ports) = &self.ports else {
            return;
        };
        // What is pushed to a subscriber may come from a sentinel.
        let tells = asked.is_none_or(|asked| DIRECTORIES.contains(&&*asked.command))
            || REDIRECTIONS.iter().any(|error| reply.starts_with(error));
        if tells {
            ports.translate(reply);
        }
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

    /// Returns a message as it arrives, once it is certain that it does; `None` if it is lost.
    pub(crate) async fn pass(&self, mut frame: Vec<u8>) -> Option<Vec<u8>> {
        let conversation = &self.conversation;
        if conversation.is_stream() {
            return Some(frame);
        }
        let passing = match self.message {
            Message::Request => conversation.ask(&frame),
            Message::Reply => {
                let asked = conversation.asked_by(&frame);
                conversation.translate(&mut frame, asked.as_ref());
                asked.and_then(|asked| conversation.answer(&frame, &asked))
            }
        };
        match passing {
            Some(passing) => match conversation.messages.pass(&passing).await {
                Fate::Deliver => Some(frame),
                Fate::Lose => None,
            },
            None => Some(frame),
        }
    }
}

impl Ports {
    /// Replaces the number wherever it stands by itself.
    fn translate(&self, text: &mut [u8]) {
        let (from, to) = (self.of_all.as_bytes(), self.own.as_bytes());
        let is_digit = |at: Option<usize>, text: &[u8]| {
            at.and_then(|at| text.get(at))
                .is_some_and(u8::is_ascii_digit)
        };
        let mut at = 0;
        while at + from.len() <= text.len() {
            let end = at + from.len();
            let is_number = text[at..end] == *from
                && !is_digit(at.checked_sub(1), text)
                && !is_digit(Some(end), text);
            if is_number && from.len() == to.len() {
                text[at..end].copy_from_slice(to);
                at = end;
            } else {
                at += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conversation() -> (Ear, Ear) {
        let messages = Arc::new(Messages::default());
        let ports = Ports {
            of_all: "26279".to_owned(),
            own: "26281".to_owned(),
        };
        let conversation =
            Conversation::new(messages, "a".to_owned(), "n1".to_owned(), Some(ports));
        let conversation = Arc::new(conversation);
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
        let answer = |frame: &[u8]| {
            let asked = replies.conversation.asked_by(frame)?;
            replies.conversation.answer(frame, &asked)
        };
        assert!(answer(b"%0\r\n").is_none(), "of the way");
        assert!(answer(b">1\r\n+invalidate\r\n").is_none(), "a push");
        let answered = answer(b"+OK\r\n").map(|passing| passing.to_string());
        assert_eq!(answered.as_deref(), Some("the reply to SET from n1"));
        assert!(answer(b"-NOSCRIPT none\r\n").is_none(), "nothing was done");
        assert_eq!(answer(b":1\r\n").unwrap().command, "DEL");
        assert!(answer(b":1\r\n").is_none(), "nothing was asked");
    }

    #[tokio::test]
    async fn a_port_is_translated_where_servers_are_told_of_and_nowhere_else() {
        let (requests, replies) = conversation();
        let told = async |asked: &[&str], reply: &str| {
            requests.pass(request(asked)).await.unwrap();
            let told = replies.pass(reply.as_bytes().to_vec()).await.unwrap();
            String::from_utf8(told).unwrap()
        };
        let slots = "*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.9.0.1\r\n:26279\r\n";
        let own = slots.replace("26279", "26281");
        assert_eq!(told(&["CLUSTER", "SLOTS"], slots).await, own);
        let moved = "-MOVED 26279 127.9.0.2:26279\r\n";
        let own = "-MOVED 26281 127.9.0.2:26281\r\n";
        assert_eq!(told(&["GET", "26279"], moved).await, own);
        let value = "$5\r\n26279\r\n";
        assert_eq!(told(&["GET", "x"], value).await, value);
        let other = "$6\r\n126279\r\n";
        assert_eq!(told(&["ROLE"], other).await, other);
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
