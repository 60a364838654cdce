//! A file that grows at its end and is written through memory that it shares with the kernel.
//!
//! What was put here is in the kernel's hands when the call returns, without a system call, and
//! stays in the file however this process ends. Room is reserved on the disk before it is mapped,
//! so that a full disk is an error of whoever makes the room and no signal for whoever writes.
//! Until [`trim`](Room::trim) the file ends with NUL bytes: the room that nobody has used.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::sync::atomic::{Ordering, compiler_fence};

use memmap2::{Advice, MmapMut, MmapOptions};
use nix::fcntl::posix_fallocate;

/// Bytes of one piece of room: some thousand events. The size is of the file system's pages.
pub const PIECE: usize = 1 << 20;

/// Makes room at the end of a file.
#[derive(Debug)]
pub struct Room {
    file: File,
    /// Offset at which the next piece begins.
    end: u64,
}

/// One piece of a file, ready to be written.
#[derive(Debug)]
pub struct Piece(MmapMut);

/// Writes into the pieces that it is given, one after the other.
#[derive(Debug, Default)]
pub struct Filler {
    pieces: VecDeque<Piece>,
    /// Bytes of the first piece that are written.
    filled: usize,
    /// Bytes that fit into what is there.
    room: usize,
    /// Bytes written in all.
    written: u64,
}

impl Room {
    /// For an empty file, opened for reading and writing.
    pub const fn of(file: File) -> Self {
        Self { file, end: 0 }
    }

    /// `true` if the file system of `file` can share memory at all; most can.
    pub fn can_be_shared(file: &File) -> bool {
        map(file, 0).is_ok()
    }

    /// Lengthens the file by one piece.
    ///
    /// # Errors
    /// When the disk is full, or the file cannot be mapped.
    pub fn make(&mut self) -> io::Result<Piece> {
        let signed = |bytes: u64| i64::try_from(bytes).map_err(io::Error::other);
        posix_fallocate(&self.file, signed(self.end)?, signed(PIECE as u64)?)?;
        let piece = map(&self.file, self.end)?;
        // Who writes there first need not wait for the page. An old kernel cannot do so.
        let _ = piece.advise(Advice::PopulateWrite);
        self.end += PIECE as u64;
        Ok(Piece(piece))
    }

    /// Cuts off the room that nobody has used, and hands all to the disk. No piece may be left.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn trim(&self, written: u64) -> io::Result<()> {
        self.file.set_len(written)?;
        self.file.sync_all()
    }
}

#[expect(
    unsafe_code,
    reason = "memory that a file shares changes with the file, which Rust cannot know"
)]
fn map(file: &File, start: u64) -> io::Result<MmapMut> {
    // SAFETY: the bytes are written here and read by nobody in this process, so that it does not
    // matter who else changes them. The file is as long as the mapping is whenever it is written:
    // its room was reserved, and only `Room::trim` shortens it, which comes after the last piece.
    unsafe { MmapOptions::new().offset(start).len(PIECE).map_mut(file) }
}

impl Filler {
    /// Bytes that fit into what is there.
    pub const fn room(&self) -> usize {
        self.room
    }

    /// Bytes written in all.
    pub const fn written(&self) -> u64 {
        self.written
    }

    /// Takes one more piece, the next one of the file.
    pub fn take(&mut self, piece: Piece) {
        self.room += piece.0.len();
        self.pieces.push_back(piece);
    }

    /// Appends a line, end of line included, for which there must be room. Should the process be
    /// killed in the middle of it, the line has no end, and shows by that.
    pub fn append(&mut self, line: &[u8]) {
        let (body, end) = line.split_at(line.len().saturating_sub(1));
        self.put(body);
        // The compiler may not move the end before the body; a processor keeps that order for
        // whoever looks after the end of this process.
        compiler_fence(Ordering::SeqCst);
        self.put(end);
    }

    fn put(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let piece = &mut self.pieces.front_mut().expect("there is room").0;
            let (now, later) = bytes.split_at(bytes.len().min(piece.len() - self.filled));
            piece[self.filled..][..now.len()].copy_from_slice(now);
            self.filled += now.len();
            self.room -= now.len();
            self.written += now.len() as u64;
            if self.filled == piece.len() {
                self.pieces.pop_front();
                self.filled = 0;
            }
            bytes = later;
        }
    }
}
