//! State of a process, as the operating system tells it.

use std::fs;
use std::time::{Duration, Instant};

/// Pause between two looks at a process.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// How a process stands, as far as faults care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessState {
    /// It runs or waits.
    Alive,
    /// It is stopped by a signal.
    Stopped,
    /// It is gone. One that only waits for its burial (state Z) is gone as well.
    Gone,
}

/// Reads `/proc/<pid>/stat`: the state is the first letter after the command, which stands in
/// parentheses and may itself contain some.
pub fn process_state(pid: i32) -> ProcessState {
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return ProcessState::Gone;
    };
    let state = stat
        .rsplit_once(')')
        .and_then(|(_, rest)| rest.trim_start().chars().next());
    match state {
        Some('T' | 't') => ProcessState::Stopped,
        Some('Z' | 'X') | None => ProcessState::Gone,
        Some(_) => ProcessState::Alive,
    }
}

/// Waits until a process stands as wanted; `false` where it does not within this time. A signal
/// takes effect only when the process is scheduled next, which may be late on a busy machine: so
/// the wait is one of real time, on a thread where it may block.
pub(crate) async fn comes_to_be(pid: i32, wanted: ProcessState, within: Duration) -> bool {
    let wait = move || {
        let until = Instant::now() + within;
        loop {
            let is_there = process_state(pid) == wanted;
            if is_there || Instant::now() >= until {
                return is_there;
            }
            std::thread::park_timeout(LOOK_EVERY);
        }
    };
    tokio::task::spawn_blocking(wait).await.unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_very_process_is_alive() {
        let pid = i32::try_from(std::process::id()).unwrap();
        assert_eq!(process_state(pid), ProcessState::Alive);
    }

    #[test]
    fn a_process_that_never_was_is_gone() {
        assert_eq!(process_state(i32::MAX), ProcessState::Gone);
    }
}
