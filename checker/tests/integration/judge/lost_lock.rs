//! A holder is told inside its lease that it does not hold the lock.

use lockstorm_checker::{Nanos, Options, Property, Verdict, check};

use crate::support::{history, judge, reason, verdict};

fn judged(text: &str) -> (Verdict, u64) {
    verdict(Property::LostLock, text)
}

#[test]
fn a_refused_renewal_or_release_inside_the_lease_is_a_violation() {
    for action in ["renew", "release"] {
        let text = format!("a acquire 0..10 ok lease 1000\n a {action} 300..310 not-owner");
        assert_eq!(judged(&text), (Verdict::Violated, 1), "{action}");
        let witness = &judge(&text).properties[&Property::LostLock].witnesses[0];
        assert_eq!(
            witness.claim,
            "the service told a that it does not hold \"lock\", 0.690 s before its lease could \
             run out"
        );
        assert_eq!(
            witness.interval,
            (Nanos::from_millis(310), Nanos::from_millis(1000))
        );
    }
}

#[test]
fn a_lock_without_a_lease_is_never_lost() {
    let text = "a acquire 0..10 ok\n a release 300..310 not-owner";
    assert_eq!(judged(text), (Verdict::Violated, 1));
}

#[test]
fn a_refusal_after_the_lease_is_evidence_about_the_lease_only() {
    let text = |answered| {
        format!(
            "a acquire 0..10 ok lease 300
             a renew 100..110 ok lease 200
             a release 290..{answered} not-owner"
        )
    };
    assert_eq!(judged(&text(300)), (Verdict::Valid, 0));
    assert_eq!(judged(&text(299)), (Verdict::Violated, 1), "near miss");
}

#[test]
fn a_success_after_the_refusal_does_not_make_the_lease_longer_when_it_was_refused() {
    let text = "a acquire 0..10 ok lease 100
                a renew 200..210 not-owner
                a renew 220..230 ok
                a release 240..250 ok";
    assert_eq!(judged(text), (Verdict::Valid, 0));
}

#[test]
fn a_release_under_way_may_explain_the_refusal() {
    for race in [
        "a release 200..400 ok\n a renew 150..210 not-owner",
        "a release 200..400 info\n a renew 150..200 not-owner",
        "a release 200..400 not-owner\n a release 300..310 ok",
        "a release 200..210 ok\n a release 300..310 not-owner",
        "a release 200..210 ok\n a renew 300..310 not-owner",
    ] {
        let text = format!("a acquire 0..10 ok lease 1000\n a renew 20..30 ok\n {race}");
        assert_eq!(judged(&text), (Verdict::Valid, 0), "{race}");
    }
    let apart = "a acquire 0..10 ok lease 1000
                 a renew 150..199 not-owner
                 a release 200..400 ok";
    assert_eq!(
        judged(apart),
        (Verdict::Violated, 1),
        "near miss: answered before"
    );
}

#[test]
fn a_release_that_certainly_failed_explains_no_later_refusal() {
    let text = |between: &str| {
        format!(
            "a acquire 0..10 ok lease 1000
             a release 100..110 failed
             {between}
             a release 300..310 not-owner"
        )
    };
    for between in ["", "a release 150..160 failed", "b acquire 150..160 ok"] {
        assert_eq!(judged(&text(between)), (Verdict::Violated, 1), "{between}");
    }
    for between in [
        "a release 150..160 ok",
        "a release 150..160 info",
        "a release 305..320 ok",
    ] {
        assert_eq!(judged(&text(between)).1, 0, "{between}");
    }
    let late = text("").replace("lease 1000", "lease 310");
    assert_eq!(judged(&late).0, Verdict::Unknown, "near miss");
}

#[test]
fn a_renewal_that_was_sent_before_the_grant_belongs_to_the_hold_before() {
    let text = "a acquire 0..10 ok lease 1000
                a release 30..40 ok
                a renew 20..70 not-owner
                a acquire 50..60 ok lease 1000
                a release 80..90 ok";
    assert_eq!(judged(text), (Verdict::Valid, 0));
}

#[test]
fn an_acquire_that_nothing_proves_cannot_be_lost() {
    let text = "a acquire 0..10 info lease 1000\n a release 20..30 not-owner";
    assert!(reason(Property::LostLock, text).contains("no renewal or release was answered"));
}

#[test]
fn without_an_answered_renewal_or_release_the_property_has_no_matter() {
    let text = "a acquire 0..10 ok lease 1000\n a release 20..30 info";
    assert!(!judge(text).properties.contains_key(&Property::LostLock));
    assert_eq!(
        judged(text).0,
        Verdict::Unknown,
        "asked for by name it answers"
    );
}

#[test]
fn who_gives_back_more_permits_than_it_has_is_denied_with_reason() {
    let text = "a acquire 0..10 ok permits 1\n a release 20..30 not-owner permits 2";
    assert_eq!(judged(text).1, 0);
    assert_eq!(judged(&text.replace("permits 2", "permits 1")).1, 1);
}

#[test]
fn an_earlier_release_without_an_answer_may_have_taken_the_lock() {
    let text = |before: &str| {
        format!(
            "a acquire 0..10 ok lease 100 token 1
             a release {before}
             a acquire 200..210 ok lease 1000 token 2
             a release 300..310 not-owner"
        )
    };
    assert_eq!(judged(&text("20..30 info")).1, 0);
    assert_eq!(
        judged(&text("20..30 info token 1")).1,
        1,
        "it names its grant"
    );
    assert_eq!(judged(&text("20..30 ok")).1, 1);
    assert_eq!(judged(&text("20..30 failed")).1, 1);
    let inside = text("20..30 info").replace("lease 100 ", "lease 1000 ");
    assert_eq!(judged(&inside).1, 1, "it had ended the first hold");
    let entered = "a acquire 0..10 ok lease 100 count 1
                   a acquire 20..30 ok lease 100 count 2
                   a release 40..50 info
                   a release 140..150 not-owner
                   a acquire 200..210 ok lease 1000 count 1
                   a release 300..310 not-owner";
    assert_eq!(
        judged(entered).1,
        0,
        "one of two, of which the lease took both"
    );
}

#[test]
fn a_release_that_a_library_may_have_sent_again_accuses_nobody() {
    let told = |fault: &str, action: &str| {
        let text = format!(
            "a acquire 0..10 ok lease 1000
             fault F1 {fault} injected 100
             a {action} 300..310 not-owner"
        );
        judged(&text).1
    };
    for lost in ["cut n1→a", "delay a→n1", "pause n1"] {
        assert_eq!(told(lost, "release"), 0, "{lost}");
        assert_eq!(told(lost, "renew"), 1, "{lost}");
    }
    for other in ["cut n1→b", "promote n2", "delete-key lock", "kill n1"] {
        assert_eq!(told(other, "release"), 1, "{other}");
    }
    // A lock that sends each request once was denied what it had.
    let mut once = history(
        "a acquire 0..10 ok lease 1000
         fault F1 cut n1→a injected 100
         a release 300..310 not-owner",
    );
    once.header.asks_once = Some(true);
    let analysis = check(&once, &Options::default());
    let verdict = analysis.properties[&Property::LostLock].verdict;
    assert_eq!(verdict, Verdict::Violated);
}
