//! Doors to servers of somebody else: what they let pass, and whom, seen by a client that tries to
//! do what locks do not.

use std::net::SocketAddr;
use std::process::Command;

use lockstorm_harness::connection::{Wire, WireError};
use lockstorm_harness::locks::own_scripts;
use lockstorm_harness::server::{DEFAULT_PORT, Program, ServerSettings, Servers, Wiring};
use lockstorm_scenarios::{Disturbance, External, ServerUrl, Topology};
use redis::Value;
use tokio::net::TcpStream;

use crate::external::server::{PASSWORD, Server, Settings};
use crate::external::test_bed::run;
use crate::support::{have_server, skipped};

const ENVIRONMENT: i32 = 69;

/// A user whom the access list bounds to the prefix, whatever a script does.
const BOUNDED: &str = "~team:* &team:* -@all +info +ping +set +get +del +exists +eval +evalsha \
     +pexpire +incr +script|load +script|exists +client|id +client|list +client|kill +acl|whoami \
     +acl|getuser";

/// Doors to a server, for a run that is allowed this.
async fn doors(server: &Server, allow: &[Disturbance], folder: &tempfile::TempDir) -> Servers {
    let url = format!("redis://app:{PASSWORD}@127.0.0.1:{}", server.port());
    let external = External {
        urls: vec![ServerUrl::new(url)],
        replicas: Vec::new(),
        prefix: "team:".to_owned(),
        password_env: None,
        tls: lockstorm_scenarios::Tls::default(),
        allow: allow.to_vec(),
    };
    let settings = ServerSettings {
        topology: Topology::External(external),
        program: Program::none(),
        port: DEFAULT_PORT,
        folder: folder.path().to_owned(),
        wiring: Wiring::Direct,
        shim: false,
        spares: None,
    };
    Servers::start(settings).await.expect("the doors open")
}

async fn ask(door: SocketAddr, words: &[&str]) -> Result<Value, WireError> {
    let stream = TcpStream::connect(door).await.expect("the door is open");
    let mut command = redis::Cmd::new();
    command.arg(words);
    Wire::new(stream).send(&command).await
}

async fn refused(door: SocketAddr, words: &[&str]) {
    let said = ask(door, words).await;
    let Err(WireError::Server(text)) = said else {
        panic!("{words:?}: {said:?}");
    };
    assert!(text.contains("LOCKSTORM-LETS"), "{words:?}: {text}");
}

#[tokio::test]
async fn scripts_of_others_do_not_pass_and_neither_does_what_is_not_allowed() {
    if !have_server() {
        return;
    }
    let server = Server::start(Settings {
        rights: "~* &* +@all",
        ..Settings::default()
    })
    .await;
    server.ask(&["SET", "foreign", "theirs"]).await;
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let servers = doors(&server, &[], &folder).await;
    let node = &servers.nodes()[0];
    for door in [node.public, node.private] {
        for script in [
            "return redis.call('flushall')",
            "return redis.call('set', 'foreign', 'x')",
            "return redis.call('get', ARGV[1])",
        ] {
            refused(door, &["EVAL", script, "0", "foreign"]).await;
            refused(door, &["EVAL_RO", script, "0", "foreign"]).await;
            refused(door, &["SCRIPT", "LOAD", script]).await;
            // One that the server has kept for somebody else runs no more than any other.
            let kept = server.ask(&["SCRIPT", "LOAD", script]).await;
            let Value::BulkString(digest) = kept else {
                panic!("{kept:?}");
            };
            let digest = String::from_utf8(digest).expect("it is hexadecimal");
            refused(door, &["EVALSHA", &digest, "0", "foreign"]).await;
        }
        for words in [
            &["CLIENT", "PAUSE", "1500", "ALL"][..],
            &["SCRIPT", "FLUSH"],
            &["DEBUG", "SLEEP", "0.5"],
            &["FAILOVER", "ABORT"],
            &["CLIENT", "KILL", "TYPE", "normal"],
            &["FLUSHALL"],
        ] {
            refused(door, words).await;
        }
    }
    // A script of ours is told by an argument how to publish, and could be told to rename.
    let unlock = own_scripts().find(|script| script.contains("redis.call(ARGV[1]"));
    let publishing = unlock.or_else(|| own_scripts().find(|script| script.contains("call(ARGV[")));
    let publishing = publishing.expect("there is one");
    let mut words = vec!["EVAL", &publishing, "1", "k"];
    words.extend(["rename"; 9]);
    refused(node.public, &words).await;
    let theirs = server.ask(&["GET", "foreign"]).await;
    assert_eq!(theirs, Value::BulkString(b"theirs".to_vec()));
    // What locks do passes all the same.
    let set = ask(node.public, &["SET", "k", "v", "PX", "1000"]).await;
    assert!(set.is_ok(), "{set:?}");
    servers.leave().await.expect("the keys can be removed");
}

#[tokio::test]
async fn strangers_are_sent_away_from_the_doors() {
    if !have_server() {
        return;
    }
    let server = Server::start(Settings::default()).await;
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let servers = doors(&server, &[], &folder).await;
    let node = &servers.nodes()[0];
    let said = |door: SocketAddr, before: &str| {
        let (ip, port) = (door.ip(), door.port());
        let script =
            format!("exec 3<>/dev/tcp/{ip}/{port} && printf 'PING\\r\\n' >&3 && head -n 1 <&3");
        let command = format!("{before} bash -c \"$0\"");
        let mut child = Command::new("sh");
        child.args(["-c", &command, &script]);
        async move {
            let run = tokio::task::spawn_blocking(move || child.output());
            let output = run.await.expect("nobody panics").expect("there is a shell");
            String::from_utf8_lossy(&output.stdout).into_owned()
        }
    };
    // A child of this process is a client, and not the harness.
    let told = "-NOAUTH only processes of the user that runs Lockstorm";
    assert!(said(node.private, "").await.starts_with(told));
    assert!(!said(node.public, "").await.starts_with(told));
    let can_change = Command::new("setpriv")
        .args(["--reuid", "65534", "true"])
        .status();
    if !can_change.is_ok_and(|status| status.success()) {
        skipped("nobody here may become somebody else");
        return;
    }
    let nobody = "setpriv --reuid 65534 --clear-groups";
    assert!(said(node.public, nobody).await.starts_with(told));
    assert!(said(node.private, nobody).await.starts_with(told));
}

#[tokio::test]
async fn scripts_are_allowed_where_the_access_list_bounds_them() {
    if !have_server() {
        return;
    }
    let scenario = |server: &Server| {
        format!(
            "name = \"scripts\"\nexpect = {{ fairness = \"any\" }}\n\
             topology.external = {{ urls = [\"{}\"], prefix = \"team:\", allow = [\"scripts\"] }}\n\
             lock.token = {{ lease = \"30s\" }}\n\
             [[step]]\nacquire = {{ client = \"a\", expect = \"granted\" }}\n\
             [[step]]\nacquire = {{ client = \"b\", expect = \"refused\" }}\n\
             [[step]]\nrelease = {{ client = \"a\", expect = \"released\" }}\n",
            server.url()
        )
    };
    let start = |rights| {
        Server::start(Settings {
            rights,
            ..Settings::default()
        })
    };
    let bounded = start(BOUNDED).await;
    run(&scenario(&bounded)).as_expected().nowhere(PASSWORD);
    for (rights, wanted) in [
        ("~* &team:* -@all +info +get +acl", "keys that match '*'"),
        (
            "~team:* &* -@all +info +get +acl",
            "channels that match '*'",
        ),
        ("~* &* +@all", "one by one"),
        ("~team:* &team:* +@all -@dangerous +info +acl", "one by one"),
        (
            "~team:* &team:* -@all +info +get +scan +acl",
            "it may run scan",
        ),
        ("~team:* &team:* -@all +info +get", "may not even be read"),
    ] {
        let server = start(rights).await;
        let said = run(&scenario(&server)).refused(ENVIRONMENT);
        let remedy = "ACL SETUSER app resetkeys ~team:* resetchannels &team:* -@all +info";
        assert!(
            said.contains(wanted) && said.contains(remedy),
            "{rights}: {said}"
        );
    }
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let servers = doors(&bounded, &[Disturbance::Scripts], &folder).await;
    let door = servers.nodes()[0].public;
    let own = "return redis.call('set', KEYS[1], ARGV[1])";
    assert!(ask(door, &["EVAL", own, "1", "k", "v"]).await.is_ok());
    let foreign = "return redis.call('set', ARGV[1], 'x')";
    let said = ask(door, &["EVAL", foreign, "0", "foreign"]).await;
    assert!(
        matches!(&said, Err(WireError::Server(text)) if text.contains("NOPERM")
            || text.contains("can't access") || text.contains("No permissions")),
        "the server refuses it: {said:?}"
    );
    servers.leave().await.expect("the keys can be removed");
}

/// An adapter that tells what it inherits.
#[tokio::test]
async fn children_inherit_no_password() {
    if !have_server() {
        return;
    }
    let server = Server::start(Settings::default()).await;
    let scenario = format!(
        "name = \"environment\"\n\
         topology.external = {{ urls = [\"{}\"], prefix = \"team:\" }}\n\
         lock.adapter = {{ name = \"env\", command = [\"sh\", \"-c\", \"env >&2\"] }}\n\
         [[step]]\nacquire = {{ client = \"a\" }}\n",
        server.url()
    );
    let url = format!("redis://app:{PASSWORD}@h");
    let run = crate::external::test_bed::run_in(
        &scenario,
        &[
            ("APP_PASSWORD", PASSWORD.to_owned()),
            ("REDIS_URL", url.clone()),
            ("OTHER", url),
            ("HARMLESS", "stays".to_owned()),
        ],
        &[],
    );
    run.nowhere(PASSWORD);
    let logs = Command::new("grep")
        .args(["-rl", "HARMLESS=stays"])
        .arg(run.folder.path().join("runs"))
        .output()
        .expect("there is grep");
    assert!(!logs.stdout.is_empty(), "the test must see the environment");
}
