//! What servers are told while a run lasts: their MONITOR, kept in a file for each.
//!
//! For: showing which commands a lock sends, and in which order, to those who know its scripts. Not
//! for: verdicts, which rest on the history alone. It ends with its server: a restart is not
//! followed.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::error::EnvironmentError;
use super::node::Node;

/// Name of the file in a node's folder.
const FILE: &str = "monitor.log";
/// How long a server may take to say that it tells from now on.
const READY_WITHIN: Duration = Duration::from_secs(5);
const READY: &[u8] = b"+OK\r\n";

/// Listens to all servers of a run; dropping it ends that.
pub struct Monitor {
    watches: Vec<Watch>,
}

/// Listens to one server.
struct Watch {
    stream: TcpStream,
    thread: Option<JoinHandle<()>>,
}

impl Monitor {
    /// Listens from now on; whatever a client sends later is in the files.
    ///
    /// # Errors
    /// When a server does not let itself be listened to, or a file cannot be made.
    pub async fn start(nodes: &[Node]) -> Result<Self, EnvironmentError> {
        let places: Vec<(SocketAddr, PathBuf)> = nodes
            .iter()
            // Sentinels know no MONITOR, and no locks either.
            .filter(|node| node.role.data().is_some())
            .map(|node| (node.private, node.folder.join(FILE)))
            .collect();
        let started = tokio::task::spawn_blocking(move || {
            let watches = places.iter().map(|(address, path)| watch(*address, path));
            watches.collect::<Result<_, _>>()
        });
        let watches = started.await.unwrap_or_else(|error| {
            Err(EnvironmentError::io("listen to", "the servers")(
                io::Error::other(error),
            ))
        })?;
        Ok(Self { watches })
    }

    /// Listens no more; what was heard is in the files.
    pub fn stop(self) {
        drop(self.watches);
    }
}

fn watch(address: SocketAddr, path: &Path) -> Result<Watch, EnvironmentError> {
    let at = address.to_string();
    let fail = |error| EnvironmentError::io("MONITOR", at.clone())(error);
    let mut stream = TcpStream::connect(address).map_err(fail)?;
    stream.set_read_timeout(Some(READY_WITHIN)).map_err(fail)?;
    stream.write_all(b"MONITOR\r\n").map_err(fail)?;
    let mut answer = [0; READY.len()];
    stream.read_exact(&mut answer).map_err(fail)?;
    if answer != READY {
        let text = String::from_utf8_lossy(&answer).into_owned();
        return Err(fail(io::Error::other(format!("the answer was '{text}'"))));
    }
    stream.set_read_timeout(None).map_err(fail)?;
    let shown = path.display().to_string();
    let mut file = File::create(path).map_err(EnvironmentError::io("create", shown))?;
    let mut source = stream.try_clone().map_err(fail)?;
    let thread = thread::Builder::new().name("monitor".to_owned());
    let thread = thread.spawn(move || {
        // A server that is killed ends it, and so does a full disk: no verdict depends on it.
        let _ = io::copy(&mut source, &mut file);
    });
    Ok(Watch {
        stream,
        thread: Some(thread.map_err(fail)?),
    })
}

impl Drop for Watch {
    fn drop(&mut self) {
        // What has arrived is still read; fails where the server is gone.
        let _ = self.stream.shutdown(Shutdown::Both);
        if let Some(thread) = self.thread.take() {
            // It does nothing that can panic.
            let _ = thread.join();
        }
    }
}
