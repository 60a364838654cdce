//! The process of one client: started, stopped, resumed, killed and buried.

use std::fmt;
use std::io;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::time::{Instant, sleep};

use crate::server::{Page, spawn};

/// Pause between two looks whether it has ended.
const POLL: Duration = Duration::from_millis(2);

/// A process that is its own group's leader and dies with the harness.
///
/// Signals go to the whole group, so that a script that starts the real program is stopped and
/// killed together with it.
#[derive(Debug)]
pub struct Program {
    pid: i32,
    /// `None` once it is buried: its number may be another's then.
    child: Mutex<Option<Child>>,
}

/// The three streams of a process.
pub struct Pipes {
    /// Its standard input.
    pub input: ChildStdin,
    /// Its standard output.
    pub output: ChildStdout,
    /// Its standard error.
    pub errors: ChildStderr,
}

impl fmt::Debug for Pipes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pipes")
    }
}

impl Program {
    /// Starts `command`, a program and its arguments; with a page, its clock can be put wrong.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(command: &[String], page: Option<&Page>) -> io::Result<(Self, Pipes)> {
        let (program, arguments) = command
            .split_first()
            .ok_or_else(|| io::Error::other("no program is named"))?;
        let mut command = Command::new(program);
        command
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(page) = page {
            page.preload(&mut command);
        }
        let mut child = spawn(command)?;
        let (input, output, errors) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let this = Self {
            pid: child.id().cast_signed(),
            child: Mutex::new(Some(child)),
        };
        let pipes = Pipes {
            input: ChildStdin::from_std(input.expect("it is piped"))?,
            output: ChildStdout::from_std(output.expect("it is piped"))?,
            errors: ChildStderr::from_std(errors.expect("it is piped"))?,
        };
        Ok((this, pipes))
    }

    /// Its process id; `None` when it is dead and buried.
    pub fn pid(&self) -> Option<i32> {
        let child = self.child.lock().expect("no holder of this lock panics");
        child.as_ref().map(|_| self.pid)
    }

    /// SIGSTOP.
    ///
    /// # Errors
    /// When it is dead.
    pub fn stop(&self) -> io::Result<()> {
        self.signal(Signal::SIGSTOP)
    }

    /// SIGCONT.
    ///
    /// # Errors
    /// When it is dead.
    pub fn resume(&self) -> io::Result<()> {
        self.signal(Signal::SIGCONT)
    }

    fn signal(&self, signal: Signal) -> io::Result<()> {
        // Held while the signal is sent: nobody can bury the process meanwhile.
        let child = self.child.lock().expect("no holder of this lock panics");
        if child.is_none() {
            return Err(io::Error::other("the process is dead"));
        }
        Ok(killpg(Pid::from_raw(self.pid), signal)?)
    }

    /// SIGKILL and burial. A stopped process dies without another step.
    pub fn kill(&self) {
        self.bury();
    }

    /// Waits for its end, for no longer than `within`; whatever it has left in its group dies with
    /// it.
    pub async fn ended(&self, within: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + within;
        loop {
            if self.has_ended() {
                return self.bury();
            }
            if Instant::now() >= deadline {
                return None;
            }
            sleep(POLL).await;
        }
    }

    /// Whether it is dead. It is not buried by the question, or its group would lose its name.
    fn has_ended(&self) -> bool {
        let child = self.child.lock().expect("no holder of this lock panics");
        let look = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        let seen = waitid(Id::Pid(Pid::from_raw(self.pid)), look);
        child.is_some() && !matches!(seen, Ok(WaitStatus::StillAlive) | Err(_))
    }

    fn bury(&self) -> Option<ExitStatus> {
        let mut child = self.child.lock().expect("no holder of this lock panics");
        let mut child = child.take()?;
        // Fails only where nobody of the group is left.
        let _ = killpg(Pid::from_raw(self.pid), Signal::SIGKILL);
        child.wait().ok()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.kill();
    }
}
