//! One real server behind the fabric.

use std::io::ErrorKind;
use std::time::Instant;

use lockstorm_nemesis::{Fabric, Network};
use lockstorm_scenarios::{CutMode, System};

use crate::fabric::support::{Addresses, Client, Reply, Server, eventually, redis_server};

async fn stage() -> Option<(Fabric, Addresses, Server)> {
    let program = redis_server()?;
    let addresses = Addresses::claim();
    let server = Server::start(&program, addresses.behind(1), "save \"\"", false, &[]).await;
    let fabric = Fabric::new(System::Redis);
    fabric.introduce("a", addresses.client(1));
    fabric
        .expose("n1", addresses.door(1), addresses.behind(1))
        .await
        .unwrap();
    Some((fabric, addresses, server))
}

#[tokio::test]
async fn a_server_behind_the_fabric_answers_and_knows_its_clients_by_address() {
    let Some((_fabric, addresses, server)) = stage().await else {
        return;
    };
    let (from, door) = (addresses.client(1), addresses.door(1));
    let mut client = Client::connect(from, door).await.unwrap();
    client.call(&["SET", "k", "v"]).await.unwrap();
    assert_eq!(
        client.call(&["GET", "k"]).await.unwrap(),
        Reply::Text("v".to_owned())
    );
    let list = server.ask(&["CLIENT", "LIST"]).await;
    assert!(list.text().contains(&format!("addr={from}:")), "{list:?}");
}

/// The command arrives and takes effect while its reply is held back: the outcome that a client
/// can only call indeterminate.
#[tokio::test]
async fn a_cut_of_the_way_back_hides_a_reply_whose_command_took_effect() {
    let Some((fabric, addresses, server)) = stage().await else {
        return;
    };
    let mut client = Client::connect(addresses.client(1), addresses.door(1))
        .await
        .unwrap();
    client.call(&["PING"]).await.unwrap();
    let cut = fabric.cut("n1", "a", CutMode::Stall);
    client.send(&["SET", "k", "v"]).await.unwrap();
    eventually("the reply is held back", async || {
        fabric.held_back("n1", "a") > 0
    })
    .await;
    assert_eq!(server.ask(&["GET", "k"]).await, Reply::Text("v".to_owned()));
    drop(cut);
    assert_eq!(client.reply().await.unwrap(), Reply::Text("OK".to_owned()));
}

#[tokio::test]
async fn a_client_of_a_killed_server_learns_of_it_at_once() {
    let Some((_fabric, addresses, mut server)) = stage().await else {
        return;
    };
    let mut client = Client::connect(addresses.client(1), addresses.door(1))
        .await
        .unwrap();
    client.call(&["PING"]).await.unwrap();
    server.kill();
    let lost = client.reply().await.unwrap_err().kind();
    assert!(
        matches!(lost, ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset),
        "{lost}"
    );
}

#[tokio::test]
async fn a_reply_is_dated_when_the_server_sends_it_and_not_while_one_is_due() {
    let Some((fabric, addresses, _server)) = stage().await else {
        return;
    };
    let (from, door) = (addresses.client(1), addresses.door(1));
    let mut client = Client::connect(from, door).await.unwrap();
    assert_eq!(fabric.last_reply("a"), None);
    client.call(&["PING"]).await.unwrap();
    let first = fabric.last_reply("a");
    assert!(first.is_some());
    let cut = fabric.cut("n1", "a", CutMode::Stall);
    client.send(&["SET", "k", "v"]).await.unwrap();
    eventually("the reply is held back", async || {
        fabric.held_back("n1", "a") > 0
    })
    .await;
    let held_back = Instant::now();
    let (node, second) = fabric.last_reply("a").expect("the server has replied");
    assert_eq!(node, "n1");
    assert!(Some(second) > first.map(|(_, first)| first) && second <= held_back);
    drop(cut);
    client.reply().await.unwrap();
    assert_eq!(fabric.last_reply("a"), Some((node, second)));
    client.send(&["BLPOP", "queue", "0"]).await.unwrap();
    eventually("the request is read", async || {
        fabric.last_reply("a").is_none()
    })
    .await;
}
