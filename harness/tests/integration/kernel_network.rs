//! The kernel's network as a user has it: the same scenarios come out as on the fabric, packets can
//! be lost and overtaken, and nothing of it is left.
//!
//! Method: the program is run, for a network of its own can only be entered by a process that has
//! not begun yet. A network is known by the number of its namespace.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use crate::support::{
    have_kernel_network, have_server, lockstorm, root, run_scenario, skipped, stderr, stdout,
    wait_until,
};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, geteuid};
use serde_json::Value;

const FAILOVER: &str = "scenarios/library/examples/failover-loses-the-lock.toml";
const LOSSY: &str = "scenarios/library/storms/storm-lossy-links.toml";

/// Every way in which a link fails, one after the other, as processes meet them.
const EVERY_FAULT: &str = r#"
name = "every-fault-of-links"
expect = { mutual-exclusion = "valid", fairness = "any", liveness = "valid" }
topology.replicated = { replicas = 2 }
lock.token = { lease = "20s" }
clients = { kind = "process", reply-timeout = "5s" }

[[step]]
acquire = { client = "a", expect = "granted" }

[[step]]
acquire = { client = "b", expect = "refused" }

[[step]]
delay = { from = "primary", to = "a", by = "50ms", jitter = "10ms" }

[[step]]
renew = { client = "a", expect = "renewed" }

[[step]]
heal = { fault = "delay" }

[[step]]
throttle = { from = "b", to = "primary", bytes-per-second = 2000 }

[[step]]
acquire = { client = "b", expect = "refused" }

[[step]]
heal = { fault = "throttle" }

[[step]]
partition = { sides = [["primary", "a", "b"], ["replicas"]] }

[[step]]
renew = { client = "a", expect = "renewed" }

[[step]]
heal = { fault = "partition" }

[[step]]
cut = { from = "replica-1", to = "primary" }

[[step]]
heal = { fault = "cut", from = "replica-1", to = "primary" }

[[step]]
cut = { from = "b", to = "primary", mode = "reset" }

[[step]]
acquire = { client = "b", expect = "unknown" }

[[step]]
heal = { fault = "cut", from = "b", to = "primary" }

[[step]]
acquire = { client = "b", expect = "refused" }

[[step]]
release = { client = "a", expect = "released" }

[[step]]
acquire = { client = "b", expect = "granted" }
"#;

/// Goes on until it is ended.
const ENDLESS: [&str; 2] = ["--set", "storm.duration=5m"];

/// Tells whether these tests can be had; says loudly if not.
fn possible() -> bool {
    have_server() && have_kernel_network()
}

/// Reads the results that a run has stored.
fn results(out: &Path) -> Value {
    let text = fs::read_to_string(out.join("latest/results.json")).expect("the run is stored");
    serde_json::from_str(&text).expect("results are JSON")
}

/// Runs a scenario, which must come out as expected. Returns what stood in the path, and the
/// verdict on each property on which the file has an opinion.
fn came_out(scenario: &str, network: &str) -> (Value, BTreeMap<String, Value>) {
    let out = tempfile::tempdir().expect("a temporary folder can be made");
    let more = ["--report", "none", "--network", network];
    let output = run_scenario(scenario, out.path(), &more);
    assert!(output.status.success(), "{network}: {}", stderr(&output));
    let results = results(out.path());
    let network = results["environment"]["network"].clone();
    let expectations = results["expectations"].as_array().expect("a list");
    let of_interest = expectations.iter().filter(|one| one["expected"] != "any");
    let verdict = |one: &Value| (one["property"].to_string(), one["actual"].clone());
    (network, of_interest.map(verdict).collect())
}

/// A scenario of this test's own, in a folder that lives as long as the guard.
fn written(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("scenario.toml");
    fs::write(&path, text).expect("the file can be written");
    let path = path.to_str().expect("a plain name").to_owned();
    (folder, path)
}

#[test]
fn the_same_files_come_out_the_same_on_both_networks() {
    if !possible() {
        return;
    }
    let (_folder, every_fault) = written(EVERY_FAULT);
    let shipped = [
        "failover-loses-the-lock",
        "wait-finds-nobody",
        "split-brain-sentinel",
        "isolated-master-cluster",
    ];
    let shipped = shipped.map(|name| format!("scenarios/library/examples/{name}.toml"));
    for file in shipped.into_iter().chain([every_fault]) {
        let (fabric, on_fabric) = came_out(&file, "fabric");
        let (kernel, on_kernel) = came_out(&file, "kernel");
        assert_eq!(
            (fabric, kernel),
            ("fabric".into(), "kernel".into()),
            "{file}"
        );
        // What was not done in both, such as a renewal that came to nothing, is judged in one only.
        for (property, verdict) in &on_fabric {
            let other = on_kernel.get(property).unwrap_or(verdict);
            assert_eq!(verdict, other, "{property} of {file}");
        }
    }
}

#[test]
fn a_scenario_that_loses_packets_has_the_network_that_has_some() {
    if !possible() {
        return;
    }
    let (network, _) = came_out(LOSSY, "auto");
    assert_eq!(network, "kernel");
}

#[test]
fn packets_cannot_be_lost_on_the_fabric_and_the_refusal_says_why() {
    let out = tempfile::tempdir().expect("a temporary folder can be made");
    let output = run_scenario(LOSSY, out.path(), &["--network", "fabric"]);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(64), "{text}");
    assert!(
        text.contains("'lose'") && text.contains("no packets"),
        "{text}"
    );
    assert!(text.contains("leave out --network fabric"), "{text}");
}

/// The limit is that of a user namespace, so nobody else notices it.
#[test]
fn where_the_system_allows_no_network_the_run_ends_with_the_remedy() {
    if !possible() {
        return;
    }
    let out = tempfile::tempdir().expect("a temporary folder can be made");
    let limited = "echo 0 > /proc/sys/user/max_net_namespaces && exec \"$@\"";
    let under_a_limit = |args: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "sh", "-c", limited, "sh"]);
        command.arg(env!("CARGO_BIN_EXE_lockstorm")).args(args);
        let output = command.arg("--out").arg(out.path()).output();
        output.expect("unshare is part of every Linux")
    };
    let failover = root().join(FAILOVER).display().to_string();
    let run = under_a_limit(&["run", &failover, "--network", "kernel"]);
    assert_eq!(run.status.code(), Some(69), "{}", stderr(&run));
    assert!(stderr(&run).contains("run as root"), "{}", stderr(&run));
    let doctor = stdout(&under_a_limit(&["doctor"]));
    assert!(doctor.contains("missing  kernel network"), "{doctor}");
}

/// A storm on the kernel's network that goes on.
struct Running {
    child: Child,
    network: PathBuf,
    _out: tempfile::TempDir,
}

impl Running {
    /// Starts it and waits until its servers and clients are at work.
    fn start() -> Self {
        let out = tempfile::tempdir().expect("a temporary folder can be made");
        let child = lockstorm()
            .args(["run", LOSSY, "--progress", "none", "--report", "none"])
            .args(ENDLESS)
            .args(["--set", "clients.kind=process", "--out"])
            .arg(out.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program can be started");
        let history = out.path().join("latest/history.jsonl");
        // From here on whatever fails ends the run.
        let mut running = Self {
            child,
            network: PathBuf::new(),
            _out: out,
        };
        wait_until("the history grows", || {
            fs::read_to_string(&history).is_ok_and(|text| text.lines().count() > 20)
        });
        running.network = network_of(running.child.id()).expect("it runs");
        running
    }

    fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id().cast_signed()), signal).expect("it is alive");
    }
}

/// A test that fails leaves nothing behind either.
impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The network that a process is in, such as `net:[4026531840]`.
fn network_of(pid: impl std::fmt::Display) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/ns/net")).ok()
}

/// The living processes in a network.
fn members(network: &Path) -> BTreeSet<String> {
    let pids = fs::read_dir("/proc").expect("this is Linux");
    let pids = pids.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    pids.filter(|pid| network_of(pid).is_some_and(|of| of == network))
        .collect()
}

/// The namespaces that have a name, and so outlive their processes.
fn named() -> BTreeSet<std::ffi::OsString> {
    let names = fs::read_dir("/run/netns").into_iter().flatten();
    names
        .filter_map(|name| Some(name.ok()?.file_name()))
        .collect()
}

/// A namespace without a process, a name or a file is gone.
#[test]
fn after_sigkill_and_after_ctrl_c_the_network_is_gone_with_all_in_it() {
    if !possible() {
        return;
    }
    let before = named();
    for signal in [Signal::SIGKILL, Signal::SIGINT] {
        let mut run = Running::start();
        assert_ne!(network_of("self"), Some(run.network.clone()));
        assert!(
            members(&run.network).len() > 3,
            "servers, clients and harness"
        );
        assert_eq!(named(), before, "it has no name while it is there");
        run.signal(signal);
        let status = run.child.wait().expect("it ends");
        if signal == Signal::SIGINT {
            assert_eq!(status.code(), Some(130), "it ends in order");
        }
        wait_until("nobody is in its network any more", || {
            members(&run.network).is_empty()
        });
    }
}

#[test]
fn two_runs_at_once_are_in_networks_of_their_own() {
    if !possible() {
        return;
    }
    let runs = [Running::start(), Running::start()];
    assert_ne!(runs[0].network, runs[1].network);
    for run in runs {
        run.signal(Signal::SIGINT);
        let mut run = run;
        assert_eq!(run.child.wait().expect("it ends").code(), Some(130));
    }
}

/// Where unprivileged users may have namespaces.
#[test]
fn it_takes_no_root() {
    const NOBODY: &str = "65534";
    if !possible() {
        return;
    }
    if !geteuid().is_root() {
        skipped("only root can become somebody else; whoever runs this is nobody special already");
        return;
    }
    let nobody = |program: &str| {
        let mut command = Command::new("setpriv");
        command.args([
            "--reuid",
            NOBODY,
            "--regid",
            NOBODY,
            "--clear-groups",
            program,
        ]);
        command
    };
    let allowed = nobody("unshare").args(["-Urn", "true"]).output();
    if !allowed.is_ok_and(|output| output.status.success()) {
        skipped("unprivileged users may not have namespaces here");
        return;
    }
    // Everything where anybody can read and write.
    let room = tempfile::tempdir().expect("a temporary folder can be made");
    let open = |path: &Path| {
        fs::set_permissions(path, fs::Permissions::from_mode(0o777)).expect("it is ours");
    };
    open(room.path());
    let [program, scenario] = ["lockstorm", "scenario.toml"].map(|name| room.path().join(name));
    fs::copy(env!("CARGO_BIN_EXE_lockstorm"), &program).expect("it can be copied");
    open(&program);
    fs::copy(root().join(FAILOVER), &scenario).expect("it can be copied");
    let output: Output = nobody(program.to_str().expect("a plain name"))
        .current_dir(room.path())
        .args([
            "run",
            "scenario.toml",
            "--network",
            "kernel",
            "--out",
            "runs",
        ])
        .args(["--report", "none", "--progress", "none"])
        .output()
        .expect("it can be started");
    assert!(output.status.success(), "{}", stderr(&output));
    let network = &results(&room.path().join("runs"))["environment"]["network"];
    assert_eq!(network, "kernel");
}
