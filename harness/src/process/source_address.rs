//! Gives the connections that a server opens an address of its own to come from.
//!
//! For: servers that cannot be told where their connections come from, statically linked ones
//! included; by that address a network knows who calls. Not for: Redis, which can be told.
//!
//! ```text
//! server: connect(2) ─▶ kernel ─▶ asks this process ─▶ binds the socket, "go on" ─▶ connect(2)
//! ```
//!
//! The kernel asks because of a filter that the server starts with; see `seccomp_unotify(2)`. What
//! the server connects to is looked at after it asked, and might change before it goes on: here
//! that is nobody's harm, for the address is a name and no permission.

use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::mem;
use std::net::{IpAddr, Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd as _, AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::fs::FileExt as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::thread;

use nix::errno::Errno;
use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::kernel_sockets::is_listening;

/// Two addresses of one server, with a network between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facade {
    /// Address where the network takes connections to the server.
    pub front: Ipv4Addr,
    /// Address where the server listens.
    pub behind: Ipv4Addr,
}

/// Has whatever `command` starts, and all that comes of it, connect to this machine from `source`.
/// Servers behind a network have `facades`. A connection to the address where one listens goes to
/// its front instead: a server that tells others its address knows nothing of the front. A
/// connection to a front is refused while nobody listens behind it, as it would be without the
/// network.
///
/// # Errors
/// When the system gives no pair of sockets.
#[expect(
    unsafe_code,
    reason = "the standard library has no safe way to run code after fork"
)]
pub fn bind_source(
    command: &mut Command,
    source: Ipv4Addr,
    facades: Vec<Facade>,
) -> io::Result<()> {
    let (mut ours, mut theirs) = UnixStream::pair()?;
    // It ends with the server, or with a command that is never carried out.
    thread::spawn(move || match meet(&mut ours) {
        Ok(listener) => {
            // What fails from now on shows at the server, whose connections it fails.
            let _ = greet(ours, 0).and_then(|()| answer(&listener, source, &facades));
        }
        Err(error) => {
            let _ = greet(ours, error.raw_os_error().unwrap_or(libc::EIO));
        }
    });
    // SAFETY: the closure makes system calls and allocates nothing.
    unsafe {
        command.pre_exec(move || {
            let asked_at = install()?;
            let pid = nix::unistd::getpid().as_raw();
            theirs.write_all(&pid.to_ne_bytes())?;
            theirs.write_all(&asked_at.to_ne_bytes())?;
            let mut word = [0; 4];
            theirs.read_exact(&mut word)?;
            match i32::from_ne_bytes(word) {
                0 => Ok(()),
                errno => Err(io::Error::from_raw_os_error(errno)),
            }
        });
    }
    Ok(())
}

/// Hears of a process that is about to become a server where it will ask.
fn meet(door: &mut UnixStream) -> io::Result<OwnedFd> {
    let mut word = [0; 4];
    door.read_exact(&mut word)?;
    let pid = i32::from_ne_bytes(word);
    door.read_exact(&mut word)?;
    copy_of(pid, RawFd::from_ne_bytes(word))
}

/// Lets it go on, or tells it why not.
fn greet(mut door: UnixStream, errno: i32) -> io::Result<()> {
    door.write_all(&errno.to_ne_bytes())
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

/// Answers until nobody is left who could ask.
fn answer(listener: &OwnedFd, source: Ipv4Addr, facades: &[Facade]) -> io::Result<()> {
    while let Some(question) = next(listener)? {
        // A connection that cannot be given a source goes on without.
        let error = match prepare(&question, source, facades) {
            Ok(Fate::Refused) => -libc::ECONNREFUSED,
            Ok(Fate::GoesOn) | Err(_) => 0,
        };
        reply(listener, question.id, error)?;
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
fn reply(listener: &OwnedFd, id: u64, error: i32) -> io::Result<()> {
    let goes_on = libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32;
    let mut answer = libc::seccomp_notif_resp {
        id,
        val: 0,
        error,
        flags: if error == 0 { goes_on } else { 0 },
    };
    // SAFETY: the kernel reads one answer.
    match unsafe { ask::send(listener.as_raw_fd(), &raw mut answer) } {
        // Who asked was killed meanwhile.
        Ok(_) | Err(Errno::ENOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Fate of a connection that a server asks for.
enum Fate {
    GoesOn,
    Refused,
}

/// Gives the socket that is about to be connected its source, if it is to reach this machine, and
/// leads it to the front of a server.
fn prepare(
    question: &libc::seccomp_notif,
    source: Ipv4Addr,
    facades: &[Facade],
) -> io::Result<Fate> {
    let thread = question.pid.cast_signed();
    let [socket, at, length, ..] = question.data.args;
    let mut target = [0; mem::size_of::<libc::sockaddr_in6>()];
    let length = target.len().min(length as usize);
    let memory = OpenOptions::new()
        .read(true)
        .write(!facades.is_empty())
        .open(format!("/proc/{thread}/mem"))?;
    memory.read_exact_at(&mut target[..length], at)?;
    let Some((reached, offset)) = reached(&target[..length]) else {
        return Ok(Fate::GoesOn);
    };
    let of_server = |facade: &&Facade| [facade.front, facade.behind].contains(&reached);
    if let Some(facade) = facades.iter().find(of_server) {
        if !is_listening(SocketAddrV4::new(facade.behind, port_of(&target)))? {
            return Ok(Fate::Refused);
        }
        memory.write_all_at(&facade.front.octets(), at + offset)?;
    }
    let source = if target_is_of_six(&target) {
        IpAddr::V6(source.to_ipv6_mapped())
    } else {
        IpAddr::V4(source)
    };
    let socket = copy_of(process_of(thread)?, socket as RawFd)?;
    bind_to(&socket, source)?;
    Ok(Fate::GoesOn)
}

/// Port in a `sockaddr`, of either kind.
fn port_of(target: &[u8]) -> u16 {
    u16::from_be_bytes([target[2], target[3]])
}

fn target_is_of_six(target: &[u8]) -> bool {
    let family = target.first_chunk().copied().map(u16::from_ne_bytes);
    family.map(i32::from) == Some(libc::AF_INET6)
}

/// Loopback address in a `sockaddr`, and where its four bytes are; `None` of anything else. Java
/// and others reach IPv4 by addresses of IPv6.
fn reached(target: &[u8]) -> Option<(Ipv4Addr, u64)> {
    let family = u16::from_ne_bytes(target.get(..2)?.try_into().ok()?);
    match i32::from(family) {
        libc::AF_INET => {
            let address: [u8; 4] = target.get(4..8)?.try_into().ok()?;
            let address = Ipv4Addr::from(address);
            address.is_loopback().then_some((address, 4))
        }
        libc::AF_INET6 => {
            let address: [u8; 16] = target.get(8..24)?.try_into().ok()?;
            let address = std::net::Ipv6Addr::from(address);
            let mapped = address.to_ipv4_mapped()?;
            mapped.is_loopback().then_some((mapped, 20))
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
    use std::net::{Ipv6Addr, TcpListener};
    use std::process::Stdio;

    use super::*;
    use crate::process::spawn;

    #[test]
    fn connections_of_a_server_and_of_its_children_come_from_its_address() {
        let source = Ipv4Addr::new(127, 201, 7, 9);
        let door = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = door.local_addr().unwrap().port();
        let connect = format!("exec 3<>/dev/tcp/127.0.0.1/{port}; read -u 3 word");
        let mut command = Command::new("bash");
        command
            .args(["-c", &format!("( {connect} ) & {connect}; wait; exit 7")])
            .stdin(Stdio::null());
        bind_source(&mut command, source, Vec::new()).unwrap();
        let mut server = spawn(command).unwrap();
        for _ in 0..2 {
            let (mut stream, from) = door.accept().unwrap();
            assert_eq!(from.ip(), IpAddr::from(source));
            stream.write_all(b"word\n").unwrap();
        }
        assert_eq!(server.wait().unwrap().code(), Some(7));
    }

    /// A server behind a network is reached through its front, whichever address is taken, and not
    /// at all where it does not listen.
    #[test]
    fn a_server_behind_a_network_is_seen_as_if_that_were_not_there() {
        let source = Ipv4Addr::new(127, 201, 7, 10);
        let facade = Facade {
            front: Ipv4Addr::new(127, 201, 8, 10),
            behind: Ipv4Addr::new(127, 201, 9, 10),
        };
        let front = TcpListener::bind((facade.front, 0)).unwrap();
        let port = front.local_addr().unwrap().port();
        let connect = |to: Ipv4Addr| {
            let path = format!("/dev/tcp/{to}/{port}");
            let mut command = Command::new("bash");
            command.args(["-c", &format!("exec 3<>{path} && read -u 3 word")]);
            command.stdin(Stdio::null()).stderr(Stdio::null());
            bind_source(&mut command, source, vec![facade]).unwrap();
            spawn(command).unwrap()
        };
        let refused = connect(facade.front).wait().unwrap();
        assert!(!refused.success(), "nobody listens behind");
        let _server = TcpListener::bind((facade.behind, port)).unwrap();
        for to in [facade.front, facade.behind] {
            let mut caller = connect(to);
            let (mut stream, from) = front.accept().unwrap();
            assert_eq!(from.ip(), IpAddr::from(source));
            stream.write_all(b"word\n").unwrap();
            assert!(caller.wait().unwrap().success());
        }
    }

    #[test]
    fn a_program_that_is_not_there_is_an_error() {
        let mut command = Command::new("/no/such/server");
        bind_source(&mut command, Ipv4Addr::LOCALHOST, Vec::new()).unwrap();
        let error = spawn(command).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }

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
            Some((here, 4))
        );
        let away = Ipv4Addr::new(10, 0, 0, 1);
        assert_eq!(reached(&target(libc::AF_INET, &away.octets(), 4)), None);
        let mapped = here.to_ipv6_mapped();
        let in_six = target(libc::AF_INET6, &mapped.octets(), 8);
        assert_eq!(reached(&in_six), Some((here, 20)));
        let six = target(libc::AF_INET6, &Ipv6Addr::LOCALHOST.octets(), 8);
        assert_eq!(reached(&six), None);
        assert_eq!(reached(&target(libc::AF_UNIX, b"/tmp/socket", 2)), None);
        assert_eq!(reached(&[]), None);
    }
}
