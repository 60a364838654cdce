//! A server that is none of Lockstorm's: started by the test, entered by user and password, with or
//! without TLS, and used by others at the same time.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use lockstorm_harness::connection::{Wire, WireError};
use redis::Value;
use tokio::net::TcpStream;
use tokio::time::{Duration, sleep};

use crate::external::certificates::Certificates;
use crate::support::WITHIN;

/// Password of the user `app`; no text of any kind may have it.
pub const PASSWORD: &str = "s3cret-and-never-shown";
/// Password of whoever looks at the server from outside.
const OPERATOR: &str = "operator";
/// Pause between two looks.
const POLL: Duration = Duration::from_millis(5);

/// Rights of a user `app` that runs a token lock: nothing beyond its prefix.
pub const RIGHTS_OF_A_TOKEN_LOCK: &str = "~team:* &team:* -@all +info +ping +set +get +del +exists \
     +eval +pexpire +client|id +client|list +client|kill";

/// A running server.
pub struct Server {
    child: Child,
    port: u16,
    tls_port: Option<u16>,
    _folder: tempfile::TempDir,
}

/// How a server is started.
#[derive(Default)]
pub struct Settings<'a> {
    /// Rights of the user `app`; empty means everything within `team:`.
    pub rights: &'a str,
    /// Its certificates, if it is to speak TLS.
    pub tls: Option<&'a Certificates>,
    /// Port of the primary that it follows.
    pub follows: Option<u16>,
    /// Further lines of its configuration.
    pub lines: &'a str,
}

impl Server {
    /// Starts it and waits until it answers.
    pub async fn start(settings: Settings<'_>) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let port = free_port();
        let tls_port = settings.tls.map(|_| free_port());
        let conf = folder.path().join("conf");
        let text = config(&settings, port, tls_port, folder.path());
        fs::write(&conf, text).expect("the configuration can be written");
        let child = Command::new(program())
            .arg(&conf)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the server can be started");
        let server = Self {
            child,
            port,
            tls_port,
            _folder: folder,
        };
        let deadline = Instant::now() + WITHIN;
        while server.try_ask(&["PING"]).await.is_err() {
            assert!(Instant::now() < deadline, "the server does not answer");
            sleep(POLL).await;
        }
        server
    }

    /// Waits until it has all that its primary has.
    pub async fn in_step(&self) {
        let deadline = Instant::now() + WITHIN;
        loop {
            let Value::BulkString(info) = self.ask(&["INFO", "replication"]).await else {
                panic!("INFO tells a text");
            };
            if String::from_utf8_lossy(&info).contains("master_link_status:up") {
                return;
            }
            assert!(Instant::now() < deadline, "the replica is not in step");
            sleep(POLL).await;
        }
    }

    /// Port without TLS.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Its URL for `app`, whose password is in the environment.
    pub fn url(&self) -> String {
        format!("redis://app:${{APP_PASSWORD}}@127.0.0.1:{}", self.port)
    }

    /// URL for `app` with TLS, at a host of this name.
    pub fn tls_url(&self, host: &str) -> String {
        let port = self.tls_port.expect("it speaks TLS");
        format!("rediss://app:${{APP_PASSWORD}}@{host}:{port}")
    }

    /// A connection of somebody else.
    pub async fn enter(&self) -> Result<Wire, WireError> {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).await;
        let stream = stream.map_err(|error| WireError::Lost(error.to_string()))?;
        let mut wire = Wire::new(stream);
        let mut auth = redis::cmd("AUTH");
        wire.send(auth.arg("operator").arg(OPERATOR)).await?;
        Ok(wire)
    }

    async fn try_ask(&self, args: &[&str]) -> Result<Value, WireError> {
        let mut command = redis::Cmd::new();
        command.arg(args);
        self.enter().await?.send(&command).await
    }

    /// Asks as somebody else, and returns the answer.
    pub async fn ask(&self, args: &[&str]) -> Value {
        let answer = self.try_ask(args).await;
        answer.unwrap_or_else(|error| panic!("{args:?}: {error}"))
    }

    /// All keys that are there, whoever made them.
    pub async fn keys(&self) -> Vec<String> {
        let Value::Array(keys) = self.ask(&["KEYS", "*"]).await else {
            panic!("KEYS tells a list");
        };
        let text = |key| match key {
            Value::BulkString(bytes) => String::from_utf8(bytes).expect("keys are text"),
            odd => panic!("no key: {odd:?}"),
        };
        let mut keys: Vec<_> = keys.into_iter().map(text).collect();
        keys.sort();
        keys
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Both fail only for one that is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn program() -> PathBuf {
    let asked = std::env::var_os("LOCKSTORM_REDIS_SERVER");
    let asked = asked.as_deref().map(Path::new);
    let program = lockstorm_harness::server::find_program(asked);
    program.expect("a server is installed").path
}

/// True if the server that is installed here speaks TLS; says loudly if not.
#[expect(
    clippy::print_stderr,
    reason = "a skipped test must be seen in the log"
)]
pub fn speaks_tls() -> bool {
    // It ends at once: it knows no such option, or finds no such certificate.
    let output = Command::new(program())
        .args([
            "--port",
            "0",
            "--tls-port",
            "1",
            "--tls-cert-file",
            "/nowhere",
        ])
        .output()
        .expect("the server can be started");
    let said = [output.stdout, output.stderr].concat();
    let lacks = String::from_utf8_lossy(&said).contains("Bad directive");
    if lacks {
        eprintln!("SKIPPED, for want of TLS in this redis-server");
    }
    !lacks
}

/// A port that nobody listens on.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    listener.local_addr().expect("it is bound").port()
}

fn config(settings: &Settings<'_>, port: u16, tls_port: Option<u16>, folder: &Path) -> String {
    let rights = match settings.rights {
        "" => "~team:* &team:* +@all -@dangerous +info +role +client +debug +script +failover",
        rights => rights,
    };
    let primary = settings
        .follows
        .map(|port| format!("replicaof 127.0.0.1 {port}"));
    let path = |certificates: &Certificates, file| certificates.path(file).display().to_string();
    let tls = settings.tls.zip(tls_port).map(|(certificates, port)| {
        format!(
            "tls-port {port}\ntls-cert-file {}\ntls-key-file {}\ntls-ca-cert-file {}",
            path(certificates, "server.pem"),
            path(certificates, "server.key"),
            path(certificates, "ca.pem"),
        )
    });
    // Whoever is primary first follows later, after a failover.
    format!(
        "port {port}\nbind 127.0.0.1\ndir {}\nsave \"\"\nenable-debug-command yes\n\
         repl-diskless-sync no\nmasteruser operator\nmasterauth {OPERATOR}\nuser default off\n\
         user operator on >{OPERATOR} ~* &* +@all\nuser app on >{PASSWORD} {rights}\n\
         {}\n{}\n{}\n",
        folder.display(),
        primary.unwrap_or_default(),
        tls.unwrap_or_default(),
        settings.lines,
    )
}
