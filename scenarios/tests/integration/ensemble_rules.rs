//! The rules on members of etcd and ZooKeeper: how many there are, and which faults can hit them.

use std::collections::BTreeSet;

use lockstorm_scenarios::{FaultKind, Trace, expand, load_str};

const LIBRARY: &str = "lock.adapter = { name = \"mine\", command = [\"mine\"], lease = \"2s\", \
                       renew-every = \"600ms\" }\n";
const A_HOLDS: &str = "[[step]]\nacquire = { client = \"a\" }\n";
const ENSEMBLES: [(&str, &str); 2] = [("etcd", "etcd"), ("zookeeper", "ZooKeeper")];

/// A step of each fault, the word first, and whether it can hit members.
const STEPS: [(&str, bool); 31] = [
    ("kill = { node = \"n1\" }", true),
    ("stop = { node = \"n1\" }", true),
    ("restart = { node = \"n1\" }", true),
    ("pause = { node = \"primary\" }", true),
    ("cut = { from = \"primary\", to = \"nodes\" }", true),
    ("delay = { from = \"n1\", to = \"n2\", by = \"1ms\" }", true),
    (
        "throttle = { from = \"n1\", to = \"n2\", bytes-per-second = 9 }",
        true,
    ),
    ("lose = { from = \"n1\", to = \"n2\", percent = 1 }", true),
    (
        "reorder = { from = \"n1\", to = \"n2\", percent = 1, by = \"9ms\" }",
        true,
    ),
    (
        "partition = { sides = [[\"n1\", \"a\"], [\"n2\", \"n3\"]] }",
        true,
    ),
    ("pause-client = { client = \"a\" }", true),
    ("stall-watchdog = { client = \"a\" }", true),
    ("kill-client = { client = \"a\" }", true),
    ("kill-thread = { client = \"a\" }", true),
    ("clock = { client = \"a\", forward = \"1s\" }", true),
    (
        "hold-message = { client = \"a\", message = \"reply\" }",
        true,
    ),
    (
        "lose-message = { client = \"a\", message = \"reply\" }",
        true,
    ),
    (
        "delay-message = { client = \"a\", message = \"reply\", by = \"1ms\" }",
        true,
    ),
    ("promote = { node = \"n1\" }", false),
    ("failover = { node = \"n1\" }", false),
    ("delete-key = { key = \"lock\" }", true),
    ("flush-all = { node = \"n1\" }", false),
    ("flush-scripts = { node = \"n1\" }", false),
    ("evict = { key = \"lock\", node = \"n1\" }", false),
    ("sleep = { node = \"n1\", for = \"1s\" }", false),
    ("busy-script = { node = \"n1\" }", false),
    ("pause-commands = { node = \"n1\", for = \"1s\" }", false),
    ("kill-connections = { node = \"n1\" }", false),
    ("migrate-slot = { key = \"lock\" }", false),
    ("power-cut = { node = \"n1\" }", false),
    ("slow-fsync = { node = \"n1\", by = \"1ms\" }", false),
];

/// Mistakes found in a file; nothing where it is right.
fn said(topology: &str, lock: &str, more: &str) -> String {
    let text = format!("name = \"rule\"\n{topology}\n{lock}{more}{A_HOLDS}");
    load_str(&text, "f", &[]).map_or_else(|mistakes| mistakes.to_string(), |_| String::new())
}

fn step(topology: &str, step: &str) -> String {
    let text = format!(
        "name = \"rule\"\ntopology.{topology} = {{}}\n{LIBRARY}{A_HOLDS}[[step]]\n{step}\n"
    );
    load_str(&text, "f", &[]).map_or_else(|mistakes| mistakes.to_string(), |_| String::new())
}

#[test]
fn every_fault_is_let_through_or_refused_with_the_reason() {
    let words = STEPS
        .iter()
        .map(|(step, _)| step.split(' ').next().unwrap_or_default());
    let words: BTreeSet<&str> = words.collect();
    let all: BTreeSet<&str> = FaultKind::ALL.iter().map(|kind| kind.name()).collect();
    assert_eq!(words, all);
    for (topology, system) in ENSEMBLES {
        let refused = format!("cannot hit servers of {system}");
        for (fault, fits) in STEPS {
            let said = step(topology, fault);
            assert_eq!(said.contains(&refused), !fits, "{fault}: {said}");
            assert!(!fits || said.is_empty(), "{fault}: {said}");
        }
    }
}

#[test]
fn what_depends_on_the_options_of_a_fault_is_told_of_them() {
    let forgets = "restart = { node = \"n1\", memory = \"lost\" }";
    assert!(step("etcd", forgets).contains("removed and added again"));
    assert_eq!(step("zookeeper", forgets), "");
    let clock = step("etcd", "clock = { node = \"n1\", forward = \"1s\" }");
    assert!(
        clock.contains("only servers of Redis are started with the shim"),
        "{clock}"
    );
}

#[test]
fn members_that_make_no_majority_are_refused() {
    for (nodes, wanted) in [
        (0, "must be greater than 0"),
        (2, "2 members are an even number"),
        (9, "9 members are too many"),
    ] {
        for (topology, _) in ENSEMBLES {
            let said = said(&format!("topology.{topology}.nodes = {nodes}"), LIBRARY, "");
            assert!(said.contains(wanted), "{said}");
        }
    }
}

#[test]
fn locks_and_traces_of_redis_are_refused() {
    for (name, system) in ENSEMBLES {
        let topology = format!("topology.{name} = {{}}");
        let token = said(&topology, "lock.token = {}\n", "");
        let refused = format!("token does not work on {name} servers");
        assert!(token.contains(&refused), "{token}");
        let trace = said(&topology, LIBRARY, "trace = [\"monitor\"]\n");
        assert!(
            trace.contains(&format!("{system} has no MONITOR")),
            "{trace}"
        );
        let probe = said(&topology, LIBRARY, "trace = [\"probe\"]\n");
        assert_eq!(probe, "");
    }
}

#[test]
fn a_session_that_members_would_not_take_is_refused() {
    let of = |session: &str| {
        let lock = format!("lock.zookeeper-mutex.session = \"{session}\"\n");
        said("topology.zookeeper = {}", &lock, "")
    };
    assert_eq!(of("400ms"), "");
    for session in ["399ms", "61s"] {
        let said = of(session);
        assert!(said.contains("sessions of 400ms to 60s"), "{said}");
    }
}

#[test]
fn nothing_is_asked_of_members_that_only_redis_would_answer() {
    let text = format!("name = \"rule\"\ntopology.etcd = {{}}\n{LIBRARY}{A_HOLDS}");
    let loaded = load_str(&text, "f", &[]).expect("it is right");
    let case = expand(&loaded).expect("it is one case").cases.remove(0);
    assert_eq!(case.trace, BTreeSet::from([Trace::Probe]));
    assert_eq!(case.topology.nodes(), ["n1", "n2", "n3"]);
    assert_eq!(case.topology.label(), "etcd (3 nodes)");
    let text = text.replace("topology.etcd", "topology.zookeeper");
    let loaded = load_str(&text, "f", &[]).expect("it is right");
    let case = expand(&loaded).expect("it is one case").cases.remove(0);
    assert_eq!(case.topology.label(), "zookeeper (3 nodes)");
}

/// A primary of a database has replicas that are promoted, as Redis's are.
#[test]
fn replicas_of_databases_are_promoted_and_do_not_fail_over() {
    for (topology, system) in [("mariadb", "MariaDB"), ("postgres", "PostgreSQL")] {
        judge_database(topology, system);
    }
}

fn judge_database(topology: &str, system: &str) {
    let of = |fault: &str| step(topology, fault);
    assert_eq!(of("promote = { node = \"replica-1\" }"), "");
    assert_eq!(of("kill = { node = \"primary\" }"), "");
    assert_eq!(of("cut = { from = \"primary\", to = \"replicas\" }"), "");
    assert_eq!(of("delete-key = { key = \"lock\" }"), "");
    let failover = of("failover = { node = \"replica-1\" }");
    assert!(failover.contains("promote a replica"), "{failover}");
    let forgets = of("restart = { node = \"primary\", memory = \"lost\" }");
    assert!(forgets.contains("removed and added again"), "{forgets}");
    let flush = of("flush-all = { node = \"primary\" }");
    let never = format!("cannot hit servers of {system}");
    assert!(flush.contains(&never), "{flush}");
}
