//! Faults of single messages: the one request or reply that a script names is held, lost or late,
//! on servers of every kind and for clients of every kind.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::support::{have_server, have_system, root, run_scenario, skipped, stderr, stdout};
use lockstorm_scenarios::System;
use serde_json::Value as Json;

/// Exit code of `lockstorm run` if it cannot tell.
const UNDECIDED: i32 = 2;

/// A run of a script, and what became of its faults.
struct Run {
    output: Output,
    told: String,
    /// The evidence of each stage of a fault, in order: `observed: the reply ...`.
    evidence: Vec<String>,
}

fn run(head: &str, steps: &[&str], flags: &[&str]) -> Run {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let text = format!(
        "name = \"messages\"\n{head}\nstep = [{}]\n",
        steps.join(", ")
    );
    let path = folder.path().join("messages.toml");
    fs::write(&path, text).expect("the file can be written");
    let out = folder.path().join("runs");
    let path = path.to_str().expect("a plain name");
    let mut all = vec!["--report", "none"];
    all.extend(flags);
    let output = run_scenario(path, &out, &all);
    let history = fs::read_to_string(out.join("latest/history.jsonl")).unwrap_or_default();
    let notes = history.lines().filter_map(|line| {
        let event: Json = serde_json::from_str(line).expect("it is JSON");
        let note = event["value"]["fault"].as_object()?.clone();
        let stage = note["phase"].as_str()?.to_owned();
        Some(format!("{stage}: {}", note.get("evidence")?.as_str()?))
    });
    Run {
        told: format!("{}{}", stdout(&output), stderr(&output)),
        evidence: notes.collect(),
        output,
    }
}

impl Run {
    /// Every step had the answer that it expects, and no property was violated. That some cannot
    /// be judged, in scripts of so few steps, is another matter.
    #[track_caller]
    fn went_well(&self) {
        let code = self.output.status.code();
        assert!(code == Some(0) || code == Some(UNDECIDED), "{}", self.told);
        assert!(!self.told.contains("stopped early"), "{}", self.told);
    }

    #[track_caller]
    fn saw(&self, expected: &[&str]) {
        self.went_well();
        assert_eq!(self.evidence, expected, "{}", self.told);
    }
}

const SINGLE: &str = "topology.single = {}\nlock.token = { lease = \"2s\" }";

/// The reply to an acquire is lost: who asked cannot tell, and the lock is taken.
const LOSE_A_REPLY: [&str; 3] = [
    "{ lose-message = { client = \"a\", operation = \"acquire\", message = \"reply\" } }",
    "{ acquire = { client = \"a\", expect = \"unknown\" } }",
    "{ acquire = { client = \"b\", expect = \"refused\" } }",
];

#[test]
fn one_reply_is_lost_on_servers_of_every_kind() {
    if !have_server() {
        return;
    }
    for (topology, node) in [
        ("single = {}", "primary"),
        ("replicated = { replicas = 1 }", "primary"),
        ("sentinel = { replicas = 1 }", "primary"),
        ("cluster = {}", ""),
    ] {
        let head = format!("topology.{topology}\nlock.token = {{ lease = \"5s\" }}");
        let ran = run(&head, &LOSE_A_REPLY, &[]);
        ran.went_well();
        let lost = format!("observed: the reply to SET from {node}");
        assert!(ran.evidence[0].starts_with(&lost), "{:?}", ran.evidence);
        assert_eq!(ran.evidence.len(), 1, "{:?}", ran.evidence);
    }
}

/// Servers of each system but Redis, a lock on them, and the call by which it is taken.
const OTHER_SYSTEMS: [(System, &str, &str); 5] = [
    (
        System::Etcd,
        "topology.etcd = {}\nlock.etcd-mutex = { lease = \"20s\" }",
        "kv/txn",
    ),
    (
        System::Zookeeper,
        "topology.zookeeper = {}\nlock.zookeeper-mutex = { session = \"20s\" }",
        "create2",
    ),
    (
        System::Mariadb,
        "topology.mariadb = {}\nlock.mysql-unique-index = {}",
        "INSERT",
    ),
    (
        System::Mariadb,
        "topology.mariadb = {}\nlock.mysql-get-lock = {}",
        "SELECT",
    ),
    (
        System::Postgres,
        "topology.postgres = {}\nlock.postgres-advisory = {}",
        "SELECT",
    ),
];

#[test]
fn a_request_is_held_and_a_reply_is_lost_on_servers_of_other_systems() {
    for (system, servers, call) in OTHER_SYSTEMS {
        if !have_system(system) {
            continue;
        }
        let servers = format!("{servers}\nclients.reply-timeout = \"10s\"");
        let steps = [
            "{ hold-message = { client = \"a\", operation = \"acquire\", message = \"request\" } }",
            "{ acquire = { client = \"a\", under-way = true, expect = \"granted\" } }",
            "{ await = { held = \"a\" } }",
            "{ acquire = { client = \"b\", expect = \"granted\" } }",
            "{ release = { client = \"b\", expect = \"released\" } }",
            "{ heal = { fault = \"hold-message\" } }",
            "{ await = { answer-to = \"a\" } }",
            "{ lose-message = { client = \"a\", operation = \"release\", message = \"reply\" } }",
            "{ release = { client = \"a\" } }",
        ];
        let ran = run(&servers, &steps, &[]);
        ran.went_well();
        let [held, went_on, lost] = &ran.evidence[..] else {
            panic!("{:?}: {}", ran.evidence, ran.told);
        };
        let request = format!("the request {call} to ");
        assert!(held.starts_with(&format!("observed: {request}")), "{held}");
        assert!(
            went_on.starts_with(&format!("healed: {request}")),
            "{went_on}"
        );
        assert!(lost.starts_with("observed: the reply to "), "{lost}");
        assert!(
            lost.ends_with(" is lost, and its connection reset"),
            "{lost}"
        );
    }
}

/// Somebody else's client of etcd speaks gRPC, where many calls share a connection.
#[test]
fn a_reply_is_lost_that_a_library_awaits_over_grpc() {
    let program = "adapters/go/etcd";
    if !root().join(program).join("target/etcd").exists() {
        return skipped(&format!("{program} is not set up: run its `setup`"));
    }
    if !have_system(System::Etcd) {
        return;
    }
    let head = format!(
        "topology.etcd = {{}}\n\
         lock.adapter = {{ name = \"etcd\", command = [\"{program}/run\"], lease = \"5s\" }}"
    );
    let steps = [
        "{ acquire = { client = \"a\", expect = \"granted\" } }",
        "{ release = { client = \"a\", expect = \"released\" } }",
        LOSE_A_REPLY[0],
        "{ acquire = { client = \"a\" } }",
    ];
    let ran = run(&head, &steps, &[]);
    ran.went_well();
    let lost = "observed: the reply to KV/Txn from n";
    assert!(ran.evidence[0].starts_with(lost), "{:?}", ran.evidence);
}

#[test]
fn one_reply_is_lost_for_clients_that_are_processes() {
    if !have_server() {
        return;
    }
    let head = format!("clients.kind = \"process\"\n{SINGLE}");
    run(&head, &LOSE_A_REPLY, &[])
        .saw(&["observed: the reply to SET from primary is lost, and its connection reset"]);
}

#[test]
fn a_request_is_held_while_others_act_and_goes_on_when_it_is_healed() {
    if !have_server() {
        return;
    }
    let steps = [
        "{ acquire = { client = \"a\", expect = \"granted\" } }",
        "{ hold-message = { client = \"a\", operation = \"release\", message = \"request\" } }",
        "{ release = { client = \"a\", under-way = true, expect = \"released\" } }",
        "{ await = { held = \"a\" } }",
        "{ acquire = { client = \"b\", expect = \"refused\" } }",
        "{ heal = { fault = \"hold-message\", client = \"a\" } }",
        "{ await = { answer-to = \"a\" } }",
        "{ acquire = { client = \"b\", expect = \"granted\" } }",
    ];
    run(SINGLE, &steps, &[]).saw(&[
        "observed: the request EVAL to primary is held",
        "healed: the request EVAL to primary went on",
    ]);
}

#[test]
fn what_is_held_can_be_lost_in_the_end_and_the_server_has_not_seen_it() {
    if !have_server() {
        return;
    }
    let steps = [
        "{ hold-message = { client = \"a\", message = \"request\", then = \"lose\" } }",
        "{ acquire = { client = \"a\", under-way = true, expect = \"unknown\" } }",
        "{ await = { held = \"a\" } }",
        "{ heal = { fault = \"hold-message\" } }",
        "{ await = { answer-to = \"a\" } }",
        "{ acquire = { client = \"b\", expect = \"granted\" } }",
    ];
    run(SINGLE, &steps, &[]).saw(&[
        "observed: the request SET to primary is held",
        "healed: the request SET to primary was lost, and its connection reset",
    ]);
}

#[test]
fn a_renewal_that_nobody_asked_for_is_late() {
    if !have_server() {
        return;
    }
    let head = "topology.single = {}\n\
                lock.token = { lease = \"3s\", renew-every = \"200ms\" }";
    let steps = [
        "{ acquire = { client = \"a\", expect = \"granted\" } }",
        "{ delay-message = { client = \"a\", operation = \"renew\", message = \"reply\", nth = 2, \
         by = \"100ms\" } }",
        "{ work = { client = \"a\", for = \"800ms\" } }",
        "{ release = { client = \"a\", expect = \"released\" } }",
    ];
    run(head, &steps, &[]).saw(&[
        "observed: the reply to EVAL from primary is delayed by 100ms",
        "healed: the reply to EVAL from primary went on",
    ]);
}

#[test]
fn of_several_masters_the_one_with_which_a_majority_is_reached_is_known() {
    if !have_server() {
        return;
    }
    let head = "topology.independent = { nodes = 3 }\n\
                lock.redlock = { lease = \"5s\", node-timeout = \"2s\" }";
    let steps = [
        "{ hold-message = { client = \"a\", operation = \"acquire\", message = \"request\", \
         node = \"last-of-majority\" } }",
        "{ hold-message = { client = \"a\", operation = \"acquire\", message = \"request\", \
         nth = 3 } }",
        "{ acquire = { client = \"a\", under-way = true, expect = \"granted\" } }",
        "{ await = { held = \"a\" } }",
        "{ heal = { fault = \"hold-message\" } }",
        "{ await = { answer-to = \"a\" } }",
    ];
    let ran = run(head, &steps, &[]);
    ran.went_well();
    let is_held = |one: &&String| one.starts_with("observed: the request SET to n");
    assert_eq!(
        ran.evidence.iter().filter(is_held).count(),
        2,
        "{}",
        ran.told
    );
}

#[test]
fn a_message_that_never_comes_leaves_the_run_undecided() {
    if !have_server() {
        return;
    }
    let steps = [
        "{ lose-message = { client = \"a\", operation = \"renew\", message = \"reply\" } }",
        "{ acquire = { client = \"a\", expect = \"granted\" } }",
        "{ acquire = { client = \"b\", expect = \"refused\" } }",
        "{ release = { client = \"a\", expect = \"released\" } }",
    ];
    let ran = run(SINGLE, &steps, &[]);
    assert_eq!(ran.output.status.code(), Some(UNDECIDED), "{}", ran.told);
    assert!(ran.evidence.is_empty(), "{:?}", ran.evidence);
    let told = ran.told.replace("\n    ", " ");
    assert!(told.contains("its effect was never observed"), "{told}");
}

#[test]
fn a_network_of_packets_knows_no_messages() {
    let ran = run(SINGLE, &LOSE_A_REPLY, &["--network", "kernel"]);
    assert!(!ran.output.status.success());
    let told = ran.told.replace('\n', " ");
    assert!(told.contains("leave out --network kernel"), "{told}");
}

/// A program that connects from wherever it likes: our own worker, kept from hearing of `source`.
fn stranger(folder: &Path) -> String {
    let path = folder.join("stranger.sh");
    let worker = env!("CARGO_BIN_EXE_lockstorm");
    let script = format!(
        "sed -u -e 's/\"source\":\"[^\"]*\"/\"source\":\"127.0.0.1\"/' \
         -e 's/\"lock\":{{.*/\"lock\":{{\"token\":{{\"lease\":\"5s\"}}}}}}/' | {worker} worker | \
         sed -u 's/,\"source\"//'\n"
    );
    fs::write(&path, script).expect("the file can be written");
    let path = path.to_str().expect("a plain name");
    format!(
        "lock.adapter = {{ name = \"stranger\", command = [\"sh\", \"{path}\"], lease = \"5s\" }}"
    )
}

#[test]
fn a_library_that_connects_from_anywhere_is_known_by_its_ports_on_servers_of_every_kind() {
    if !have_server() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let lock = stranger(folder.path());
    for (topology, more) in [
        ("single = {}", &[][..]),
        (
            "sentinel = { replicas = 1 }",
            &["{ failover = { node = \"replica-1\" } }"],
        ),
        (
            "cluster = {}",
            &["{ migrate-slot = { key = \"lock\", to = \"shard-3\" } }"],
        ),
    ] {
        let mut steps = LOSE_A_REPLY.to_vec();
        steps.extend([
            "{ cut = { from = \"b\", to = \"nodes\" } }",
            "{ acquire = { client = \"b\", expect = \"unknown\" } }",
            "{ heal = { fault = \"cut\" } }",
        ]);
        steps.extend(more);
        steps.push("{ acquire = { client = \"b\", wait = \"20s\", expect = \"granted\" } }");
        let ran = run(&format!("topology.{topology}\n{lock}"), &steps, &[]);
        ran.went_well();
        assert!(
            ran.evidence[0].starts_with("observed: the reply to SET"),
            "{}",
            ran.told
        );
    }
}
