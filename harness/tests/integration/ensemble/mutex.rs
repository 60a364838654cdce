//! The mutexes of etcd and ZooKeeper on real members: their queues, their sessions, and what
//! members leave of both.

use std::fs;
use std::time::Duration;

use lockstorm_harness::client::AnyLock;
use lockstorm_harness::locks::{
    Grant, Lock as _, LockRequest, Outcome, Provenance as _, Released, WaitEnd, Waiting as _,
};
use lockstorm_scenarios::{DeleteKey, FaultSpec, Kill, Pause, System};
use tokio::time::{Instant, sleep, timeout};

use super::{KEY, POLL, have, is_healed, is_there, members, ranks, wait};
use crate::support::{WITHIN, run_scenario, stderr};

on_each_system!(
    a_script_is_told_what_each_member_knows_of_the_lock,
    those_who_wait_are_granted_in_the_order_of_their_places,
    a_try_that_fails_and_a_wait_that_ends_leave_no_place_behind,
    a_session_that_is_kept_alive_outlasts_its_lease_and_another_does_not,
    a_lock_and_its_queue_outlast_the_leader,
    a_client_turns_from_a_member_that_stands_still,
    a_lock_that_is_deleted_is_gone_with_its_queue,
);

/// The lock of a system, with a lease of two seconds.
const fn lock_of(system: System) -> &'static str {
    match system {
        System::Zookeeper => "zookeeper-mutex = { session = \"3s\" }",
        System::Etcd | System::Redis | System::Mariadb | System::Postgres | System::Custom => {
            "etcd-mutex = { lease = \"2s\" }"
        }
    }
}

/// The lock of a system, with a lease of six seconds: a machine whose disks are busy may let some
/// pass between two renewals.
const fn renewed_lock_of(system: System) -> &'static str {
    match system {
        System::Zookeeper => "zookeeper-mutex = { session = \"9s\" }",
        System::Etcd | System::Redis | System::Mariadb | System::Postgres | System::Custom => {
            "etcd-mutex = { lease = \"6s\" }"
        }
    }
}

/// The lock of a system, with a lease that outlasts an election on a busy machine.
const fn long_lock_of(system: System) -> &'static str {
    match system {
        System::Zookeeper => "zookeeper-mutex = { session = \"30s\" }",
        System::Etcd | System::Redis | System::Mariadb | System::Postgres | System::Custom => {
            "etcd-mutex = { lease = \"20s\" }"
        }
    }
}

async fn ask(lock: &mut AnyLock, ask: LockRequest) -> Outcome<Grant> {
    lock.acquire(KEY, ask).await
}

/// A grant, and its token.
async fn granted(lock: &mut AnyLock) -> u64 {
    granted_for(lock, Some(Duration::from_secs(2))).await
}

async fn granted_for(lock: &mut AnyLock, lease: Option<Duration>) -> u64 {
    let outcome = ask(lock, wait()).await;
    let Outcome::Done(grant) = outcome else {
        panic!("it was not granted: {outcome:?}");
    };
    assert_eq!(grant.lease, lease);
    grant.token.expect("every grant has a token")
}

/// Takes the last place in the queue, at the first try that a busy machine answers.
async fn queues(lock: &mut AnyLock) {
    let deadline = Instant::now() + WITHIN;
    loop {
        let outcome = ask(lock, wait()).await;
        if lock.queued(KEY) {
            return;
        }
        let is_late = matches!(outcome, Outcome::Failed(_) | Outcome::Unknown(_));
        assert!(is_late && Instant::now() < deadline, "{outcome:?}");
    }
}

/// Waits until it is granted; its session lives on meanwhile.
async fn granted_in_the_end(lock: &mut AnyLock) -> u64 {
    let deadline = Instant::now() + WITHIN;
    loop {
        match ask(lock, wait()).await {
            Outcome::Done(grant) => return grant.token.expect("every grant has a token"),
            Outcome::Killed => panic!("nobody kills it"),
            Outcome::Denied | Outcome::Failed(_) | Outcome::Unknown(_) => {}
        }
        assert!(Instant::now() < deadline, "it is never granted");
        lock.await_turn(KEY, POLL, deadline).await;
    }
}

async fn released(lock: &mut AnyLock) {
    let outcome = lock.release(KEY, LockRequest::default()).await;
    assert_eq!(outcome, Outcome::Done(Released::default()));
}

/// Gives it back: a request that meets no leader has no answer, or one that comes too late, and the
/// next goes to another member.
async fn given_back_in_the_end(lock: &mut AnyLock) {
    let deadline = Instant::now() + WITHIN;
    let mut may_be_done = false;
    loop {
        match lock.release(KEY, LockRequest::default()).await {
            Outcome::Done(_) => return,
            Outcome::Denied if may_be_done => return,
            Outcome::Unknown(_) => may_be_done = true,
            Outcome::Failed(_) => {}
            outcome => panic!("{outcome:?}"),
        }
        assert!(Instant::now() < deadline, "it cannot be given back");
    }
}

/// Holders that members name while they are asked what they know.
async fn a_script_is_told_what_each_member_knows_of_the_lock(system: System) {
    if !have(system) {
        return;
    }
    let name = system.name().to_lowercase();
    let out = tempfile::tempdir().expect("a temporary folder can be made");
    let scenario = format!("scenarios/library/{name}/{name}-leader-dies.toml");
    // Members that have just begun take their time on a busy machine.
    let patient = ["--report", "none", "--set", "clients.reply-timeout=\"3s\""];
    let output = run_scenario(&scenario, out.path(), &patient);
    assert!(output.status.success(), "{}", stderr(&output));
    let history = fs::read_to_string(out.path().join("latest/history.jsonl"));
    let history = history.expect("it is there");
    let views: Vec<&str> = history
        .lines()
        .filter(|line| line.contains("\"f\":\"view\""))
        .collect();
    let known = |role: &str| {
        let of_a = format!("\"role\":\"{role}\",\"held_by\":[\"a\"]");
        views.iter().any(|view| view.contains(&of_a))
    };
    assert!(known("leader") && known("follower"), "{views:?}");
    let dead = views
        .iter()
        .any(|view| view.contains("\"error\":\"it is dead\""));
    assert!(dead, "{views:?}");
}

async fn those_who_wait_are_granted_in_the_order_of_their_places(system: System) {
    let Some(bed) = members(system).await else {
        return;
    };
    let [mut a, mut b, mut c] = [0, 1, 2].map(|n| bed.patient(n, lock_of(system)));
    let first = granted(&mut a).await;
    queues(&mut b).await;
    queues(&mut c).await;
    // A place is watched, and the one behind the first is not granted before it.
    released(&mut a).await;
    assert_eq!(ask(&mut c, wait()).await, Outcome::Denied);
    let second = granted_in_the_end(&mut b).await;
    let woken = async {
        c.await_turn(KEY, WITHIN, Instant::now() + WITHIN).await;
        granted(&mut c).await
    };
    let (third, ()) = tokio::join!(woken, released(&mut b));
    assert!(first < second && second < third);
    released(&mut c).await;
    assert!(!is_there(&bed).await);
}

/// Tries that fail and waits that are given up keep nobody out afterwards.
async fn a_try_that_fails_and_a_wait_that_ends_leave_no_place_behind(system: System) {
    let Some(bed) = members(system).await else {
        return;
    };
    let [mut a, mut b, mut c] = [0, 1, 2].map(|n| bed.patient(n, lock_of(system)));
    granted(&mut a).await;
    assert_eq!(ask(&mut b, LockRequest::default()).await, Outcome::Denied);
    queues(&mut c).await;
    c.end_wait(KEY, WaitEnd::Refused).await;
    // A second acquire by the holder waits like that of anybody else, and loses it nothing.
    assert_eq!(ask(&mut a, LockRequest::default()).await, Outcome::Denied);
    released(&mut a).await;
    assert!(!is_there(&bed).await);
    granted(&mut b).await;
}

async fn a_session_that_is_kept_alive_outlasts_its_lease_and_another_does_not(system: System) {
    let Some(bed) = members(system).await else {
        return;
    };
    let [mut a, mut b] = [0, 1].map(|n| bed.patient(n, renewed_lock_of(system)));
    let lives = Grant::of(Duration::from_secs(6));
    granted_for(&mut a, lives.lease).await;
    let beyond_the_lease = Instant::now() + Duration::from_secs(7);
    while Instant::now() < beyond_the_lease {
        sleep(Duration::from_millis(200)).await;
        let renewed = a.renew(KEY, LockRequest::default()).await;
        assert_eq!(renewed, Outcome::Done(lives));
    }
    queues(&mut b).await;
    granted_in_the_end(&mut b).await;
    let renewed = a.renew(KEY, LockRequest::default()).await;
    assert_eq!(renewed, Outcome::Denied);
    let late = a.release(KEY, LockRequest::default()).await;
    assert_eq!(late, Outcome::Denied);
    released(&mut b).await;
}

/// Another leader gives every session all of its lease again, and nobody is passed over.
async fn a_lock_and_its_queue_outlast_the_leader(system: System) {
    let Some(mut bed) = members(system).await else {
        return;
    };
    let [mut a, mut b] = [0, 1].map(|n| bed.client(n, long_lock_of(system)));
    let first = granted_in_the_end(&mut a).await;
    queues(&mut b).await;
    let (node, _) = ranks(&bed).await;
    let killed = bed.nemesis.inject(&FaultSpec::Kill(Kill { node })).await;
    killed.expect("the leader is hit");
    given_back_in_the_end(&mut a).await;
    assert!(first < granted_in_the_end(&mut b).await);
    is_healed(&bed.nemesis.heal_all().await);
    bed.servers.recover().await.expect("all agree again");
    released(&mut b).await;
}

/// A client stays with a member that answers, and turns from one that does not.
async fn a_client_turns_from_a_member_that_stands_still(system: System) {
    let Some(mut bed) = members(system).await else {
        return;
    };
    let mut a = bed.client(0, long_lock_of(system));
    granted_in_the_end(&mut a).await;
    let by = a.granted_by();
    released(&mut a).await;
    let [node] = &*by else {
        panic!("one member was asked: {by:?}");
    };
    let node = node.to_string();
    let pause = FaultSpec::Pause(Pause { node: node.clone() });
    bed.nemesis.inject(&pause).await.expect("it stands still");
    let again = timeout(WITHIN, granted_in_the_end(&mut a)).await;
    again.expect("another member answers");
    let by = a.granted_by();
    assert!(by.iter().all(|by| **by != *node), "{by:?}");
    is_healed(&bed.nemesis.heal_all().await);
    bed.servers.recover().await.expect("all agree again");
}

async fn a_lock_that_is_deleted_is_gone_with_its_queue(system: System) {
    let Some(mut bed) = members(system).await else {
        return;
    };
    let [mut a, mut b] = [0, 1].map(|n| bed.patient(n, lock_of(system)));
    granted(&mut a).await;
    queues(&mut b).await;
    let delete = FaultSpec::DeleteKey(DeleteKey {
        key: KEY.to_owned(),
        node: None,
    });
    // A member on a busy machine may not answer the harness in time, and what was asked is done.
    let deadline = Instant::now() + WITHIN;
    while bed.nemesis.inject(&delete).await.is_err() && is_there(&bed).await {
        assert!(Instant::now() < deadline, "it was there");
    }
    assert!(!is_there(&bed).await);
    let refused = a.release(KEY, LockRequest::default()).await;
    assert_eq!(refused, Outcome::Denied);
    let place = ask(&mut b, wait()).await;
    assert!(matches!(place, Outcome::Failed(_)), "{place:?}");
    let nothing = bed.nemesis.inject(&delete).await;
    nothing.expect_err("there is nothing to delete");
}

/// A client of ZooKeeper has one session for all: a place that it could not give up would be kept
/// alive with the rest.
#[tokio::test]
async fn a_release_without_an_answer_is_made_up_for_before_anything_else() {
    let system = System::Zookeeper;
    let Some(mut bed) = members(system).await else {
        return;
    };
    let [mut a, mut b] = [0, 1].map(|n| bed.client(n, lock_of(system)));
    granted(&mut a).await;
    let names = bed.servers.nodes().iter().map(|node| node.name.clone());
    for node in names.collect::<Vec<_>>() {
        let pause = FaultSpec::Pause(Pause { node });
        bed.nemesis.inject(&pause).await.expect("it stops");
    }
    let open = a.release(KEY, LockRequest::default()).await;
    assert!(matches!(open, Outcome::Unknown(_)), "{open:?}");
    is_healed(&bed.nemesis.heal_all().await);
    bed.servers.recover().await.expect("all agree again");
    let deadline = Instant::now() + WITHIN;
    while !matches!(
        a.acquire("another", LockRequest::default()).await,
        Outcome::Done(_)
    ) {
        assert!(Instant::now() < deadline, "it is never granted");
    }
    granted(&mut b).await;
}
