//! The harness's side: a process that the guardian has started.

use std::io::{self, BufRead as _, BufReader, PipeReader, PipeWriter, Write as _, pipe};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard};

use super::super::leash;
use super::super::secrets::scrub;
use super::order::{Answer, Order, Start};

/// The guardian of all clients, once there was one.
static GUARDIAN: Mutex<Option<Guardian>> = Mutex::new(None);

/// A process that is its own group's leader and ends with the harness, with all that came of it.
#[derive(Debug)]
pub struct Ward {
    pid: i32,
}

/// Our ends of its three streams.
pub struct Streams {
    /// Its standard input.
    pub input: ChildStdin,
    /// Its standard output.
    pub output: ChildStdout,
    /// Its standard error.
    pub errors: ChildStderr,
}

impl Ward {
    /// Starts `command`, whose streams are pipes to us; its folder is the harness's.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(command: &Command) -> io::Result<(Self, Streams)> {
        let (input, ours) = pipe()?;
        let (theirs, output) = (pipe()?, pipe()?);
        let start = Start {
            program: command.get_program().to_owned(),
            arguments: command.get_args().map(ToOwned::to_owned).collect(),
            environment: command
                .get_envs()
                .map(|(name, value)| (name.to_owned(), value.map(ToOwned::to_owned)))
                .collect(),
            streams: [path(&input), path(&theirs.1), path(&output.1)],
        };
        let pid = match ask(&Order::Start(Box::new(start)))? {
            Answer::Started { pid } => pid,
            Answer::Failed { code, text } => {
                return Err(
                    code.map_or_else(|| io::Error::other(text), io::Error::from_raw_os_error)
                );
            }
            odd => return Err(nonsense(&odd)),
        };
        Ok((Self { pid }, Streams::of(ours, theirs.0, output.0)))
    }

    /// Its number.
    pub const fn pid(&self) -> i32 {
        self.pid
    }

    /// `true` if it has ended. It keeps its number until it is buried.
    pub fn has_ended(&self) -> bool {
        match ask(&Order::Look { pid: self.pid }) {
            Ok(Answer::Ended { ended }) => ended,
            // It dies with its guardian.
            Ok(_) | Err(_) => true,
        }
    }

    /// Kills it and all that came of it; gives how it ended.
    pub fn bury(self) -> Option<ExitStatus> {
        match ask(&Order::Bury { pid: self.pid }) {
            Ok(Answer::Buried { status }) => status.map(ExitStatus::from_raw),
            Ok(_) | Err(_) => None,
        }
    }
}

impl Streams {
    fn of(input: PipeWriter, output: PipeReader, errors: PipeReader) -> Self {
        Self {
            input: OwnedFd::from(input).into(),
            output: OwnedFd::from(output).into(),
            errors: OwnedFd::from(errors).into(),
        }
    }
}

/// Path at which the guardian finds an open file of ours.
fn path(file: &impl AsRawFd) -> String {
    format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd())
}

/// The process and both our ends of its streams.
struct Guardian {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    _child: Child,
}

impl Guardian {
    /// Starts this very program in another role, beyond the reach of Ctrl-C at the terminal.
    fn start() -> io::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        scrub(&mut command);
        let mut child = command
            .args(["guard", "--leash", &leash::name()?])
            .args(["--harness", &std::process::id().to_string()])
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Self {
            input: child.stdin.take().expect("it is piped"),
            output: BufReader::new(child.stdout.take().expect("it is piped")),
            _child: child,
        })
    }

    fn ask(&mut self, order: &Order) -> io::Result<Answer> {
        let mut line = serde_json::to_vec(order)?;
        line.push(b'\n');
        self.input.write_all(&line)?;
        let mut answer = String::new();
        if self.output.read_line(&mut answer)? == 0 {
            return Err(io::Error::other("it has ended"));
        }
        Ok(serde_json::from_str(&answer)?)
    }
}

/// Starts the guardian where there is none: whatever servers start from now on ends with the
/// harness.
///
/// # Errors
/// When it cannot be started.
pub fn stand_by() -> io::Result<()> {
    let mut guardian = guardian();
    if guardian.is_none() {
        *guardian = Some(Guardian::start()?);
    }
    Ok(())
}

/// Asks the guardian, which is started where there is none.
fn ask(order: &Order) -> io::Result<Answer> {
    stand_by()?;
    let mut guardian = guardian();
    let answer = match guardian.as_mut() {
        Some(guardian) => guardian.ask(order),
        None => Err(io::Error::other("it has ended")),
    };
    answer.map_err(|error| {
        // Its wards have died with it; the next one is another's.
        *guardian = None;
        io::Error::other(format!("the guardian of clients does not answer: {error}"))
    })
}

fn guardian() -> MutexGuard<'static, Option<Guardian>> {
    GUARDIAN.lock().expect("no holder of this lock panics")
}

fn nonsense(answer: &Answer) -> io::Error {
    io::Error::other(format!("the guardian of clients answers {answer:?}"))
}
