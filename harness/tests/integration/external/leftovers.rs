//! Keys that a run could not remove, or was killed before it did.

use std::fs;
use std::process::{Output, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::time::{Duration, Instant, sleep};

use crate::external::server::{PASSWORD, Server, Settings};
use crate::external::test_bed::run;
use crate::support::{WITHIN, have_server, lockstorm, stderr, stdout};

/// `lockstorm clean` on this server.
fn clean(server: &Server, args: &[&str]) -> Output {
    lockstorm()
        .args(["clean", &server.url()])
        .args(args)
        .env("APP_PASSWORD", PASSWORD)
        .output()
        .expect("the program can be started")
}

#[tokio::test]
async fn the_keys_of_one_run_are_shown_and_removed_and_no_others() {
    if !have_server() {
        return;
    }
    let server = Server::start(Settings::default()).await;
    let others = [
        "team:20e32186",
        "team:20e32187:lock",
        "team:others",
        "teamX20e32186:lock",
    ];
    for key in others.iter().chain(&["team:20e32186:a", "team:20e32186:b"]) {
        server.ask(&["SET", key, "1"]).await;
    }
    let all = server.keys().await;
    for wrong in ["team:", "team:*:", "team:20e32186"] {
        let refused = clean(&server, &["--prefix", wrong, "--yes"]);
        assert_eq!(refused.status.code(), Some(64), "{}", stderr(&refused));
    }
    let shown = clean(&server, &["--prefix", "team:20e32186:"]);
    assert!(shown.status.success(), "{}", stderr(&shown));
    let text = stdout(&shown);
    assert!(
        text.contains("2 keys of the run") && text.contains("  team:20e32186:a\n"),
        "{text}"
    );
    assert!(stderr(&shown).contains("add --yes"), "{}", stderr(&shown));
    assert_eq!(server.keys().await, all, "a look removes nothing");
    let removed = clean(&server, &["--prefix", "team:20e32186:", "--yes"]);
    assert!(removed.status.success(), "{}", stderr(&removed));
    assert!(stdout(&removed).contains("removed 2 keys"));
    assert_eq!(server.keys().await, others);
    assert!(!(stdout(&removed) + &stderr(&removed)).contains(PASSWORD));
}

#[tokio::test]
async fn the_records_say_what_the_keys_of_their_run_begin_with() {
    if !have_server() {
        return;
    }
    let server = Server::start(Settings::default()).await;
    let run = run(&format!(
        "name = \"prefix\"\nchecks.only = [\"mutual-exclusion\"]\n\
         topology.external = {{ urls = [\"{}\"], prefix = \"team:\" }}\n\
         lock.token = {{ lease = \"1s\" }}\n\
         [[step]]\nacquire = {{ client = \"a\", expect = \"granted\" }}\n",
        server.url()
    ));
    let read = |file: &str| {
        let path = run.folder.path().join("runs/latest").join(file);
        fs::read_to_string(path).expect("a run has such a file")
    };
    let history = read("history.jsonl");
    let header: serde_json::Value =
        serde_json::from_str(history.lines().next().unwrap_or("null")).expect("the header is JSON");
    let prefix = header["prefix"].as_str().expect("the prefix is recorded");
    let results: serde_json::Value =
        serde_json::from_str(&read("results.json")).expect("the results are JSON");
    assert_eq!(results["environment"]["prefix"], prefix);
    let found = clean(&server, &["--prefix", prefix]);
    assert!(
        stdout(&found).contains("no keys of the run"),
        "{}",
        stdout(&found)
    );
}

#[tokio::test]
async fn a_master_that_is_gone_is_named_and_the_others_are_left_clean() {
    if !have_server() {
        return;
    }
    let gone = Server::start(Settings::default()).await;
    let living = [
        Server::start(Settings::default()).await,
        Server::start(Settings::default()).await,
    ];
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let scenario = format!(
        "name = \"gone\"\nchecks.only = [\"mutual-exclusion\"]\n\
         topology.external = {{ urls = [\"{}\", \"{}\", \"{}\"], prefix = \"team:\" }}\n\
         lock.redlock = {{ lease = \"60s\" }}\n\
         clients = {{ count = 20, keys = 20, hold = \"50ms\" }}\nstorm.duration = \"5m\"\n",
        gone.url(),
        living[0].url(),
        living[1].url()
    );
    fs::write(folder.path().join("gone.toml"), scenario).expect("the folder takes a file");
    let child = lockstorm()
        .args(["run", "gone.toml", "--progress", "none", "--report", "none"])
        .current_dir(folder.path())
        .env("APP_PASSWORD", PASSWORD)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program can be started");
    let deadline = Instant::now() + WITHIN;
    while living[1].keys().await.len() < 5 {
        assert!(Instant::now() < deadline, "the locks are not taken");
        sleep(Duration::from_millis(5)).await;
    }
    drop(gone);
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGINT).expect("it lives");
    let output = child.wait_with_output().expect("it ends");
    let text = stderr(&output)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(text.contains("may be left on n1 ("), "{text}");
    assert!(!text.contains("and on n"), "{text}");
    for server in &living {
        assert_eq!(server.keys().await, [""; 0], "{text}");
    }
}
