//! Links over plain sockets: what a cut does to bytes and connections, and what it leaves alone.

use std::future::pending;
use std::io::ErrorKind;
use std::num::NonZeroU64;
use std::time::{Duration, Instant};

use lockstorm_nemesis::{Fabric, Network, Slowness};
use lockstorm_scenarios::{CutMode, System};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use crate::fabric::support::{Addresses, eventually};

/// One caller `a` and one node `n` behind the fabric.
struct Stage {
    fabric: Fabric,
    addresses: Addresses,
    server: TcpListener,
}

impl Stage {
    async fn set() -> Self {
        let addresses = Addresses::claim();
        let server = TcpListener::bind(addresses.behind(1)).await.unwrap();
        let fabric = Fabric::new(System::Redis);
        fabric.introduce("a", addresses.client(1));
        fabric
            .expose("n", addresses.door(1), addresses.behind(1))
            .await
            .unwrap();
        Self {
            fabric,
            addresses,
            server,
        }
    }

    /// Connects as `a`; the server may not know of it yet.
    async fn call(&self) -> TcpStream {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind((self.addresses.client(1), 0).into()).unwrap();
        socket.connect(self.addresses.door(1)).await.unwrap()
    }

    /// Both ends of one connection.
    async fn connect(&self) -> (TcpStream, TcpStream) {
        let caller = self.call().await;
        (caller, self.server.accept().await.unwrap().0)
    }

    /// Waits until the link has held back more than `before`.
    async fn held_more(&self, from: &str, to: &str, before: u64) -> u64 {
        eventually("the cut holds something back", async || {
            self.fabric.held_back(from, to) > before
        })
        .await;
        self.fabric.held_back(from, to)
    }
}

async fn expect_bytes(stream: &mut TcpStream, bytes: &[u8]) {
    let mut read = vec![0; bytes.len()];
    stream.read_exact(&mut read).await.unwrap();
    assert_eq!(read, bytes);
}

fn expect_silence(stream: &TcpStream) {
    let read = stream.try_read(&mut [0; 1]);
    assert_eq!(read.unwrap_err().kind(), ErrorKind::WouldBlock);
}

async fn expect_reset(stream: &mut TcpStream) {
    let read = stream.read(&mut [0; 1]).await;
    assert_eq!(read.unwrap_err().kind(), ErrorKind::ConnectionReset);
}

#[tokio::test]
async fn bytes_pass_both_ways_and_the_server_sees_who_calls() {
    let stage = Stage::set().await;
    let (mut caller, mut server) = stage.connect().await;
    caller.write_all(b"question").await.unwrap();
    expect_bytes(&mut server, b"question").await;
    server.write_all(b"answer").await.unwrap();
    expect_bytes(&mut caller, b"answer").await;
    assert_eq!(server.peer_addr().unwrap().ip(), stage.addresses.client(1));
    assert_eq!(stage.fabric.held_back("a", "n"), 0);
}

/// Sends `bytes` in chunks of random sizes, and ends the stream.
async fn send_in_chunks(stream: &mut (impl AsyncWriteExt + Unpin), bytes: &[u8], seed: u64) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut rest = bytes;
    while !rest.is_empty() {
        let size = rng.random_range(1..=40_000).min(rest.len());
        stream.write_all(&rest[..size]).await.unwrap();
        rest = &rest[size..];
    }
    stream.shutdown().await.unwrap();
}

/// Two megabytes each way at once, with the links cut and healed over and over if `storm`. The
/// size is far beyond every buffer on the way, so that both pumps run into full sockets.
async fn two_megabytes_each_way(storm: bool) {
    let stage = Stage::set().await;
    let (caller, server) = stage.connect().await;
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut there = vec![0; 2_000_000];
    let mut back = vec![0; 2_000_000];
    rng.fill_bytes(&mut there);
    rng.fill_bytes(&mut back);
    let (mut from_caller, mut to_caller) = caller.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let (mut arrived_there, mut arrived_back) = (Vec::new(), Vec::new());
    let transfer = async {
        tokio::join!(
            send_in_chunks(&mut to_caller, &there, 1),
            send_in_chunks(&mut to_server, &back, 2),
            async { from_server.read_to_end(&mut arrived_there).await.unwrap() },
            async { from_caller.read_to_end(&mut arrived_back).await.unwrap() },
        )
    };
    // In force before the first byte, or a quick transfer could be over before any cut.
    let mut cut = storm.then(|| ("a", "n", stage.fabric.cut("a", "n", CutMode::Stall)));
    let cuts = async {
        let mut before = 0;
        while let Some((from, to, guard)) = cut.take() {
            while stage.fabric.held_back(from, to) == before {
                tokio::task::yield_now().await;
            }
            drop(guard);
            let (from, to) = if rng.random() { ("a", "n") } else { ("n", "a") };
            before = stage.fabric.held_back(from, to);
            cut = Some((from, to, stage.fabric.cut(from, to, CutMode::Stall)));
        }
        pending::<()>().await;
    };
    tokio::select! {
        _ = transfer => {}
        () = cuts => {}
    }
    assert!(arrived_there == there, "bytes to the server differ");
    assert!(arrived_back == back, "bytes to the caller differ");
    let held_back = stage.fabric.held_back("a", "n") + stage.fabric.held_back("n", "a");
    assert_eq!(held_back > 0, storm, "{held_back} bytes held back");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_byte_is_lost_or_reordered_in_either_direction() {
    two_megabytes_each_way(false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cuts_that_come_and_go_lose_and_reorder_nothing() {
    two_megabytes_each_way(true).await;
}

#[tokio::test]
async fn a_stall_holds_one_direction_and_a_heal_delivers_in_order() {
    let stage = Stage::set().await;
    let (mut caller, mut server) = stage.connect().await;
    let cut = stage.fabric.cut("a", "n", CutMode::Stall);
    caller.write_all(b"one ").await.unwrap();
    stage.held_more("a", "n", 0).await;
    caller.write_all(b"two").await.unwrap();
    // The other direction still carries data, later than the held bytes were sent.
    server.write_all(b"back").await.unwrap();
    expect_bytes(&mut caller, b"back").await;
    expect_silence(&server);
    assert_eq!(stage.fabric.held_back("n", "a"), 0);
    drop(cut);
    expect_bytes(&mut server, b"one two").await;
}

#[tokio::test]
async fn a_cut_of_one_caller_leaves_another_alone() {
    let stage = Stage::set().await;
    stage.fabric.introduce("b", stage.addresses.client(2));
    let _cut = stage.fabric.cut("b", "n", CutMode::Stall);
    let (mut caller, mut server) = stage.connect().await;
    caller.write_all(b"free").await.unwrap();
    expect_bytes(&mut server, b"free").await;
}

#[tokio::test]
async fn overlapping_cuts_heal_with_the_last_guard() {
    let stage = Stage::set().await;
    let (mut caller, mut server) = stage.connect().await;
    let first = stage.fabric.cut("a", "n", CutMode::Stall);
    caller.write_all(b"held").await.unwrap();
    let once = stage.held_more("a", "n", 0).await;
    let second = stage.fabric.cut("a", "n", CutMode::Stall);
    let twice = stage.held_more("a", "n", once).await;
    drop(first);
    // The pump has seen the change, for it counts what it holds once more.
    stage.held_more("a", "n", twice).await;
    server.write_all(b"back").await.unwrap();
    expect_bytes(&mut caller, b"back").await;
    expect_silence(&server);
    drop(second);
    expect_bytes(&mut server, b"held").await;
}

#[tokio::test]
async fn a_reset_ends_both_sides_and_refuses_newcomers_until_it_heals() {
    let stage = Stage::set().await;
    let (mut caller, mut server) = stage.connect().await;
    let cut = stage.fabric.cut("n", "a", CutMode::Reset);
    expect_reset(&mut caller).await;
    expect_reset(&mut server).await;
    let mut newcomer = stage.call().await;
    expect_reset(&mut newcomer).await;
    assert_eq!(stage.fabric.held_back("n", "a"), 2);
    drop(cut);
    let (mut caller, mut server) = stage.connect().await;
    caller.write_all(b"again").await.unwrap();
    expect_bytes(&mut server, b"again").await;
}

#[tokio::test]
async fn a_connection_that_its_caller_has_closed_is_not_counted_as_reset() {
    let stage = Stage::set().await;
    let (caller, server) = stage.connect().await;
    drop(caller);
    let _cut = stage.fabric.cut("n", "a", CutMode::Reset);
    let mut newcomer = stage.call().await;
    expect_reset(&mut newcomer).await;
    assert_eq!(stage.fabric.held_back("n", "a"), 1, "the newcomer's");
    drop(server);
}

/// A handshake needs both directions, so a stall of either keeps the server from knowing.
#[tokio::test]
async fn a_new_connection_reaches_the_server_only_after_the_heal() {
    for (from, to) in [("a", "n"), ("n", "a")] {
        let stage = Stage::set().await;
        let cut = stage.fabric.cut(from, to, CutMode::Stall);
        let mut caller = stage.call().await;
        caller.write_all(b"hello").await.unwrap();
        stage.held_more(from, to, 0).await;
        tokio::select! {
            biased;
            _ = stage.server.accept() => panic!("the server got a connection through a cut"),
            () = std::future::ready(()) => {}
        }
        drop(cut);
        let mut server = stage.server.accept().await.unwrap().0;
        expect_bytes(&mut server, b"hello").await;
    }
}

#[tokio::test]
async fn a_caller_that_gave_up_on_a_held_connection_never_reaches_the_server() {
    let stage = Stage::set().await;
    let cut = stage.fabric.cut("a", "n", CutMode::Stall);
    let mut impatient = stage.call().await;
    impatient.write_all(b"too late").await.unwrap();
    stage.held_more("a", "n", 0).await;
    // Gone for good once the fabric has closed its side too, which it does under the cut.
    impatient.shutdown().await.unwrap();
    expect_reset(&mut impatient).await;
    drop(cut);
    let (mut caller, mut server) = stage.connect().await;
    caller.write_all(b"in time").await.unwrap();
    expect_bytes(&mut server, b"in time").await;
}

#[tokio::test]
async fn bytes_and_the_end_of_a_stream_are_held_back_alike() {
    let stage = Stage::set().await;
    let (mut caller, mut server) = stage.connect().await;
    let cut = stage.fabric.cut("n", "a", CutMode::Stall);
    server.write_all(b"last words").await.unwrap();
    drop(server);
    stage.held_more("n", "a", 0).await;
    expect_silence(&caller);
    drop(cut);
    expect_bytes(&mut caller, b"last words").await;
    assert_eq!(caller.read(&mut [0; 1]).await.unwrap(), 0);
}

#[tokio::test]
async fn a_half_closed_connection_still_carries_the_answer() {
    let stage = Stage::set().await;
    let (mut caller, mut server) = stage.connect().await;
    caller.write_all(b"question").await.unwrap();
    caller.shutdown().await.unwrap();
    let mut question = Vec::new();
    server.read_to_end(&mut question).await.unwrap();
    assert_eq!(question, b"question");
    server.write_all(b"answer").await.unwrap();
    drop(server);
    let mut answer = Vec::new();
    caller.read_to_end(&mut answer).await.unwrap();
    assert_eq!(answer, b"answer");
}

#[tokio::test]
async fn a_reset_by_one_side_arrives_at_the_other() {
    let stage = Stage::set().await;
    let (mut caller, server) = stage.connect().await;
    server.set_zero_linger().unwrap();
    drop(server);
    expect_reset(&mut caller).await;
}

#[tokio::test]
async fn a_caller_of_a_dead_server_is_reset_at_once() {
    let stage = Stage::set().await;
    let Stage {
        fabric,
        addresses,
        server,
    } = stage;
    drop(server);
    let mut caller = TcpStream::connect(addresses.door(1)).await.unwrap();
    expect_reset(&mut caller).await;
    drop(fabric);
}

#[tokio::test]
async fn dropping_the_fabric_ends_its_connections_and_listeners() {
    let stage = Stage::set().await;
    let (mut caller, _server) = stage.connect().await;
    let door = stage.addresses.door(1);
    drop(stage.fabric);
    assert_eq!(caller.read(&mut [0; 1]).await.unwrap(), 0);
    eventually("nobody listens any more", async || {
        TcpStream::connect(door).await.is_err()
    })
    .await;
}

#[tokio::test]
async fn a_closed_fabric_leaves_nothing_behind_it() {
    let stage = Stage::set().await;
    let (mut caller, _server) = stage.connect().await;
    stage.fabric.close().await;
    assert_eq!(caller.read(&mut [0; 1]).await.unwrap(), 0);
    let door = stage.addresses.door(1);
    // A process that another test starts has every open file until it runs its program.
    eventually("the door is shut", async || {
        let refused = TcpStream::connect(door).await;
        refused.is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
    })
    .await;
}

fn delay(ms: u64) -> Slowness {
    Slowness {
        delay: Duration::from_millis(ms),
        ..Slowness::default()
    }
}

/// Only lower bounds are asserted: a loaded machine is late by itself, and never early.
#[tokio::test]
async fn a_slow_link_delivers_later_and_the_other_way_is_as_fast_as_ever() {
    let stage = Stage::set().await;
    let (mut caller, mut server) = stage.connect().await;
    let slow = stage.fabric.slow("a", "n", delay(100));
    let sent = Instant::now();
    caller.write_all(b"one ").await.unwrap();
    caller.write_all(b"two").await.unwrap();
    server.write_all(b"at once").await.unwrap();
    expect_bytes(&mut caller, b"at once").await;
    expect_bytes(&mut server, b"one two").await;
    assert!(sent.elapsed() >= Duration::from_millis(100));
    assert_eq!(stage.fabric.slowed("a", "n"), 7);
    assert_eq!(stage.fabric.slowed("n", "a"), 0);
    drop(slow);
    caller.write_all(b"three").await.unwrap();
    expect_bytes(&mut server, b"three").await;
    assert_eq!(
        stage.fabric.slowed("a", "n"),
        7,
        "a healed link is not slow"
    );
}

#[tokio::test]
async fn two_delays_add_up_and_what_was_sent_before_the_heal_is_not_overtaken() {
    let stage = Stage::set().await;
    let (mut caller, mut server) = stage.connect().await;
    let sent = Instant::now();
    let slow = [60, 70].map(|ms| stage.fabric.slow("a", "n", delay(ms)));
    caller.write_all(b"slow, ").await.unwrap();
    eventually("the bytes are under way", async || {
        stage.fabric.slowed("a", "n") == 6
    })
    .await;
    drop(slow);
    caller.write_all(b"fast").await.unwrap();
    expect_bytes(&mut server, b"slow, fast").await;
    assert!(sent.elapsed() >= Duration::from_millis(130));
}

#[tokio::test]
async fn a_throttled_link_takes_its_time_and_loses_nothing_with_jitter() {
    let stage = Stage::set().await;
    let (mut caller, mut server) = stage.connect().await;
    let slowness = Slowness {
        jitter: Duration::from_millis(20),
        bytes_per_second: NonZeroU64::new(100_000),
        ..Slowness::default()
    };
    let _slow = stage.fabric.slow("a", "n", slowness);
    let mut bytes = vec![0; 30_000];
    ChaCha8Rng::seed_from_u64(3).fill_bytes(&mut bytes);
    let sent = Instant::now();
    caller.write_all(&bytes).await.unwrap();
    caller.shutdown().await.unwrap();
    let mut arrived = Vec::new();
    server.read_to_end(&mut arrived).await.unwrap();
    assert!(arrived == bytes, "other bytes arrived than were sent");
    assert!(sent.elapsed() >= Duration::from_millis(300));
}

#[tokio::test]
async fn a_cut_holds_back_what_a_slow_link_has_under_way() {
    let stage = Stage::set().await;
    let (mut caller, mut server) = stage.connect().await;
    let _slow = stage.fabric.slow("a", "n", delay(50));
    let cut = stage.fabric.cut("a", "n", CutMode::Stall);
    caller.write_all(b"late").await.unwrap();
    stage.held_more("a", "n", 0).await;
    expect_silence(&server);
    drop(cut);
    expect_bytes(&mut server, b"late").await;
}
