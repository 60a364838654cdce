//! Keeps what a program writes to its standard error in a file of bounded size, and its last lines
//! at hand to tell how it failed.

use std::fs::File;
use std::io::Write as _;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use tokio::process::ChildStderr;
use tokio::sync::Notify;
use tokio::time::timeout;

/// Bytes kept of one client's; the rest is read and dropped, so that who floods is not held up.
const KEPT_MAX: usize = 1 << 20;
/// Bytes read at once.
const CHUNK: usize = 4 << 10;
/// Bytes of the end that are at hand.
const TAIL_MAX: usize = 4 << 10;
/// Lines of the end that are told, and characters of each.
const LINES_MAX: usize = 12;
const LINE_MAX: usize = 160;

/// The end of what a program wrote so far.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    bytes: Mutex<Vec<u8>>,
    is_closed: Notify,
}

impl Tail {
    /// The last lines that are not empty, oldest first. Of a program that has ended they are waited
    /// for, for no longer than `within`.
    pub(crate) async fn lines(&self, within: Duration) -> Vec<String> {
        // Whatever there is by then has to do.
        let _ = timeout(within, self.is_closed.notified()).await;
        let bytes = self.bytes().clone();
        let text = String::from_utf8_lossy(&bytes);
        let lines = text.lines().map(str::trim_end);
        let mut last: Vec<String> = lines
            .rev()
            .filter(|line| !line.is_empty())
            .take(LINES_MAX)
            .map(|line| line.chars().take(LINE_MAX).collect())
            .collect();
        last.reverse();
        last
    }

    fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        self.bytes.lock().expect("no holder of this lock panics")
    }

    fn push(&self, chunk: &[u8]) {
        let mut bytes = self.bytes();
        bytes.extend_from_slice(chunk);
        let over = bytes.len().saturating_sub(TAIL_MAX);
        bytes.drain(..over);
    }
}

/// Keeps what a program writes until its end, beside whoever calls; gives the end of it.
pub(crate) fn keep_log(errors: ChildStderr, file: File) -> Arc<Tail> {
    let tail = Arc::new(Tail::default());
    tokio::spawn(copy(errors, file, tail.clone()));
    tail
}

async fn copy(mut errors: ChildStderr, mut file: File, tail: Arc<Tail>) {
    let mut chunk = vec![0; CHUNK];
    let mut room = KEPT_MAX;
    while let Ok(read @ 1..) = errors.read(&mut chunk).await {
        tail.push(&chunk[..read]);
        let kept = read.min(room);
        room -= kept;
        // Small writes to a local file; a full disk loses a log, and the run says so elsewhere.
        if file.write_all(&chunk[..kept]).is_err() {
            room = 0;
        }
        if kept < read && kept > 0 {
            let _ = file.write_all(b"\n[the rest was dropped: it is too much]\n");
        }
    }
    tail.is_closed.notify_one();
}
