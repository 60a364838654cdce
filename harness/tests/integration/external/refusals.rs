//! Servers that cannot be used, each with a refusal that says why and what to do, and no more.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use crate::external::server::{PASSWORD, RIGHTS_OF_A_TOKEN_LOCK, Server, Settings};
use crate::external::test_bed::{run, run_with};
use crate::support::have_server;

const ENVIRONMENT: i32 = 69;
const INVALID: i32 = 65;

/// A scenario on these servers.
fn scenario(external: &str, lock: &str, steps: &str) -> String {
    format!(
        "name = \"refused\"\ntopology.external = {{ {external}, prefix = \"team:\" }}\n\
         lock.{lock}\n[[step]]\nacquire = {{ client = \"a\" }}\n{steps}"
    )
}

/// A scenario on these servers, with a token lock and no faults.
fn on(external: &str) -> String {
    scenario(external, "token = {}", "")
}

fn urls(url: &str) -> String {
    format!("urls = [\"{url}\"]")
}

async fn server_with(rights: &str) -> Server {
    Server::start(Settings {
        rights,
        ..Settings::default()
    })
    .await
}

#[tokio::test]
async fn a_wrong_password_is_told_and_never_shown() {
    if !have_server() {
        return;
    }
    let server = server_with("").await;
    let guess = "wrong-and-never-shown";
    let said = run_with(&on(&urls(&server.url())), guess, &[]);
    said.nowhere(guess);
    let said = said.refused(ENVIRONMENT);
    assert!(
        said.contains("user 'app' or the password is wrong"),
        "{said}"
    );
    let plain = format!("redis://app:{guess}@127.0.0.1:{}", server.port());
    let run = run(&on(&urls(&plain)));
    run.nowhere(guess);
    assert!(run.refused(ENVIRONMENT).contains("is wrong"));
    let named = format!(
        "urls = [\"redis://app@127.0.0.1:{}\"], password-env = \"APP_PASSWORD\"",
        server.port()
    );
    let run = run_with(&on(&named), guess, &[]);
    run.nowhere(guess);
    let said = run.refused(ENVIRONMENT);
    assert!(said.contains("it comes from APP_PASSWORD"), "{said}");
}

#[tokio::test]
async fn a_password_in_the_scenario_itself_works_and_is_written_nowhere() {
    if !have_server() {
        return;
    }
    let server = server_with("").await;
    let plain = format!("redis://app:{PASSWORD}@127.0.0.1:{}", server.port());
    let contended = "[[step]]\nacquire = { client = \"b\", expect = \"refused\" }\n\
                     [[step]]\nrelease = { client = \"a\", expect = \"released\" }\n";
    // A thousand tries on a busy machine: one of them may wait for its answer.
    let lock = "token = { lease = \"30s\" }\nclients.reply-timeout = \"5s\"";
    let token = |url: &str| scenario(&urls(url), lock, contended);
    run(&token(&plain)).as_expected().nowhere(PASSWORD);
    let set = format!("topology.external.urls=[\"{plain}\"]");
    let run = run_with(&token("redis://127.0.0.1:1"), "", &["--set", &set]);
    run.nowhere(PASSWORD);
    let said = run.as_expected().results()["rerun"].to_string();
    assert!(said.contains("${LOCKSTORM_PASSWORD}"), "{said}");
}

#[tokio::test]
async fn a_server_that_is_not_there_or_asks_for_a_password_is_told_with_the_remedy() {
    if !have_server() {
        return;
    }
    let said = run(&on(&urls("redis://127.0.0.1:1"))).refused(ENVIRONMENT);
    assert!(
        said.contains("primary") && said.contains("127.0.0.1:1"),
        "{said}"
    );
    assert!(said.contains("it cannot be reached"), "{said}");
    let server = server_with("").await;
    let nobody = format!("redis://127.0.0.1:{}", server.port());
    let said = run(&on(&urls(&nobody))).refused(ENVIRONMENT);
    assert!(said.contains("it asks for a password"), "{said}");
    let unset = run(&on(&urls("redis://${NO_SUCH_HOST}"))).refused(ENVIRONMENT);
    assert!(unset.contains("NO_SUCH_HOST is not set"), "{unset}");
}

#[tokio::test]
async fn a_right_that_is_missing_is_named_with_the_command_that_grants_it() {
    if !have_server() {
        return;
    }
    let without = |command: &str| RIGHTS_OF_A_TOKEN_LOCK.replace(&format!(" +{command}"), "");
    let server = server_with(&without("eval")).await;
    let said = run(&on(&urls(&server.url()))).refused(ENVIRONMENT);
    assert!(said.contains("user 'app' may not run EVAL,"), "{said}");
    assert!(said.contains("ACL SETUSER app +eval"), "{said}");
    let server = server_with(&without("client|kill")).await;
    let fault = "[[step]]\nkill-connections = { node = \"primary\" }\n";
    let steps = scenario(&urls(&server.url()), "token = {}", fault);
    let said = run(&steps).refused(ENVIRONMENT);
    assert!(said.contains("may not run CLIENT KILL"), "{said}");
    // A script's own commands are asked for as well.
    let server = server_with(&without("pexpire")).await;
    let said = run(&on(&urls(&server.url()))).refused(ENVIRONMENT);
    assert!(said.contains("may not run PEXPIRE"), "{said}");
    // Libraries send scripts by their digests.
    let server = server_with(RIGHTS_OF_A_TOKEN_LOCK).await;
    let library = "adapter = { name = \"library\", command = [\"false\"] }";
    let said = run(&scenario(&urls(&server.url()), library, "")).refused(ENVIRONMENT);
    assert!(said.contains("may not run EVALSHA"), "{said}");
    let server = server_with(&without("info")).await;
    let said = run(&on(&urls(&server.url()))).refused(ENVIRONMENT);
    assert!(said.contains("may not run INFO"), "{said}");
}

#[tokio::test]
async fn keys_and_channels_that_a_user_may_not_use_are_told_by_their_prefix() {
    if !have_server() {
        return;
    }
    let server = server_with("~elsewhere:* &team:* +@all").await;
    let said = run(&on(&urls(&server.url()))).refused(ENVIRONMENT);
    assert!(
        said.contains("may not use keys that begin with 'team:'"),
        "{said}"
    );
    let server = server_with("~team:* resetchannels +@all").await;
    let scenario = scenario(&urls(&server.url()), "redisson = {}", "");
    let said = run(&scenario).refused(ENVIRONMENT);
    assert!(said.contains("channels that begin with 'team:'"), "{said}");
    assert_eq!(
        server.keys().await,
        Vec::<String>::new(),
        "the proof leaves nothing"
    );
}

#[tokio::test]
async fn a_replica_is_no_primary_and_one_server_is_no_two() {
    if !have_server() {
        return;
    }
    let primary = server_with("").await;
    let replica = Server::start(Settings {
        follows: Some(primary.port()),
        ..Settings::default()
    })
    .await;
    replica.in_step().await;
    let said = run(&on(&urls(&replica.url()))).refused(ENVIRONMENT);
    let master = format!("it is a replica of 127.0.0.1:{}", primary.port());
    assert!(said.contains(&master), "{said}");
    let (url, other) = (primary.url(), replica.url());
    let swapped = format!("urls = [\"{url}\"], replicas = [\"{url}\"]");
    let said = run(&on(&swapped)).refused(ENVIRONMENT);
    assert!(said.contains("it is no replica"), "{said}");
    let twice = format!("urls = [\"{url}\"], replicas = [\"{other}\", \"{other}\"]");
    let said = run(&on(&twice)).refused(ENVIRONMENT);
    assert!(said.contains("the same server as replica-1"), "{said}");
}

#[tokio::test]
async fn a_server_without_debug_is_told_before_anything_begins() {
    if !have_server() {
        return;
    }
    let server = Server::start(Settings {
        lines: "enable-debug-command no",
        ..Settings::default()
    })
    .await;
    let external = format!("{}, allow = [\"sleep\"]", urls(&server.url()));
    let fault = "[[step]]\nsleep = { node = \"primary\", for = \"1s\" }\n";
    let said = run(&scenario(&external, "token = {}", fault)).refused(ENVIRONMENT);
    assert!(said.contains("it does not allow DEBUG SLEEP"), "{said}");
}

#[tokio::test]
async fn a_fault_that_takes_a_hold_on_the_server_is_refused_at_its_line() {
    let fault = "[[step]]\nkill = { node = \"primary\" }\n";
    let steps = scenario(&urls("redis://127.0.0.1:1"), "token = {}", fault);
    let said = run(&steps).refused(INVALID);
    assert!(
        said.contains("kill is impossible on external servers"),
        "{said}"
    );
    assert!(said.contains(":7:1]"), "{said}");
}

#[tokio::test]
async fn what_is_no_server_or_speaks_no_tls_is_told_as_what_it_is() {
    if !have_server() {
        return;
    }
    let server = server_with("").await;
    let secure = format!("rediss://127.0.0.1:{}", server.port());
    let said = run(&on(&urls(&secure))).refused(ENVIRONMENT);
    assert!(
        said.contains("TLS fails") && said.contains("without it: redis://"),
        "{said}"
    );
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let port = listener.local_addr().expect("it is bound").port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("somebody has come");
            let mut asked = [0; 64];
            let _ = stream.read(&mut asked);
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\nThis is a web server.\r\n");
        }
    });
    let said = run(&on(&urls(&format!("redis://127.0.0.1:{port}")))).refused(ENVIRONMENT);
    assert!(
        said.contains("does not speak the protocol of Redis") && said.contains("web server"),
        "{said}"
    );
}

#[test]
fn a_url_with_a_user_and_no_password_is_refused_and_not_shown() {
    let run = run(&on(&urls("redis://s3cret-in-the-wrong-place@h")));
    let said = run.refused(INVALID);
    assert!(
        said.contains("names a user and no password") && !said.contains("s3cret"),
        "{said}"
    );
}
