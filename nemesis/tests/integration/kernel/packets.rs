//! Loss and reordering, which only packets can suffer. TCP puts both right, so that what arrives is
//! what was sent; that it had to is shown by the network's own counts.

use std::time::Duration;

use lockstorm_nemesis::{Loss, Network as _, Packets, Reordering};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::kernel::stage::Stage;

/// Bytes of a transfer: some hundred packets.
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
    transfer(&stage).await;
    let lost = packets(&stage).lost("a", "n");
    assert!(lost > 0, "of hundreds");
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
    transfer(&stage).await;
    let overtaken = packets(&stage).overtaken("a", "n");
    assert!(overtaken > 0, "of hundreds");
    assert_eq!(packets(&stage).overtaken("n", "a"), 0);
    drop(reordered);
    transfer(&stage).await;
}
