//! The session in docs/adapter-protocol.md, replayed against `lockstorm worker` on a real server.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use crate::support::{have_server, lockstorm, root, servers};
use lockstorm_scenarios::{Persistence, Single, Topology};
use serde_json::Value as Json;

/// The server of the document.
const ADDRESS: &str = "127.0.0.1:6379";

/// The lines of the session, in order.
fn session() -> Vec<String> {
    let path = root().join("docs/adapter-protocol.md");
    let text = fs::read_to_string(path).expect("the document is there");
    let (_, rest) = text
        .split_once("```transcript\n")
        .expect("there is a session");
    let (session, _) = rest.split_once("```").expect("it ends");
    session.lines().map(str::to_owned).collect()
}

fn json(text: &str) -> Json {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The message with the marks of `example`: what a lock leaves on its server is random each
/// time, so only how many there are and that they say something is compared.
fn with_the_marks_of(example: &Json, mut said: Json) -> Json {
    let marks = |message: &Json| message.get("marks").and_then(Json::as_array).cloned();
    if let (Some(shown), Some(told)) = (marks(example), marks(&said)) {
        let says_something = |mark: &Json| mark.as_str().is_some_and(|mark| !mark.is_empty());
        assert!(told.iter().all(says_something), "{told:?}");
        assert_eq!(told.len(), shown.len(), "{told:?}");
        said["marks"] = Json::Array(shown);
    }
    said
}

#[tokio::test]
async fn the_session_of_the_document_is_what_a_worker_says() {
    if !have_server() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let topology = Topology::Single(Single {
        persistence: Persistence::None,
    });
    let servers = servers(topology, false, folder.path()).await;
    let address = servers.nodes()[0].public.to_string();
    let mut worker = lockstorm()
        .arg("worker")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program can be started");
    let mut input = worker.stdin.take().expect("it is piped");
    let mut output = BufReader::new(worker.stdout.take().expect("it is piped")).lines();
    let session = session();
    assert!(session.len() > 15, "the session was found");
    for line in session {
        let line = line.replace(ADDRESS, &address);
        if let Some(request) = line.strip_prefix("→ ") {
            writeln!(input, "{request}").expect("it listens");
        } else {
            let expected = line.strip_prefix("← ").expect("each line has its arrow");
            let said = output.next().expect("it says more").expect("in text");
            let expected = json(expected);
            assert_eq!(with_the_marks_of(&expected, json(&said)), expected);
        }
    }
    let status = worker.wait().expect("it ends");
    assert!(status.success(), "{status}");
    assert!(output.next().is_none(), "it has said all");
}

#[test]
fn a_worker_that_is_told_nonsense_says_so_and_ends() {
    for nonsense in ["hello", "{\"id\":1,\"do\":\"dance\"}", "{\"go\":1}", "[]"] {
        let mut worker = lockstorm()
            .arg("worker")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program can be started");
        let mut input = worker.stdin.take().expect("it is piped");
        writeln!(input, "{nonsense}").expect("it listens");
        let output = worker.wait_with_output().expect("it ends by itself");
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(69), "{text}");
        assert!(
            text.contains("standard input is not the adapter protocol"),
            "{nonsense}: {text}"
        );
    }
}
