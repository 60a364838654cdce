//! Other people's libraries, unmodified, on servers that someone else runs.

use crate::external::server::{PASSWORD, Server, Settings};
use crate::external::test_bed::run_with;
use crate::support::{have_server, root, skipped};

/// Steps of each try: a lock that is asked for by two, and held by one after the other.
const STEPS: &str = "
    [[step]]
    acquire = { client = \"a\", expect = \"granted\" }
    [[step]]
    acquire = { client = \"b\", expect = \"refused\" }
    [[step]]
    release = { client = \"a\", expect = \"released\" }
    [[step]]
    acquire = { client = \"b\", expect = \"granted\" }
    [[step]]
    release = { client = \"b\", expect = \"released\" }";

/// Rights of `app`: those that the run's own error asks for where scripts are allowed, and those
/// that the scripts of these libraries need.
const RIGHTS: &str = "~team:* &team:* -@all +info +ping +exists +del +eval +evalsha +script|load \
     +script|exists +acl|whoami +acl|getuser +get +set +pexpire +pttl";

/// Tells whether the adapter can be run; says loudly if not.
fn is_installed(part: &str) -> bool {
    let is_there = root().join(part).exists();
    if !is_there {
        skipped(&format!("{part} is missing: run 'bash .ci/setup adapters'"));
    }
    is_there && have_server()
}

/// Runs the library on servers of which each has two keys of others, one of them within the prefix:
/// the lock works, nothing is left behind, and the keys of others are.
async fn keeps_to_its_own(adapter: &str, count: usize) {
    let mut servers = Vec::new();
    for _ in 0..count {
        let settings = Settings {
            rights: RIGHTS,
            ..Settings::default()
        };
        let server = Server::start(settings).await;
        server.ask(&["SET", "others", "theirs"]).await;
        server.ask(&["SET", "team:lock", "theirs"]).await;
        servers.push(server);
    }
    let urls: Vec<String> = servers
        .iter()
        .map(|server| format!("{:?}", server.url()))
        .collect();
    let program = root().join("adapters").join(adapter).join("run");
    let scenario = format!(
        "name = \"library\"\n\
         topology.external = {{ urls = [{}], prefix = \"team:\", allow = [\"scripts\"] }}\n\
         lock.adapter = {{ name = \"{adapter}\", command = [\"{}\"], lease = \"60s\" }}\n\
         clients.reply-timeout = \"10s\"\n{STEPS}",
        urls.join(","),
        program.display()
    );
    let run = run_with(&scenario, PASSWORD, &[]);
    run.as_expected().nowhere(PASSWORD);
    let properties = &run.results()["analysis"]["properties"];
    assert_eq!(properties["mutual-exclusion"]["verdict"], "valid");
    for server in servers {
        assert_eq!(server.keys().await, ["others", "team:lock"]);
    }
}

#[tokio::test]
async fn redis_py_runs_there_and_leaves_nothing() {
    if is_installed("adapters/python/redis-py/.venv/installed") {
        keeps_to_its_own("python/redis-py", 1).await;
    }
}

#[tokio::test]
async fn the_npm_package_redlock_runs_there_and_leaves_nothing() {
    if is_installed("adapters/node/redlock/node_modules/installed") {
        keeps_to_its_own("node/redlock", 3).await;
    }
}
