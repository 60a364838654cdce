//! Loss and reordering, which only packets can suffer. TCP puts both right, so that what arrives is
//! what was sent; that it had to is shown by the network's own counts.

use std::time::Duration;

use lockstorm_nemesis::{Loss, Network as _, Packets, Reordering};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::kernel::stage::{Stage, eventually};

/// Bytes of a transfer: some hundred packets, or a few where the kernel hands several over as one.
const BYTES: usize = 300_000;

/// Sends a lot from a to n, and sees that it arrives as it was.
async fn transfer(stage: &Stage) {
    let (mut caller, mut server) = stage.connect().await;
    let bytes: Vec<u8> = (0..BYTES).map(|n| (n / 11) as u8).collect();
    let mut arrived = Vec::new();
    let send = async {
        caller.write_all(&bytes).await.unwrap();
        caller.shutdown().await.unwrap();
    };
    let receive = async { server.read_to_end(&mut arrived).await.unwrap() };
    tokio::join!(send, receive);
    assert!(arrived == bytes, "other bytes arrived than were sent");
}

/// Sends a lot again and again until it has met what the link does to some packets.
async fn transfer_until(stage: &Stage, what: &str, met: impl Fn() -> bool) {
    eventually(what, async || {
        transfer(stage).await;
        met()
    })
    .await;
}

fn packets(stage: &Stage) -> &dyn Packets {
    let packets = stage.kernel.packets();
    packets.expect("the kernel's network carries packets")
}

#[tokio::test]
async fn a_lossy_link_loses_packets_and_no_bytes() {
    let Some(stage) = Stage::set().await else {
        return;
    };
    let lossy = packets(&stage).lose("a", "n", Loss { percent: 10 });
    let some_are_lost = || packets(&stage).lost("a", "n") > 0;
    transfer_until(&stage, "a packet is lost", some_are_lost).await;
    let lost = packets(&stage).lost("a", "n");
    assert_eq!(packets(&stage).lost("n", "a"), 0);
    drop(lossy);
    transfer(&stage).await;
    assert_eq!(packets(&stage).lost("a", "n"), lost, "it is healed");
}

#[tokio::test]
async fn a_reordering_link_has_packets_overtaken_and_bytes_arrive_in_order() {
    let Some(stage) = Stage::set().await else {
        return;
    };
    let reordering = Reordering {
        percent: 20,
        by: Duration::from_millis(5),
    };
    let reordered = packets(&stage).reorder("a", "n", reordering);
    let some_are_overtaken = || packets(&stage).overtaken("a", "n") > 0;
    transfer_until(&stage, "a packet is overtaken", some_are_overtaken).await;
    assert_eq!(packets(&stage).overtaken("n", "a"), 0);
    drop(reordered);
    transfer(&stage).await;
}
