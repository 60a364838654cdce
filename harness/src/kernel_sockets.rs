//! Knowledge of the kernel about a TCP socket of this machine: whose it is, and whether it listens.
//!
//! The kernel is asked for the one socket (`sock_diag(7)`). Its table of all in `/proc/net/tcp`
//! says the same, but to read that takes tens of milliseconds where there have been thousands of
//! connections; it is read where the kernel was built without such questions.

use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener};
use std::sync::LazyLock;

use netlink_packet_core::{NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload};
use netlink_packet_sock_diag::SockDiagMessage;
use netlink_packet_sock_diag::constants::{AF_INET, IPPROTO_TCP, TCP_LISTEN};
use netlink_packet_sock_diag::inet::{ExtensionFlags, InetRequest, SocketId, StateFlags};
use netlink_sys::Socket;
use netlink_sys::protocols::NETLINK_SOCK_DIAG;

/// All sockets of this network, one a line.
const TABLE: &str = "/proc/net/tcp";

/// A socket of this machine's network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelSocket {
    /// User that opened it.
    pub user: u32,
    /// Its number among the files of this machine.
    pub inode: u64,
    /// `true` for one that takes connections, `false` for an end of one.
    pub listens: bool,
}

/// The end at `local` of a connection to `remote`; `None` if there is none, or nobody has it open
/// any more: the kernel then names no inode, and may name root as its user.
pub fn end_of(local: SocketAddrV4, remote: SocketAddrV4) -> io::Result<Option<KernelSocket>> {
    let is_open_end = |socket: &KernelSocket| !socket.listens && socket.inode != 0;
    Ok(find(local, Some(remote))?.filter(is_open_end))
}

/// Tells whether anybody listens there. To connect would be noticed.
pub fn is_listening(address: SocketAddrV4) -> io::Result<bool> {
    Ok(find(address, None)?.is_some_and(|socket| socket.listens))
}

fn find(local: SocketAddrV4, remote: Option<SocketAddrV4>) -> io::Result<Option<KernelSocket>> {
    /// A kernel that cannot be asked says of every socket that there is none.
    static CAN_ASK: LazyLock<bool> = LazyLock::new(|| knows_ours().unwrap_or(false));
    if *CAN_ASK {
        ask(local, remote)
    } else {
        look_up(local, remote)
    }
}

/// Tells whether the kernel says that a socket of our own is there.
fn knows_ours() -> io::Result<bool> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let found = match listener.local_addr()? {
        SocketAddr::V4(address) => ask(address, None)?,
        SocketAddr::V6(_) => None,
    };
    Ok(found.is_some())
}

/// The answer of the kernel to the question for one socket.
fn ask(local: SocketAddrV4, remote: Option<SocketAddrV4>) -> io::Result<Option<KernelSocket>> {
    let mut socket = Socket::new(NETLINK_SOCK_DIAG)?;
    socket.bind_auto()?;
    socket.connect(&netlink_sys::SocketAddr::new(0, 0))?;
    socket.send(&question(local, remote), 0)?;
    let (answer, _) = socket.recv_from_full()?;
    let answer = NetlinkMessage::<SockDiagMessage>::deserialize(&answer);
    match answer.map_err(io::Error::other)?.payload {
        NetlinkPayload::InnerMessage(SockDiagMessage::InetResponse(found)) => {
            Ok(Some(KernelSocket {
                user: found.header.uid,
                inode: found.header.inode.into(),
                listens: found.header.state == TCP_LISTEN,
            }))
        }
        NetlinkPayload::Error(error) => match error.to_io() {
            error if error.kind() == io::ErrorKind::NotFound => Ok(None),
            error => Err(error),
        },
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

fn question(local: SocketAddrV4, remote: Option<SocketAddrV4>) -> Vec<u8> {
    let remote = remote.unwrap_or(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0));
    let request = InetRequest {
        family: AF_INET,
        protocol: IPPROTO_TCP,
        extensions: ExtensionFlags::empty(),
        states: StateFlags::all(),
        socket_id: SocketId {
            source_port: local.port(),
            destination_port: remote.port(),
            source_address: IpAddr::V4(*local.ip()),
            destination_address: IpAddr::V4(*remote.ip()),
            interface_id: 0,
            // Any, by the manual.
            cookie: [u8::MAX; 8],
        },
    };
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST;
    let mut message = NetlinkMessage::new(header, SockDiagMessage::InetRequest(request).into());
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    bytes
}

/// The socket as the table of all has it.
fn look_up(local: SocketAddrV4, remote: Option<SocketAddrV4>) -> io::Result<Option<KernelSocket>> {
    /// State of a socket that takes connections.
    const LISTENS: &str = "0A";
    let table = fs::read_to_string(TABLE)?;
    let local = written(local);
    let remote = remote.map(written);
    let found = table.lines().skip(1).find_map(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let listens = *fields.get(3)? == LISTENS;
        let is_it = match &remote {
            Some(remote) => *fields.get(2)? == remote,
            None => listens,
        };
        (is_it && *fields.get(1)? == local).then_some(KernelSocket {
            user: fields.get(7)?.parse().ok()?,
            inode: fields.get(9)?.parse().ok()?,
            listens,
        })
    });
    Ok(found)
}

/// An address as the table has it: the bytes of a number of this machine, in hexadecimal.
fn written(address: SocketAddrV4) -> String {
    let ip = u32::from_ne_bytes(address.ip().octets());
    format!("{ip:08X}:{:04X}", address.port())
}

#[cfg(test)]
mod tests {
    use std::net::TcpStream;
    use std::thread;
    use std::time::{Duration, Instant};

    use super::*;

    fn v4(address: SocketAddr) -> SocketAddrV4 {
        match address {
            SocketAddr::V4(address) => address,
            SocketAddr::V6(_) => panic!("{address} is of the other kind"),
        }
    }

    #[test]
    fn the_kernel_says_of_each_socket_what_its_table_has() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
        let here = v4(listener.local_addr().expect("it is bound"));
        let own = TcpStream::connect(here).expect("somebody listens");
        let there = v4(own.local_addr().expect("it is bound"));
        let _accepted = listener.accept().expect("somebody has come");
        for (local, remote) in [(here, None), (there, Some(here)), (here, Some(there))] {
            let asked = ask(local, remote).expect("the kernel can be asked");
            let found = look_up(local, remote).expect("there is a table");
            assert!(asked.is_some());
            assert_eq!(asked, found, "{local} {remote:?}");
        }
        assert!(is_listening(here).expect("it is known"));
        assert!(end_of(there, here).expect("it is known").is_some());
        // The one that listens is no end of a connection.
        let nobody = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 1);
        assert_eq!(end_of(here, nobody).expect("it is known"), None);
        assert!(!is_listening(nobody).expect("it is known"));
        drop(listener);
        // A child that another test has just forked holds it until it becomes its program.
        let deadline = Instant::now() + Duration::from_secs(10);
        while is_listening(here).expect("it is known") {
            assert!(Instant::now() < deadline, "it still listens");
            thread::yield_now();
        }
    }
}
