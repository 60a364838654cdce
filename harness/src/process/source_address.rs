//! Runs a server so that the connections that it opens come from an address of its own.
//!
//! For: servers that cannot be told where their connections come from, statically linked ones
//! included; by that address a network knows who calls. Not for: Redis, which can be told.
//!
//! ```text
//! server: connect(2) ─▶ kernel ─▶ asks its parent ─▶ binds the socket, "go on" ─▶ connect(2)
//! ```
//!
//! The kernel asks because of a filter that the server starts with; see `seccomp_unotify(2)`. What
//! the server connects to is looked at after it asked, and might change before it goes on: here
//! that is nobody's harm, for the address is a name and no permission.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::mem;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsFd as _, AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::fs::FileExt as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitStatus};
use std::thread;

use nix::errno::Errno;
use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal, kill};
use nix::unistd::Pid;

use super::child::spawn_here;

/// Runs `command` until it ends; what it connects to on this machine sees it come from `source`.
/// A SIGTERM is passed on to it. Gives its end.
///
/// # Errors
/// When it cannot be started, or the kernel knows no such filter.
pub fn run_from(source: Ipv4Addr, mut command: Command) -> io::Result<ExitStatus> {
    let mut orders = SigSet::empty();
    orders.add(Signal::SIGTERM);
    orders.thread_block()?;
    let (ours, theirs) = UnixStream::pair()?;
    let door = thread::spawn(move || answer(ours, source));
    filter(&mut command, theirs);
    let mut child = match spawn_here(command) {
        Ok(child) => child,
        // Where nobody could listen, that is why it did not start.
        Err(error) => return Err(door.join().ok().and_then(Result::err).unwrap_or(error)),
    };
    let server = Pid::from_raw(child.id().cast_signed());
    thread::spawn(move || {
        while let Ok(signal) = orders.wait() {
            // It fails only where the server has ended, and so do we.
            let _ = kill(server, signal);
        }
    });
    child.wait()
}

/// Has the kernel ask about every connection that `command` opens. Before it becomes the server,
/// it tells through `door` where it is asked, and waits until somebody listens.
#[expect(
    unsafe_code,
    reason = "the standard library has no safe way to run code after fork"
)]
fn filter(command: &mut Command, mut door: UnixStream) {
    // SAFETY: the closure makes system calls and allocates nothing.
    unsafe {
        command.pre_exec(move || {
            SigSet::all().thread_unblock()?;
            let asked_at = install()?;
            let pid = nix::unistd::getpid().as_raw();
            door.write_all(&pid.to_ne_bytes())?;
            door.write_all(&asked_at.to_ne_bytes())?;
            door.read_exact(&mut [0])
        });
    }
}

/// Installs the filter in this process: where the kernel asks.
#[expect(unsafe_code, reason = "no crate that we have wraps seccomp(2)")]
fn install() -> io::Result<RawFd> {
    const NUMBER: u32 = mem::offset_of!(libc::seccomp_data, nr) as u32;
    const CALL: u32 = libc::SYS_connect as u32;
    // Load the number of the call; if it is connect, ask, else allow.
    let mut program = [
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, NUMBER),
        step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, CALL),
        step(
            libc::BPF_RET | libc::BPF_K,
            0,
            0,
            libc::SECCOMP_RET_USER_NOTIF,
        ),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog {
        len: program.len() as u16,
        filter: program.as_mut_ptr(),
    };
    nix::sys::prctl::set_no_new_privs()?;
    // SAFETY: the program outlives the call, which copies it.
    let listener = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            libc::SECCOMP_FILTER_FLAG_NEW_LISTENER,
            &raw const program,
        )
    };
    Ok(Errno::result(listener)? as RawFd)
}

const fn step(code: u32, jt: u8, jf: u8, k: u32) -> libc::sock_filter {
    libc::sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    }
}

/// Answers for the server that speaks up at `door`, until it is gone.
fn answer(mut door: UnixStream, source: Ipv4Addr) -> io::Result<()> {
    let mut word = [0; 4];
    door.read_exact(&mut word)?;
    let pid = i32::from_ne_bytes(word);
    door.read_exact(&mut word)?;
    let listener = copy_of(pid, RawFd::from_ne_bytes(word))?;
    door.write_all(&[0])?;
    drop(door);
    while let Some(question) = next(&listener)? {
        // A connection that cannot be given a source goes on without.
        let _ = bind(&question, source);
        go_on(&listener, question.id)?;
    }
    Ok(())
}

mod ask {
    use nix::libc;

    nix::ioctl_readwrite!(receive, b'!', 0, libc::seccomp_notif);
    nix::ioctl_readwrite!(send, b'!', 1, libc::seccomp_notif_resp);
}

/// The next question of the kernel; `None` when nobody is left who could have one.
#[expect(unsafe_code, reason = "no crate that we have wraps seccomp(2)")]
fn next(listener: &OwnedFd) -> io::Result<Option<libc::seccomp_notif>> {
    while someone_asks(listener)? {
        // SAFETY: all its fields are numbers.
        let mut question: libc::seccomp_notif = unsafe { mem::zeroed() };
        // SAFETY: the kernel writes one question.
        match unsafe { ask::receive(listener.as_raw_fd(), &raw mut question) } {
            Ok(_) => return Ok(Some(question)),
            // Who asked was killed meanwhile.
            Err(Errno::ENOENT | Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(None)
}

/// Waits for a question: `false` once no process is left that has the filter.
fn someone_asks(listener: &OwnedFd) -> io::Result<bool> {
    let mut looked = [PollFd::new(listener.as_fd(), PollFlags::POLLIN)];
    match poll(&mut looked, PollTimeout::NONE) {
        Ok(_) | Err(Errno::EINTR) => {}
        Err(error) => return Err(error.into()),
    }
    let seen = looked[0].revents().unwrap_or(PollFlags::empty());
    Ok(seen.contains(PollFlags::POLLIN) || !seen.contains(PollFlags::POLLHUP))
}

#[expect(unsafe_code, reason = "no crate that we have wraps seccomp(2)")]
fn go_on(listener: &OwnedFd, id: u64) -> io::Result<()> {
    let mut answer = libc::seccomp_notif_resp {
        id,
        val: 0,
        error: 0,
        flags: libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32,
    };
    // SAFETY: the kernel reads one answer.
    match unsafe { ask::send(listener.as_raw_fd(), &raw mut answer) } {
        // Who asked was killed meanwhile.
        Ok(_) | Err(Errno::ENOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Gives the socket that is about to be connected its source, if it is to reach this machine.
fn bind(question: &libc::seccomp_notif, source: Ipv4Addr) -> io::Result<()> {
    let thread = question.pid.cast_signed();
    let [socket, at, length, ..] = question.data.args;
    let mut target = [0; mem::size_of::<libc::sockaddr_in6>()];
    let length = target.len().min(length as usize);
    File::open(format!("/proc/{thread}/mem"))?.read_exact_at(&mut target[..length], at)?;
    let source = match reached(&target[..length]) {
        Some(IpAddr::V4(_)) => IpAddr::V4(source),
        Some(IpAddr::V6(_)) => IpAddr::V6(source.to_ipv6_mapped()),
        None => return Ok(()),
    };
    let socket = copy_of(process_of(thread)?, socket as RawFd)?;
    bind_to(&socket, source)
}

/// Loopback address in a `sockaddr`; `None` of anything else. Java and others reach IPv4 by
/// addresses of IPv6.
fn reached(target: &[u8]) -> Option<IpAddr> {
    let family = u16::from_ne_bytes(target.get(..2)?.try_into().ok()?);
    match i32::from(family) {
        libc::AF_INET => {
            let address: [u8; 4] = target.get(4..8)?.try_into().ok()?;
            let address = Ipv4Addr::from(address);
            address.is_loopback().then_some(address.into())
        }
        libc::AF_INET6 => {
            let address: [u8; 16] = target.get(8..24)?.try_into().ok()?;
            let address = std::net::Ipv6Addr::from(address);
            let mapped = address.to_ipv4_mapped()?;
            mapped.is_loopback().then_some(address.into())
        }
        _ => None,
    }
}

/// Process of a thread.
fn process_of(thread: i32) -> io::Result<i32> {
    let status = fs::read_to_string(format!("/proc/{thread}/status"))?;
    let process = status.lines().find_map(|line| line.strip_prefix("Tgid:"));
    let process = process.and_then(|process| process.trim().parse().ok());
    process.ok_or_else(|| io::Error::other("the kernel does not tell whose thread it is"))
}

/// Our own copy of a file of another process.
#[expect(unsafe_code, reason = "the standard library has no such call")]
fn copy_of(process: i32, file: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: plain numbers; each result that is not negative is a new file of ours.
    unsafe {
        let process = Errno::result(libc::syscall(libc::SYS_pidfd_open, process, 0))?;
        let process = OwnedFd::from_raw_fd(process as RawFd);
        let file = libc::syscall(libc::SYS_pidfd_getfd, process.as_raw_fd(), file, 0);
        Ok(OwnedFd::from_raw_fd(Errno::result(file)? as RawFd))
    }
}

/// Binds a socket to an address, the port left open until it is connected.
#[expect(
    unsafe_code,
    reason = "the standard library binds only sockets that it made"
)]
fn bind_to(socket: &OwnedFd, source: IpAddr) -> io::Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: each pointer is to a value that outlives its call, with its length.
    let bound = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_IP,
            libc::IP_BIND_ADDRESS_NO_PORT,
            (&raw const on).cast(),
            mem::size_of_val(&on) as libc::socklen_t,
        );
        match source {
            IpAddr::V4(source) => {
                let mut address: libc::sockaddr_in = mem::zeroed();
                address.sin_family = libc::AF_INET as libc::sa_family_t;
                address.sin_addr.s_addr = u32::from_ne_bytes(source.octets());
                let length = mem::size_of_val(&address) as libc::socklen_t;
                libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length)
            }
            IpAddr::V6(source) => {
                let mut address: libc::sockaddr_in6 = mem::zeroed();
                address.sin6_family = libc::AF_INET6 as libc::sa_family_t;
                address.sin6_addr.s6_addr = source.octets();
                let length = mem::size_of_val(&address) as libc::socklen_t;
                libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length)
            }
        }
    };
    Errno::result(bound)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::net::Ipv6Addr;

    use super::*;

    fn target(family: i32, address: &[u8], at: usize) -> Vec<u8> {
        let mut target = vec![0; mem::size_of::<libc::sockaddr_in6>()];
        target[..2].copy_from_slice(&(family as u16).to_ne_bytes());
        target[at..at + address.len()].copy_from_slice(address);
        target
    }

    #[test]
    fn only_connections_to_this_machine_get_a_source() {
        let here = Ipv4Addr::new(127, 3, 0, 1);
        assert_eq!(
            reached(&target(libc::AF_INET, &here.octets(), 4)),
            Some(here.into())
        );
        let away = Ipv4Addr::new(10, 0, 0, 1);
        assert_eq!(reached(&target(libc::AF_INET, &away.octets(), 4)), None);
        let mapped = here.to_ipv6_mapped();
        let in_six = target(libc::AF_INET6, &mapped.octets(), 8);
        assert_eq!(reached(&in_six), Some(mapped.into()));
        let six = target(libc::AF_INET6, &Ipv6Addr::LOCALHOST.octets(), 8);
        assert_eq!(reached(&six), None);
        assert_eq!(reached(&target(libc::AF_UNIX, b"/tmp/socket", 2)), None);
        assert_eq!(reached(&[]), None);
    }
}
