//! Rules on the servers.

use super::{A_HOLDS, said_of};

#[test]
fn rules_on_the_topology() {
    let with =
        |topology: &str, lock: &str| format!("topology.{topology}\nlock.{lock} = {{}}\n{A_HOLDS}");
    let said = said_of(&[
        ("no node at all", with("independent.nodes = 0", "redlock")),
        (
            "a crowd of nodes",
            with("independent.nodes = 4000000001", "redlock"),
        ),
        ("no replica", with("replicated.replicas = 0", "token")),
        (
            "a crowd of replicas",
            with("replicated.replicas = 4000000000", "token"),
        ),
        (
            "more replicas to write than there are",
            with("replicated.min-replicas-to-write = 2", "token"),
        ),
        (
            "a lag of half a second",
            with("sentinel.min-replicas-max-lag = \"500ms\"", "token"),
        ),
        ("no sentinel", with("sentinel.sentinels = 0", "token")),
        (
            "a crowd of sentinels",
            with("sentinel.sentinels = 4000000000", "token"),
        ),
        (
            "sentinels where there are none",
            format!(
                "topology.replicated = {{}}\nlock.token = {{}}\n{A_HOLDS}\
                 [[step]]\npause = {{ node = \"sentinels\" }}\n"
            ),
        ),
        (
            "redlock under sentinels",
            with("sentinel.timers = \"stock\"", "redlock"),
        ),
        (
            "more than a number holds",
            with("independent.nodes = 5000000000", "redlock"),
        ),
    ]);
    insta::assert_snapshot!(said);
}
