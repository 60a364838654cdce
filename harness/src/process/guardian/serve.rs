//! The guardian's side: `lockstorm guard`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use lockstorm_nemesis::Processes;
use nix::sys::prctl;
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid, waitpid};
use nix::unistd::Pid;

use super::super::child::spawn_here;
use super::super::leash;
use super::order::{Answer, Order, Start};

/// Time that processes which nobody owns may take to die, once they are killed.
const DIES_WITHIN: Duration = Duration::from_secs(5);
/// Pause between two looks whether they have.
const POLL: Duration = Duration::from_millis(1);

/// The harness whose guardian this is.
pub struct Charge {
    /// Name of its leash.
    pub leash: String,
    /// Its process id.
    pub harness: i32,
}

impl Charge {
    /// Kills those on the leash once the harness is gone. One that lives has only had enough of
    /// this guardian, and looks after its servers itself.
    fn end_servers(&self) {
        let deadline = Instant::now() + DIES_WITHIN;
        while Pid::parent().as_raw() == self.harness {
            if Instant::now() >= deadline {
                return;
            }
            thread::park_timeout(POLL);
        }
        leash::kill_holders(&self.leash);
    }
}

/// Does what it is told until nobody tells it anything any more, and leaves nothing behind: neither
/// of what it has started, nor of what its charge has.
///
/// # Errors
/// When what it is told makes no sense, or nobody hears the answer.
pub fn serve(charge: &Charge, input: impl BufRead, output: impl Write) -> io::Result<()> {
    prctl::set_child_subreaper(true)?;
    let mut house = House::default();
    let served = house.serve(input, output);
    house.clear();
    charge.end_servers();
    served
}

/// The processes of clients.
#[derive(Default)]
struct House {
    wards: BTreeMap<i32, Child>,
}

impl House {
    fn serve(&mut self, input: impl BufRead, mut output: impl Write) -> io::Result<()> {
        for line in input.lines() {
            let answer = match serde_json::from_str(&line?)? {
                Order::Start(start) => match self.start(*start) {
                    Ok(pid) => Answer::Started { pid },
                    Err(error) => error.into(),
                },
                Order::Look { pid } => Answer::Ended {
                    ended: self.has_ended(pid),
                },
                Order::Bury { pid } => Answer::Buried {
                    status: self.bury(pid),
                },
            };
            serde_json::to_writer(&mut output, &answer)?;
            output.write_all(b"\n")?;
            output.flush()?;
        }
        Ok(())
    }

    fn start(&mut self, start: Start) -> io::Result<i32> {
        let [input, output, errors] = start.streams;
        let write = |path| File::options().write(true).open(path);
        let mut command = Command::new(start.program);
        command
            .args(start.arguments)
            .stdin(File::open(input)?)
            .stdout(write(output)?)
            .stderr(write(errors)?);
        for (name, value) in start.environment {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let child = spawn_here(command)?;
        let pid = child.id().cast_signed();
        self.wards.insert(pid, child);
        Ok(pid)
    }

    /// `true` if it has ended. It is not buried by the question, or its number could be another's.
    fn has_ended(&self, pid: i32) -> bool {
        let look = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        let seen = || waitid(Id::Pid(Pid::from_raw(pid)), look);
        !self.wards.contains_key(&pid) || !matches!(seen(), Ok(WaitStatus::StillAlive) | Err(_))
    }

    /// Kills it and all that came of it; gives how it ended.
    fn bury(&mut self, pid: i32) -> Option<i32> {
        let mut ward = self.wards.remove(&pid)?;
        let others = Processes::of(pid).others();
        // Each fails only where nobody is left.
        let _ = killpg(Pid::from_raw(pid), Signal::SIGKILL);
        for other in others {
            let _ = kill(Pid::from_raw(other), Signal::SIGKILL);
        }
        let status = ward.wait().ok();
        if self.wards.is_empty() {
            self.clear();
        } else {
            self.bury_strays();
        }
        status.map(ExitStatusExt::into_raw)
    }

    /// Buries the dead that had lost their parent.
    fn bury_strays(&self) {
        let look = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        while let Ok(seen) = waitid(Id::All, look)
            && let Some(pid) = seen.pid()
            && !self.wards.contains_key(&pid.as_raw())
        {
            let _ = waitpid(pid, Some(WaitPidFlag::WNOHANG));
        }
    }

    /// Kills and buries everything that came of anything that was started here.
    fn clear(&mut self) {
        self.wards.clear();
        let deadline = Instant::now() + DIES_WITHIN;
        loop {
            for pid in Processes::of(Pid::this().as_raw()).others() {
                let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
            }
            self.bury_strays();
            let nobody = waitid(
                Id::All,
                WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT,
            );
            if nobody.is_err() || Instant::now() >= deadline {
                return;
            }
            thread::park_timeout(POLL);
        }
    }
}
