//! Processes that an adapter has started end with the harness, however that ends.
//!
//! Each kind of adapter starts a process that wants to stay: in its own group, in a group or a
//! session of its own, as a daemon that has no parent any more. All work in the folder of the run,
//! by which they are known.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};

use crate::support::{have_server, lockstorm, wait_until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// An adapter that grants whatever it is asked for.
const ANSWERS: &str = r#"
while read -r line; do
  id=${line#*'"id":'}; id=${id%%,*}
  case $line in
    *'"do":"hello"'*) is='"hello","protocol":1,"name":"starts others"' ;;
    *'"do":"open"'*) is='"opened"' ;;
    *'"do":"acquire"'*) is='"granted"' ;;
    *'"do":"release"'*) is='"released"' ;;
    *'"do":"alive"'*) is='"held"' ;;
    *) is='"done"' ;;
  esac
  echo "{\"id\":$id,\"is\":$is}"
done
"#;

/// Script of a process that stays: it ends neither by itself, nor by any signal but one.
const STAYS: &str = "trap '' HUP INT TERM; while :; do sleep 1000; done";

/// Ways to start what stays, before the adapter answers.
const STARTS: [(&str, &str); 5] = [
    ("in its group", "sh -c \"$STAYS\" >/dev/null 2>&1 &"),
    (
        "in a group of its own",
        "set -m; sh -c \"$STAYS\" >/dev/null 2>&1 & set +m",
    ),
    (
        "in a session of its own",
        "setsid sh -c \"$STAYS\" >/dev/null 2>&1 &",
    ),
    ("as a daemon", "(setsid sh -c \"$STAYS\" >/dev/null 2>&1 &)"),
    (
        "many, of which each has its own session",
        "for n in 1 2 3 4 5 6 7 8; do (setsid sh -c \"$STAYS\" >/dev/null 2>&1 &); done",
    ),
];

/// One run and its folder.
struct Run {
    child: Child,
    folder: tempfile::TempDir,
}

impl Run {
    /// Starts a storm of two such clients; each of them is a shell below another one, if wrapped.
    fn start(starts: &str, wrapped: bool, length: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let script = format!("STAYS=\"{STAYS}\"\n{starts}\n{ANSWERS}");
        let mut command = vec!["sh", "-c", &script];
        if wrapped {
            command = vec!["sh", "-c", "sh -c \"$0\"; exit $?", &script];
        }
        let scenario = format!(
            "name = \"orphans\"\nexpect = {{ mutual-exclusion = \"any\" }}\n\
             checks.only = [\"mutual-exclusion\"]\ntopology.single = {{}}\n\
             lock.adapter = {{ name = \"starts\", command = {}, lease = \"10s\" }}\n\
             clients = {{ count = 2, keys = 2 }}\nstorm.duration = \"{length}\"\n",
            serde_json::json!(command)
        );
        fs::write(folder.path().join("orphans.toml"), scenario).expect("the folder takes a file");
        let child = lockstorm()
            .args([
                "run",
                "orphans.toml",
                "--progress",
                "none",
                "--report",
                "none",
            ])
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program can be started");
        Self { child, folder }
    }

    /// Processes of the run that want to stay.
    fn stayers(&self) -> usize {
        processes_in(self.folder.path(), |words| words.starts_with("sh -c trap"))
    }

    /// Waits for clients that have done something, and for what they have started.
    fn wait_until_busy(&self) {
        wait_until("clients are granted something", || {
            let history = self.folder.path().join("runs/latest/history.jsonl");
            let bytes = fs::read(history).unwrap_or_default();
            String::from_utf8_lossy(&bytes).contains("\"type\":\"ok\"")
        });
        wait_until("what stays is there", || self.stayers() >= 2);
    }

    fn assert_nothing_is_left(mut self, how: &str) {
        self.child.wait().expect("it ends");
        wait_until(&format!("nothing is left, {how}"), || {
            processes_in(self.folder.path(), |_| true) == 0
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

/// Living processes that work in this folder, or below it, and were started with such words.
fn processes_in(folder: &Path, started_so: impl Fn(&str) -> bool) -> usize {
    let counts = |entry: &fs::DirEntry| {
        let here = fs::read_link(entry.path().join("cwd"));
        let words = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let words = String::from_utf8_lossy(&words).replace('\0', " ");
        here.is_ok_and(|here| here.starts_with(folder)) && started_so(&words)
    };
    let processes = fs::read_dir("/proc").expect("this is Linux");
    processes.flatten().filter(counts).count()
}

/// Every kind of adapter, on one way out.
fn each_kind(length: &str, exit: impl Fn(&Run)) {
    if !have_server() {
        return;
    }
    for (how, starts) in STARTS {
        for wrapped in [false, true] {
            let run = Run::start(starts, wrapped, length);
            run.wait_until_busy();
            exit(&run);
            run.assert_nothing_is_left(how);
        }
    }
}

fn signal(run: &Run, signal: Signal) {
    kill(Pid::from_raw(run.child.id().cast_signed()), signal).expect("it is alive");
}

#[test]
fn after_sigkill_of_the_harness_nothing_of_an_adapter_is_left() {
    each_kind("5m", |run| signal(run, Signal::SIGKILL));
}

#[test]
fn after_ctrl_c_nothing_of_an_adapter_is_left() {
    each_kind("5m", |run| signal(run, Signal::SIGINT));
}

#[test]
fn after_a_normal_end_nothing_of_an_adapter_is_left() {
    each_kind("1s", |_| {});
}
