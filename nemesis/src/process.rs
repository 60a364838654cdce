//! State of processes, as the operating system tells it, and signals to all those of a server.

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

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

/// Reads the state of a process from `/proc`.
pub fn process_state(pid: i32) -> ProcessState {
    match stat(pid) {
        Some(('T' | 't', _)) => ProcessState::Stopped,
        Some(('Z' | 'X', _)) | None => ProcessState::Gone,
        Some(_) => ProcessState::Alive,
    }
}

/// Letter of the state and id of the parent in `/proc/<pid>/stat`: they stand after the command,
/// which is in parentheses and may itself contain some.
fn stat(pid: i32) -> Option<(char, i32)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?.chars().next()?;
    Some((state, fields.next()?.parse().ok()?))
}

/// The processes of a server: the one that was started, and all that have come from it. Some
/// systems answer each session in a process of its own, which goes on when the first is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Processes {
    main: i32,
}

impl Processes {
    /// Those of the server that was started as process `main`.
    pub const fn of(main: i32) -> Self {
        Self { main }
    }

    /// Id of the process that was started.
    pub const fn main(self) -> i32 {
        self.main
    }

    /// All that live now, the first one first, as far as no parent between has died.
    pub fn now(self) -> Members {
        let mut members = vec![self.main];
        members.extend(self.others());
        Members(members)
    }

    /// Those that have come from the first one and live now, as far as no parent between has died.
    pub fn others(self) -> Vec<i32> {
        let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        for entry in entries {
            let name = entry.file_name();
            if let Some(pid) = name.to_str().and_then(|name| name.parse().ok())
                && let Some((state, parent)) = stat(pid)
                && state != 'Z'
            {
                children.entry(parent).or_default().push(pid);
            }
        }
        let mut found = Vec::new();
        let mut next = vec![self.main];
        while let Some(parent) = next.pop() {
            // Taken out: should numbers change hands meanwhile, there is still an end of it.
            let here = children.remove(&parent).unwrap_or_default();
            found.extend(&here);
            next.extend(here);
        }
        found
    }

    /// Stops all of them, the first one first, so that it starts no other. Whether they have
    /// stopped shows when they are looked at: a signal takes effect only when its process is
    /// scheduled next, which may be late on a busy machine.
    ///
    /// # Errors
    /// When the first one cannot be sent a signal.
    pub async fn stop(self, within: Duration) -> Result<Members, Errno> {
        let stop = move || {
            let until = Instant::now() + within;
            let mut before = Members(Vec::new());
            loop {
                // Nobody has come since all were seen to stand still.
                let all_stood = before.state() == ProcessState::Stopped;
                let now = self.now();
                if all_stood && now == before || Instant::now() >= until {
                    return Ok(now);
                }
                now.signal(Signal::SIGSTOP)?;
                std::thread::park_timeout(LOOK_EVERY);
                before = now;
            }
        };
        let stopped = tokio::task::spawn_blocking(stop).await;
        stopped.unwrap_or(Err(Errno::ECANCELED))
    }

    /// SIGTERM of the first one, whose affair an orderly end is.
    ///
    /// # Errors
    /// When it cannot be sent the signal.
    pub(crate) fn end(self) -> Result<(), Errno> {
        kill(Pid::from_raw(self.main), Signal::SIGTERM)
    }

    /// SIGKILL of all of them. The first one is stopped before, so that it starts no other.
    pub fn kill(self) {
        // Both fail only for those that are gone already.
        let _ = kill(Pid::from_raw(self.main), Signal::SIGSTOP);
        let _ = self.now().signal(Signal::SIGKILL);
    }
}

/// Processes of a server at some time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Members(Vec<i32>);

impl Members {
    /// How they stand: stopped once all are that are left, gone once all are gone.
    pub fn state(&self) -> ProcessState {
        let states = self.0.iter().map(|pid| process_state(*pid));
        let left: Vec<_> = states
            .filter(|state| *state != ProcessState::Gone)
            .collect();
        if left.is_empty() {
            ProcessState::Gone
        } else if left.iter().all(|state| *state == ProcessState::Stopped) {
            ProcessState::Stopped
        } else {
            ProcessState::Alive
        }
    }

    /// In words: `process 7`, or `process 7 with 3 of its own`.
    pub fn words(&self) -> String {
        match self.0.as_slice() {
            [] => "no process".to_owned(),
            [main] => format!("process {main}"),
            [main, others @ ..] => format!("process {main} with {} of its own", others.len()),
        }
    }

    /// Lets them go on that were stopped.
    ///
    /// # Errors
    /// When the first one cannot be sent the signal.
    pub fn resume(&self) -> Result<(), Errno> {
        self.signal(Signal::SIGCONT)
    }

    /// Sends a signal to each of them. Others than the first one may be gone by now.
    fn signal(&self, signal: Signal) -> Result<(), Errno> {
        let Some((main, others)) = self.0.split_first() else {
            return Ok(());
        };
        let sent = kill(Pid::from_raw(*main), signal);
        for other in others {
            let _ = kill(Pid::from_raw(*other), signal);
        }
        sent
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::process::{Child, Command, Stdio};

    use super::*;

    /// Longest time for a signal to take effect, on a busy machine.
    const WITHIN: Duration = Duration::from_secs(20);

    #[test]
    fn this_very_process_is_alive() {
        let pid = i32::try_from(std::process::id()).unwrap();
        assert_eq!(process_state(pid), ProcessState::Alive);
    }

    #[test]
    fn a_process_that_never_was_is_gone() {
        assert_eq!(process_state(i32::MAX), ProcessState::Gone);
    }

    /// A process with one of its own, which has one of its own.
    fn three_generations() -> Child {
        let inner = "sleep 600 & echo ready; wait";
        let outer = format!("sh -c '{inner}' & wait");
        let mut child = Command::new("sh")
            .args(["-c", &outer])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let output = child.stdout.as_mut().unwrap();
        BufReader::new(output).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        child
    }

    #[tokio::test]
    async fn processes_that_a_server_started_stop_and_die_with_it() {
        let mut child = three_generations();
        let processes = Processes::of(child.id().cast_signed());
        let members = processes.stop(WITHIN).await.unwrap();
        assert_eq!(members.0.len(), 3, "{members:?}");
        assert_eq!(members.state(), ProcessState::Stopped);
        assert!(members.words().ends_with("with 2 of its own"));
        members.resume().unwrap();
        processes.kill();
        child.wait().unwrap();
        let until = Instant::now() + WITHIN;
        while members.state() != ProcessState::Gone {
            assert!(Instant::now() < until, "{members:?}");
            std::thread::park_timeout(LOOK_EVERY);
        }
    }
}
