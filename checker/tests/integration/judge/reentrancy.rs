//! A client that is granted a lock again while it holds it must release it as often.

use lockstorm_checker::{Property, Verdict};

use crate::support::{judge, reason, verdict};

fn judged(text: &str) -> (Verdict, u64) {
    verdict(Property::Reentrancy, text)
}

fn shown(text: &str) -> (String, String) {
    let witness = &judge(text).properties[&Property::Reentrancy].witnesses[0];
    (witness.claim.clone(), witness.signature.clone())
}

const TWICE: &str = "a acquire 0..10 ok count 1
                     a acquire 20..30 ok count 2\n";

#[test]
fn as_many_releases_as_grants_are_in_order() {
    let text = format!(
        "{TWICE}
         a release 40..50 ok count 1
         a release 60..70 ok count 0
         b acquire 80..90 ok count 1"
    );
    assert_eq!(judged(&text), (Verdict::Valid, 0));
}

#[test]
fn a_partial_release_that_frees_the_lock_is_a_violation() {
    let text = |granted: &str| {
        format!(
            "{TWICE}
             a release 40..50 ok count 1
             b acquire {granted} ok
             a release 100..110 ok count 0"
        )
    };
    assert_eq!(judged(&text("60..70")), (Verdict::Violated, 1));
    let (claim, signature) = shown(&text("60..70"));
    assert_eq!(
        claim,
        "b was granted \"lock\" while a still held it, after a partial release"
    );
    assert_eq!(signature, "reentrancy (freed), no fault, certain");
    assert_eq!(judged(&text("60..100")).1, 0, "near miss: a tie");
    let analysis = judge(&text("60..70"));
    assert_eq!(
        analysis.properties[&Property::MutualExclusion].verdict,
        Verdict::Violated,
        "both held it"
    );
    let whole = text("60..70").replace("a release 40..50 ok count 1\n", "");
    assert_eq!(judged(&whole).1, 1, "then the last release leaves one");
}

#[test]
fn a_partial_release_without_an_answer_leaves_the_lock_to_its_owner_too() {
    let text = format!(
        "{TWICE}
         a release 40..50 info
         b acquire 60..70 ok
         a release 100..110 not-owner"
    );
    assert_eq!(judged(&text).0, Verdict::Violated);
    let twice = text.replace("b acquire", "a release 52..53 info\n b acquire");
    assert_eq!(judged(&twice).1, 0, "near miss: both may have been done");
}

#[test]
fn without_counts_a_partial_release_is_known_by_the_one_after_it() {
    let text = "a acquire 0..10 ok
                a acquire 20..30 ok
                a release 40..50 ok
                b acquire 60..70 ok
                a release 100..110 ok";
    assert_eq!(judged(text), (Verdict::Violated, 1));
    assert_eq!(shown(text).1, "reentrancy (freed), no fault, uncertain");
    let refused = text.replace("100..110 ok", "100..110 not-owner");
    assert_eq!(judged(&refused).1, 0, "the lock may not count");
    for doubt in ["a acquire 52..54 info", "a acquire 32..34 info"] {
        let text = text.replace("b acquire", &format!("{doubt}\n b acquire"));
        assert_eq!(judged(&text).1, 0, "{doubt}");
    }
    let open =
        "a acquire 0..10 ok\n a acquire 20..30 ok\n a release 40..50 ok\n b acquire 60..70 ok";
    assert!(reason(Property::Reentrancy, open).contains("no reply counts the grants"));
}

#[test]
fn a_count_that_the_replies_before_do_not_imply_is_a_violation() {
    for (text, claim) in [
        (
            "a acquire 0..10 ok count 1\n a acquire 20..30 ok count 1",
            "a was told that it holds \"lock\" once, though it holds it 2 times",
        ),
        (
            "a acquire 0..10 ok count 2",
            "a was told that it holds \"lock\" 2 times, though it holds it once",
        ),
        (
            "a acquire 0..10 ok\n a acquire 20..30 ok\n a release 40..50 ok count 0",
            "a was told that it holds \"lock\" 0 times, though it holds it once",
        ),
        (
            "a acquire 0..10 ok\n a release 20..30 ok count 1",
            "a was told that it holds \"lock\" once, though it holds it 0 times",
        ),
    ] {
        assert_eq!(judged(text), (Verdict::Violated, 1), "{text}");
        assert_eq!(
            shown(text),
            (
                claim.to_owned(),
                "reentrancy (count), no fault, certain".to_owned()
            )
        );
    }
}

#[test]
fn what_has_no_answer_or_may_have_expired_is_counted_both_ways() {
    for text in [
        "a acquire 0..10 ok\n a acquire 12..14 info\n a acquire 20..30 ok count 3",
        "a acquire 0..10 ok\n a acquire 12..14 info\n a acquire 20..30 ok count 2",
        "a acquire 0..10 ok\n a release 12..14 info\n a acquire 20..30 ok count 2",
        "a acquire 0..10 ok\n a release 12..14 info\n a acquire 20..30 ok count 1",
        "a acquire 0..10 ok lease 30\n a acquire 20..30 ok count 1",
        "a acquire 0..10 ok lease 30\n a acquire 20..30 ok count 2",
        "a acquire 0..25 ok\n a acquire 20..30 ok count 1",
        "a acquire 0..10 ok\n a lost 15\n a acquire 20..30 ok count 1",
    ] {
        assert_eq!(judged(text).1, 0, "{text}");
    }
    let sure = "a acquire 0..10 ok lease 31\n a acquire 20..30 ok count 1";
    assert_eq!(judged(sure), (Verdict::Violated, 1), "near miss");
}

#[test]
fn a_release_beyond_the_grants_is_a_violation() {
    let text = |third: &str| {
        format!(
            "a acquire 0..10 ok
             a acquire 20..30 ok
             a release 40..50 ok
             a release 60..70 ok
             a release 80..90 {third}"
        )
    };
    assert_eq!(judged(&text("ok")), (Verdict::Violated, 1));
    assert_eq!(
        shown(&text("ok")).0,
        "a was told that it gave \"lock\" back, though it held none of its grants any more"
    );
    assert_eq!(judged(&text("not-owner")), (Verdict::Valid, 0));
}

#[test]
fn a_holder_that_gave_back_a_part_may_not_be_denied() {
    let text =
        |again: &str| format!("{TWICE}\n a release 40..50 ok count 1\n a release 60..70 {again}");
    assert_eq!(judged(&text("not-owner")), (Verdict::Violated, 1));
    assert_eq!(
        shown(&text("not-owner")).1,
        "reentrancy (denied), no fault, certain"
    );
    assert_eq!(judged(&text("info")), (Verdict::Valid, 0));
}

#[test]
fn an_owner_that_never_asks_again_gives_no_matter() {
    let text = "a acquire 0..10 ok\n a release 20..30 ok\n a acquire 40..50 ok";
    assert!(!judge(text).properties.contains_key(&Property::Reentrancy));
    assert_eq!(judged(text).0, Verdict::Unknown);
}

#[test]
fn a_counting_lock_that_keeps_its_promises_is_never_accused() {
    use rand::{RngExt, SeedableRng};
    let mut entered = 0;
    for seed in 0..1500 {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        let told = rng.random_bool(0.7);
        let (mut holder, mut count, mut lines) = (0, 0_u32, Vec::new());
        let mut effect = 10;
        // Each operation overlaps its neighbours; its effect is where the server did it.
        for _ in 0..12 {
            let owner = if count > 0 && rng.random_bool(0.7) {
                holder
            } else {
                rng.random_range(0..3)
            };
            let span = format!(
                "{}..{}",
                effect - rng.random_range(0..9),
                effect + rng.random_range(0..9)
            );
            effect += 10;
            let acquires = rng.random_bool(0.5);
            let own = count == 0 || owner == holder;
            let lost = rng.random_bool(0.1);
            let action = if acquires { "acquire" } else { "release" };
            let done = own && (acquires || count > 0);
            if done {
                holder = owner;
                count = if acquires { count + 1 } else { count - 1 };
                entered += u64::from(count > 1);
            }
            let answer = match (lost, done, acquires) {
                (true, ..) => "info".to_owned(),
                (_, true, _) if told => format!("ok count {count}"),
                (_, true, _) => "ok".to_owned(),
                (_, false, true) => "refused".to_owned(),
                (_, false, false) => "not-owner".to_owned(),
            };
            lines.push(format!("o{owner} {action} {span} {answer}"));
        }
        let analysis = judge(&lines.join("\n"));
        for property in [
            Property::Reentrancy,
            Property::MutualExclusion,
            Property::Ownership,
            Property::LostLock,
        ] {
            let count = analysis.properties.get(&property).map_or(0, |it| it.count);
            assert_eq!(count, 0, "{property}, seed {seed}: {lines:#?}");
        }
    }
    assert!(entered > 1500, "{entered}");
}

#[test]
fn a_partial_release_after_which_the_owner_entered_again_had_not_freed_the_lock() {
    let text = "a acquire 0..10 ok lease 900 count 1
                a acquire 20..30 ok lease 900 count 2
                a release 40..50 ok count 1
                a acquire 60..70 ok lease 900 count 2
                x release 80..90 ok
                b acquire 100..110 ok lease 900";
    assert_eq!(verdict(Property::Reentrancy, text).1, 0);
    assert_eq!(verdict(Property::Ownership, text).1, 1);
    let freed = text.replace("60..70 ok lease 900 count 2", "60..70 refused");
    assert_eq!(verdict(Property::Reentrancy, &freed).1, 1);
}

#[test]
fn a_renewal_after_the_lease_keeps_no_count() {
    let text = |length: u64| {
        format!(
            "a acquire 0..10 ok lease {length} count 1
             a acquire 20..30 ok lease {length} count 2
             a acquire 40..50 info lease {length}
             a renew 200..210 ok lease 1000
             a release 220..230 ok lease 1000 count 0"
        )
    };
    assert_eq!(
        judged(&text(100)).1,
        0,
        "it may be the third that was renewed"
    );
    assert_eq!(judged(&text(1000)), (Verdict::Violated, 1));
}

#[test]
fn what_was_given_back_of_an_earlier_hold_is_no_part_of_a_later_one() {
    let text = |between: &str| {
        format!(
            "a acquire 0..10 ok count 1
             a acquire 20..30 ok count 2
             a release 40..50 ok count 1
             a acquire 60..70 info
             {between}
             a release 120..130 not-owner"
        )
    };
    let anew = "a release 80..90 ok count 0\n a acquire 100..110 ok count 1";
    assert_eq!(
        judged(&text(anew)).1,
        0,
        "the lock is lost, and not miscounted"
    );
    assert_eq!(judged(&text("")), (Verdict::Violated, 1));
}

#[test]
fn who_is_granted_the_lock_once_more_was_not_let_in_by_a_partial_release() {
    let text = |count: u32| {
        format!(
            "{TWICE}
             b acquire 32..34 info
             a release 40..50 ok count 1
             b acquire 60..70 ok count {count}
             a release 100..110 ok count 0"
        )
    };
    assert_eq!(judged(&text(1)), (Verdict::Violated, 1));
    assert_eq!(judged(&text(2)).1, 0, "it had the lock before");
}

#[test]
fn a_release_that_says_nothing_of_its_owner_is_no_excess() {
    let text = |more: &str| {
        format!(
            "{TWICE}
             a release 40..50 ok count 1
             a release 60..70 ok count 0
             a release 80..90 ok {more}"
        )
    };
    assert_eq!(judged(&text("")).1, 1, "it claims to have given it back");
    assert_eq!(judged(&text("ownership unknown")).1, 0);
}
