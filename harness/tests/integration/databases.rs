//! Real servers of MariaDB and of PostgreSQL: up, broken, promoted and gone, and the locks of a row
//! and of a session on them.

use lockstorm_checker::Nanos;
use lockstorm_harness::locks::{Grant, Lock as _, LockRequest, Outcome, Released};
use lockstorm_nemesis::Deployment as _;
use lockstorm_scenarios::{
    Cut, CutMode, DeleteKey, FaultSpec, Kill, Mariadb, Memory, Pause, Postgres, Promote, Restart,
    Stop, System, Topology,
};
use tokio::time::{Instant, sleep};

use crate::support::test_bed::TestBed;
use crate::support::{WITHIN, have_server, have_system};

/// Pause between two looks at an awaited condition.
const POLL: std::time::Duration = std::time::Duration::from_millis(20);
const KEY: &str = "lock";

/// Tests of servers of each system, by the names of functions that take one.
macro_rules! on_each_database {
    ($($test:ident),* $(,)?) => {
        mod on_mariadb {
            $(#[tokio::test]
            async fn $test() {
                super::$test(lockstorm_scenarios::System::Mariadb).await;
            })*
        }

        mod on_postgres {
            $(#[tokio::test]
            async fn $test() {
                super::$test(lockstorm_scenarios::System::Postgres).await;
            })*
        }
    };
}

on_each_database!(
    one_holds_the_row_and_only_its_owner_gives_it_back,
    a_server_says_what_it_is_and_keeps_through_every_end,
    a_promoted_replica_knows_what_it_got_and_nothing_else,
    a_name_goes_with_the_session_of_its_holder,
    a_holder_learns_that_its_session_has_ended,
    a_holder_that_takes_the_lock_in_a_new_session_had_lost_it_before,
    a_link_between_servers_holds_back_what_either_says,
);

/// The lock of a row.
fn of_row(system: System) -> &'static str {
    match system {
        System::Mariadb => "mysql-unique-index = {}",
        _ => "postgres-row-lease = { lease = \"60s\" }",
    }
}

/// The lock of a session.
fn of_session(system: System) -> &'static str {
    match system {
        System::Mariadb => "mysql-get-lock = {}",
        _ => "postgres-advisory = {}",
    }
}

/// A primary and a replica with the fabric between them; `None` where there are no such servers.
async fn servers(system: System) -> Option<TestBed> {
    let topology = match system {
        System::Mariadb => Topology::Mariadb(Mariadb::default()),
        _ => Topology::Postgres(Postgres::default()),
    };
    if !(have_system(system) && have_server()) {
        return None;
    }
    Some(TestBed::new(topology, true).await)
}

fn is_granted(outcome: &Outcome<Grant>) -> bool {
    matches!(outcome, Outcome::Done(_))
}

fn one_try() -> LockRequest {
    LockRequest::default()
}

/// Waits until the replica knows of the lock, or does not any more.
async fn replica_has(bed: &TestBed, wanted: bool) {
    let deadline = Instant::now() + WITHIN;
    let replica = bed.servers.server("replica-1").expect("it is there");
    while !replica.has(KEY).await.is_ok_and(|has| has == wanted) {
        assert!(Instant::now() < deadline, "the replica is not in step");
        sleep(POLL).await;
    }
}

async fn inject(bed: &mut TestBed, fault: FaultSpec) {
    let injected = bed.nemesis.inject(&fault).await;
    injected.unwrap_or_else(|error| panic!("{fault:?}: {error}"));
}

async fn heal(bed: &mut TestBed) {
    let errors = bed.nemesis.heal_all().await;
    assert!(errors.is_empty(), "{errors:?}");
}

fn node(name: &str) -> String {
    name.to_owned()
}

async fn one_holds_the_row_and_only_its_owner_gives_it_back(system: System) {
    let Some(bed) = servers(system).await else {
        return;
    };
    let [mut a, mut b] = [0, 1].map(|n| bed.patient(n, of_row(system)));
    assert!(is_granted(&a.acquire(KEY, one_try()).await));
    assert_eq!(a.acquire(KEY, one_try()).await, Outcome::Denied);
    assert_eq!(b.acquire(KEY, one_try()).await, Outcome::Denied);
    assert_eq!(b.release(KEY, one_try()).await, Outcome::Denied);
    let odd = "it's \\ a\u{0} key";
    assert!(is_granted(&b.acquire(odd, one_try()).await));
    replica_has(&bed, true).await;
    let released = Outcome::Done(Released::default());
    assert_eq!(a.release(KEY, one_try()).await, released);
    assert_eq!(b.release(odd, one_try()).await, released);
    assert!(is_granted(&b.acquire(KEY, one_try()).await));
}

async fn a_server_says_what_it_is_and_keeps_through_every_end(system: System) {
    let Some(mut bed) = servers(system).await else {
        return;
    };
    let mut a = bed.patient(0, of_row(system));
    assert!(matches!(a.acquire(KEY, one_try()).await, Outcome::Done(_)));
    for (name, leads) in [("primary", true), ("replica-1", false)] {
        let server = bed.servers.server(name).expect("it is there");
        assert_eq!(server.system(), system);
        server.greet().await.expect("it answers");
        assert_eq!(server.rank().await.expect("it says").leads, leads);
        assert!(server.clock_us().await.expect("it says") > 0);
    }
    let memory = Memory::Kept;
    for fault in [
        FaultSpec::Kill(Kill {
            node: node("primary"),
        }),
        FaultSpec::Stop(Stop {
            node: node("primary"),
        }),
        FaultSpec::Pause(Pause {
            node: node("primary"),
        }),
        FaultSpec::Restart(Restart {
            node: node("primary"),
            memory,
        }),
        FaultSpec::Kill(Kill {
            node: node("replica-1"),
        }),
    ] {
        inject(&mut bed, fault).await;
        heal(&mut bed).await;
        let primary = bed.servers.server("primary").expect("it is there");
        assert_eq!(primary.entries().await.expect("it counts"), 1);
    }
    let delete = FaultSpec::DeleteKey(DeleteKey {
        key: node(KEY),
        node: None,
    });
    inject(&mut bed, delete).await;
    replica_has(&bed, false).await;
    assert_eq!(a.release(KEY, one_try()).await, Outcome::Denied);
}

/// A replica that hears nothing grants the lock again when it is promoted; clients go there.
async fn a_promoted_replica_knows_what_it_got_and_nothing_else(system: System) {
    let Some(mut bed) = servers(system).await else {
        return;
    };
    let [mut a, mut b] = [0, 1].map(|n| bed.patient(n, of_row(system)));
    assert!(is_granted(&a.acquire("known", one_try()).await));
    assert!(is_granted(&a.acquire(KEY, one_try()).await));
    replica_has(&bed, true).await;
    let cut = Cut {
        from: node("primary"),
        to: node("replica-1"),
        mode: CutMode::Stall,
    };
    inject(&mut bed, FaultSpec::Cut(cut)).await;
    assert!(is_granted(&a.acquire("unheard", one_try()).await));
    inject(
        &mut bed,
        FaultSpec::Kill(Kill {
            node: node("primary"),
        }),
    )
    .await;
    inject(
        &mut bed,
        FaultSpec::Promote(Promote {
            node: node("replica-1"),
        }),
    )
    .await;
    assert_eq!(b.acquire("known", one_try()).await, Outcome::Denied);
    assert!(is_granted(&b.acquire("unheard", one_try()).await));
    assert_eq!(a.release("unheard", one_try()).await, Outcome::Denied);
    assert_eq!(bed.servers.writable().await, ["replica-1"]);
}

/// A name is held as often as it was taken, by one connection, and goes with that.
async fn a_name_goes_with_the_session_of_its_holder(system: System) {
    let Some(bed) = servers(system).await else {
        return;
    };
    let [mut a, mut b] = [0, 1].map(|n| bed.patient(n, of_session(system)));
    let granted = a.acquire(KEY, one_try()).await;
    assert!(matches!(&granted, Outcome::Done(grant) if grant.is_of_session));
    assert!(is_granted(&a.acquire(KEY, one_try()).await));
    assert_eq!(b.acquire(KEY, one_try()).await, Outcome::Denied);
    assert_eq!(b.release(KEY, one_try()).await, Outcome::Denied);
    for left in [1, 0] {
        let released = Outcome::Done(Released::leaving(Some(left)));
        assert_eq!(a.release(KEY, one_try()).await, released);
    }
    assert!(is_granted(&b.acquire(KEY, one_try()).await));
    assert_eq!(
        b.renew(KEY, one_try()).await,
        Outcome::Done(Grant::default())
    );
    drop(b);
    let deadline = Instant::now() + WITHIN;
    while !is_granted(&a.acquire(KEY, one_try()).await) {
        assert!(
            Instant::now() < deadline,
            "the server keeps it for the dead"
        );
        sleep(POLL).await;
    }
}

/// A holder stays with the server that granted it, until that ends the session.
async fn a_holder_learns_that_its_session_has_ended(system: System) {
    let Some(mut bed) = servers(system).await else {
        return;
    };
    let [mut a, mut b] = [0, 1].map(|n| bed.patient(n, of_session(system)));
    assert!(matches!(a.acquire(KEY, one_try()).await, Outcome::Done(_)));
    let promote = Promote {
        node: node("replica-1"),
    };
    inject(&mut bed, FaultSpec::Promote(promote)).await;
    assert!(matches!(b.acquire(KEY, one_try()).await, Outcome::Done(_)));
    assert!(matches!(a.renew(KEY, one_try()).await, Outcome::Done(_)));
    assert_eq!(a.lost(Nanos(1)), []);
    let kill = Kill {
        node: node("primary"),
    };
    inject(&mut bed, FaultSpec::Kill(kill)).await;
    let deadline = Instant::now() + WITHIN;
    let lost = loop {
        let lost = a.lost(Nanos(7));
        if !lost.is_empty() {
            break lost;
        }
        assert!(Instant::now() < deadline, "nobody tells");
        sleep(POLL).await;
    };
    assert_eq!((&*lost[0].key, lost[0].noticed), (KEY, Some(Nanos(7))));
    assert_eq!(a.lost(Nanos(8)), [], "it is told once");
    assert_eq!(a.release(KEY, one_try()).await, Outcome::Denied);
}

/// A new session is no re-entry: what was held by the one before is told as lost.
async fn a_holder_that_takes_the_lock_in_a_new_session_had_lost_it_before(system: System) {
    let Some(mut bed) = servers(system).await else {
        return;
    };
    let mut a = bed.patient(0, of_session(system));
    assert!(is_granted(&a.acquire(KEY, one_try()).await));
    let (node, memory) = (node("primary"), Memory::Kept);
    inject(&mut bed, FaultSpec::Restart(Restart { node, memory })).await;
    let deadline = Instant::now() + WITHIN;
    while !is_granted(&a.acquire(KEY, one_try()).await) {
        assert!(Instant::now() < deadline, "the server is back");
    }
    let lost = a.lost(Nanos(1));
    let lost: Vec<&str> = lost.iter().map(|loss| &*loss.key).collect();
    assert_eq!(lost, [KEY]);
    let released = Outcome::Done(Released::leaving(Some(0)));
    assert_eq!(a.release(KEY, one_try()).await, released);
}

/// A primary always has something to say to its replica; a replica is made to say something.
async fn a_link_between_servers_holds_back_what_either_says(system: System) {
    let Some(mut bed) = servers(system).await else {
        return;
    };
    for (from, to) in [("primary", "replica-1"), ("replica-1", "primary")] {
        let cut = Cut {
            from: node(from),
            to: node(to),
            mode: CutMode::Stall,
        };
        inject(&mut bed, FaultSpec::Cut(cut)).await;
        let network = bed.servers.network().expect("the fabric is there");
        assert!(network.held_back(from, to) > 0, "{from} to {to}");
        heal(&mut bed).await;
    }
}
