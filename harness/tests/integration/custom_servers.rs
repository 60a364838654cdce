//! Servers of a system that Lockstorm is taken not to know, started by commands: up, broken, and
//! gone. They are Redis', so that a test can look what became of them.

use std::process::Command;

use crate::support::test_bed::TestBed;
use crate::support::{have_server, lockstorm, root, skipped, stderr, stdout};
use lockstorm_nemesis::Deployment as _;
use lockstorm_scenarios::{
    Custom, DurationSpec, FaultSpec, Kill, Memory, Pause, Restart, Topology,
};

/// Words of a command.
fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

/// Two servers and what tells that one answers; the second follows the first once all are up.
fn redis_by_hand() -> Custom {
    let follow = "redis-cli -h {host} -p {port} config set maxclients 500";
    Custom {
        name: "Redis by hand".to_owned(),
        nodes: 2,
        start: words(
            "redis-server --bind {host} --port {port} --dir {data} --protected-mode no \
             --appendonly yes --appendfsync always",
        ),
        answers: words("redis-cli -e -h {host} -p {port} ping"),
        version: words("redis-server --version"),
        prepare: words("mkdir {data}/appendonlydir"),
        join: words(follow),
        ready_within: DurationSpec::from_secs(20),
        ends_leases_within: None,
    }
}

/// The servers behind the fabric; `None` where there are none to be had.
async fn servers() -> Option<TestBed> {
    let has_cli = Command::new("redis-cli").arg("--version").output();
    if has_cli.is_err() {
        skipped("no redis-cli is on PATH");
        return None;
    }
    if !have_server() {
        return None;
    }
    Some(TestBed::new(Topology::Custom(redis_by_hand()), true).await)
}

fn node() -> String {
    "n1".to_owned()
}

/// Answer of one of the servers to a command of Redis, past the fabric.
fn says(bed: &TestBed, node: usize, command: &str) -> String {
    let at = bed.servers.nodes()[node].private;
    let output = Command::new("redis-cli")
        .args(["-h", &at.ip().to_string(), "-p", &at.port().to_string()])
        .args(command.split(' '))
        .output();
    String::from_utf8_lossy(&output.expect("it can be run").stdout).into_owned()
}

#[tokio::test]
async fn the_commands_prepare_start_and_join_servers_that_then_answer() {
    let Some(bed) = servers().await else {
        return;
    };
    for server in 0..2 {
        assert_eq!(says(&bed, server, "ping"), "PONG\n");
    }
    let joined = |server| says(&bed, server, "config get maxclients").contains("500");
    assert_eq!((joined(0), joined(1)), (true, false), "on the first alone");
    assert!(bed.servers.program().version.contains("Redis server v="));
    let log = bed.servers.nodes()[0].folder.join("log");
    let log = std::fs::read_to_string(log).expect("what it prints is kept");
    assert!(log.contains("Ready to accept connections"), "{log}");
}

#[tokio::test]
async fn a_server_that_is_killed_is_proved_dead_and_comes_back_with_its_disk() {
    let Some(mut bed) = servers().await else {
        return;
    };
    says(&bed, 0, "set kept yes");
    let kill = FaultSpec::Kill(Kill { node: node() });
    let killed = bed.nemesis.inject(&kill).await;
    killed.expect("its process is gone, and nothing answers");
    assert!(bed.servers.pid("n1").is_none());
    let failed = bed.nemesis.heal_all().await;
    assert!(failed.is_empty(), "{failed:?}");
    assert_eq!(says(&bed, 0, "get kept"), "yes\n");
    let before = bed.servers.pid("n1");
    let restart = FaultSpec::Restart(Restart {
        node: node(),
        memory: Memory::Kept,
    });
    let restarted = bed.nemesis.inject(&restart).await;
    restarted.expect("another process answers");
    assert_ne!(bed.servers.pid("n1"), before);
    assert_eq!(says(&bed, 0, "get kept"), "yes\n");
}

#[tokio::test]
async fn a_server_that_is_paused_is_proved_silent_and_answers_again() {
    let Some(mut bed) = servers().await else {
        return;
    };
    let pause = FaultSpec::Pause(Pause { node: node() });
    let paused = bed.nemesis.inject(&pause).await;
    paused.expect("it is stopped, and does not answer");
    let server = bed.servers.server("n1").expect("it is there");
    server.greet().await.expect_err("it stands still");
    let failed = bed.nemesis.heal_all().await;
    assert!(failed.is_empty(), "{failed:?}");
    let server = bed.servers.server("n1").expect("it is there");
    server.greet().await.expect("it goes on");
}

#[tokio::test]
async fn a_question_that_only_its_system_knows_is_refused_and_not_guessed() {
    let Some(bed) = servers().await else {
        return;
    };
    let server = bed.servers.server("n1").expect("it is there");
    let said = [
        server
            .has("lock")
            .await
            .map(|_| ())
            .map_err(|e| e.to_string()),
        server
            .entries()
            .await
            .map(|_| ())
            .map_err(|e| e.to_string()),
        server.rank().await.map(|_| ()).map_err(|e| e.to_string()),
        server
            .clock_us()
            .await
            .map(|_| ())
            .map_err(|e| e.to_string()),
    ];
    for said in said {
        let said = said.expect_err("nobody knows");
        assert!(
            said.contains("nobody knows how to ask Redis by hand"),
            "{said}"
        );
    }
}

/// A server behind a shell: the process that was started is not the one that answers.
const BEHIND_A_SHELL: &str = r#"
name = "behind-a-shell"
lock.adapter = { name = "mine", command = ["mine"] }
[topology.custom]
name = "Redis behind a shell"
start = [
    "sh", "-c",
    "redis-server --bind {host} --port {port} --dir {data} --protected-mode no & wait",
]
answers = ["redis-cli", "-e", "-h", "{host}", "-p", "{port}", "ping"]
[[step]]
acquire = { client = "a" }
"#;

/// A lock in one command, over a connection for each try, by the kit; it gives up after a second.
const ONE_COMMAND: &str = r#"
import socket
from lockstorm_adapter import Adapter, serve

class Mine(Adapter):
    name, version = "mine", "1"

    def open(self, client):
        (self.at,), self.lease, self.me = client.servers, client.lease, client.name

    def ask(self, words):
        with socket.create_connection(tuple(self.at), timeout=1) as server:
            server.sendall(words.encode() + b"\r\n")
            return server.recv(1024)

    def acquire(self, key):
        return self.ask(f"SET {key} {self.me} NX PX {int(self.lease * 1000)}") == b"+OK\r\n"

    def release(self, key):
        is_mine = self.me.encode() in self.ask(f"GET {key}").split()
        return is_mine and self.ask(f"DEL {key}") == b":1\r\n"

serve(Mine())
"#;

/// A script in which the answer to one call is on its way for longer than the lease.
const LATE_GRANT: &str = r#"
[[step]]
release = { client = "a" }
[[step]]
delay = { from = "nodes", to = "a", by = "500ms" }
[[step]]
acquire = { client = "a" }
"#;

/// Nobody can ask such servers what they have, but the network knows when they replied.
#[test]
fn a_lease_that_servers_of_any_system_granted_too_late_is_found() {
    let has_cli = Command::new("redis-cli").arg("--version").output().is_ok();
    if !has_cli || !have_server() {
        return skipped("no redis-cli is on PATH, or no redis-server");
    }
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let mine = folder.path().join("mine.py");
    let patient = ONE_COMMAND.replace("timeout=1", "timeout=20");
    std::fs::write(&mine, patient).expect("the file can be written");
    let command = format!("[\"python3\", {:?}], lease = \"300ms\"", mine.display());
    let text = BEHIND_A_SHELL.replace("[\"mine\"]", &command) + LATE_GRANT;
    let scenario = folder.path().join("late.toml");
    std::fs::write(&scenario, text).expect("the file can be written");
    let output = lockstorm()
        .env("PYTHONPATH", root().join("adapters/sdk/python"))
        .args(["run", "--report", "none", "--out"])
        .args([folder.path(), &scenario])
        .output()
        .expect("it can be started");
    let said = stdout(&output) + &stderr(&output);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("✗ dead on arrival: violated"), "{said}");
    assert!(said.contains("n1 last replied to a"), "{said}");
}

/// The check stops what answers too: else a right adapter would be told that it made up a grant.
#[test]
fn servers_of_several_processes_stand_still_in_the_test_of_an_adapter() {
    let has_cli = Command::new("redis-cli").arg("--version").output().is_ok();
    if !has_cli || !have_server() {
        return skipped("no redis-cli is on PATH, or no redis-server");
    }
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let put = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("the file can be written");
        path
    };
    let servers = put("servers.toml", BEHIND_A_SHELL);
    let mine = put("mine.py", ONE_COMMAND);
    let output = lockstorm()
        .env("PYTHONPATH", root().join("adapters/sdk/python"))
        .args(["adapter", "test", "--out"])
        .arg(folder.path())
        .arg("--servers")
        .args([servers.as_os_str(), "python3".as_ref(), mine.as_os_str()])
        .output()
        .expect("it can be started");
    let said = stdout(&output);
    assert!(
        said.contains("✓ answers error when no server replies"),
        "{said}"
    );
    assert!(
        said.contains("it keeps no connection between two calls"),
        "{said}"
    );
    assert!(output.status.success(), "{said}");
}
