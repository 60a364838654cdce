//! The rules on servers of a system that Lockstorm does not know.

use lockstorm_scenarios::{Override, load_str};

const ADAPTER: &str = "lock.adapter = { name = \"mine\", command = [\"mine\"], lease = \"2s\" }\n";

/// Servers that are as they should be.
const RIGHT: &str = "name = \"Consul\"\nnodes = 3\nstart = [\"consul\", \"{host}:{port}\"]\n\
                     answers = [\"ask\", '{\"json\": 1}', \"{addresses}\"]\n";

/// Mistakes found in a file with these servers; nothing where it is right.
fn said(servers: &str, lock: &str, more: &str) -> String {
    let text = format!(
        "name = \"rule\"\n{lock}[[step]]\nacquire = {{ client = \"a\" }}\n{more}\n\
         [topology.custom]\n{servers}"
    );
    let none: &[Override] = &[];
    load_str(&text, "f", none).map_or_else(|mistakes| mistakes.to_string(), |_| String::new())
}

fn step(step: &str) -> String {
    said(RIGHT, ADAPTER, &format!("[[step]]\n{step}"))
}

#[test]
fn a_command_is_a_program_with_words_that_stand_for_something() {
    assert_eq!(said(RIGHT, ADAPTER, ""), "");
    for (wrong, right, mistake) in [
        ("answers = []", "answers = [\"ask\"", "names no program"),
        ("start = [\"\"]", "start = [\"consul\"", "names no program"),
        (
            "start = [\"x\", \"{prot}\"]",
            "start = [",
            "`{prot}` stands for nothing",
        ),
        (
            "join = [\"x\", \"a{nodes}b\"]",
            "",
            "`{nodes}` stands for nothing",
        ),
        ("name = \" \"", "name = ", "must be the name of a system"),
        ("nodes = 0", "nodes = ", "must be greater than 0"),
        ("nodes = 99", "nodes = ", "too many"),
    ] {
        let others = RIGHT
            .lines()
            .filter(|line| right.is_empty() || !line.starts_with(right));
        let others: Vec<&str> = others
            .filter(|line| line.split(' ').next() != wrong.split(' ').next())
            .collect();
        let servers = format!("{}\n{wrong}\n", others.join("\n"));
        let mistakes = said(&servers, ADAPTER, "");
        assert!(mistakes.contains(mistake), "{wrong}: {mistakes}");
    }
}

#[test]
fn only_a_library_can_know_what_lockstorm_does_not() {
    let mistakes = said(RIGHT, "lock.token = { lease = \"2s\" }\n", "");
    assert!(
        mistakes.contains("token does not work on custom servers"),
        "{mistakes}"
    );
}

#[test]
fn a_fault_that_takes_knowledge_of_the_system_is_refused_with_what_can_be_done() {
    for good in [
        "kill = { node = \"n1\" }",
        "stop = { node = \"minority\" }",
        "restart = { node = \"one\" }",
        "pause = { node = \"all\" }",
        "cut = { from = \"n1\", to = \"a\" }",
        "partition = { sides = [[\"n1\", \"a\"], [\"n2\", \"n3\"]] }",
        "pause-client = { client = \"a\" }",
        "clock = { client = \"a\", forward = \"1s\" }",
    ] {
        assert_eq!(step(good), "", "{good}");
    }
    for (bad, mistake) in [
        ("delete-key = { key = \"lock\" }", "kill, pause or cut them"),
        (
            "restart = { node = \"n1\", memory = \"lost\" }",
            "leave `memory` out",
        ),
        (
            "promote = { node = \"n1\" }",
            "promote cannot hit servers of a custom system",
        ),
        (
            "failover = { node = \"n1\" }",
            "failover cannot hit servers of a custom system",
        ),
        (
            "clock = { node = \"n1\", forward = \"1s\" }",
            "the shim that faults clocks",
        ),
        (
            "await = { key-gone = \"lock\" }",
            "nobody knows how to ask custom servers",
        ),
        (
            "await = { failover-of = \"lock\" }",
            "nobody knows how to ask custom servers",
        ),
        (
            "kill = { node = \"holder-of:lock\" }",
            "nobody knows how to ask custom servers",
        ),
        (
            "kill = { node = \"primary\" }",
            "there is no node 'primary'",
        ),
        (
            "lose-message = { client = \"a\", message = \"reply\" }",
            "nobody knows what is a message there",
        ),
    ] {
        let mistakes = step(bad);
        let mistakes = mistakes.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(mistakes.contains(mistake), "{bad}: {mistakes}");
    }
}

#[test]
fn a_trace_of_what_servers_know_is_refused() {
    let mistakes = said(RIGHT, &format!("trace = [\"probe\"]\n{ADAPTER}"), "");
    assert!(
        mistakes.contains("ask custom servers for their locks"),
        "{mistakes}"
    );
}
