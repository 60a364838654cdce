//! The adapters that come along, one of each language: they keep to the protocol, and come out of
//! an assessment. They need what `.ci/setup adapters` installs, and are skipped loudly where that
//! was not done.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::support::{
    have_server, have_system, lockstorm, root, run_scenario, skipped, stderr, stdout,
};
use lockstorm_scenarios::System;
use serde_json::{Value, json};

/// An adapter, and how it is tried here.
struct Shipped {
    folder: &'static str,
    /// File or folder that `setup` leaves behind.
    installed: &'static str,
    arguments: &'static [&'static str],
    topology: &'static str,
}

const SHIPPED: [Shipped; 7] = [
    Shipped {
        folder: "adapters/python/redis-py",
        installed: ".venv/installed",
        arguments: &[],
        topology: "single",
    },
    Shipped {
        folder: "adapters/node/redlock",
        installed: "node_modules/installed",
        arguments: &[],
        topology: "independent",
    },
    Shipped {
        folder: "adapters/java/redisson",
        installed: "target/4.7.0/installed",
        arguments: &["4.7.0", "fenced"],
        topology: "single",
    },
    Shipped {
        folder: "adapters/go/redsync",
        installed: "target/redsync",
        arguments: &[],
        topology: "independent",
    },
    Shipped {
        folder: "adapters/rust/rslock",
        installed: "target/release/lockstorm-adapter-rslock",
        arguments: &[],
        topology: "independent",
    },
    Shipped {
        folder: "adapters/python/kazoo",
        installed: ".venv/installed",
        arguments: &[],
        topology: "zookeeper",
    },
    Shipped {
        folder: "adapters/java/curator",
        installed: "target/installed",
        arguments: &[],
        topology: "zookeeper",
    },
];

/// The control, and two hazards that a lock without defects withstands.
const SITUATIONS: [&str; 3] = ["plain-use", "holder-dies", "late-release"];

impl Shipped {
    fn is_set_up(&self) -> bool {
        let found = root().join(self.folder).join(self.installed).exists();
        if !found {
            skipped(&format!("{} is not set up: run its `setup`", self.folder));
        }
        found && have_server()
    }

    fn command(&self) -> Vec<String> {
        let arguments = self.arguments.iter().map(ToString::to_string);
        std::iter::once(format!("{}/run", self.folder))
            .chain(arguments)
            .collect()
    }

    /// `lockstorm adapter test` says so of each of its checks.
    fn keeps_to_the_protocol(&self) {
        if !self.is_set_up() {
            return;
        }
        let command = self.command();
        let mut args = vec!["--topology", self.topology];
        args.extend(command.iter().map(String::as_str));
        let output = tested(&args);
        let text = stdout(&output);
        assert!(output.status.success(), "{text}{}", stderr(&output));
        assert!(!text.contains('✗'), "{text}");
        assert!(text.matches('✓').count() >= CHECKS_MIN, "{text}");
    }

    /// Nothing that it promises is broken in these situations.
    fn withstands(&self, situations: &[&str]) {
        if !self.is_set_up() {
            return;
        }
        let out = tempfile::tempdir().expect("a temporary folder can be made");
        let command = self.command().join(" ");
        let output = assessed(&command, self.topology, situations, out.path());
        let text = stderr(&output);
        assert!(output.status.success(), "{text}");
        assert!(text.contains("exclusive"), "{text}");
    }
}

/// How many checks an adapter that can cancel and renew passes at least.
const CHECKS_MIN: usize = 14;

fn of(folder: &str) -> &'static Shipped {
    let shipped = SHIPPED.iter().find(|shipped| shipped.folder == folder);
    shipped.expect("it is shipped")
}

/// `lockstorm adapter test` with these arguments.
fn tested(args: &[&str]) -> Output {
    let out = tempfile::tempdir().expect("a temporary folder can be made");
    let mut command = lockstorm();
    command.args(["adapter", "test", "--out"]).arg(out.path());
    command.args(args).output().expect("it can be started")
}

/// `lockstorm assess` of the lock of a program in these situations; standard output has its record.
fn assessed(command: &str, topology: &str, only: &[&str], out: &Path) -> Output {
    let mut assess = lockstorm();
    assess.args(["assess", "--adapter", command, "--topology", topology]);
    assess.args(only.iter().flat_map(|name| ["--only", name]));
    assess.args(["--format", "json", "--report", "none"]);
    assess.args(["--progress", "none", "--out"]).arg(out);
    assess.output().expect("it can be started")
}

macro_rules! of_each_language {
    ($($language:ident => $folder:literal),* $(,)?) => {
        $(mod $language {
            #[test]
            fn the_adapter_keeps_to_the_protocol() {
                super::of($folder).keeps_to_the_protocol();
            }

            #[test]
            fn the_adapter_withstands_what_a_good_lock_does() {
                super::of($folder).withstands(&super::SITUATIONS);
            }
        })*
    };
}

of_each_language! {
    python => "adapters/python/redis-py",
    node => "adapters/node/redlock",
    java => "adapters/java/redisson",
    go => "adapters/go/redsync",
    rust => "adapters/rust/rslock",
}

#[test]
fn the_libraries_of_zookeeper_let_go_of_what_a_dead_holder_had() {
    if !have_system(System::Zookeeper) {
        return;
    }
    for folder in ["adapters/python/kazoo", "adapters/java/curator"] {
        of(folder).withstands(&["holder-dies"]);
    }
}

#[test]
fn what_libraries_of_zookeeper_promise_beyond_a_mutex_is_put_to_the_test() {
    if !have_system(System::Zookeeper) {
        return;
    }
    let of_each = [
        ("adapters/python/kazoo", "rw", "readers-share"),
        ("adapters/java/curator", "semaphore", "permits-are-counted"),
    ];
    for (folder, kind, situation) in of_each {
        if of(folder).is_set_up() {
            let out = tempfile::tempdir().expect("a temporary folder can be made");
            let command = format!("{folder}/run {kind}");
            let output = assessed(&command, "zookeeper", &[situation], out.path());
            let record: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
            let ran = record["runs"].as_array().expect("it has runs");
            assert_eq!(ran.len(), 1, "{}", stderr(&output));
            assert_eq!(ran[0]["record"]["outcome"], "as-expected", "{record:#}");
        }
    }
}

#[test]
fn a_run_tells_which_library_in_which_version_it_was() {
    let redis_py = of("adapters/python/redis-py");
    if !redis_py.is_set_up() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("version.toml");
    let scenario = format!(
        "name = \"version\"\nchecks.only = [\"liveness\"]\ntopology.single = {{}}\n\
         lock.adapter = {{ name = \"redis-py\", command = {} }}\n\
         [[step]]\nacquire = {{ client = \"a\", expect = \"granted\" }}\n",
        json!(redis_py.command())
    );
    fs::write(&path, scenario).expect("the file can be written");
    let path = path.to_str().expect("a plain name");
    run_scenario(path, folder.path(), &["--report", "html"]);
    for file in ["results.json", "report.html"] {
        let text = fs::read_to_string(folder.path().join("latest").join(file));
        let text = text.expect("the run leaves its reports");
        assert!(text.contains("redis-py Lock 8.1.0"), "{file}");
    }
}

/// Words of the checks on an adapter with a watchdog of its own, and whether it passes.
fn said_of_watching(more: &[&str]) -> (String, bool) {
    let python = root()
        .join("adapters/python/redis-py/.venv/bin/python")
        .display()
        .to_string();
    let program = root().join("harness/tests/integration/watching/adapter.py");
    let program = program.display().to_string();
    let output = tested(&[&[python.as_str(), &program], more].concat());
    (stdout(&output), output.status.success())
}

#[test]
fn an_adapter_with_a_watchdog_of_its_own_keeps_to_the_protocol() {
    if !of("adapters/python/redis-py").is_set_up() {
        return;
    }
    let (text, passes) = said_of_watching(&[]);
    assert!(passes, "{text}");
    let kept =
        "✓ keeps a lock by its own watchdog, and leaves out renewals that are to be skipped (";
    assert!(text.contains(kept), "{text}");
}

#[test]
fn a_watchdog_that_cannot_be_held_up_is_found_out() {
    if !of("adapters/python/redis-py").is_set_up() {
        return;
    }
    let (text, passes) = said_of_watching(&["deaf"]);
    assert!(!passes, "{text}");
    let late = "that are to be skipped: refused long after the lease has ended";
    assert!(text.contains(late), "{text}");
}

/// A program in the shell that answers each request by these patterns, and the rest with `done`.
fn answering(cases: &str) -> String {
    format!(
        r#"
while read -r line; do
  id=$(printf '%s' "$line" | sed 's/^{{"id":\([0-9]*\).*/\1/')
  case "$line" in
    {cases}
    *) is='"done"' ;;
  esac
  printf '{{"id":%s,"is":%s}}\n' "$id" "$is"
done
"#
    )
}

/// Answers that say yes to everything: every client is granted everything.
const YES_MAN: &str = r#"
    *'"do":"hello"'*) is='"hello","protocol":1,"name":"yes"' ;;
    *'"do":"open"'*) is='"opened"' ;;
    *'"do":"acquire"'*) is='"granted"' ;;
    *'"do":"renew"'*) is='"renewed"' ;;
    *'"do":"release"'*) is='"released"' ;;
    *'"do":"alive"'*) is='"held"' ;;
"#;

#[test]
fn an_adapter_that_says_yes_to_everything_fails_the_checks_that_find_it_out() {
    if !have_server() {
        return;
    }
    let output = tested(&["sh", "-c", &answering(YES_MAN)]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{text}{}", stderr(&output));
    for failed in [
        "✗ refuses a held lock to another client: acquire of a lock that another holds was \
         answered with 'granted'",
        "✗ refuses to give back a lock that is another's",
        "✗ lets a lease end, and not before its time: granted to another after",
        "✗ renews a lease",
        "✗ lets readers hold a lock together, and keeps a writer out: acquire of a lock that two \
         readers hold was answered with 'granted'",
        "✗ answers error when no server replies",
        "✗ ends when it is told to close: it is still there",
    ] {
        assert!(text.contains(failed), "{failed}\nis not in\n{text}");
    }
    for passed in ["✓ answers hello and open (yes)", "✓ grants a free lock"] {
        assert!(text.contains(passed), "{passed}\nis not in\n{text}");
    }
}

#[test]
fn a_program_that_is_no_adapter_is_told_after_the_first_check() {
    if !have_server() {
        return;
    }
    let output = tested(&["sh", "-c", "exit 3"]);
    assert_eq!(output.status.code(), Some(1));
    let text = stdout(&output);
    let expected = "✗ answers hello and open: it ended by itself with exit status: 3\n";
    assert_eq!(text, expected);
}

/// Answers of a lock that has a lease and never ends: `$1` and the key are the name of a folder,
/// which is there while somebody holds it.
const NEVER_ENDING: &str = r#"
    *'"do":"hello"'*) is='"hello","protocol":2,"name":"never-ending"' ;;
    *'"do":"open"'*) is='"opened"' ;;
    *'"do":"alive"'*) is='"held"' ;;
    *'"key":'*)
      held=$1.$(printf '%s' "$line" | sed 's/.*"key":"\([^"]*\)".*/\1/')
      case $line in
        *'"do":"acquire"'*)
          is='"refused"'
          if mkdir "$held"; then is='"granted"'; fi ;;
        *) rmdir "$held"; is='"released"' ;;
      esac ;;
"#;

/// Its test, where `opened` says this more.
#[track_caller]
fn tested_never_ending(more: &str) -> Output {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let held = folder.path().join("held");
    let opened = r#"is='"opened"' ;;"#;
    assert!(NEVER_ENDING.contains(opened));
    let answers = NEVER_ENDING.replace(opened, &format!(r#"is='"opened"{more}' ;;"#));
    let command = answering(&answers);
    tested(&["sh", "-c", &command, "it", &held.display().to_string()])
}

#[test]
fn a_lock_that_claims_to_be_shared_and_refuses_the_second_reader_fails() {
    if !have_server() {
        return;
    }
    let output = tested_never_ending(r#","promises":["shared-readers"]"#);
    let text = stdout(&output);
    let failed = "✗ lets readers hold a lock together, and keeps a writer out: acquire by a second \
                  reader was answered with 'refused'";
    assert!(text.contains(failed), "{failed}\nis not in\n{text}");
}

#[test]
fn a_lock_that_is_to_be_renewed_and_ends_for_nobody_fails_where_no_watchdog_is_named() {
    if !have_server() {
        return;
    }
    let output = tested_never_ending("");
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{text}{}", stderr(&output));
    let failed = "names no watchdog, and nobody renewed a lock of 2s: refused long after";
    assert!(text.contains(failed), "{failed}\nis not in\n{text}");
    let left_out = "· lets readers hold a lock together, and keeps a writer out: not checked: its \
                    readers keep each other out";
    assert!(text.contains(left_out), "{left_out}\nis not in\n{text}");
}

/// A lock of a session ends with it, and not with the lease that `open` names.
#[test]
fn a_lock_of_a_session_that_takes_any_lease_is_told_what_to_say() {
    if !have_server() {
        return;
    }
    let granted = r#"is='"granted"'; fi ;;"#;
    assert!(NEVER_ENDING.contains(granted));
    let until = r#"is='"granted","until":"session-end"'; fi ;;"#;
    let command = answering(&NEVER_ENDING.replace(granted, until));
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let held = folder.path().join("held").display().to_string();
    let text = stdout(&tested(&["sh", "-c", &command, "it", &held]));
    let failed = "✗ lets a lease end, and not before its time: refused long after the lease has \
                  ended, for it goes with a session: answer 'unsupported'";
    assert!(text.contains(failed), "{failed}\nis not in\n{text}");
}

#[test]
fn a_program_that_grants_nothing_is_told_so_once() {
    if !have_server() {
        return;
    }
    let refusing = r#"
    *'"do":"hello"'*) is='"hello","protocol":2,"name":"no"' ;;
    *'"do":"open"'*) is='"opened"' ;;
    *) is='"refused"' ;;
"#;
    let output = tested(&["sh", "-c", &answering(refusing), "it", "--topology=etcd"]);
    let expected = "✓ answers hello and open (no)\n\
                    ✗ grants a free lock: acquire of a free lock was answered with 'refused'\n";
    assert_eq!(stdout(&output), expected);
    let said = stderr(&output);
    let option = "--topology=etcd goes to sh: options of lockstorm stand before the program\n";
    assert!(said.starts_with(option), "{said}");
}

/// Answers of a program that is not for the servers that it is given.
const ELSEWHERE: &str = r#"
    *'"do":"hello"'*) is='"hello","protocol":2,"name":"elsewhere"' ;;
    *) is='"unsupported","text":"it wants a Cluster"' ;;
"#;

#[test]
fn an_adapter_that_cannot_be_on_these_servers_is_not_called_wrong() {
    if !have_server() {
        return;
    }
    let output = tested(&["sh", "-c", &answering(ELSEWHERE)]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    let expected = "· answers hello and open: not checked: it says that it cannot be on these \
                    servers: it wants a Cluster\n";
    assert_eq!(stdout(&output), expected);
}

/// Answer by which that lock has no lease.
const ENDLESS: &str = r#"
    *'"do":"open"'*'"lease_ms"'*) is='"unsupported","text":"its locks never end"' ;;
"#;

#[test]
fn a_library_whose_locks_never_end_is_opened_again_without_a_lease() {
    if !have_server() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let held = folder.path().join("held").display().to_string();
    let endless = answering(&[ENDLESS, NEVER_ENDING].concat());
    let text = stdout(&tested(&["sh", "-c", &endless, "it", &held]));
    assert!(text.contains("✓ answers hello and open"), "{text}");
    let without = "· lets a lease end, and not before its time: not checked: its locks have no \
                   lease";
    assert!(text.contains(without), "{text}");

    let program = folder.path().join("endless.sh");
    let script = format!("set -- {held}.again{endless}");
    fs::write(&program, script).expect("the file can be written");
    let command = format!("sh {}", program.display());
    let output = assessed(&command, "single", &["plain-use"], folder.path());
    let said: Value = serde_json::from_str(&stdout(&output)).expect("it says JSON");
    let run = &said["runs"][0]["record"];
    assert_eq!(run["outcome"], "as-expected", "{}", stderr(&output));
    // Nothing can come too late for a lease that never ends.
    let tests = run["situation"]["tests"].to_string();
    assert!(
        tests.contains("exclusive") && !tests.contains("valid-on-return"),
        "{tests}"
    );
}

/// Answers of a lock whose script is told no key, by `redis-cli`.
const KEYLESS: &str = r#"
    *'"do":"hello"'*) is='"hello","protocol":2,"name":"keyless"' ;;
    *'"do":"open"'*)
      at=$(printf '%s' "$line" | sed 's/.*"servers":\[{[^}]*"address":"\([^"]*\)".*/\1/')
      is='"opened"' ;;
    *'"do":"acquire"'*)
      set="return redis.call('SET', 'lock', 'mine', 'NX', 'PX', 10000)"
      redis-cli -h "${at%:*}" -p "${at#*:}" EVAL "$set" 0 >&2
      is='"granted"' ;;
    *'"do":"alive"'*) is='"held"' ;;
    *'"do":"release"'*) is='"released","ownership":"unknown"' ;;
"#;

#[test]
fn the_call_of_a_script_that_is_told_no_key_is_in_the_trace_with_its_caller() {
    let has_cli = Command::new("redis-cli").arg("--version").output();
    if !have_server() || has_cli.is_err() {
        skipped("there is no redis-cli");
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let scenario = format!(
        "name = \"keyless\"\ntopology.single = {{}}\n\
         lock.adapter = {{ name = \"keyless\", command = {}, lease = \"10s\" }}\n\
         [[step]]\ndelay = {{ from = \"a\", to = \"primary\", by = \"1ms\" }}\n\
         [[step]]\nacquire = {{ client = \"a\", expect = \"granted\" }}\n",
        json!(["sh", "-c", answering(KEYLESS)])
    );
    let path = folder.path().join("keyless.toml");
    fs::write(&path, scenario).expect("the file can be written");
    let path = path.to_str().expect("a plain name");
    let output = run_scenario(path, folder.path(), &["--report", "none"]);
    let history = fs::read_to_string(folder.path().join("latest/history.jsonl"));
    let history = history.unwrap_or_else(|_| panic!("{}", stderr(&output)));
    let lines = history.lines().map(serde_json::from_str::<Value>);
    let lines = lines.map(|line| line.expect("history lines are JSON"));
    let told = lines.map(|line| line["value"]["command"].clone());
    let told: Vec<Value> = told.filter(|command| !command.is_null()).collect();
    let said = |at: usize| told[at]["text"].as_str().unwrap_or_default();
    assert!(told.len() >= 2, "{history}");
    assert_eq!(
        (said(0), &told[0]["from"]),
        ("EVAL (script) 0", &json!("a"))
    );
    assert!(said(1).starts_with("SET lock mine"), "{history}");
}

/// Answers of a program that waits by itself: `$1` is there while somebody holds the lock. Where it
/// is told `$2`, a lock is free again three seconds after its grant; else nobody ever is granted it
/// again.
const WAITING: &str = r#"
    *'"do":"hello"'*) is='"hello","protocol":1,"name":"waiting"' ;;
    *'"do":"open"'*) is='"opened","can":["wait"]' ;;
    *'"do":"acquire"'*)
      wait=$(printf '%s' "$line" | sed -n 's/.*"wait_ms":\([0-9]*\).*/\1/p')
      end=$(($(date +%s%3N) + ${wait:-0}))
      is='"granted"'
      until mkdir "$1"; do
        if [ "$(date +%s%3N)" -gt "$end" ]; then
          is='"refused"'
          break
        elif [ "$2" ] && [ "$(date +%s%3N)" -gt "$(($(date -r "$1" +%s%3N) + 3000))" ]; then
          rmdir "$1"
        else
          sleep 0.02
        fi
      done ;;
    *'"do":"alive"'*) is='"held"' ;;
    *'"do":"release"'*) is='"released"' ;;
"#;

/// Verdict on the liveness of such a lock, whose holder dies just before the end: the lease is
/// still running when it is asked for again, in one request that waits.
fn liveness_of_waiting(rightly: &str) -> Value {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let held = folder.path().join("held");
    let command = [
        "sh",
        "-c",
        &answering(WAITING),
        "waiting",
        &held.display().to_string(),
        rightly,
    ];
    let scenario = format!(
        "name = \"waiting\"\ntopology.single = {{}}\n\
         lock.adapter = {{ name = \"waiting\", command = {}, lease = \"3s\" }}\n\
         checks = {{ only = [\"liveness\"], liveness-bound = \"1s\" }}\n\
         [[step]]\nacquire = {{ client = \"a\", expect = \"granted\" }}\n\
         [[step]]\nkill-client = {{ client = \"a\" }}\n",
        json!(command)
    );
    let path = folder.path().join("waiting.toml");
    fs::write(&path, scenario).expect("the file can be written");
    let path = path.to_str().expect("a plain name");
    let output = run_scenario(
        path,
        folder.path(),
        &["--format", "json", "--trace", "none"],
    );
    let said: Value = serde_json::from_str(&stdout(&output)).expect("a run says JSON");
    let mut expectations = said["expectations"].as_array().into_iter().flatten();
    let liveness = expectations.find(|of| of["property"] == "liveness");
    liveness.map_or(Value::Null, |of| of["actual"].clone())
}

#[test]
fn a_program_that_waits_by_itself_is_found_out_when_it_never_grants_again() {
    if !have_server() {
        return;
    }
    assert_eq!(liveness_of_waiting("rightly"), "valid");
    assert_eq!(liveness_of_waiting(""), "violated");
}
