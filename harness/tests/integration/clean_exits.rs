//! After any exit nothing of a run is left: no process, running or stopped, and no listener.
//!
//! Each way out is taken `LOCKSTORM_ROUNDS` times (3 unless set; `make clean-exits` takes 50), each
//! time at another moment of a storm in which servers and clients, which are processes, are being
//! stopped, killed and cut off. What belongs to a run is known by a mark in its environment, which
//! children inherit; by its folder, in which servers work (they write over their environment); and
//! by its port.

use std::fs;
use std::process::{Child, Command, Stdio};

use crate::support::{have_server, lockstorm, skipped, wait_until};
use lockstorm_harness::environment_error::EnvironmentError;
use lockstorm_harness::server::{
    Program, find_etcd, find_mariadb, find_pgbouncer, find_postgres, find_zookeeper,
};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// The name of the mark.
const MARK: &str = "CLEAN_EXITS_MARK";

/// A storm in which all sorts of things stand still, die and are cut off.
const STORM: &str = r#"
name = "clean-exits"
description = "Whatever is broken when the run ends must not stay so."
expect = { mutual-exclusion = "any", lost-lock = "any", lease-overrun = "any", liveness = "any" }
{servers}

[clients]
count = 3
kind = "process"

[storm]
duration = "5m"

[[nemesis]]
package = "servers"
fault.pause = { node = "one" }
every = "50ms"
lasts = "200ms"

[[nemesis]]
package = "servers"
fault.kill = { node = "one" }
every = "200ms"
lasts = "100ms"

[[nemesis]]
package = "links"
fault.cut = { from = "clients", to = "primary" }
every = "50ms"
lasts = "200ms"

[[nemesis]]
package = "clients"
fault.pause-client = { client = "one" }
every = "50ms"
lasts = "200ms"
"#;

/// Servers and their lock, as a scenario names them.
const REDIS: &str = "topology.replicated = { replicas = 1, persistence = \"aof-always\" }\n\
                     lock.token = { lease = \"1s\" }";
const ETCD: &str = "topology.etcd = {}\nlock.etcd-mutex = { lease = \"2s\" }";
const ZOOKEEPER: &str = "topology.zookeeper = {}\nlock.zookeeper-mutex = { session = \"2s\" }";
const MARIADB: &str = "topology.mariadb = {}\nlock.mysql-get-lock = {}";
const POSTGRES: &str = "topology.postgres = { pooler = \"session\" }\nlock.postgres-advisory = {}";

/// One run and what belongs to it.
struct Run {
    child: Child,
    mark: String,
    port: u16,
    out: tempfile::TempDir,
}

impl Run {
    /// Starts the storm. Each round has a mark and a port of its own.
    fn start(servers: &str, way: u16, round: u16, length: &str) -> Self {
        let out = tempfile::tempdir().expect("a temporary folder can be made");
        let file = out.path().join("clean-exits.toml");
        fs::write(&file, STORM.replace("{servers}", servers)).expect("the folder takes a file");
        let mark = format!("{}-{way}-{round}", std::process::id());
        let port = 20_000 + way * 100 + round % 100;
        let mut command: Command = lockstorm();
        command
            .arg("run")
            .arg(&file)
            .args(["--set", &format!("storm.duration={length}")])
            .args(["--progress", "none", "--port", &port.to_string(), "--out"])
            .arg(out.path())
            .env(MARK, &mark)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let child = command.spawn().expect("the program can be started");
        Self {
            child,
            mark,
            port,
            out,
        }
    }

    /// Number of events that were recorded so far.
    fn events(&self) -> usize {
        let history = self.out.path().join("latest/history.jsonl");
        let text = fs::read_to_string(&history).unwrap_or_default();
        text.lines().count()
    }

    /// Waits until so many events were recorded: another moment in each round.
    fn wait_for_events(&self, events: usize) {
        wait_until("the history grows", || self.events() >= events);
    }

    /// The living processes of the run, but for the harness itself. A dead one that nobody has
    /// buried yet has neither environment nor folder.
    fn children(&self) -> Vec<i32> {
        let own = self.child.id().cast_signed();
        let pids = fs::read_dir("/proc").expect("this is Linux");
        pids.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .filter(|&pid| pid != own && (is_marked(pid, &self.mark) || self.is_home_of(pid)))
            .collect()
    }

    fn is_home_of(&self, pid: i32) -> bool {
        let folder = fs::read_link(format!("/proc/{pid}/cwd"));
        folder.is_ok_and(|folder| folder.starts_with(self.out.path()))
    }

    fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id().cast_signed()), signal).expect("it is alive");
    }

    /// Waits for the end of the harness; a moment later nothing is there any more.
    fn assert_clean(mut self) {
        self.child.wait().expect("it ends");
        wait_until("no process of the run is left", || {
            self.children().is_empty()
        });
        wait_until("no listener of the run is left", || {
            !is_listened_on(self.port) && !is_listened_on(self.port + 10_000)
        });
    }
}

/// A test that fails leaves nothing behind either.
impl Drop for Run {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Tells whether a process has this mark in its environment.
fn is_marked(pid: i32, mark: &str) -> bool {
    let wanted = format!("{MARK}={mark}");
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let mut variables = environment.split(|&byte| byte == 0);
    variables.any(|variable| variable == wanted.as_bytes())
}

/// Tells whether some process listens on this port of any address.
fn is_listened_on(port: u16) -> bool {
    let sockets = fs::read_to_string("/proc/net/tcp").expect("this is Linux");
    let local = format!(":{port:04X}");
    sockets.lines().any(|line| {
        let mut words = line.split_whitespace().skip(1);
        let is_here = words
            .next()
            .is_some_and(|address| address.ends_with(&local));
        let is_listening = words.nth(1) == Some("0A");
        is_here && is_listening
    })
}

/// Longer than any test waits: such a run has to be ended.
const ENDLESS: &str = "5m";

/// Takes a way out so many times, each time after another number of events.
fn again_and_again(way: u16, length: &str, exit: impl Fn(&mut Run)) {
    again_and_again_on(REDIS, way, length, exit);
}

/// Ends runs on servers of another system by Ctrl-C and by SIGKILL in turn.
fn ended_on(servers: &str, way: u16, found: Result<Program, EnvironmentError>) {
    if let Err(error) = found {
        return skipped(&error.to_string());
    }
    again_and_again_on(servers, way, ENDLESS, |run| {
        let is_even = run.port.is_multiple_of(2);
        run.signal(if is_even {
            Signal::SIGKILL
        } else {
            Signal::SIGINT
        });
    });
}

fn again_and_again_on(servers: &str, way: u16, length: &str, exit: impl Fn(&mut Run)) {
    if !have_server() {
        return;
    }
    let rounds = std::env::var("LOCKSTORM_ROUNDS").ok();
    let rounds = rounds.map_or(3, |rounds| rounds.parse().expect("a number"));
    for round in 0..rounds {
        let mut run = Run::start(servers, way, round, length);
        // One that ends by itself may be short of events on a slow machine.
        // One whose servers elect and promote has long pauses.
        let moments = if servers == REDIS { 400 } else { 12 };
        let more = usize::from(round) * 37 % moments;
        run.wait_for_events(if length == ENDLESS { 2 + more } else { 2 });
        assert!(
            !run.children().is_empty() && is_listened_on(run.port),
            "the test must see what may stay behind, or proves nothing"
        );
        exit(&mut run);
        run.assert_clean();
    }
}

#[test]
fn after_a_normal_end_nothing_is_left() {
    again_and_again(0, "2s", |_| {});
}

#[test]
fn after_ctrl_c_nothing_is_left() {
    again_and_again(1, ENDLESS, |run| run.signal(Signal::SIGINT));
}

#[test]
fn after_ctrl_c_twice_nothing_is_left() {
    again_and_again(2, ENDLESS, |run| {
        run.signal(Signal::SIGINT);
        run.signal(Signal::SIGINT);
    });
}

#[test]
fn after_sigkill_of_the_harness_nothing_is_left() {
    again_and_again(3, ENDLESS, |run| run.signal(Signal::SIGKILL));
}

#[test]
fn after_ends_of_runs_on_etcd_nothing_is_left() {
    ended_on(ETCD, 6, find_etcd());
}

#[test]
fn after_ends_of_runs_on_zookeeper_nothing_is_left() {
    ended_on(ZOOKEEPER, 7, find_zookeeper());
}

#[test]
fn after_ends_of_runs_on_mariadb_nothing_is_left() {
    ended_on(MARIADB, 8, find_mariadb());
}

/// A server of PostgreSQL that is paused has processes that cannot see it die.
#[test]
fn after_ends_of_runs_on_postgres_behind_a_pooler_nothing_is_left() {
    ended_on(POSTGRES, 9, find_postgres().and_then(|_| find_pgbouncer()));
}

/// Panics end with this signal where they abort.
#[test]
fn after_an_abort_of_the_harness_nothing_is_left() {
    again_and_again(4, ENDLESS, |run| run.signal(Signal::SIGABRT));
}

/// The run goes on without a worker or a server that died from outside, and then ends.
#[test]
fn after_a_kill_of_any_child_nothing_is_left() {
    again_and_again(5, ENDLESS, |run| {
        let children = run.children();
        let at = usize::from(run.port) % children.len();
        // It may have been killed by the nemesis in the meantime.
        let _ = kill(Pid::from_raw(children[at]), Signal::SIGKILL);
        run.wait_for_events(run.events() + 1);
        run.signal(Signal::SIGINT);
    });
}
