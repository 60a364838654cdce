//! Links that are slow. Only lower bounds are asserted: a loaded machine is late by itself, and
//! never early.

use std::num::NonZeroU64;
use std::time::{Duration, Instant};

use lockstorm_nemesis::{Network as _, Slowness};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::kernel::stage::{Stage, expect_bytes};

#[tokio::test]
async fn a_slow_link_delivers_later_and_the_way_back_is_as_fast_as_ever() {
    let Some(stage) = Stage::set().await else {
        return;
    };
    let (mut caller, mut server) = stage.connect().await;
    let slow = stage.kernel.slow(
        "a",
        "n",
        Slowness {
            delay: Duration::from_millis(100),
            ..Slowness::default()
        },
    );
    let sent = Instant::now();
    caller.write_all(b"one ").await.unwrap();
    caller.write_all(b"two").await.unwrap();
    expect_bytes(&mut server, b"one two").await;
    assert!(sent.elapsed() >= Duration::from_millis(100));
    assert!(stage.kernel.slowed("a", "n") >= 7);
    assert_eq!(stage.kernel.slowed("n", "a"), 0);
    drop(slow);
    let before = stage.kernel.slowed("a", "n");
    caller.write_all(b"three").await.unwrap();
    expect_bytes(&mut server, b"three").await;
    assert_eq!(stage.kernel.slowed("a", "n"), before, "it is healed");
}

#[tokio::test]
async fn a_throttled_link_takes_its_time_and_loses_nothing_with_jitter() {
    let Some(stage) = Stage::set().await else {
        return;
    };
    let (mut caller, mut server) = stage.connect().await;
    let _slow = stage.kernel.slow(
        "a",
        "n",
        Slowness {
            jitter: Duration::from_millis(20),
            bytes_per_second: NonZeroU64::new(100_000),
            ..Slowness::default()
        },
    );
    let bytes: Vec<u8> = (0..30_000_u32).map(|n| (n / 7) as u8).collect();
    let sent = Instant::now();
    caller.write_all(&bytes).await.unwrap();
    caller.shutdown().await.unwrap();
    let mut arrived = Vec::new();
    server.read_to_end(&mut arrived).await.unwrap();
    assert!(arrived == bytes, "other bytes arrived than were sent");
    assert!(sent.elapsed() >= Duration::from_millis(300));
}
