//! Connections on which a reply is late: closed, or used again behind that reply.

use crate::support::have_server;
use crate::support::test_bed::TestBed;
use lockstorm_harness::connection::{CallError, Dialer, LateReply, Primary};
use redis::{cmd, from_redis_value};

const QUEUE: &str = "queue";

/// Client number `n`, not connected yet.
fn client(bed: &TestBed, n: usize, late: LateReply) -> Primary {
    let context = bed.context(n);
    let dialer = Dialer {
        late,
        ..context.dialer
    };
    Primary::new(dialer, context.route)
}

/// Number that the server gave to the connection of this client.
async fn connection_id(client: &mut Primary) -> i64 {
    let reply = client.call(cmd("CLIENT").arg("ID")).await;
    from_redis_value(reply.expect("the server answers")).expect("it is a number")
}

/// Asks for an element of a queue, and gives up before there is one; then it comes.
async fn be_answered_late(bed: &TestBed, client: &mut Primary) {
    let late = client.call(cmd("BLPOP").arg(QUEUE).arg(0)).await;
    assert!(matches!(late, Err(CallError::Unknown(_))), "{late:?}");
    bed.ask(&["RPUSH", QUEUE, "late"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_reply_is_nobody_elses() {
    if !have_server() {
        return;
    }
    let bed = TestBed::single().await;
    for (n, (late, drops, is_same)) in [
        (LateReply::Closes, false, false),
        (LateReply::TakesSpare, false, false),
        (LateReply::WaitsBehind, false, true),
        (LateReply::WaitsBehind, true, false),
    ]
    .into_iter()
    .enumerate()
    {
        let mut client = client(&bed, n, late);
        let before = connection_id(&mut client).await;
        be_answered_late(&bed, &mut client).await;
        if drops {
            client.drop_late();
        }
        let after = connection_id(&mut client).await;
        assert_eq!(before == after, is_same, "{late:?}, {drops}");
        bed.ask(&["DEL", QUEUE]).await;
    }
}

/// Requests arrive, and their replies do not: a new connection cannot be opened either.
#[tokio::test(flavor = "multi_thread")]
async fn spare_connections_carry_requests_where_no_reply_comes() {
    if !have_server() {
        return;
    }
    let mut bed = TestBed::behind_the_fabric().await;
    for (n, (late, arrived)) in [
        (LateReply::Closes, 1),
        (LateReply::WaitsBehind, 3),
        (LateReply::TakesSpare, 3),
    ]
    .into_iter()
    .enumerate()
    {
        let mut client = client(&bed, n, late);
        client.greet();
        client.connect().await;
        bed.cut("nodes", &format!("c{n}")).await;
        for _ in 0..3 {
            let late = client.call(cmd("INCR").arg(n)).await;
            assert!(matches!(late, Err(CallError::Unknown(_))), "{late:?}");
        }
        assert_eq!(
            bed.number(&["GET", &n.to_string()]).await,
            arrived,
            "{late:?}"
        );
        bed.heal("nodes", &format!("c{n}")).await;
    }
}
