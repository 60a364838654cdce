//! Runs that come out as they should, and leave nothing behind.

use redis::Value;

use crate::external::server::{PASSWORD, RIGHTS_OF_A_TOKEN_LOCK, Server, Settings};
use crate::external::test_bed::{run, run_in, run_shipped};
use crate::support::{TRIES_MAX, have_server, root};

/// A server whose user may do nothing but what a token lock needs, with two keys of others.
async fn shared() -> Server {
    let server = Server::start(Settings {
        rights: RIGHTS_OF_A_TOKEN_LOCK,
        ..Settings::default()
    })
    .await;
    server.ask(&["SET", "others", "theirs"]).await;
    server.ask(&["SET", "team:others", "theirs"]).await;
    server
}

/// Asserts that the keys of others are all that is there.
async fn nothing_is_left(server: &Server) {
    assert_eq!(server.keys().await, ["others", "team:others"]);
    let theirs = server.ask(&["GET", "team:others"]).await;
    assert_eq!(theirs, Value::BulkString(b"theirs".to_vec()));
}

/// The topology of a scenario that runs there.
fn on(server: &Server) -> String {
    format!(
        "topology.external = {{ urls = [\"{}\"], prefix = \"team:\" }}",
        server.url()
    )
}

#[tokio::test]
async fn a_shipped_hazard_runs_on_a_server_with_an_access_list_and_leaves_nothing() {
    if !have_server() {
        return;
    }
    let server = shared().await;
    let run = run_shipped(
        "examples/client-pause-beyond-the-lease-single.toml",
        &server.url(),
    );
    run.as_expected().nowhere(PASSWORD);
    let environment = &run.results()["environment"];
    assert_eq!(environment["network"], "gateway");
    assert_eq!(environment["nodes"][0]["role"], "primary");
    let address = format!("127.0.0.1:{}", server.port());
    assert_eq!(environment["nodes"][0]["address"], *address);
    nothing_is_left(&server).await;
}

#[tokio::test]
async fn the_shipped_scenarios_run_on_servers_of_the_environment() {
    if !have_server() {
        return;
    }
    let servers = [
        Server::start(Settings::default()).await,
        Server::start(Settings::default()).await,
        Server::start(Settings::default()).await,
    ];
    let url = |server: &Server| format!("redis://app:{PASSWORD}@127.0.0.1:{}", server.port());
    let team = ["--set", "topology.external.prefix=team:"];
    for (file, variables) in [
        (
            "external-client-pause",
            vec![("REDIS_URL", url(&servers[0]))],
        ),
        ("external-storm", vec![("REDIS_URL", url(&servers[0]))]),
        (
            "external-redlock",
            vec![
                ("REDIS_URL_1", url(&servers[0])),
                ("REDIS_URL_2", url(&servers[1])),
                ("REDIS_URL_3", url(&servers[2])),
            ],
        ),
    ] {
        let path = root().join(format!("scenarios/library/external/{file}.toml"));
        let text = std::fs::read_to_string(path).expect("it is shipped");
        // On a busy machine servers may be silent for so long that a run cannot tell.
        let mut runs = (0..TRIES_MAX).map(|_| run_in(&text, &variables, &team));
        let decided = runs.find(|run| !run.is_undecided());
        let run = decided.unwrap_or_else(|| panic!("{file}: not decided in {TRIES_MAX} tries"));
        run.as_expected().nowhere(PASSWORD);
    }
    for server in &servers {
        assert_eq!(server.keys().await, Vec::<String>::new());
    }
}

#[tokio::test]
async fn only_the_connections_of_the_run_are_closed() {
    if !have_server() {
        return;
    }
    let server = shared().await;
    let mut other = server.enter().await.expect("somebody else can enter");
    let steps = "
        [[step]]
        acquire = { client = \"a\", expect = \"granted\" }
        [[step]]
        kill-connections = { node = \"primary\" }
        [[step]]
        renew = { client = \"a\" }
        [[step]]
        renew = { client = \"a\", expect = \"renewed\" }
        [[step]]
        acquire = { client = \"b\", expect = \"refused\" }
        [[step]]
        release = { client = \"a\", expect = \"released\" }";
    let scenario = format!(
        "name = \"closed\"\nexpect = {{ fairness = \"any\" }}\n{}\n\
         lock.token = {{ lease = \"10s\" }}\n{steps}",
        on(&server)
    );
    run(&scenario).as_expected();
    let still = other.send(&redis::cmd("PING")).await;
    assert!(
        still.is_ok(),
        "the connection of somebody else is open: {still:?}"
    );
    nothing_is_left(&server).await;
}

#[tokio::test]
async fn a_storm_with_every_harmless_fault_comes_out_as_expected_and_leaves_nothing() {
    if !have_server() {
        return;
    }
    let server = shared().await;
    let scenario = format!(
        "name = \"storm\"\n{}\nlock.token = {{ lease = \"500ms\", renew-every = \"100ms\" }}\n\
         expect = {{ mutual-exclusion = \"any\", lost-lock = \"any\", lease-overrun = \"any\", \
         fairness = \"any\", ownership = \"any\" }}\n\
         clients = {{ count = 6, keys = 2, hold = \"5ms..20ms\", reply-timeout = \"2s\" }}\n\
         storm = {{ duration = \"4s\" }}\n\
         [[nemesis]]\nfault.kill-connections = {{ node = \"primary\", client = \"one\" }}\n\
         every = \"300ms\"\nlasts = \"10ms\"\n\
         [[nemesis]]\nfault.pause-client = {{ client = \"one\" }}\n\
         every = \"1s\"\nlasts = \"700ms\"\n\
         [[nemesis]]\nfault.delete-key = {{ key = \"lock-0\" }}\n\
         every = \"2s\"\nlasts = \"10ms\"\n",
        on(&server)
    );
    let run = run(&scenario);
    run.nowhere(PASSWORD);
    let grants = run.results()["analysis"]["coverage"]["granted"].clone();
    assert!(
        grants.as_u64().is_some_and(|grants| grants > 20),
        "{grants}"
    );
    nothing_is_left(&server).await;
}

#[tokio::test]
async fn clients_that_are_processes_need_to_know_no_password() {
    if !have_server() {
        return;
    }
    let server = shared().await;
    let scenario = format!(
        "name = \"processes\"\nexpect = {{ fairness = \"any\" }}\n{}\nlock.token = {{}}\n\
         clients.kind = \"process\"\n\
         [[step]]\nacquire = {{ client = \"a\", expect = \"granted\" }}\n\
         [[step]]\nacquire = {{ client = \"b\", expect = \"refused\" }}\n\
         [[step]]\nrelease = {{ client = \"a\", expect = \"released\" }}\n",
        on(&server)
    );
    run(&scenario).as_expected().nowhere(PASSWORD);
    nothing_is_left(&server).await;
}

#[tokio::test]
async fn who_waits_for_a_redisson_lock_is_woken_through_the_prefix() {
    if !have_server() {
        return;
    }
    let server = Server::start(Settings::default()).await;
    // Without a message b would wait for all of the lease, which is longer than its wait.
    let scenario = format!(
        "name = \"woken\"\nexpect = {{ fairness = \"any\" }}\n{}\n\
         lock.redisson = {{ lease = \"60s\" }}\n\
         [[step]]\nacquire = {{ client = \"a\", expect = \"granted\" }}\n\
         [[step]]\nacquire = {{ client = \"b\", wait = \"20s\", under-way = true, \
         expect = \"granted\" }}\n\
         [[step]]\nwork = {{ client = \"a\", for = \"300ms\" }}\n\
         [[step]]\nrelease = {{ client = \"a\", expect = \"released\" }}\n\
         [[step]]\nawait = {{ answer-to = \"b\", within = \"20s\" }}\n\
         [[step]]\nrelease = {{ client = \"b\", expect = \"released\" }}\n",
        on(&server)
    );
    run(&scenario).as_expected();
    assert_eq!(server.keys().await, Vec::<String>::new());
}

#[tokio::test]
async fn redlock_takes_three_masters() {
    if !have_server() {
        return;
    }
    let servers = [
        Server::start(Settings::default()).await,
        Server::start(Settings::default()).await,
        Server::start(Settings::default()).await,
    ];
    let urls: Vec<_> = servers
        .iter()
        .map(|server| format!("\"{}\"", server.url()))
        .collect();
    let scenario = format!(
        "name = \"masters\"\nexpect = {{ fairness = \"any\" }}\n\
         topology.external = {{ urls = [{}], prefix = \"team:\" }}\n\
         lock.redlock = {{ node-timeout = \"500ms\" }}\n\
         [[step]]\nacquire = {{ client = \"a\", expect = \"granted\" }}\n\
         [[step]]\ndelete-key = {{ key = \"lock\", node = \"n2\" }}\n\
         [[step]]\nacquire = {{ client = \"b\", expect = \"refused\" }}\n\
         [[step]]\nrelease = {{ client = \"a\", expect = \"released\" }}\n",
        urls.join(", ")
    );
    run(&scenario).as_expected();
    for server in &servers {
        assert_eq!(server.keys().await, Vec::<String>::new());
    }
}

#[tokio::test]
async fn a_planned_failover_and_pauses_are_possible_where_they_are_allowed() {
    if !have_server() {
        return;
    }
    let primary = Server::start(Settings::default()).await;
    let replica = Server::start(Settings {
        follows: Some(primary.port()),
        ..Settings::default()
    })
    .await;
    replica.in_step().await;
    let scenario = format!(
        "name = \"allowed\"\nexpect = {{ fairness = \"any\" }}\n\
         topology.external = {{ urls = [\"{}\"], replicas = [\"{}\"], prefix = \"team:\", \
         allow = [\"failover\", \"sleep\", \"pause-commands\", \"flush-scripts\"] }}\n\
         lock.token = {{ lease = \"60s\" }}\n\
         [[step]]\nacquire = {{ client = \"a\", expect = \"granted\" }}\n\
         [[step]]\nrenew = {{ client = \"a\", expect = \"renewed\" }}\n\
         [[step]]\nflush-scripts = {{ node = \"primary\" }}\n\
         [[step]]\nsleep = {{ node = \"primary\", for = \"1s\" }}\n\
         [[step]]\nend = {{ fault = \"sleep\" }}\n\
         [[step]]\npause-commands = {{ node = \"primary\", for = \"20s\", which = \"writes\" }}\n\
         [[step]]\nrenew = {{ client = \"a\", expect = \"unknown\" }}\n\
         [[step]]\nend = {{ fault = \"pause-commands\" }}\n\
         [[step]]\npause-commands = {{ node = \"primary\", for = \"2s\" }}\n\
         [[step]]\nacquire = {{ client = \"b\", expect = \"unknown\" }}\n\
         [[step]]\nend = {{ fault = \"pause-commands\" }}\n\
         [[step]]\nfailover = {{ node = \"replica-1\" }}\n\
         [[step]]\nrenew = {{ client = \"a\", expect = \"renewed\" }}\n\
         [[step]]\nrelease = {{ client = \"a\", expect = \"released\" }}\n",
        primary.url(),
        replica.url()
    );
    run(&scenario).as_expected();
    assert_eq!(replica.keys().await, Vec::<String>::new());
}
