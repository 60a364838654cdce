//! Real servers, each with a folder of its own, killed when dropped.

use std::fs::{self, File};
use std::io::Write;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use super::{Client, Reply, eventually};

/// The server's program: `LOCKSTORM_REDIS_SERVER`, else `redis-server` or `valkey-server` on
/// PATH. Without one the calling test is skipped, and says so past the capture of test output.
pub(crate) fn redis_server() -> Option<PathBuf> {
    let named = std::env::var_os("LOCKSTORM_REDIS_SERVER").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = named.filter(|program| program.is_file()).or_else(|| {
        std::env::split_paths(&path)
            .flat_map(|dir| ["redis-server", "valkey-server"].map(|name| dir.join(name)))
            .find(|program| program.is_file())
    });
    if found.is_none() {
        let test = std::thread::current();
        let name = test.name().unwrap_or("a test").to_owned();
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED {name}: no redis-server or valkey-server; \
             install one or set LOCKSTORM_REDIS_SERVER"
        );
    }
    found
}

/// One running server or sentinel.
pub(crate) struct Server {
    address: SocketAddr,
    process: Child,
    _folder: TempDir,
}

impl Server {
    /// Starts a server with `config` beside what all have in common, and waits until it answers
    /// at its private `address`. Other files of its folder come from `files`.
    pub(crate) async fn start(
        program: &Path,
        address: SocketAddr,
        config: &str,
        sentinel: bool,
        files: &[(&str, String)],
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let conf = folder.path().join("conf");
        let (ip, port) = (address.ip(), address.port());
        let common = format!(
            "bind {ip}\nport {port}\nprotected-mode no\ndaemonize no\ndir {}\n",
            folder.path().display()
        );
        fs::write(&conf, format!("{common}{config}\n")).unwrap();
        let log = File::create(folder.path().join("log")).unwrap();
        let mut command = Command::new(program);
        command.arg(&conf);
        if sentinel {
            command.arg("--sentinel");
        }
        let process = command
            .stdin(Stdio::null())
            .stderr(log.try_clone().unwrap())
            .stdout(log)
            .spawn()
            .unwrap();
        let server = Self {
            address,
            process,
            _folder: folder,
        };
        eventually("the server answers at its private address", async || {
            server.ask(&["PING"]).await == Reply::Text("PONG".to_owned())
        })
        .await;
        server
    }

    /// One command past the fabric; a connection that fails is an error reply.
    pub(crate) async fn ask(&self, args: &[&str]) -> Reply {
        let from: IpAddr = self.address.ip();
        let asked = async { Client::connect(from, self.address).await?.call(args).await };
        asked
            .await
            .unwrap_or_else(|error| Reply::Error(error.to_string()))
    }

    /// SIGKILL, and burial.
    pub(crate) fn kill(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}
