//! The Java program as a process: requests go in, replies come out, a JSON object a line.

use std::collections::HashMap;
use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value as Json, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::timeout;

/// Where the replies to each request go.
type Pending = Arc<Mutex<HashMap<u64, UnboundedSender<Json>>>>;

/// One instance of Redisson in a process of its own, which ends with this value.
pub struct Peer {
    _child: Child,
    stdin: tokio::sync::Mutex<(u64, ChildStdin)>,
    pending: Pending,
    stderr: PathBuf,
}

/// Replies to one request, as they come.
pub struct Replies {
    lines: UnboundedReceiver<Json>,
    request: String,
    stderr: PathBuf,
}

impl Peer {
    /// Starts it against the server at `address`; `watchdog` is the lease of its watchdog.
    pub fn start(class_path: &str, address: SocketAddr, watchdog: Duration, folder: &Path) -> Self {
        let stderr = folder.join("java.log");
        let mut child = Command::new("java")
            .args(["-cp", class_path, "lockstorm.interop.Peer"])
            .args([address.to_string(), watchdog.as_millis().to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(&stderr).expect("the folder can be written"))
            .kill_on_drop(true)
            .spawn()
            .expect("java is there, it built the program");
        let stdin = child.stdin.take().expect("it is piped");
        let stdout = child.stdout.take().expect("it is piped");
        let pending = Pending::default();
        tokio::spawn(deliver(
            BufReader::new(stdout).lines(),
            Arc::downgrade(&pending),
        ));
        Self {
            _child: child,
            stdin: tokio::sync::Mutex::new((0, stdin)),
            pending,
            stderr,
        }
    }

    /// Sends a request whose replies may take their time.
    pub async fn begin(&self, mut request: Json) -> Replies {
        let mut stdin = self.stdin.lock().await;
        stdin.0 += 1;
        request["id"] = json!(stdin.0);
        let (sender, lines) = unbounded_channel();
        self.pending().insert(stdin.0, sender);
        let request = request.to_string();
        let line = format!("{request}\n");
        stdin
            .1
            .write_all(line.as_bytes())
            .await
            .expect("the Java program reads its input");
        Replies {
            lines,
            request,
            stderr: self.stderr.clone(),
        }
    }

    /// Sends a request and waits for the one reply to it.
    pub async fn ask(&self, request: Json) -> Json {
        self.begin(request).await.next(crate::support::WITHIN).await
    }

    fn pending(&self) -> std::sync::MutexGuard<'_, HashMap<u64, UnboundedSender<Json>>> {
        self.pending.lock().expect("no test panics with it")
    }
}

impl Replies {
    /// The next one; fails the test where it is an error, or does not come.
    pub async fn next(&mut self, within: Duration) -> Json {
        let reply = timeout(within, self.lines.recv())
            .await
            .unwrap_or_else(|_| panic!("no reply within {within:?} to {}", self.request));
        let Some(reply) = reply else {
            panic!("the Java program ended: {}", self.stderr());
        };
        assert!(reply.get("error").is_none(), "{reply}: {}", self.stderr());
        reply
    }

    fn stderr(&self) -> String {
        fs::read_to_string(&self.stderr).unwrap_or_default()
    }
}

/// Hands each line to whoever asked for it. When the lines end, everybody who waits is told.
async fn deliver(
    mut lines: Lines<BufReader<ChildStdout>>,
    pending: std::sync::Weak<Mutex<HashMap<u64, UnboundedSender<Json>>>>,
) {
    while let Ok(Some(line)) = lines.next_line().await {
        let reply: Json = serde_json::from_str(&line).expect("each line is a JSON object");
        let Some(pending) = pending.upgrade() else {
            return;
        };
        let pending = pending.lock().expect("no test panics with it");
        if let Some(sender) = reply["id"].as_u64().and_then(|id| pending.get(&id)) {
            // Whoever gave up waiting does not want it any more.
            let _ = sender.send(reply);
        }
    }
    if let Some(pending) = pending.upgrade() {
        pending.lock().expect("no test panics with it").clear();
    }
}
