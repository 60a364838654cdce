//! Tools that tests of the program and of real servers share.

#![allow(dead_code, reason = "each test file uses its own part of this module")]

pub mod crew;
pub mod situations;
pub mod test_bed;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::{Duration, Instant};

use lockstorm_harness::server::{
    DEFAULT_PORT, ServerSettings, Servers, Spares, Wiring, find_etcd, find_mariadb, find_postgres,
    find_program, find_zookeeper,
};
use lockstorm_scenarios::{System, Topology};

/// Time for which a test waits for a condition before it gives up: long, for a busy machine.
pub const WITHIN: Duration = Duration::from_secs(30);

/// Tries of a run until one can tell: on a busy machine a server may be taken for dead that no
/// scenario has touched, and then the run says that it cannot tell.
pub const TRIES_MAX: usize = 3;

/// The program under test, with no settings of the user's in its way.
pub fn lockstorm() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lockstorm"));
    for (name, _) in std::env::vars()
        .filter(|(name, _)| name.starts_with("LOCKSTORM_") && name != "LOCKSTORM_REDIS_SERVER")
    {
        command.env_remove(name);
    }
    command.current_dir(root());
    command
}

/// The checkout.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the crate is in a folder")
        .to_owned()
}

/// Tells whether `LOCKSTORM_ONLY`, a list with commas, names it, or nothing at all.
pub fn is_asked_for(name: &str) -> bool {
    let only = std::env::var("LOCKSTORM_ONLY").unwrap_or_default();
    only.is_empty() || only.split(',').any(|one| one == name)
}

/// Runs the program to its end.
pub fn run(args: &[&str]) -> Output {
    lockstorm()
        .args(args)
        .output()
        .expect("the program can be started")
}

/// Runs a scenario below the checkout, its runs going to `out`.
pub fn run_scenario(scenario: &str, out: &Path, more: &[&str]) -> Output {
    let out = out.to_str().expect("temporary folders have plain names");
    let mut args = vec!["run", scenario, "--out", out, "--progress", "none"];
    args.extend(more);
    run(&args)
}

/// Standard error as text.
pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Standard output as text.
pub fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// All that it printed, on either stream.
pub fn said(output: &Output) -> String {
    stdout(output) + &stderr(output)
}

/// Says loudly that a test is skipped, and why.
#[expect(
    clippy::print_stderr,
    reason = "a skipped test must be seen in the log"
)]
pub fn skipped(why: &str) {
    eprintln!("SKIPPED: {why}");
}

/// Tells whether a network of real packets can be had here; says loudly if not.
pub fn have_kernel_network() -> bool {
    let out = tempfile::tempdir().expect("a temporary folder can be made");
    let out = out
        .path()
        .to_str()
        .expect("temporary folders have plain names");
    let findings = stdout(&run(&["doctor", "--out", out]));
    let found = findings
        .lines()
        .find(|line| line.contains("kernel network"));
    let found = found.expect("the doctor looks for it");
    let is_there = found.starts_with("ok ");
    if !is_there {
        skipped(found);
    }
    is_there
}

/// True if real servers can be started here; says loudly if not.
#[expect(
    clippy::print_stderr,
    reason = "a skipped test must be seen in the log"
)]
pub fn have_server() -> bool {
    let found = find_program(
        std::env::var_os("LOCKSTORM_REDIS_SERVER")
            .as_deref()
            .map(Path::new),
    );
    if let Err(error) = &found {
        eprintln!("SKIPPED, for want of a server: {error}");
    }
    found.is_ok()
}

/// True if servers of this system can be started here; says loudly if not.
pub fn have_system(system: System) -> bool {
    let found = match system {
        System::Redis => return have_server(),
        System::Etcd => find_etcd(),
        System::Zookeeper => find_zookeeper(),
        System::Mariadb => find_mariadb(),
        System::Postgres => find_postgres(),
        System::Custom => unreachable!("nobody knows its servers"),
    };
    if let Err(error) = &found {
        skipped(&error.to_string());
    }
    found.is_ok()
}

/// Real servers of the topology, with the fabric in the path if asked for.
pub async fn servers(topology: Topology, fabric: bool, folder: &Path) -> Servers {
    Servers::start(settings(topology, fabric, folder))
        .await
        .expect("the servers start")
}

/// Real servers of the topology, with hands on their clocks and disks.
pub async fn servers_with_shim(topology: Topology, folder: &Path) -> Servers {
    let shim = true;
    let settings = settings(topology, false, folder);
    Servers::start(ServerSettings { shim, ..settings })
        .await
        .expect("the servers start and load the shim")
}

/// Settings for servers that may be used again.
pub fn sparing(topology: Topology, spares: Arc<Spares>, wiring: Wiring) -> ServerSettings {
    ServerSettings {
        wiring,
        spares: Some(spares),
        ..settings(topology, true, Path::new(""))
    }
}

fn settings(topology: Topology, fabric: bool, folder: &Path) -> ServerSettings {
    let asked = std::env::var_os("LOCKSTORM_REDIS_SERVER");
    ServerSettings {
        topology,
        program: find_program(asked.as_deref().map(Path::new)).expect("a server is installed"),
        port: DEFAULT_PORT,
        folder: folder.to_owned(),
        wiring: if fabric {
            Wiring::Fabric {
                reads_messages: false,
            }
        } else {
            Wiring::Direct
        },
        shim: false,
        spares: None,
    }
}

/// Paths of all that is in a folder.
pub fn listed(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder can be listed");
    let entries = entries.map(|entry| entry.expect("the folder can be listed").path());
    entries.collect()
}

/// Waits for a condition, polling; fails the test when it does not come.
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + WITHIN;
    while !condition() {
        assert!(Instant::now() < deadline, "not within {WITHIN:?}: {what}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}
