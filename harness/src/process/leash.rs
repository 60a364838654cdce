//! A leash: one end of a pipe that every server of this process holds, and whatever it has started.
//! By it they are known when this process is gone, even those that have lost their parent or
//! written over their environment. Nobody else holds it, and nothing is ever sent.

use std::fs;
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd};
use std::path::Path;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Time that those who hold it may take to die, once they are killed.
const DIE_WITHIN: Duration = Duration::from_secs(5);
/// Pause between two looks whether they have.
const POLL: Duration = Duration::from_millis(1);

/// The leash of this process. Children inherit no end of it but by [`keep_at_exec`].
static LEASH: LazyLock<io::Result<(PipeReader, PipeWriter)>> = LazyLock::new(io::pipe);

/// The end that servers hold.
///
/// # Errors
/// When this process can open nothing more.
pub fn end() -> io::Result<BorrowedFd<'static>> {
    match &*LEASH {
        Ok((held, _)) => Ok(held.as_fd()),
        Err(error) => Err(io::Error::new(error.kind(), error.to_string())),
    }
}

/// Lets the program that is about to start in this process hold `end`. Makes one system call.
///
/// # Errors
/// As the system call does: never for what is open.
pub fn keep_at_exec(end: BorrowedFd<'_>) -> io::Result<()> {
    fcntl(end, FcntlArg::F_SETFD(FdFlag::empty()))?;
    Ok(())
}

/// Name of the leash of this process, as the system shows it to all: `pipe:[1234]`.
///
/// # Errors
/// When this process can open nothing more.
pub fn name() -> io::Result<String> {
    let shown = fs::read_link(format!("/proc/self/fd/{}", end()?.as_raw_fd()))?;
    Ok(shown.to_string_lossy().into_owned())
}

/// Kills everybody who holds the leash of this name, until nobody does.
pub fn kill_holders(name: &str) {
    let deadline = Instant::now() + DIE_WITHIN;
    loop {
        let holders = holders(name);
        if holders.is_empty() || Instant::now() >= deadline {
            return;
        }
        for holder in holders {
            // It fails only for one that is gone already.
            let _ = kill(holder, Signal::SIGKILL);
        }
        std::thread::park_timeout(POLL);
    }
}

/// The processes that hold it. Of another user's nobody can tell, and none of theirs do.
fn holders(name: &str) -> Vec<Pid> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let known = processes.filter_map(|entry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        holds(&entry.path(), name).then(|| Pid::from_raw(pid))
    });
    known.collect()
}

fn holds(process: &Path, name: &str) -> bool {
    let files = fs::read_dir(process.join("fd")).into_iter().flatten();
    let mut shown = files
        .flatten()
        .filter_map(|file| fs::read_link(file.path()).ok());
    shown.any(|file| file.as_os_str() == name)
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::process::{Command, Stdio};

    use super::*;
    use crate::process::spawn;

    #[test]
    fn what_a_server_has_started_is_known_though_it_has_neither_parent_nor_environment() {
        let mut command = Command::new("sh");
        command.args(["-c", "(setsid env -i sleep 600 & echo $!)"]);
        let mut server = spawn({
            command.stdin(Stdio::null()).stdout(Stdio::piped());
            command
        })
        .unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(server.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        server.wait().unwrap();
        let orphan = Pid::from_raw(line.trim().parse().unwrap());
        let found = holders(&name().unwrap());
        kill(orphan, Signal::SIGKILL).unwrap();
        assert!(found.contains(&orphan), "{found:?}");
        assert!(holders("pipe:[0]").is_empty());
    }
}
