//! Releases of a lock come from its owner.

use lockstorm_checker::{Property, Verdict, check};

use crate::support::{exact, history, judge, reason, verdict};

/// Number of releases that a remark counts.
fn remarked(text: &str) -> u64 {
    let reason = judge(text).properties.remove(&Property::Ownership);
    let reason = reason
        .and_then(|judgement| judgement.reason)
        .unwrap_or_default();
    let count = reason
        .split(" release")
        .next()
        .and_then(|count| count.parse().ok());
    count.unwrap_or(0)
}

fn judged(text: &str) -> (Verdict, u64) {
    verdict(Property::Ownership, text)
}

fn claim(text: &str) -> String {
    judge(text).properties[&Property::Ownership].witnesses[0]
        .claim
        .clone()
}

#[test]
fn a_release_by_somebody_who_never_asked_for_the_lock_harms_who_loses_it() {
    let text = "a acquire 0..10 ok\n b release 20..30 ok\n a release 40..50 not-owner";
    assert_eq!(judged(text), (Verdict::Violated, 1));
    assert_eq!(
        claim(text),
        "b released \"lock\" while a held it, though b had never been granted it, and a lost it"
    );
    let witness = &judge(text).properties[&Property::Ownership].witnesses[0];
    assert_eq!(
        witness.signature,
        "ownership (taken away), no fault, uncertain"
    );
    assert_eq!(witness.holders[0].client, "a");
}

/// A library may answer so where it has nothing to delete.
#[test]
fn a_foreign_release_by_which_nobody_loses_the_lock_is_a_remark() {
    let text = "a acquire 0..10 ok\n b release 20..30 ok\n a release 40..50 ok";
    assert_eq!(judged(text), (Verdict::Valid, 0));
    let judgement = &judge(text).properties[&Property::Ownership];
    assert_eq!(
        judgement.reason.as_deref(),
        Some(
            "1 release was answered as done though its caller could not be the owner; nobody lost \
             the lock by that"
        )
    );
}

#[test]
fn a_foreign_release_that_is_refused_is_in_order() {
    let text = "a acquire 0..10 ok\n b release 20..30 not-owner\n a release 40..50 ok";
    assert_eq!(judged(text), (Verdict::Valid, 0));
}

#[test]
fn a_release_by_the_owner_is_not_a_test_of_ownership() {
    let text = "a acquire 0..10 ok\n a release 20..30 ok";
    assert!(!judge(text).properties.contains_key(&Property::Ownership));
    let (verdict, count) = judged(text);
    assert_eq!((verdict, count), (Verdict::Unknown, 0));
}

#[test]
fn what_was_given_back_cannot_be_given_back_again() {
    let text = |between: &str| {
        format!("a acquire 0..10 ok\n {between}\n a release 20..30 ok\n a release 40..50 ok")
    };
    assert_eq!(remarked(&text("")), 1);
    for between in [
        "a acquire 12..14 ok",
        "a acquire 12..14 info",
        "a acquire 12..14 pending",
        "a acquire 32..34 ok",
    ] {
        assert_eq!(remarked(&text(between)), 0, "{between}");
    }
    let near = text("a acquire 12..14 refused");
    assert_eq!(remarked(&near), 1, "near miss");
    let open = text("").replace("40..50 ok", "40..50 ok ownership unknown");
    assert_eq!(
        remarked(&open),
        0,
        "the answer does not say that it was its caller's"
    );
}

#[test]
fn a_release_without_an_answer_may_never_have_been_one() {
    for doubt in ["info", "not-owner", "failed", "pending"] {
        let text = format!(
            "a acquire 0..10 ok
             a release 20..30 {doubt}
             a release 40..50 ok"
        );
        assert_eq!(remarked(&text), 0, "{doubt}");
    }
}

#[test]
fn a_lease_that_has_certainly_run_out_leaves_nothing_to_release() {
    let text = |sent, renewed: &str| {
        format!("a acquire 0..10 ok lease 100\n {renewed}\n a release {sent}..150 ok")
    };
    assert_eq!(remarked(&text(111, "")), 1);
    assert_eq!(remarked(&text(110, "")), 0, "near miss: at the ceiling");
    for renewed in [
        "a renew 50..60 ok",
        "a renew 50..60 info",
        "a acquire 70..80 info lease 10",
    ] {
        assert_eq!(remarked(&text(111, renewed)), 0, "{renewed}");
    }
}

#[test]
fn who_does_two_things_at_once_may_have_done_them_in_either_order() {
    let text = "a release 0..50 ok\n a acquire 10..60 ok\n a release 70..80 ok";
    assert_eq!(remarked(text), 0);
}

#[test]
fn where_nobody_is_named_whoever_releases_may_be_the_owner() {
    let named = history("a acquire 0..10 ok\n b release 20..30 ok\n c release 40..50 not-owner");
    for nameless in [0, 1] {
        let mut history = named.clone();
        for event in &mut history.events {
            let of_acquire = event.function.as_str() == "acquire";
            if of_acquire == (nameless == 0) {
                event.value.owner = None;
            }
        }
        let analysis = check(&history, &exact());
        assert!(!analysis.properties.contains_key(&Property::Ownership));
    }
    assert_eq!(
        check(&named, &exact()).properties[&Property::Ownership].verdict,
        Verdict::Valid
    );
}

#[test]
fn a_release_inside_the_hold_of_another_that_loses_the_lock_is_a_possible_violation() {
    // The lease of a ends somewhere between 100 and 190 ms.
    let text = |after: &str| {
        format!(
            "a acquire 0..90 ok lease 100
             b acquire 105..120 ok lease 1000
             a release 130..140 ok
             {after}"
        )
    };
    for loss in [
        "b renew 150..160 not-owner",
        "c acquire 150..160 ok lease 1000",
    ] {
        assert_eq!(judged(&text(loss)), (Verdict::Violated, 1), "{loss}");
        let witness = judge(&text(loss)).properties[&Property::Ownership].witnesses[0].clone();
        assert!(!witness.certain);
        assert_eq!(
            witness.claim,
            "a released \"lock\" while b held it, and b lost it"
        );
    }
    for kept in ["b renew 150..160 ok", "", "c acquire 150..160 refused"] {
        assert_eq!(judged(&text(kept)), (Verdict::Valid, 0), "{kept}");
    }
}

#[test]
fn where_two_held_at_once_the_release_of_one_takes_nothing_away() {
    let text = "a acquire 0..10 ok lease 1000
                b acquire 20..30 ok lease 1000
                a release 40..50 ok
                b renew 60..70 not-owner";
    assert_eq!(judged(text).1, 0);
}

#[test]
fn an_unobserved_fault_leaves_it_open() {
    let text = "fault F1 kill n1 injected 5
                a acquire 0..10 ok
                b release 20..30 not-owner";
    assert!(reason(Property::Ownership, text).contains("never observed"));
}

/// Tells whether some order of the effects of one owner explains that each release found a grant.
fn explained(ops: &[(bool, u64, u64, bool)], done: u32, count: u32) -> bool {
    let is_done = |at: usize| done & (1 << at) != 0;
    let required = |at: usize| ops[at].3 && !is_done(at);
    if !(0..ops.len()).any(required) {
        return true;
    }
    (0..ops.len()).any(|at| {
        let (acquires, sent, ..) = ops[at];
        let early = (0..ops.len()).any(|other| required(other) && ops[other].2 < sent);
        let possible = !is_done(at) && !early && (acquires || count > 0);
        let next = if acquires {
            count + 1
        } else {
            count.saturating_sub(1)
        };
        possible && explained(ops, done | (1 << at), next)
    })
}

#[test]
fn random_operations_of_one_owner_are_accused_only_where_no_order_explains_them() {
    use rand::{RngExt, SeedableRng};
    let (mut violated, mut missed) = (0, 0);
    for seed in 0..3000 {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        let overlapping = rng.random_bool(0.3);
        let mut now = 0;
        let ops: Vec<(bool, u64, u64, bool)> = (0..rng.random_range(2..7))
            .map(|_| {
                let sent = now + rng.random_range(1..4);
                let answered = sent + rng.random_range(0..6);
                now = if overlapping { sent } else { answered };
                let acquires = rng.random_bool(0.5);
                (acquires, sent, answered, rng.random_bool(0.8))
            })
            .collect();
        let lines: Vec<String> = ops
            .iter()
            .map(|(acquires, sent, answered, ok)| {
                let action = if *acquires { "acquire" } else { "release" };
                let outcome = if *ok { "ok" } else { "info" };
                format!("a {action} {sent}..{answered} {outcome}")
            })
            .collect();
        let found = remarked(&lines.join("\n")) > 0;
        let expected = !explained(&ops, 0, 0);
        assert!(!found || expected, "seed {seed}: {lines:?}");
        if !overlapping {
            assert_eq!(found, expected, "seed {seed}: {lines:?}");
        }
        violated += u64::from(found);
        missed += u64::from(expected && !found);
    }
    assert!((300..2700).contains(&violated), "{violated}");
    assert!(missed < violated, "{missed} were too tangled to judge");
}

#[test]
fn who_is_granted_the_lock_once_more_had_it_before_the_release() {
    let text = |count: u32| {
        format!(
            "b acquire 0..10 ok lease 1000
             a release 20..30 ok
             a acquire 40..50 ok lease 1000 count {count}"
        )
    };
    let (certain, loss) = ("a acquire 0..5 info\n", "possible");
    assert_eq!(judged(&format!("{certain}{}", text(1))).1, 1, "{loss}");
    assert_eq!(judged(&format!("{certain}{}", text(2))).1, 0, "two held");
}
