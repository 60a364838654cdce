//! One connection of a client to a server, as messages: requests, and the replies to them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use lockstorm_scenarios::{Fate, LockOperation, Message, System};

use super::awaited::Passing;
use super::board::Messages;
use super::language::{self, Heard, Language, Request};
use super::ports::Ports;
use crate::mutex::lock;

/// A connection on which messages can be told apart, or a stream of bytes.
pub(crate) struct Conversation {
    messages: Arc<Messages>,
    client: String,
    node: String,
    language: Mutex<Box<dyn Language>>,
    /// Requests that were not answered yet, by their numbers.
    asked: Mutex<HashMap<u64, Asked>>,
    /// Where the client finds the servers, if not where all do.
    ports: Option<Ports>,
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
    /// A connection to a server of `system` on which nothing was said yet; `None` if nobody knows
    /// what is a message there.
    pub(crate) fn new(
        system: System,
        messages: Arc<Messages>,
        (client, node): (String, String),
        ports: Option<Ports>,
    ) -> Option<Self> {
        Some(Self {
            messages,
            client,
            node,
            language: Mutex::new(language::of(system)?),
            asked: Mutex::default(),
            ports,
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

    /// The meaning of a piece that one side has said; a port in it becomes the client's own.
    fn hear(&self, from: Message, piece: &mut [u8]) -> Heard {
        let mut language = lock(&self.language);
        match from {
            Message::Request => language.request(piece),
            Message::Reply => {
                let heard = language.reply(piece);
                if let Some(ports) = &self.ports {
                    language.translate(piece, ports);
                }
                heard
            }
        }
    }

    /// The message that a piece stands for, if it stands for one.
    fn passing(&self, from: Message, piece: &mut [u8]) -> Option<Passing> {
        match self.hear(from, piece) {
            Heard::Aside => None,
            Heard::Stream => {
                self.becomes_stream();
                None
            }
            Heard::Request(request) => Some(self.ask(request)),
            Heard::Reply(number) => {
                let asked = lock(&self.asked).remove(&number)?;
                Some(self.message(Message::Reply, &asked))
            }
            Heard::Error(number) => {
                lock(&self.asked).remove(&number);
                None
            }
        }
    }

    /// Takes note of a request.
    fn ask(&self, request: Request) -> Passing {
        let (doing, serial) = self.messages.doing(&self.client);
        let operation = if request.keeps_alive {
            LockOperation::Renew
        } else {
            doing
        };
        let asked = Asked {
            command: request.command,
            operation,
            serial,
        };
        let passing = self.message(Message::Request, &asked);
        lock(&self.asked).insert(request.number, asked);
        passing
    }

    fn message(&self, message: Message, asked: &Asked) -> Passing {
        Passing {
            client: self.client.clone(),
            node: self.node.clone(),
            message,
            command: asked.command.clone(),
            operation: asked.operation,
            serial: asked.serial,
        }
    }
}

/// One direction of a conversation.
pub(crate) struct Ear {
    conversation: Arc<Conversation>,
    message: Message,
    /// Bytes that are no whole piece yet.
    heard: Vec<u8>,
}

impl Ear {
    /// Hears bytes, which are kept until they make a whole piece.
    pub(crate) fn hear(&mut self, bytes: &[u8]) {
        self.heard.extend_from_slice(bytes);
    }

    /// The next whole piece, or all there is of a stream.
    pub(crate) fn next(&mut self) -> Option<Vec<u8>> {
        if self.heard.is_empty() {
            return None;
        }
        if !self.conversation.is_stream() {
            let cut = lock(&self.conversation.language).cut(self.message, &self.heard);
            match cut {
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

    /// Returns a piece as it arrives, once it is certain that it does; `None` if its message is
    /// lost.
    pub(crate) async fn pass(&self, mut piece: Vec<u8>) -> Option<Vec<u8>> {
        let conversation = &self.conversation;
        if conversation.is_stream() {
            return Some(piece);
        }
        let Some(passing) = conversation.passing(self.message, &mut piece) else {
            return Some(piece);
        };
        match conversation.messages.pass(&passing).await {
            Fate::Deliver => Some(piece),
            Fate::Lose => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::language::tests::request;
    use super::*;

    fn conversation() -> (Ear, Ear) {
        let messages = Arc::new(Messages::default());
        let ports = Ports {
            of_all: "26279".to_owned(),
            own: "26281".to_owned(),
        };
        let ends = ("a".to_owned(), "n1".to_owned());
        let conversation = Conversation::new(System::Redis, messages, ends, Some(ports));
        let conversation = Arc::new(conversation.expect("its language is known"));
        (
            conversation.ear(Message::Request),
            conversation.ear(Message::Reply),
        )
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
    fn a_message_is_called_by_its_command_and_its_server() {
        let (requests, replies) = conversation();
        let conversation = &requests.conversation;
        let ask = |words: &[&str]| {
            let passing = conversation.passing(Message::Request, &mut request(words));
            passing.map(|passing| passing.to_string())
        };
        assert_eq!(ask(&["HELLO", "3"]), None, "of the way");
        let asked = ask(&["set", "lock", "a"]);
        assert_eq!(asked.as_deref(), Some("the request SET to n1"));
        let answer = |text: &[u8]| {
            let passing = replies
                .conversation
                .passing(Message::Reply, &mut text.to_vec());
            passing.map(|passing| passing.to_string())
        };
        assert_eq!(answer(b"%0\r\n"), None, "of the way");
        let answered = answer(b"+OK\r\n");
        assert_eq!(answered.as_deref(), Some("the reply to SET from n1"));
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
