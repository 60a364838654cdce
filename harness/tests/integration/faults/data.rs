//! Faults of what a server holds, and of its connections and attention.

use std::time::Duration;

use lockstorm_checker::history::FaultPhase;
use lockstorm_harness::connection::Wire;
use lockstorm_scenarios::{
    BusyScript, ConnectionUse, DurationSpec, Evict, EvictionPolicy, FaultSpec, FlushAll,
    FlushScripts, KillConnections, Memory, Persistence, Sleep,
};
use tokio::net::TcpSocket;
use tokio::time::Instant;

use crate::faults::test_bed::{TestBed, WHOLE_LIFE, bed, replicated, restart, single};
use crate::support::have_server;

const NODE: &str = "primary";

fn node() -> String {
    NODE.to_owned()
}

/// Injects a fault that must be found to have done nothing.
async fn expect_no_effect(bed: &mut TestBed, fault: FaultSpec, why: &str) {
    let error = bed.nemesis.inject(&fault).await.expect_err(why);
    assert!(error.to_string().contains(why), "{error}");
    assert!(!bed.notes.phases().contains(&FaultPhase::Observed));
}

#[tokio::test(flavor = "multi_thread")]
async fn flush_all_leaves_no_key_on_the_primary_or_its_replica() {
    if !have_server() {
        return;
    }
    let mut bed = bed(replicated(), false).await;
    bed.ask(NODE, &["SET", "lock", "a"]).await.expect("set");
    bed.until("replica-1", &["EXISTS", "lock"], |n| n == "1")
        .await;
    bed.inject(FaultSpec::FlushAll(FlushAll { node: node() }))
        .await;
    assert_eq!(bed.ask(NODE, &["DBSIZE"]).await.as_deref(), Ok("0"));
    bed.until("replica-1", &["DBSIZE"], |n| n == "0").await;
    assert_eq!(bed.notes.phases(), WHOLE_LIFE);
}

#[tokio::test(flavor = "multi_thread")]
async fn flushing_an_empty_server_is_no_fault() {
    if !have_server() {
        return;
    }
    let mut bed = bed(single(Persistence::None), false).await;
    let fault = FaultSpec::FlushAll(FlushAll { node: node() });
    expect_no_effect(&mut bed, fault, "no key to remove").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flushed_script_is_answered_noscript() {
    if !have_server() {
        return;
    }
    let mut bed = bed(single(Persistence::None), false).await;
    let digest = bed
        .ask(NODE, &["SCRIPT", "LOAD", "return 7"])
        .await
        .expect("loaded");
    let run = ["EVALSHA", &digest, "0"];
    assert_eq!(bed.ask(NODE, &run).await.as_deref(), Ok("7"));
    bed.inject(FaultSpec::FlushScripts(FlushScripts { node: node() }))
        .await;
    let error = bed.ask(NODE, &run).await.expect_err("it is forgotten");
    assert!(error.to_lowercase().contains("noscript"), "{error}");
    assert_eq!(bed.notes.phases(), WHOLE_LIFE);
}

#[tokio::test(flavor = "multi_thread")]
async fn flushing_no_scripts_is_no_fault() {
    if !have_server() {
        return;
    }
    let mut bed = bed(single(Persistence::None), false).await;
    let fault = FaultSpec::FlushScripts(FlushScripts { node: node() });
    expect_no_effect(&mut bed, fault, "no script to forget").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_is_evicted_and_the_memory_has_room_again() {
    if !have_server() {
        return;
    }
    for policy in [EvictionPolicy::VolatileLru, EvictionPolicy::AllkeysLru] {
        let mut bed = bed(single(Persistence::None), false).await;
        bed.ask(NODE, &["SET", "lock", "a", "PX", "600000"])
            .await
            .expect("set");
        let key = "lock".to_owned();
        let evict = Evict {
            key,
            node: node(),
            policy,
        };
        bed.inject(FaultSpec::Evict(evict)).await;
        assert_eq!(bed.ask(NODE, &["EXISTS", "lock"]).await.as_deref(), Ok("0"));
        assert_eq!(
            bed.ask(NODE, &["DBSIZE"]).await.as_deref(),
            Ok("0"),
            "ours are gone"
        );
        let limit = bed.ask(NODE, &["CONFIG", "GET", "maxmemory"]).await;
        assert_eq!(limit.as_deref(), Ok("maxmemory\n0"));
        let stats = bed.ask(NODE, &["INFO", "stats"]).await.expect("stats");
        assert!(!stats.contains("evicted_keys:0\r"), "{stats}");
        assert_eq!(bed.notes.phases(), WHOLE_LIFE);
    }
}

/// A key without expiry cannot be a victim of `volatile-lru`: the memory fills up for nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_may_not_be_evicted_stays() {
    if !have_server() {
        return;
    }
    let mut bed = bed(single(Persistence::None), false).await;
    bed.ask(NODE, &["SET", "lock", "a"]).await.expect("set");
    let evict = Evict {
        key: "lock".to_owned(),
        node: node(),
        policy: EvictionPolicy::VolatileLru,
    };
    expect_no_effect(&mut bed, FaultSpec::Evict(evict), "'lock' is still there").await;
    assert_eq!(bed.ask(NODE, &["DBSIZE"]).await.as_deref(), Ok("1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sleeping_server_answers_nobody_until_it_wakes() {
    if !have_server() {
        return;
    }
    let mut bed = bed(single(Persistence::None), false).await;
    let length = DurationSpec::from_millis(800);
    let asleep = Instant::now();
    bed.inject(FaultSpec::Sleep(Sleep {
        node: node(),
        length,
    }))
    .await;
    bed.until(NODE, &["PING"], |pong| pong == "PONG").await;
    assert!(asleep.elapsed() >= length.0, "it answered in its sleep");
    bed.nemesis.heal("sleep", NODE).await.expect("it is awake");
    assert_eq!(bed.notes.phases(), WHOLE_LIFE);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sleep_that_is_over_before_anyone_looks_is_proved_by_its_length() {
    if !have_server() {
        return;
    }
    let mut bed = bed(single(Persistence::None), false).await;
    let length = DurationSpec::from_millis(20);
    bed.inject(FaultSpec::Sleep(Sleep {
        node: node(),
        length,
    }))
    .await;
    assert!(bed.nemesis.heal_all().await.is_empty());
    assert_eq!(bed.notes.phases(), WHOLE_LIFE);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_runs_a_script_refuses_all_and_is_itself_again_after_script_kill() {
    if !have_server() {
        return;
    }
    let mut bed = bed(single(Persistence::None), false).await;
    let patience = ["CONFIG", "GET", "lua-time-limit"];
    let before = bed.ask(NODE, &patience).await;
    bed.inject(FaultSpec::BusyScript(BusyScript { node: node() }))
        .await;
    let refused = bed.ask(NODE, &["SET", "lock", "a"]).await;
    assert!(refused.expect_err("it is refused").contains("BUSY"));
    bed.nemesis
        .heal("busy-script", NODE)
        .await
        .expect("the script is ended");
    let exists = bed.ask(NODE, &["EXISTS", "lock"]).await;
    assert_eq!(exists.as_deref(), Ok("0"), "what was refused has no effect");
    assert_eq!(bed.ask(NODE, &patience).await, before);
    assert_eq!(bed.notes.phases(), WHOLE_LIFE);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_server_that_dies_needs_no_healing() {
    if !have_server() {
        return;
    }
    let mut bed = bed(single(Persistence::None), false).await;
    bed.inject(FaultSpec::BusyScript(BusyScript { node: node() }))
        .await;
    bed.inject(restart(Memory::Lost)).await;
    assert!(bed.nemesis.heal_all().await.is_empty());
    assert_eq!(bed.ask(NODE, &["PING"]).await.as_deref(), Ok("PONG"));
}

/// A connection from the address of client number `n`.
async fn connect(bed: &TestBed, name: &str, n: usize) -> Wire {
    let socket = TcpSocket::new_v4().expect("a socket");
    let source = bed.servers.introduce_client(name, n);
    socket
        .bind((source, 0).into())
        .expect("the address is free");
    let server = bed.servers.nodes()[0].public;
    Wire::new(socket.connect(server).await.expect("the server listens"))
}

async fn is_open(wire: &mut Wire) -> bool {
    wire.send(&redis::cmd("PING")).await.is_ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_connections_of_the_named_client_are_closed() {
    if !have_server() {
        return;
    }
    let mut bed = bed(single(Persistence::None), false).await;
    let (mut a, mut b) = (connect(&bed, "a", 0).await, connect(&bed, "b", 1).await);
    assert!(is_open(&mut a).await && is_open(&mut b).await);
    let fault = FaultSpec::KillConnections(KillConnections {
        node: node(),
        of: ConnectionUse::Normal,
        client: Some("a".to_owned()),
    });
    bed.inject(fault).await;
    assert!(!is_open(&mut a).await, "a's connection is closed");
    assert!(is_open(&mut b).await, "b's is not");
    assert_eq!(bed.notes.phases(), WHOLE_LIFE);
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_are_closed_by_what_they_are_used_for() {
    if !have_server() {
        return;
    }
    let mut bed = bed(replicated(), false).await;
    let mut a = connect(&bed, "a", 0).await;
    let mut ear = connect(&bed, "b", 1).await;
    assert!(is_open(&mut a).await);
    ear.send(redis::cmd("SUBSCRIBE").arg("news"))
        .await
        .expect("subscribed");
    let of = |of| {
        let client = None;
        FaultSpec::KillConnections(KillConnections {
            node: node(),
            of,
            client,
        })
    };
    bed.inject(of(ConnectionUse::Pubsub)).await;
    let told = tokio::time::timeout(Duration::from_secs(30), ear.read()).await;
    assert!(told.expect("it hears of its end").is_err());
    assert!(is_open(&mut a).await);
    bed.inject(of(ConnectionUse::Replica)).await;
    assert!(is_open(&mut a).await);
    bed.inject(of(ConnectionUse::Normal)).await;
    assert!(!is_open(&mut a).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_connections_where_there_are_none_is_no_fault() {
    if !have_server() {
        return;
    }
    let mut bed = bed(single(Persistence::None), false).await;
    let fault = FaultSpec::KillConnections(KillConnections {
        node: node(),
        of: ConnectionUse::Pubsub,
        client: None,
    });
    expect_no_effect(&mut bed, fault, "there was no such connection").await;
    assert!(bed.servers.pid(NODE).is_some());
}
