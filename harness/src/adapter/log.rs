//! What a program writes to its standard error, kept in a file of bounded size.

use std::fs::File;
use std::io::Write as _;

use tokio::io::AsyncReadExt as _;
use tokio::process::ChildStderr;

/// Bytes kept of one client's; the rest is read and dropped, so that who floods is not held up.
const KEPT_MAX: usize = 1 << 20;
/// Bytes read at once.
const CHUNK: usize = 4 << 10;

/// Copies until the end.
pub(crate) async fn keep_log(mut errors: ChildStderr, mut file: File) {
    let mut chunk = vec![0; CHUNK];
    let mut room = KEPT_MAX;
    while let Ok(read @ 1..) = errors.read(&mut chunk).await {
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
}
