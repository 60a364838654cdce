//! Identity of the process at a door: on one machine the kernel knows whose end of a connection the
//! other is.
//!
//! Behind a door the run's own user and password open everything, so nobody else may come in: no
//! other user of the machine, and at the harness's door nobody but this process.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::commands::Caller;
use crate::kernel_sockets::end_of;

/// Everything that this process has open.
const OPEN: &str = "/proc/self/fd";
/// User that may enter everywhere anyway.
const ROOT: u32 = 0;

/// Tells whether `caller` is who came to the door at `here`, from `there`.
pub fn may_enter(here: SocketAddr, there: SocketAddr, caller: Caller) -> bool {
    let (SocketAddr::V4(here), SocketAddr::V4(there)) = (here, there) else {
        return false;
    };
    let Ok(Some(end)) = end_of(there, here) else {
        return false;
    };
    match caller {
        Caller::Client => own_user().is_ok_and(|user| end.user == user || end.user == ROOT),
        Caller::Harness => is_ours(end.inode),
    }
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
        let gone = TcpStream::connect(here).expect("somebody listens");
        let (_stream, there) = listener.accept().expect("somebody has come");
        drop(gone);
        assert!(
            !may_enter(here, there, Caller::Client),
            "whose it was, nobody knows"
        );
        let nobody = SocketAddr::from(([127, 0, 0, 1], 1));
        assert!(!may_enter(here, nobody, Caller::Client));
    }
}
