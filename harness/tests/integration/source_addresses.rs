//! Servers that cannot be told where their connections come from, and get a source address.

use std::io::{ErrorKind, Write as _};
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::process::{Child, Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::support::{lockstorm, stderr, wait_until};

const SOURCE: Ipv4Addr = Ipv4Addr::new(127, 201, 7, 9);

/// Starts a shell with this script under a source address.
fn shell(script: &str) -> Child {
    let mut command: Command = lockstorm();
    command
        .args(["source-address", &SOURCE.to_string(), "bash", "-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program can be started")
}

/// Every process that a server starts is known by the server's address.
#[test]
fn connections_of_a_server_and_of_its_children_come_from_its_address() {
    let door = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = door.local_addr().unwrap().port();
    let connect = format!("exec 3<>/dev/tcp/127.0.0.1/{port}");
    let script = format!("( {connect}; read -u 3 word ) & {connect}; read -u 3 word; wait");
    let mut server = shell(&script);
    for _ in 0..2 {
        let (mut stream, from) = door.accept().unwrap();
        assert_eq!(from.ip(), IpAddr::from(SOURCE));
        stream.write_all(b"word\n").unwrap();
    }
    assert!(server.wait().unwrap().success());
}

#[test]
fn a_server_that_is_to_end_is_told_so_and_how_it_ended_is_passed_on() {
    let door = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = door.local_addr().unwrap().port();
    let script = format!(
        "trap 'exit 9' TERM; exec 3<>/dev/tcp/127.0.0.1/{port}; read -u 3 line 2>/dev/null & wait"
    );
    let server = shell(&script);
    let (_stream, _) = door.accept().unwrap();
    kill(Pid::from_raw(server.id().cast_signed()), Signal::SIGTERM).unwrap();
    let ended = server.wait_with_output().unwrap();
    assert!(!ended.status.success());
    let told = stderr(&ended);
    assert!(told.contains("exit status: 9"), "{told}");
}

/// A server does not outlive the program that stands between it and the harness.
#[test]
fn a_server_dies_with_the_program_that_started_it() {
    let door = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = door.local_addr().unwrap().port();
    let mut server = shell(&format!(
        "exec 3<>/dev/tcp/127.0.0.1/{port}; read -u 3 word"
    ));
    let (stream, _) = door.accept().unwrap();
    server.kill().unwrap();
    server.wait().unwrap();
    stream.set_nonblocking(true).unwrap();
    wait_until("the connection of the server is closed", || {
        let seen = stream.peek(&mut [0]);
        seen.map_or_else(
            |error| error.kind() != ErrorKind::WouldBlock,
            |read| read == 0,
        )
    });
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let output = lockstorm()
        .args(["source-address", "127.0.0.2", "/no/such/server"])
        .output()
        .unwrap();
    assert!(!output.status.success());
    let told = stderr(&output);
    assert!(told.contains("/no/such/server"), "{told}");
}
