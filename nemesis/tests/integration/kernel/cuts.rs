//! Links that let nothing pass.

use lockstorm_nemesis::Network as _;
use lockstorm_scenarios::CutMode;
use tokio::io::AsyncWriteExt as _;

use crate::kernel::stage::{Stage, expect_bytes, expect_reset, expect_silence};

#[tokio::test]
async fn bytes_pass_both_ways_where_nothing_is_cut() {
    let Some(stage) = Stage::set().await else {
        return;
    };
    let (mut caller, mut server) = stage.connect().await;
    caller.write_all(b"question").await.unwrap();
    expect_bytes(&mut server, b"question").await;
    server.write_all(b"answer").await.unwrap();
    expect_bytes(&mut caller, b"answer").await;
    assert_eq!(stage.kernel.held_back("a", "n"), 0);
    assert_eq!(stage.kernel.held_back("n", "a"), 0);
}

#[tokio::test]
async fn a_cut_keeps_bytes_from_arriving_until_it_heals_and_the_way_back_is_open() {
    let Some(stage) = Stage::set().await else {
        return;
    };
    let (mut caller, mut server) = stage.connect().await;
    let cut = stage.kernel.cut("a", "n", CutMode::Stall);
    server.write_all(b"news").await.unwrap();
    expect_bytes(&mut caller, b"news").await;
    caller.write_all(b"late").await.unwrap();
    stage.held_more("a", "n", 3).await;
    expect_silence(&server);
    assert_eq!(stage.kernel.held_back("n", "a"), 0);
    drop(cut);
    expect_bytes(&mut server, b"late").await;
}

#[tokio::test]
async fn nobody_gets_a_connection_over_a_cut_until_it_heals() {
    let Some(stage) = Stage::set().await else {
        return;
    };
    let cut = stage.kernel.cut("n", "a", CutMode::Stall);
    let call = stage.call();
    let heal = async {
        stage.held_more("n", "a", 0).await;
        drop(cut);
    };
    let (stream, ()) = tokio::join!(call, heal);
    let mut caller = stream.unwrap();
    let mut server = stage.accept().await;
    server.write_all(b"welcome").await.unwrap();
    expect_bytes(&mut caller, b"welcome").await;
}

#[tokio::test]
async fn two_cuts_of_one_link_nest() {
    let Some(stage) = Stage::set().await else {
        return;
    };
    let (mut caller, mut server) = stage.connect().await;
    let cuts = [(); 2].map(|()| stage.kernel.cut("a", "n", CutMode::Stall));
    caller.write_all(b"x").await.unwrap();
    let [first, second] = cuts;
    drop(first);
    let before = stage.kernel.held_back("a", "n");
    stage.held_more("a", "n", before).await;
    expect_silence(&server);
    drop(second);
    expect_bytes(&mut server, b"x").await;
}

/// Neither end says anything: what resets the connection is the cut, not the next packet.
#[tokio::test]
async fn a_resetting_cut_ends_silent_connections_and_refuses_new_ones_until_it_heals() {
    let Some(stage) = Stage::set().await else {
        return;
    };
    let (mut caller, mut server) = stage.connect().await;
    let cut = stage.kernel.cut("a", "n", CutMode::Reset);
    expect_reset(&mut caller).await;
    expect_reset(&mut server).await;
    let before = stage.kernel.held_back("a", "n");
    assert!(before > 0, "the reset is counted");
    stage.call().await.unwrap_err();
    assert!(stage.kernel.held_back("a", "n") > before, "and so is this");
    drop(cut);
    let (mut caller, mut server) = stage.connect().await;
    caller.write_all(b"again").await.unwrap();
    expect_bytes(&mut server, b"again").await;
}

/// Replies of the node alone are faulted here; again neither end says anything.
#[tokio::test]
async fn a_resetting_cut_of_the_way_back_refuses_connections_too() {
    let Some(stage) = Stage::set().await else {
        return;
    };
    let (mut caller, mut server) = stage.connect().await;
    let cut = stage.kernel.cut("n", "a", CutMode::Reset);
    expect_reset(&mut caller).await;
    expect_reset(&mut server).await;
    let refused = async {
        match stage.call().await {
            // The handshake was over for the caller before the node was told.
            Ok(mut caller) => expect_reset(&mut caller).await,
            Err(error) => drop(error),
        }
    };
    refused.await;
    drop(cut);
    stage.connect().await;
}

/// The end of the network is the end of its rules, whoever still holds a guard.
#[tokio::test]
async fn without_its_keeper_the_network_lets_everything_pass() {
    let Some(stage) = Stage::set().await else {
        return;
    };
    let (mut caller, mut server) = stage.connect().await;
    let _cut = stage.kernel.cut("a", "n", CutMode::Stall);
    caller.write_all(b"late").await.unwrap();
    stage.held_more("a", "n", 0).await;
    drop(stage.kernel);
    expect_bytes(&mut server, b"late").await;
}
