//! The rules on a Cluster, and on what a script waits for, each by a file that breaks it.

use lockstorm_scenarios::load_str;

const TOKEN: &str = "lock.token = {}\n";
const A_HOLDS: &str = "[[step]]\nacquire = { client = \"a\" }\n";

/// The mistakes that are found in a file of these lines.
fn mistakes(lines: &str) -> String {
    let text = format!("name = \"rule\"\n{lines}");
    let loaded = load_str(&text, "f", &[]);
    loaded.expect_err(lines).to_string()
}

fn on_servers(topology: &str, lock: &str) -> String {
    mistakes(&format!(
        "topology.{topology}\nlock.{lock} = {{}}\n{A_HOLDS}"
    ))
}

fn after_a_holds(topology: &str, step: &str) -> String {
    mistakes(&format!(
        "topology.{topology} = {{}}\n{TOKEN}{A_HOLDS}[[step]]\n{step}\n"
    ))
}

/// Each file with what has to be said of it.
fn assert_said(said: &[(String, &str)]) {
    for (said, wanted) in said {
        assert!(said.contains(wanted), "{said}\nlacks: {wanted}");
    }
}

#[test]
fn servers_that_make_no_cluster_are_refused_with_the_remedy() {
    assert_said(&[
        (
            on_servers("cluster.shards = 4000000001", "token"),
            "8000000002 servers are too many (help: at most 31",
        ),
        (
            on_servers("cluster.shards = 2", "token"),
            "2 shards cannot agree that one of them is gone (help: at least 3",
        ),
        (
            on_servers("cluster.min-replicas-to-write = 2", "token"),
            "`min-replicas-to-write` must be at most 1, not 2",
        ),
        (
            on_servers("cluster.node-timeout = \"10ms\"", "token"),
            "`node-timeout` must be at least 100ms, not 10ms (help: shorter",
        ),
        (
            on_servers("cluster = {}", "redlock"),
            "redlock does not work on cluster servers (help: a Cluster keeps a key on one shard",
        ),
    ]);
}

#[test]
fn what_some_servers_cannot_do_is_refused_of_them() {
    assert_said(&[
        (
            after_a_holds("single", "failover.node = \"primary\""),
            "single servers have no replica that could take over (help: failover needs",
        ),
        (
            after_a_holds(
                "sentinel",
                "failover = { node = \"replica-1\", mode = \"force\" }",
            ),
            "sentinel servers do not fail over in this mode (help: there is only 'agreed')",
        ),
        (
            after_a_holds("single", "migrate-slot.key = \"lock\""),
            "single servers have no shards (help: migrate-slot needs topology.cluster)",
        ),
    ]);
}

#[test]
fn a_script_waits_for_one_thing_that_can_come() {
    let one = "exactly one of 'key-gone', 'key-there', 'failover-of', 'answer-to' and 'held'";
    let both = "await = { key-gone = \"lock\", failover-of = \"lock\" }";
    assert_said(&[
        (after_a_holds("single", "await = {}"), one),
        (after_a_holds("single", both), one),
        (
            after_a_holds("single", "await = { key-there = \"lock\", node = \"all\" }"),
            "'all' is not the name of one server (help: name one)",
        ),
        (
            after_a_holds(
                "sentinel",
                "await = { failover-of = \"lock\", node = \"primary\" }",
            ),
            "`node` is only for a wait for a key (help: leave it out, or wait for \
             'key-gone' or 'key-there')",
        ),
        (
            after_a_holds("single", "await.answer-to = \"a\""),
            "'a' has nothing under way (help: an acquire, a renewal or a release with \
             `under-way = true` comes first)",
        ),
        (
            after_a_holds(
                "single",
                "release = { client = \"a\", unless-refused = true, expect = \"released\" }",
            ),
            "a release with `unless-refused` may be skipped: it has no answer (help: leave \
             `expect` out, or leave `unless-refused` out)",
        ),
        (
            after_a_holds("single", "await.held = \"a\""),
            "'a' has no message that is to be held (help: a `hold-message` of this client comes \
             first)",
        ),
        (
            after_a_holds(
                "single",
                "lose-message = { client = \"z\", message = \"reply\" }",
            ),
            "there is no client 'z'",
        ),
        (
            after_a_holds(
                "single",
                "lose-message = { client = \"a\", message = \"reply\", node = \"n2\" }",
            ),
            "'n2' is not the name of one server (help: there is only 'primary', or \
             'last-of-majority')",
        ),
        (
            after_a_holds(
                "single",
                "delay-message = { client = \"a\", message = \"reply\", by = \"0s\" }",
            ),
            "`by` must be greater than 0 (help: such as \"3s\")",
        ),
    ]);
}
