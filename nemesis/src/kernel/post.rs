//! The thread that answers for each packet.

use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Instant;

use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;

use super::queue::Queue;
use super::traffic::Traffic;
use crate::link::Map;

/// Packets that are taken in before those are let go that have become due.
const BATCH_MAX: usize = 64;

/// The thread; it ends when this is dropped.
pub(super) struct Post {
    stop: Option<PipeWriter>,
    thread: Option<JoinHandle<()>>,
}

impl Post {
    /// Begins to answer for the packets of `queue`.
    ///
    /// # Errors
    /// When there can be no more threads.
    pub(super) fn start(queue: Queue, map: Arc<Map>) -> io::Result<Self> {
        let (stopped, stop) = io::pipe()?;
        let thread = thread::Builder::new()
            .name("post".to_owned())
            .spawn(move || work(queue, Traffic::new(map), &stopped))?;
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

impl Drop for Post {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // It ends in any case, and whether it panicked has been said by then.
            let _ = thread.join();
        }
    }
}

/// Takes packets in and lets them go until the other end of `stopped` is closed.
fn work(mut queue: Queue, mut traffic: Traffic, stopped: &PipeReader) {
    while let Ok(false) = wait(&queue, traffic.next_due(), stopped) {
        for _ in 0..BATCH_MAX {
            match queue.next() {
                Ok(Some(arrival)) => {
                    if let Some(verdict) = traffic.arrive(arrival, Instant::now()) {
                        queue.answer(arrival.id, verdict);
                    }
                }
                Ok(None) => break,
                Err(_) => return,
            }
        }
        let now = Instant::now();
        while let Some((id, verdict)) = traffic.release(now) {
            queue.answer(id, verdict);
        }
    }
}

/// Waits for a packet, until `due`, or for the end: whether that has come.
fn wait(queue: &Queue, due: Option<Instant>, stopped: &PipeReader) -> nix::Result<bool> {
    let mut polled = [queue.as_fd(), stopped.as_fd()].map(|fd| PollFd::new(fd, PollFlags::POLLIN));
    let limit = due.map(|due| TimeSpec::from(due.saturating_duration_since(Instant::now())));
    match ppoll(&mut polled, limit, None) {
        Ok(_) | Err(nix::errno::Errno::EINTR) => Ok(polled[1].any().unwrap_or(false)),
        Err(error) => Err(error),
    }
}
