//! Commands that servers get while a run lasts: their MONITOR, kept in a file for each, and noted
//! in the history where it is about a lock of the run.
//!
//! For: showing which commands a lock sends, and in which order, to those who know its scripts. A
//! server that comes back is listened to again. Not for: verdicts, which rest on the history alone.

use std::cmp::Ordering::{Equal, Greater, Less};
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use lockstorm_checker::history::{CommandNote, Event, Function, Kind, Name, Process, Value};
use lockstorm_nemesis::{CONNECTION_NAME, Deployment as _};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::command::{Command, Sender};
use crate::environment_error::EnvironmentError;
use crate::recorder::EventSink;
use crate::server::Servers;

/// Name of the file in a node's folder.
const FILE: &str = "monitor.log";
/// Size of the file at most; what comes later is left out.
const FILE_BYTES_MAX: usize = 256 << 20;
/// Commands noted in one run at most: a history of more would tell of little else.
const COMMANDS_MAX: u32 = 10_000;
/// Bytes of a line that are looked at; the rest only goes into the file.
const LINE_BYTES_MAX: usize = 4 << 10;
/// Time that a server may take to say that it tells from now on.
const READY_WITHIN: Duration = Duration::from_secs(5);
/// Pause between two tries to reach a server that is gone.
const AGAIN_AFTER: Duration = Duration::from_millis(50);
/// Time that the rest may take to arrive in the end.
const REST_WITHIN: Duration = Duration::from_secs(1);

/// Listens to all servers of a run; dropping it ends that.
pub struct Monitor {
    over: CancellationToken,
    listeners: JoinSet<()>,
}

/// Settings that a monitor needs.
pub struct MonitorSettings {
    /// The servers.
    pub servers: Arc<Servers>,
    /// The locks whose commands are noted.
    pub keys: Vec<Name>,
    /// Sink into which they are noted.
    pub sink: EventSink,
}

/// Listens to one server.
struct Listener {
    node: Name,
    address: SocketAddr,
    file: BufWriter<File>,
    /// Room that is left in the file.
    room: usize,
    settings: Arc<MonitorSettings>,
    noted: Arc<AtomicU32>,
    over: CancellationToken,
    /// Sender and text of the last command, where it names no lock of the run.
    unnamed: Option<(Name, String)>,
}

impl Monitor {
    /// Listens from now on; whatever a client sends later is heard.
    ///
    /// # Errors
    /// When a server does not let itself be listened to, or a file cannot be made.
    pub async fn start(settings: MonitorSettings) -> Result<Self, EnvironmentError> {
        let settings = Arc::new(settings);
        let (over, noted) = (CancellationToken::new(), Arc::default());
        let mut listeners = JoinSet::new();
        for node in settings.servers.nodes() {
            // Sentinels know no MONITOR, and no locks either.
            if node.role.data().is_none() {
                continue;
            }
            let at = node.private.to_string();
            let stream = listen(node.private).await;
            let stream = stream.map_err(EnvironmentError::io("MONITOR", at))?;
            let listener = Listener {
                node: node.name.as_str().into(),
                address: node.private,
                file: BufWriter::new(create(&node.folder.join(FILE))?),
                room: FILE_BYTES_MAX,
                settings: settings.clone(),
                noted: Arc::clone(&noted),
                over: over.clone(),
                unnamed: None,
            };
            listeners.spawn(listener.run(stream));
        }
        Ok(Self { over, listeners })
    }

    /// Listens no more; what was heard is in the files and in the history.
    pub async fn stop(mut self) {
        self.over.cancel();
        while self.listeners.join_next().await.is_some() {}
    }
}

fn create(path: &Path) -> Result<File, EnvironmentError> {
    File::create(path).map_err(EnvironmentError::io("create", path.display().to_string()))
}

/// A connection on which the server at `address` tells what it is told.
async fn listen(address: SocketAddr) -> io::Result<BufReader<TcpStream>> {
    let begun = async {
        let mut stream = BufReader::new(TcpStream::connect(address).await?);
        let name = format!("CLIENT SETNAME {CONNECTION_NAME}\r\n");
        for words in [name.as_str(), "MONITOR\r\n"] {
            stream.write_all(words.as_bytes()).await?;
            let mut answer = String::new();
            stream.read_line(&mut answer).await?;
            if answer != "+OK\r\n" {
                return Err(io::Error::other(format!("the answer was '{answer}'")));
            }
        }
        Ok(stream)
    };
    timeout(READY_WITHIN, begun)
        .await
        .unwrap_or_else(|_| Err(io::Error::from(io::ErrorKind::TimedOut)))
}

impl Listener {
    /// Hears the server, and hears it again when it comes back, until the end.
    async fn run(mut self, stream: BufReader<TcpStream>) {
        let mut stream = Some(stream);
        let over = self.over.clone();
        while !over.is_cancelled() {
            if let Some(mut stream) = stream.take() {
                // A server that is killed ends it, and so does a full disk.
                let heard = over.run_until_cancelled(self.hear(&mut stream)).await;
                if heard.is_none() {
                    // What has arrived is still read.
                    let _ = stream.shutdown().await;
                    let _ = timeout(REST_WITHIN, self.hear(&mut stream)).await;
                }
            }
            over.run_until_cancelled(sleep(AGAIN_AFTER)).await;
            stream = match over.run_until_cancelled(listen(self.address)).await {
                Some(Ok(again)) => Some(again),
                Some(Err(_)) | None => None,
            };
        }
        // A full disk; no verdict depends on it.
        let _ = self.file.flush();
    }

    async fn hear(&mut self, stream: &mut BufReader<TcpStream>) -> io::Result<()> {
        let mut line = Vec::new();
        loop {
            let bytes = stream.fill_buf().await?;
            if bytes.is_empty() {
                return Ok(());
            }
            let end = bytes.iter().position(|&byte| byte == b'\n');
            let size = end.map_or(bytes.len(), |end| end + 1);
            let kept = size.min(self.room);
            self.file.write_all(&bytes[..kept])?;
            self.room -= kept;
            let wanted = size.min(LINE_BYTES_MAX.saturating_sub(line.len()));
            line.extend_from_slice(&bytes[..wanted]);
            stream.consume(size);
            if end.is_some() {
                self.note(&line).await;
                line.clear();
            }
        }
    }

    /// Notes a command of somebody who has a part in the run, on each lock that it names. A script
    /// may be told a lock by another name than the server's key; then what it does names the lock,
    /// and the call of the script is noted before.
    async fn note(&mut self, line: &[u8]) {
        let Some(command) = Command::read(line) else {
            return;
        };
        let from: Option<Name> = match command.sender {
            Sender::Script => None,
            Sender::Caller(address) => {
                self.unnamed = None;
                match self.settings.servers.caller(address) {
                    Some(name) => Some(name.into()),
                    // What the harness asks has nothing to do with the lock.
                    None => return,
                }
            }
        };
        let servers = &self.settings.servers;
        let names = |key: &&Name| command.concerns(&servers.server_key(key));
        let keys: Vec<Name> = self.settings.keys.iter().filter(names).cloned().collect();
        let call = match (&from, keys.is_empty()) {
            (None, false) => self.unnamed.take(),
            _ => None,
        };
        for key in &keys {
            if let Some((caller, text)) = &call {
                self.record(key, Some(caller), text).await;
            }
            self.record(key, from.as_ref(), &command.text()).await;
        }
        if let (Some(from), true) = (from, keys.is_empty()) {
            self.unnamed = Some((from, command.text()));
        }
    }

    async fn record(&self, key: &Name, from: Option<&Name>, text: &str) {
        let before = self.noted.fetch_add(1, Ordering::Relaxed);
        let text = match before.cmp(&COMMANDS_MAX) {
            Less => text.to_owned(),
            Equal => format!("and more; {COMMANDS_MAX} are noted at most, all are in {FILE}"),
            Greater => return,
        };
        let command = CommandNote {
            node: self.node.clone(),
            from: from.cloned(),
            text: text.into(),
            is_reply: false,
        };
        let value = Value {
            command: Some(Box::new(command)),
            ..Value::default()
        };
        let sink = &self.settings.sink;
        sink.record(Event {
            index: 0,
            time: sink.clock().now(),
            kind: Kind::Note,
            process: Process::Nemesis,
            function: Function::Command,
            key: key.clone(),
            value,
            error: None,
            extra: None,
        })
        .await;
    }
}
