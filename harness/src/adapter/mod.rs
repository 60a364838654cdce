//! Clients that are processes: the protocol that they speak, and the harness's side of it.
//!
//! For: starting them, talking to them, believing nothing that they say beyond what it is. Not for:
//! the other side, which is `worker` for our own locks, and anybody's program for other libraries:
//! docs/adapter-protocol.md.
//!
//! ```text
//! session → remote (a lock) → talk → lines of JSON → a process
//! ```

mod bound;
mod directory;
mod lines;
mod log;
mod loss;
mod message;
mod remote;
mod rounds;
mod talk;

pub(crate) use log::{Tail, keep_log};
pub(crate) use rounds::Rounds;
pub(crate) use talk::{Talk, TalkParts};

pub use directory::Directory;
pub use lines::{LineError, Lines};
pub use loss::{Loss, Told};
pub use message::{
    Answer, Call, Can, LINE_MAX, Mark, Note, Open, Opened, PROTOCOL, Reason, Reply, Request,
    SPOKEN, Server, Spoken, Target, Watch, Word, line,
};
pub use remote::{Remote, RemoteSettings, StartError};
pub use talk::Complaints;
