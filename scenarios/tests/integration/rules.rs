//! Each rule on what the values of a scenario mean together, by a file that breaks it.

mod servers;

use std::fmt::Write as _;

use lockstorm_scenarios::{Sync, load_str};

/// Topology and lock of most files below, which are about something else.
const SINGLE: &str = "topology.single = {}\nlock.token = { lease = \"2s\" }\n";
const REPLICATED: &str = "topology.replicated = { replicas = 1 }\nlock.token = {}\n";
const PAIRS: &str = "topology.independent = { nodes = 3, replicas = 1 }\nlock.redlock = {}\n";
const INDEPENDENT: &str = "topology.independent = { nodes = 5 }\nlock.redlock = {}\n";
const A_HOLDS: &str = "[[step]]\nacquire = { client = \"a\" }\n";
const STORM: &str = "[storm]\nduration = \"5s\"\n";

/// Mistakes found in each file: its case, then one line for each of them.
fn said_of(cases: &[(&str, String)]) -> String {
    let mut said = String::new();
    for (case, rest) in cases {
        let text = format!("name = \"rule\"\n{rest}");
        let mistakes = load_str(&text, "f", &[])
            .err()
            .unwrap_or_else(|| panic!("nothing is said of: {case}\n{text}"));
        writeln!(said, "## {case}\n{mistakes}").expect("a string takes all");
    }
    said
}

/// A script on `head`, whose last step or steps are wrong.
fn script(head: &str, steps: &[&str]) -> String {
    let mut text = format!("{head}{A_HOLDS}");
    for step in steps {
        write!(text, "[[step]]\n{step}\n").expect("a string takes all");
    }
    text
}

/// A storm on `head` with one fault.
fn storm(head: &str, fault: &str) -> String {
    format!("{head}{STORM}[[nemesis]]\nfault.{fault}\nevery = \"1s\"\nlasts = \"1s\"\n")
}

#[test]
fn rules_on_the_lock() {
    let with = |lock: &str| format!("topology.single = {{}}\nlock.{lock}\n{A_HOLDS}");
    let redlock = |options: &str| {
        format!("topology.independent = {{}}\nlock.redlock = {{ {options} }}\n{A_HOLDS}")
    };
    let said = said_of(&[
        ("a lease of zero", with("token = { lease = \"0s\" }")),
        (
            "renewal not faster than the lease",
            with("token.renew-every = \"2s\""),
        ),
        (
            "renewal without a pause",
            with("token.renew-every = \"0ms\""),
        ),
        (
            "a mutant of another lock",
            with("redisson = { lease = \"2s\", mutant = \"release-by-anyone\" }"),
        ),
        (
            "a mutant of a lock that has none",
            with("plain-del.mutant = \"release-by-anyone\""),
        ),
        (
            "a mutant that nobody knows",
            with("token.mutant = \"release-by-everyone\""),
        ),
        (
            "setnx with half a second",
            with("setnx = { lease = \"1500ms\" }"),
        ),
        (
            "a lock on servers that it is not made for",
            with("redlock = {}"),
        ),
        (
            "a node-timeout as long as the lease",
            redlock("node-timeout = \"2s\""),
        ),
        ("no node-timeout", redlock("node-timeout = \"0s\"")),
    ]);
    insta::assert_snapshot!(said);
}

#[test]
fn rules_on_the_era_of_a_lock() {
    let with = |lock: &str| format!("topology.single = {{}}\nlock.{lock}\n{A_HOLDS}");
    let said = said_of(&[
        ("a lock without eras", with("token = { era = \"3.10\" }")),
        (
            "a semaphore, which is the same in all",
            with("redisson-semaphore = { era = \"3.10\" }"),
        ),
        (
            "an era that nobody knows",
            with("redisson = { era = \"3.11\" }"),
        ),
        (
            "an era before the lock was there",
            with("redisson-spin = { era = \"3.10\" }"),
        ),
        (
            "the same of a lock that came later",
            with("redisson-fenced = { era = \"3.17\" }"),
        ),
        (
            "replicas asked before there was a way to",
            with("redisson = { era = \"3.10\", sync = \"all\" }"),
        ),
    ]);
    insta::assert_snapshot!(said);
}

#[test]
fn rules_on_clients_that_share_an_instance() {
    let lock = "lock.redisson = { threads = 2 }\n";
    let shared = format!("topology.single = {{}}\n{lock}");
    let independent =
        |lock: &str| format!("topology.independent = {{}}\nlock.{lock}.threads = 2\n{A_HOLDS}");
    let said = said_of(&[
        (
            "an instance without threads",
            format!("topology.single = {{}}\nlock.redisson-fair.threads = 0\n{A_HOLDS}"),
        ),
        (
            "one instance for all masters",
            independent("redisson-multi"),
        ),
        ("the same of a majority", independent("redisson-red")),
        (
            "a thread that dies alone",
            script(&shared, &["kill-client.client = \"a\""]),
        ),
        (
            "or stands still",
            script(&shared, &["pause-client.client = \"a\""]),
        ),
        (
            "or is cut off",
            script(&shared, &["cut = { from = \"primary\", to = \"a\" }"]),
        ),
        (
            "one that is drawn",
            storm(&shared, "kill-client.client = \"one\""),
        ),
        (
            "one that a storm cuts off",
            storm(&shared, "cut = { from = \"c1\", to = \"primary\" }"),
        ),
    ]);
    insta::assert_snapshot!(said);
}

/// The other side: what strikes them all together is no matter, nor one thread for each.
#[test]
fn clients_that_share_an_instance_are_struck_together() {
    let cut = "cut = { from = \"clients\", to = \"nodes\" }";
    for (threads, faults) in [(2, vec![cut]), (1, vec![cut, "kill-client.client = \"a\""])] {
        let head = format!("topology.single = {{}}\nlock.redisson.threads = {threads}\n");
        let text = format!("name = \"rule\"\n{}", script(&head, &faults));
        let loaded = load_str(&text, "f", &[]).expect("nothing is wrong with it");
        let lock = loaded.scenario.lock.expect("a lock is named");
        assert_eq!(lock.threads(), threads);
    }
}

/// The other side of these rules: what each era allows is taken as it is meant.
#[test]
fn an_era_brings_its_own_ways_unless_the_file_says_otherwise() {
    let lock = |lock: &str| {
        let text = format!("name = \"era\"\ntopology.single = {{}}\nlock.{lock}\n{A_HOLDS}");
        let loaded = load_str(&text, "f", &[]).expect("nothing is wrong with it");
        loaded.scenario.lock.expect("it names a lock")
    };
    let sync = |options: &str| lock(&format!("redisson = {{ {options} }}")).sync();
    assert_eq!(sync(""), Some(Sync::Any));
    assert_eq!(sync("era = \"4.7\""), Some(Sync::Any));
    assert_eq!(sync("era = \"3.17\""), Some(Sync::All));
    assert_eq!(sync("era = \"3.10\""), Some(Sync::Off));
    assert_eq!(sync("era = \"3.17\", sync = \"off\""), Some(Sync::Off));
    assert_eq!(sync("era = \"3.10\", sync = \"off\""), Some(Sync::Off));
    let old = lock("redisson = { era = \"3.10\" }");
    assert_eq!(old.label(), "redisson 3.10 + renewal");
    assert_eq!(lock("redisson = { lease = \"2s\" }").label(), "redisson");
}

#[test]
fn rules_on_the_file_as_a_whole() {
    let expects = |rest: &str| format!("{rest}\n{SINGLE}{A_HOLDS}");
    let said = said_of(&[
        ("neither steps nor a storm", SINGLE.to_owned()),
        (
            "both steps and a storm",
            format!("{SINGLE}{A_HOLDS}{STORM}"),
        ),
        ("an empty script", format!("{SINGLE}step = []\n")),
        (
            "a nemesis without a storm",
            format!(
                "{SINGLE}{A_HOLDS}[[nemesis]]\nfault.kill.node = \"primary\"\n\
                 every = \"1s\"\nlasts = \"1s\"\n"
            ),
        ),
        ("neither topology nor lock", A_HOLDS.to_owned()),
        (
            "applies-to without the own lock",
            expects("applies-to = [\"redlock\"]"),
        ),
        (
            "a property that is unknown",
            expects("expect.lost-lok = \"violated\""),
        ),
        (
            "a property that is not judged",
            expects("expect.liveness = \"any\"\nchecks.only = [\"mutual-exclusion\"]"),
        ),
        (
            "steps on orders that are not there",
            script(SINGLE, &["find-orders = { client = \"a\" }"]),
        ),
        (
            "no orders",
            expects("guarded-resource.orders = { count = 0 }"),
        ),
        (
            "a fence without tokens",
            expects("guarded-resource.orders = { fenced = true }"),
        ),
        (
            "a resource under two locks",
            format!("guarded-resource.orders = {{}}\nclients.keys = 2\n{SINGLE}{STORM}"),
        ),
        ("no clients", format!("clients.count = 0\n{SINGLE}{STORM}")),
        ("no keys", format!("clients.keys = 0\n{SINGLE}{STORM}")),
        (
            "no time for a reply",
            format!("clients.reply-timeout = \"0s\"\n{SINGLE}{A_HOLDS}"),
        ),
        (
            "a range that runs backwards",
            format!("clients.hold = \"9ms..1ms\"\n{SINGLE}{STORM}"),
        ),
        (
            "a bare number for a duration",
            format!("clients.wait = 5\n{SINGLE}{STORM}"),
        ),
        (
            "a word for a table",
            format!("topology = \"single\"\nlock.token = {{}}\n{A_HOLDS}"),
        ),
        (
            "two topologies",
            format!("topology.independent = {{}}\n{SINGLE}{A_HOLDS}"),
        ),
    ]);
    insta::assert_snapshot!(said);
}

#[test]
fn a_name_is_of_lower_case_words_joined_by_a_dash() {
    for bad in ["Two Words", "-x", "x-", "a--b", "", "../../etc", "ä"] {
        let text = format!("name = \"{bad}\"\n{SINGLE}{A_HOLDS}");
        let mistakes = load_str(&text, "f", &[]).expect_err(bad).to_string();
        assert!(mistakes.contains("no name for a scenario"), "{mistakes}");
    }
}

#[test]
fn rules_on_the_clients_of_a_script() {
    let said = said_of(&[
        (
            "a client that never acquires",
            script(SINGLE, &["release.client = \"b\""]),
        ),
        (
            "a client that acquires later",
            script(SINGLE, &["renew.client = \"b\"", "acquire.client = \"b\""]),
        ),
        (
            "an unknown client is paused",
            script(SINGLE, &["pause-client.client = \"b\""]),
        ),
        (
            "an unknown client is due to die",
            script(
                SINGLE,
                &["kill-client = { client = \"b\", after-commands = 1 }"],
            ),
        ),
        (
            "a client goes on that never stopped",
            script(
                SINGLE,
                &["heal = { fault = \"pause-client\", client = \"a\" }"],
            ),
        ),
        (
            "a paused client acts",
            script(
                SINGLE,
                &["pause-client.client = \"a\"", "release.client = \"a\""],
            ),
        ),
        (
            "a dead client acts",
            script(
                SINGLE,
                &["kill-client.client = \"a\"", "acquire.client = \"a\""],
            ),
        ),
        (
            "a client called like a node",
            script(SINGLE, &["acquire.client = \"primary\""]),
        ),
        (
            "a client called like the probe",
            script(SINGLE, &["acquire.client = \"probe\""]),
        ),
    ]);
    insta::assert_snapshot!(said);
}

#[test]
fn rules_on_clients_that_are_processes() {
    const PROCESSES: &str = "topology.single = {}\nlock.token = {}\nclients.kind = \"process\"\n";
    const ADAPTER: &str = "topology.single = {}\n\
        lock.adapter = { name = \"mine\", command = [\"./mine\"] }\n";
    let scheduled = "kill-client = { client = \"a\", after-commands = 1 }";
    let adapter = |options: &str| {
        format!("topology.single = {{}}\nlock.adapter = {{ {options} }}\n{A_HOLDS}")
    };
    let said = said_of(&[
        ("a process dies of a reply", script(PROCESSES, &[scheduled])),
        ("an adapter dies of a reply", script(ADAPTER, &[scheduled])),
        (
            "one of a storm does",
            storm(
                PROCESSES,
                "kill-client = { client = \"one\", after-commands = 3 }",
            ),
        ),
        (
            "more processes than a machine bears",
            format!("{PROCESSES}clients.count = 201\n{STORM}"),
        ),
        (
            "processes that share an instance",
            format!(
                "topology.single = {{}}\nlock.redisson.threads = 2\n\
                 clients.kind = \"process\"\n{A_HOLDS}"
            ),
        ),
        (
            "an adapter without a program",
            adapter("name = \"mine\", command = []"),
        ),
        (
            "an adapter without a name, renewed too late",
            adapter("name = \" \", command = [\"./mine\"], lease = \"1s\", renew-every = \"1s\""),
        ),
        ("an adapter that says nothing", adapter("")),
    ]);
    insta::assert_snapshot!(said);
}

#[test]
fn rules_on_the_nodes_and_keys_of_a_script() {
    let said = said_of(&[
        (
            "an unknown node",
            script(REPLICATED, &["kill.node = \"replica-2\""]),
        ),
        (
            "a word for nodes that this topology has no use for",
            script(SINGLE, &["pause.node = \"minority\""]),
        ),
        (
            "a node goes on that never stopped",
            script(
                SINGLE,
                &["heal = { fault = \"pause\", node = \"primary\" }"],
            ),
        ),
        (
            "a node dies twice",
            script(
                SINGLE,
                &["kill.node = \"primary\"", "kill.node = \"primary\""],
            ),
        ),
        (
            "a node dies once more with all others",
            script(
                REPLICATED,
                &["kill.node = \"replicas\"", "kill.node = \"all\""],
            ),
        ),
        (
            "the holder of a key that nobody acquires",
            script(SINGLE, &["kill.node = \"holder-of:lok\""]),
        ),
        (
            "the end of a fault that is none",
            script(SINGLE, &["end.fault = \"paus\""]),
        ),
        (
            "the end of a fault that never was",
            script(SINGLE, &["end.fault = \"pause\""]),
        ),
        (
            "the primary is promoted",
            script(REPLICATED, &["promote.node = \"primary\""]),
        ),
        (
            "a dead replica is promoted",
            script(
                REPLICATED,
                &["kill.node = \"replica-1\"", "promote.node = \"replica-1\""],
            ),
        ),
        (
            "nobody to promote",
            script(INDEPENDENT, &["promote.node = \"n1\""]),
        ),
        (
            "a master is promoted whose replica was promoted before, and one that was not",
            script(
                PAIRS,
                &[
                    "promote.node = \"n1-replica-1\"",
                    "promote.node = \"n1\"",
                    "promote.node = \"n2\"",
                ],
            ),
        ),
        (
            "a key that nobody acquires",
            script(SINGLE, &["delete-key.key = \"lok\""]),
        ),
        (
            "an await of such a key",
            script(SINGLE, &["await.key-gone = \"orders\""]),
        ),
        (
            "a key deleted on an unknown node",
            script(SINGLE, &["delete-key = { key = \"lock\", node = \"n1\" }"]),
        ),
    ]);
    insta::assert_snapshot!(said);
}

#[test]
fn rules_on_the_links_of_a_script() {
    let cut = "cut = { from = \"primary\", to = \"replicas\" }";
    let said = said_of(&[
        (
            "an unknown place",
            script(SINGLE, &["cut = { from = \"a\", to = \"primery\" }"]),
        ),
        ("replicas where there are none", script(SINGLE, &[cut])),
        (
            "a link with one end",
            script(SINGLE, &["cut = { from = \"a\", to = \"a\" }"]),
        ),
        ("cut twice", script(REPLICATED, &[cut, cut])),
        (
            "heal without a cut",
            script(
                REPLICATED,
                &["heal = { fault = \"cut\", from = \"primary\", to = \"replicas\" }"],
            ),
        ),
        (
            "heal of the other direction",
            script(
                REPLICATED,
                &[
                    cut,
                    "heal = { fault = \"cut\", from = \"replicas\", to = \"primary\" }",
                ],
            ),
        ),
    ]);
    insta::assert_snapshot!(said);
}

#[test]
fn rules_on_a_storm() {
    let entry = "[[nemesis]]\nfault.kill.node = \"primary\"";
    let said = said_of(&[
        (
            "a storm of no time",
            format!("{SINGLE}[storm]\nduration = \"0s\"\n"),
        ),
        ("no rounds", format!("{SINGLE}{STORM}rounds = 0\n")),
        (
            "grants without rounds",
            format!("{SINGLE}{STORM}grants = 1\n"),
        ),
        (
            "more grants than rounds",
            format!("{SINGLE}{STORM}rounds = 2\ngrants = 11\n"),
        ),
        (
            "rounds no time apart",
            format!("clients.every = \"0s\"\n{SINGLE}{STORM}"),
        ),
        (
            "neither yes nor no",
            format!("clients.release = \"no\"\n{SINGLE}{STORM}"),
        ),
        (
            "a fault of no time, all the time",
            format!("{SINGLE}{STORM}{entry}\nevery = \"0s\"\nlasts = \"0s\"\n"),
        ),
        (
            "an unknown node",
            storm(INDEPENDENT, "pause.node = \"primary\""),
        ),
        (
            "a minority of one",
            storm(SINGLE, "kill.node = \"minority\""),
        ),
        (
            "an unknown client",
            storm(SINGLE, "pause-client.client = \"c5\""),
        ),
        ("an unknown key", storm(SINGLE, "delete-key.key = \"lock\"")),
        (
            "an unknown place",
            storm(SINGLE, "cut = { from = \"clients\", to = \"replicas\" }"),
        ),
        (
            "a promotion",
            storm(REPLICATED, "promote.node = \"replica-1\""),
        ),
    ]);
    insta::assert_snapshot!(said);
}

/// A rule that lacks what it needs must not accuse on a guess.
#[test]
fn what_could_not_be_read_leads_to_no_further_accusations() {
    let broken_acquire = script(
        SINGLE,
        &["acquire = { clint = \"b\" }", "release.client = \"b\""],
    );
    let broken_topology = format!(
        "topology.independent.nodez = 7\nlock.redlock = {{}}\n\
         {A_HOLDS}[[step]]\nkill.node = \"n7\"\n"
    );
    let broken_lease = format!(
        "topology.single = {{}}\nlock.token = {{ leese = \"9s\", renew-every = \"3s\" }}\n{A_HOLDS}"
    );
    let broken_pause = script(
        SINGLE,
        &[
            "pause = { nod = \"primary\" }",
            "heal = { fault = \"pause\", node = \"primary\" }",
        ],
    );
    let broken_count = format!(
        "clients.cuont = 9\n{}",
        storm(SINGLE, "pause-client.client = \"c8\"")
    );
    for rest in [
        broken_acquire,
        broken_topology,
        broken_lease,
        broken_pause,
        broken_count,
    ] {
        let mistakes = load_str(&format!("name = \"rule\"\n{rest}"), "f", &[]).expect_err(&rest);
        assert_eq!(mistakes.items().len(), 1, "{rest}\n{mistakes}");
    }
}
