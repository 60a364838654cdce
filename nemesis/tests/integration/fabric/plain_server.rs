//! One real server behind the fabric.

use std::io::ErrorKind;

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
