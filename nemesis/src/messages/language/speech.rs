//! Meaning of what is said on a connection: what every language tells of a piece.

use lockstorm_scenarios::Message;

use crate::messages::ports::Ports;
use crate::resp::Malformed;

/// Protocol of a system, on one connection.
pub(in crate::messages) trait Language: Send {
    /// Where the first piece of what clients ask or servers reply ends, if all of it is there.
    ///
    /// # Errors
    /// [`Malformed`] as soon as it can be none.
    fn cut(&mut self, from: Message, bytes: &[u8]) -> Result<Option<usize>, Malformed>;

    /// The meaning of a piece that the client has sent.
    fn request(&mut self, piece: &[u8]) -> Heard;

    /// The meaning of a piece that the server has sent.
    fn reply(&mut self, piece: &[u8]) -> Heard;

    /// Puts the port of the client in the place of the one that the servers know of, where the
    /// piece that was heard last says where servers are.
    fn translate(&self, _piece: &mut [u8], _ports: &Ports) {}
}

/// Meaning of a piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::messages) enum Heard {
    /// Nothing of a lock: it sets up a connection, was not asked for, or is the rest of a message.
    Aside,
    /// A request.
    Request(Request),
    /// The server has done what the request of this number asks for.
    Reply(u64),
    /// The server has done nothing of what the request of this number asks for.
    Error(u64),
    /// From here on there are no messages.
    Stream,
}

impl Heard {
    /// A request of this number, if it has a command that says something of a lock.
    pub(in crate::messages) fn asked(number: u64, command: Option<String>) -> Self {
        command.map_or(Self::Aside, |command| {
            Self::Request(Request {
                number,
                command,
                keeps_alive: false,
            })
        })
    }
}

/// A request to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::messages) struct Request {
    /// Number by which its reply is known.
    pub(in crate::messages) number: u64,
    /// Its name, as the protocol has it.
    pub(in crate::messages) command: String,
    /// True if it keeps a session alive, whatever its client is doing.
    pub(in crate::messages) keeps_alive: bool,
}
