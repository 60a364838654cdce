//! The list of all runs, `index.html` of the folder of runs, written again when a run ends.
//!
//! Two runs that end at once take turns, or the list of one would miss the other.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use lockstorm_reports::{RenderError, write_index};
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};

/// Time to wait for another run that writes the list. After it the list is written all the same: at
/// worst it misses a run until the next one ends.
const TURN_WITHIN: Duration = Duration::from_secs(10);
/// Between two looks whether it is our turn.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Writes the list of the runs in `out`, and gives its path.
///
/// # Errors
/// When it cannot be written.
pub fn list(out: &Path) -> Result<PathBuf, RenderError> {
    // Held until the list is written.
    let _turn = turn(out);
    write_index(out)
}

/// Waits for our turn; `None` where it does not come, or files cannot be locked there.
fn turn(out: &Path) -> Option<Flock<File>> {
    let path = out.join(".index.lock");
    let mut options = OpenOptions::new();
    let mut file = options.create(true).append(true).open(path).ok()?;
    let deadline = Instant::now() + TURN_WITHIN;
    loop {
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(turn) => return Some(turn),
            Err((back, Errno::EWOULDBLOCK)) if Instant::now() < deadline => file = back,
            Err(_) => return None,
        }
        thread::park_timeout(LOOK_EVERY);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn who_writes_the_list_waits_for_its_turn() {
        let out = tempfile::tempdir().expect("a temporary folder can be made");
        let turn = turn(out.path()).expect("nobody else writes");
        let path = out.path().to_owned();
        let other = thread::spawn(move || list(&path));
        let is_waiting = !out.path().join("index.html").exists();
        assert!(is_waiting, "the other writes only when the turn is over");
        drop(turn);
        let written = other.join().expect("the other does not panic");
        let written = written.expect("the list can be written");
        assert!(fs::metadata(written).is_ok_and(|file| file.len() > 0));
    }
}
