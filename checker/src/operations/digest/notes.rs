//! The notes on which verdicts rest.

use crate::history::{FaultNote, Nanos};
use crate::operations::{KeyId, OpId, OwnerId};

/// Word of a note that a lock is lost, or may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Its holder was told so.
    Told,
    /// Its holder was told that nobody knows, and nobody said later that it had held the lock all
    /// the time.
    Suspended,
    /// The session of its holder ended.
    Ended,
}

/// A client was told that it lost the lock, or that nobody knows; or its session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostNote {
    /// The word.
    pub loss: Loss,
    /// Index of the note.
    pub event: u64,
    /// Time of the note.
    pub time: Nanos,
    /// Key of the lock that was lost.
    pub key: KeyId,
    /// Owner that was told.
    pub owner: OwnerId,
}

/// A client is alive and goes on as the holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ActingNote {
    /// Index of the note.
    pub(crate) event: u64,
    pub(crate) time: Nanos,
    pub(crate) key: KeyId,
    pub(crate) owner: OwnerId,
}

/// A client passed the doorway of a fair lock: from here on it has its place in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuedNote {
    /// Index of the note.
    pub event: u64,
    /// Time of the note.
    pub time: Nanos,
    /// Key of the fair lock.
    pub key: KeyId,
    /// Owner that has its place in the queue.
    pub owner: OwnerId,
    /// The acquire that waits, if one of this process is under way.
    pub acquire: Option<OpId>,
}

/// A note in the life of a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultEvent {
    /// Index of the note.
    pub event: u64,
    /// Time of the note.
    pub time: Nanos,
    /// Content of the note.
    pub note: FaultNote,
}

/// The run entered its final phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FinalPhase {
    /// Index of the note.
    pub event: u64,
    /// Time of the note.
    pub time: Nanos,
    /// Longest time that a key may stay unobtainable from then on, if the note says so.
    pub bound: Option<Nanos>,
}
