//! etcd's lock request on real members: who waits there, and what sessions it leaves.

use std::time::Duration;

use lockstorm_harness::locks::{Lock as _, LockRequest, Outcome, WaitEnd, Waiting as _};
use lockstorm_scenarios::System;
use tokio::time::Instant;

use super::{KEY, is_there, members, wait};
use crate::support::WITHIN;

/// A machine whose disks are busy may let seconds pass between two renewals.
const OWN: &str = "etcd-lock = { lease = \"6s\", keep-alive = true }";
const LEASE: Duration = Duration::from_secs(6);
/// It outlasts a test on a busy machine.
const OWN_AND_LONG: &str = "etcd-lock = { lease = \"60s\" }";
const OF_THE_MEMBER: &str = "etcd-lock = {}";

#[tokio::test]
async fn a_member_waits_for_longer_than_a_lease_that_is_kept_alive() {
    let Some(bed) = members(System::Etcd).await else {
        return;
    };
    let [mut a, mut b] = [0, 1].map(|n| bed.patient(n, OWN));
    let granted = a.acquire(KEY, LockRequest::default()).await;
    assert!(matches!(granted, Outcome::Done(_)), "{granted:?}");
    let beyond_the_lease = Instant::now() + LEASE + Duration::from_secs(1);
    while Instant::now() < beyond_the_lease {
        assert_eq!(b.acquire(KEY, wait()).await, Outcome::Denied);
        b.await_turn(KEY, WITHIN, Instant::now() + Duration::from_millis(200))
            .await;
        let renewed = a.renew(KEY, LockRequest::default()).await;
        assert!(matches!(renewed, Outcome::Done(_)), "{renewed:?}");
    }
    let given_back = a.release(KEY, LockRequest::default()).await;
    assert!(
        matches!(given_back, Outcome::Done(released) if released.is_ownership_open),
        "an unlock says nothing: {given_back:?}"
    );
    let deadline = Instant::now() + WITHIN;
    let granted = loop {
        match b.acquire(KEY, wait()).await {
            Outcome::Denied => b.await_turn(KEY, WITHIN, deadline).await,
            outcome => break outcome,
        }
        assert!(Instant::now() < deadline, "it is never granted");
    };
    let Outcome::Done(grant) = granted else {
        panic!("it was not granted: {granted:?}");
    };
    let lease = grant.lease.expect("it has one");
    assert!(lease > Duration::ZERO && lease <= LEASE);
}

/// Requests that are given up leave a lease of the client's own behind, which it ends.
#[tokio::test]
async fn a_wait_that_ends_leaves_no_place_and_no_doubt_with_a_lease_of_its_own() {
    let Some(bed) = members(System::Etcd).await else {
        return;
    };
    let [mut a, mut b] = [0, 1].map(|n| bed.patient(n, OWN_AND_LONG));
    let granted = a.acquire(KEY, LockRequest::default()).await;
    assert!(matches!(granted, Outcome::Done(_)), "{granted:?}");
    assert_eq!(b.acquire(KEY, wait()).await, Outcome::Denied);
    b.end_wait(KEY, WaitEnd::Refused).await;
    assert_eq!(b.doubt(KEY), None);
    let refused = b.acquire(KEY, LockRequest::default()).await;
    assert_eq!(refused, Outcome::Denied, "one try, which it withdraws");
    a.release(KEY, LockRequest::default()).await;
    assert!(!is_there(&bed).await);
}

#[tokio::test]
async fn a_session_of_the_members_own_lasts_a_minute_and_cannot_be_kept_alive() {
    let Some(bed) = members(System::Etcd).await else {
        return;
    };
    let [mut a, mut b] = [0, 1].map(|n| bed.patient(n, OF_THE_MEMBER));
    let granted = a.acquire(KEY, LockRequest::default()).await;
    let Outcome::Done(grant) = granted else {
        panic!("it was not granted: {granted:?}");
    };
    let lease = grant.lease.expect("it has one");
    let minute = Duration::from_secs(60);
    assert!(lease <= minute && lease > minute / 2, "{lease:?}");
    let renewed = a.renew(KEY, LockRequest::default()).await;
    assert!(matches!(renewed, Outcome::Failed(_)), "{renewed:?}");
    // A member waits for it, and may have granted it when it is given up.
    let tried = b.acquire(KEY, LockRequest::default()).await;
    assert!(matches!(tried, Outcome::Unknown(_)), "{tried:?}");
    assert_eq!(b.acquire(KEY, wait()).await, Outcome::Denied);
    b.end_wait(KEY, WaitEnd::Refused).await;
    assert!(b.doubt(KEY).is_some());
}
