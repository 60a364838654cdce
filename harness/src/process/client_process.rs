//! The process of one client: started, stopped, resumed, killed and buried.

use std::fmt;
use std::io;
use std::process::{Command, ExitStatus};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::time::{Instant, sleep};

use super::guardian::Ward;
use super::secrets::scrub;
use super::shim::Page;

/// Pause between two looks whether it has ended.
const POLL: Duration = Duration::from_millis(2);

/// A process that is its own group's leader and dies with the harness, and what came of it too.
///
/// Signals go to the whole group, so that a script that starts the real program is stopped
/// together with it.
#[derive(Debug)]
pub struct ClientProcess {
    /// `None` once it is buried: its number may be another's then.
    ward: Mutex<Option<Ward>>,
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

impl ClientProcess {
    /// Starts `command`, a program and its arguments; with a page, its clock can be put wrong.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(command: &[String], page: Option<&Page>) -> io::Result<(Self, Pipes)> {
        let (program, arguments) = command
            .split_first()
            .ok_or_else(|| io::Error::other("no program is named"))?;
        let mut command = Command::new(program);
        command.args(arguments);
        if let Some(page) = page {
            page.preload(&mut command);
        }
        scrub(&mut command);
        let (ward, streams) = Ward::start(&command)?;
        let this = Self {
            ward: Mutex::new(Some(ward)),
        };
        let pipes = Pipes {
            input: ChildStdin::from_std(streams.input)?,
            output: ChildStdout::from_std(streams.output)?,
            errors: ChildStderr::from_std(streams.errors)?,
        };
        Ok((this, pipes))
    }

    fn ward(&self) -> MutexGuard<'_, Option<Ward>> {
        self.ward.lock().expect("no holder of this lock panics")
    }

    /// Its process id; `None` when it is dead and buried.
    pub fn pid(&self) -> Option<i32> {
        self.ward().as_ref().map(Ward::pid)
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
        let ward = self.ward();
        let ward = ward
            .as_ref()
            .ok_or_else(|| io::Error::other("the process is dead"))?;
        Ok(killpg(Pid::from_raw(ward.pid()), signal)?)
    }

    /// SIGKILL and burial. A stopped process dies without another step.
    pub fn kill(&self) {
        self.bury();
    }

    /// Waits for its end, for no longer than `within`; whatever came of it dies with it.
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

    fn has_ended(&self) -> bool {
        self.ward().as_ref().is_some_and(Ward::has_ended)
    }

    fn bury(&self) -> Option<ExitStatus> {
        self.ward().take()?.bury()
    }
}

impl Drop for ClientProcess {
    fn drop(&mut self) {
        self.kill();
    }
}
