//! One caller `a` and one node `n` in a network of their own.

use std::future::Future;
use std::io::{ErrorKind, Write as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use lockstorm_nemesis::{Kernel, Namespace, Network as _};
use tokio::io::AsyncReadExt as _;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::{Instant, sleep};

/// Where both are: the same in every test, for no two networks meet.
const CALLER: Ipv4Addr = Ipv4Addr::new(127, 1, 2, 1);
const NODE: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::new(127, 1, 0, 1)), 6379);

/// Patience with a loaded machine; a condition that holds at all holds long before.
const WITHIN: Duration = Duration::from_secs(30);

pub(crate) struct Stage {
    pub(crate) kernel: Kernel,
    server: TcpListener,
}

impl Stage {
    /// Sets the stage; `None` where the system does not allow it, which is said past the capture of
    /// test output.
    pub(crate) async fn set() -> Option<Self> {
        let opened = Namespace::enter().and_then(Kernel::open);
        let kernel = match opened {
            Ok(kernel) => kernel,
            Err(error) => {
                let test = std::thread::current();
                let name = test.name().unwrap_or("a test").to_owned();
                let _ = writeln!(std::io::stderr(), "SKIPPED {name}: {error}");
                return None;
            }
        };
        kernel.introduce("a", CALLER.into());
        kernel.introduce("n", NODE.ip());
        let server = TcpListener::bind(NODE).await.unwrap();
        Some(Self { kernel, server })
    }

    /// Connects as `a`; the server may not know of it yet.
    pub(crate) async fn call(&self) -> std::io::Result<TcpStream> {
        let socket = TcpSocket::new_v4()?;
        socket.bind((CALLER, 0).into())?;
        let stream = socket.connect(NODE).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    pub(crate) async fn accept(&self) -> TcpStream {
        let (stream, _) = self.server.accept().await.unwrap();
        stream.set_nodelay(true).unwrap();
        stream
    }

    /// Both ends of one connection.
    pub(crate) async fn connect(&self) -> (TcpStream, TcpStream) {
        let caller = self.call().await.unwrap();
        (caller, self.accept().await)
    }

    /// Waits until the link has held back more than `before`.
    pub(crate) async fn held_more(&self, from: &str, to: &str, before: u64) {
        eventually("the cut holds something back", async || {
            self.kernel.held_back(from, to) > before
        })
        .await;
    }
}

/// Waits until a condition holds, and fails with `what` if it does not.
pub(crate) async fn eventually<F: Future<Output = bool>>(
    what: &str,
    mut condition: impl FnMut() -> F,
) {
    let until = Instant::now() + WITHIN;
    while !condition().await {
        assert!(Instant::now() < until, "not within {WITHIN:?}: {what}");
        sleep(Duration::from_millis(5)).await;
    }
}

pub(crate) async fn expect_bytes(stream: &mut TcpStream, bytes: &[u8]) {
    let mut read = vec![0; bytes.len()];
    stream.read_exact(&mut read).await.unwrap();
    assert_eq!(read, bytes);
}

pub(crate) fn expect_silence(stream: &TcpStream) {
    let read = stream.try_read(&mut [0; 1]);
    assert_eq!(read.unwrap_err().kind(), ErrorKind::WouldBlock);
}

/// Whichever end was closed for its owner sees `ConnectionAborted`, the other one a reset.
pub(crate) async fn expect_reset(stream: &mut TcpStream) {
    let kind = stream.read(&mut [0; 1]).await.unwrap_err().kind();
    let reset = [ErrorKind::ConnectionReset, ErrorKind::ConnectionAborted];
    assert!(reset.contains(&kind), "{kind:?}");
}
