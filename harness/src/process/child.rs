//! A process, a server's or a client's, that dies with the harness.
//!
//! A server is on the leash too, by which what it has started is found.
//!
//! It takes `unsafe`: between fork and exec the child asks the kernel to kill it when
//! the thread that forked it ends. That thread is therefore a spawner of our own, which lives as
//! long as the process: a worker of the runtime may end earlier.

use std::io;
use std::os::fd::BorrowedFd;
use std::process::{Child, Command};
use std::sync::{LazyLock, mpsc};
use std::thread;

use nix::sys::prctl;
use nix::sys::signal::Signal;

use super::leash;
use super::secrets::scrub;

type Order = (Command, mpsc::Sender<io::Result<Child>>);

static SPAWNER: LazyLock<mpsc::Sender<Order>> = LazyLock::new(|| {
    let (orders, inbox) = mpsc::channel::<Order>();
    thread::Builder::new()
        .name("spawner".to_owned())
        .spawn(move || {
            for (command, answer) in inbox {
                // Nobody waits for the answer only when the run was cancelled: the child then
                // dies with the harness.
                let _ = answer.send(spawn_leashed(command));
            }
        })
        .expect("the process can start one more thread");
    orders
});

/// Starts `command` in a process group of its own (so that Ctrl-C at the terminal reaches only
/// the harness), on the leash, and so that it is killed when the harness ends, however it ends.
/// It inherits no passwords.
///
/// # Errors
/// When the program cannot be started.
pub fn spawn(mut command: Command) -> io::Result<Child> {
    scrub(&mut command);
    let (answer, reply) = mpsc::channel();
    SPAWNER
        .send((command, answer))
        .expect("the spawner lives as long as the process");
    reply
        .recv()
        .map_err(|_| io::Error::other("the spawner has died"))?
}

/// Starts `command` in a process group of its own; it dies with the thread that calls.
///
/// # Errors
/// When the program cannot be started.
pub fn spawn_here(mut command: Command) -> io::Result<Child> {
    die_with_parent(&mut command, None).spawn()
}

fn spawn_leashed(mut command: Command) -> io::Result<Child> {
    die_with_parent(&mut command, Some(leash::end()?)).spawn()
}

#[expect(
    unsafe_code,
    reason = "the standard library has no safe way to run code after fork"
)]
fn die_with_parent<'a>(
    command: &'a mut Command,
    leash: Option<BorrowedFd<'static>>,
) -> &'a mut Command {
    use std::os::unix::process::CommandExt as _;
    let parent = nix::unistd::getpid();
    command.process_group(0);
    // SAFETY: the closure makes a few system calls and allocates nothing.
    unsafe {
        command.pre_exec(move || {
            prctl::set_pdeathsig(Signal::SIGKILL)?;
            if let Some(leash) = leash {
                leash::keep_at_exec(leash)?;
            }
            // The parent may have died before the call above: then nobody would kill us.
            if nix::unistd::getppid() == parent {
                Ok(())
            } else {
                Err(io::Error::other("the harness is gone"))
            }
        })
    }
}
