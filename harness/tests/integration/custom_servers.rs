//! Servers of a system that Lockstorm is taken not to know, started by commands: up, broken, and
//! gone. They are Redis', so that a test can look what became of them.

use std::process::Command;

use crate::support::test_bed::TestBed;
use crate::support::{have_server, skipped};
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
