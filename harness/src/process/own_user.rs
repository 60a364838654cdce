//! Lets a program that refuses to run as root run all the same, and leave no shared memory behind.
//!
//! It gets a namespace of users, in which root is called `nobody`, and one of shared memory, which
//! goes with its last process: see `user_namespaces(7)` and `ipc_namespaces(7)`. Whatever it writes
//! is the caller's outside.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use nix::sched::{CloneFlags, unshare};
use nix::unistd::geteuid;

/// Map of users and groups of a namespace in which root is `nobody`: that is a user whom every
/// system knows.
const ROOT_IS_NOBODY: &[u8] = b"65534 0 1";

/// Has `command` take itself for an ordinary user. Where we are one, that is so already, and
/// nothing is done.
#[expect(
    unsafe_code,
    reason = "the standard library has no safe way to run code after fork"
)]
pub fn not_as_root(command: &mut Command) {
    let is_root = geteuid().is_root();
    // SAFETY: the closure makes system calls and allocates nothing.
    unsafe {
        command.pre_exec(move || {
            if !is_root {
                return Ok(());
            }
            unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWIPC)?;
            write("/proc/self/setgroups", b"deny")?;
            write("/proc/self/uid_map", ROOT_IS_NOBODY)?;
            write("/proc/self/gid_map", ROOT_IS_NOBODY)
        });
    }
}

fn write(path: &str, words: &[u8]) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?.write_all(words)
}
