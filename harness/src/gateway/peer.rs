//! Identity of the process at a door: on one machine the kernel knows whose end of a connection the
//! other is.
//!
//! Behind a door the run's own user and password open everything, so nobody else may come in: no
//! other user of the machine, and at the harness's door nobody but this process.

use std::fs;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::commands::Caller;

/// All connections of this machine's network, one a line.
const CONNECTIONS: &str = "/proc/self/net/tcp";
/// Everything that this process has open.
const OPEN: &str = "/proc/self/fd";
/// User that may enter everywhere anyway.
const ROOT: u32 = 0;

/// One end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct End {
    /// User that opened it.
    user: u32,
    /// Its number among the files of this machine.
    inode: u64,
}

/// Tells whether `caller` is who came to the door at `here`, from `there`.
pub fn may_enter(here: SocketAddr, there: SocketAddr, caller: Caller) -> bool {
    let Ok(end) = end_of(here, there) else {
        return false;
    };
    match caller {
        Caller::Client => own_user().is_ok_and(|user| end.user == user || end.user == ROOT),
        Caller::Harness => is_ours(end.inode),
    }
}

/// The other end of a connection.
fn end_of(here: SocketAddr, there: SocketAddr) -> io::Result<End> {
    let table = fs::read_to_string(CONNECTIONS)?;
    let wanted = (written(there), written(here));
    let found = table.lines().skip(1).find_map(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let is_it = *fields.get(1)? == wanted.0 && *fields.get(2)? == wanted.1;
        is_it.then_some(End {
            user: fields.get(7)?.parse().ok()?,
            inode: fields.get(9)?.parse().ok()?,
        })
    });
    found.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
}

/// An address as the kernel writes it: the bytes of a number of this machine, in hexadecimal.
fn written(address: SocketAddr) -> String {
    let IpAddr::V4(ip) = address.ip() else {
        return String::new();
    };
    let ip = u32::from_ne_bytes(ip.octets());
    format!("{ip:08X}:{:04X}", address.port())
}

fn own_user() -> io::Result<u32> {
    Ok(fs::metadata("/proc/self")?.uid())
}

/// Tells whether this process has it open.
fn is_ours(inode: u64) -> bool {
    let socket = format!("socket:[{inode}]");
    let is_it = |path: &Path| fs::read_link(path).is_ok_and(|to| to.as_os_str() == &*socket);
    let Ok(files) = fs::read_dir(OPEN) else {
        return false;
    };
    files.flatten().any(|file| is_it(&file.path()))
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn the_door_of_the_harness_is_for_this_process_alone() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
        let here = listener.local_addr().expect("it is bound");
        let _own = TcpStream::connect(here).expect("somebody listens");
        let (_accepted, there) = listener.accept().expect("somebody has come");
        for caller in [Caller::Client, Caller::Harness] {
            assert!(may_enter(here, there, caller), "{caller:?}");
        }
        let script = format!("exec 3<>/dev/tcp/{}/{}; read -r x", here.ip(), here.port());
        let mut child = Command::new("bash")
            .args(["-c", &script])
            .stdin(Stdio::piped())
            .spawn()
            .expect("there is a shell");
        let (_stream, there) = listener.accept().expect("it connects");
        assert!(may_enter(here, there, Caller::Client));
        assert!(!may_enter(here, there, Caller::Harness));
        child.kill().expect("it is ours");
        child.wait().expect("it is ours");
        let nobody = SocketAddr::from(([127, 0, 0, 1], 1));
        assert!(!may_enter(here, nobody, Caller::Client));
    }
}
