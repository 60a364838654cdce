//! Two guaranteed holds of distinct owners overlap.

use lockstorm_checker::history::Header;
use lockstorm_checker::{Nanos, Property, Verdict, check};

use crate::support::{exact, history, judge, reason, verdict};

const VIOLATED: fn(u64) -> (Verdict, u64) = |count| (Verdict::Violated, count);
const VALID: (Verdict, u64) = (Verdict::Valid, 0);

fn judged(text: &str) -> (Verdict, u64) {
    verdict(Property::MutualExclusion, text)
}

#[test]
fn two_granted_inside_their_leases_are_a_violation() {
    let text = "a acquire 0..10 ok lease 2000
                b acquire 500..510 ok lease 2000
                a release 900..910 ok
                b release 950..960 ok";
    assert_eq!(judged(text), VIOLATED(1));
    let witness = judge(text).properties[&Property::MutualExclusion].witnesses[0].clone();
    assert_eq!(
        witness.interval,
        (Nanos::from_millis(510), Nanos::from_millis(900))
    );
    assert_eq!(
        witness.claim,
        "a and b both held \"lock\" for 0.390 s inside their leases"
    );
    assert_eq!(
        witness.holders[0].lease_floor,
        Some(Nanos::from_millis(2000))
    );
    assert!(witness.certain);
}

/// A lease that was over is not said to have run: what claims the lock then is the renewal.
#[test]
fn a_renewal_that_bridges_the_hold_of_another_is_named() {
    let text = "a acquire 0..10 ok lease 1000
                b acquire 1200..1210 ok lease 1000
                b release 1400..1410 ok
                a renew 1500..1510 ok lease 1000";
    let witness = judge(text).properties[&Property::MutualExclusion].witnesses[0].clone();
    assert_eq!(
        witness.claim,
        "a and b both held \"lock\" for 0.190 s; the lease of a had ended at 1.000 s, but its \
         renewal at 1.500 s was granted as if it had gone on"
    );
    let in_time = text.replace("a renew 1500..1510", "a renew 900..910");
    let witness = judge(&in_time).properties[&Property::MutualExclusion].witnesses[0].clone();
    assert_eq!(
        witness.claim,
        "a and b both held \"lock\" for 0.190 s inside their leases"
    );
}

/// The lease of a grant that was waited for began with the last try, so its floor lies after it.
#[test]
fn a_lease_counts_from_the_try_that_was_granted() {
    let hidden = "a acquire 0..3000 ok lease 2000
                  b acquire 3500..3510 ok lease 2000
                  a release 3900..3910 ok";
    assert_eq!(judged(hidden), VALID, "the lease may have begun at 0");
    let told = "a acquire 0..3000 ok lease 2000 waited 2990
                b acquire 3500..3510 ok lease 2000
                a release 3900..3910 ok";
    assert_eq!(judged(told), VIOLATED(1));
}

/// Nobody is accused by a wait that is longer than the operation.
#[test]
fn a_wait_beyond_the_answer_counts_to_the_answer() {
    let text = "a acquire 0..1000 ok lease 2000 waited 9000
                c acquire 1500..1510 refused
                b acquire 3010..3020 ok lease 2000
                a release 3900..3910 ok";
    assert_eq!(judged(text), VALID);
}

#[test]
fn a_hand_over_is_no_overlap_not_even_at_one_instant() {
    let text = "a acquire 0..10 ok
                b acquire 5..50 ok
                a release 50..60 ok
                b release 70..80 ok";
    assert_eq!(
        judged(text),
        VALID,
        "the grant and the sending of the release tie"
    );
    let later = text.replace("a release 50..60", "a release 51..60");
    assert_eq!(
        judged(&later),
        VIOLATED(1),
        "one millisecond later they overlap"
    );
}

#[test]
fn a_hold_ends_when_its_release_is_sent_whatever_becomes_of_it() {
    for outcome in ["ok", "not-owner", "failed", "info"] {
        let text = format!(
            "a acquire 0..10 ok lease 2000
             a release 100..130 {outcome}
             b acquire 90..110 ok lease 2000"
        );
        assert_eq!(judged(&text), VALID, "{outcome}");
    }
}

#[test]
fn a_grant_after_the_lease_is_none_and_one_before_its_end_is() {
    let text = |lease| {
        format!(
            "a acquire 0..10 ok lease {lease}
             b acquire 40..100 ok lease 2000
             a release 500..510 not-owner"
        )
    };
    assert_eq!(
        judged(&text(100)),
        VALID,
        "the floor is the instant of the grant"
    );
    assert_eq!(judged(&text(101)), VIOLATED(1));
}

#[test]
fn the_drift_is_taken_off_the_lease() {
    // 1 % of 1000 ms and 2 ms: the floor of a is 988 ms, and b is granted at 987 or 988 ms.
    let text = |granted| {
        history(&format!(
            "a acquire 0..10 ok lease 1000
             b acquire 900..{granted} ok lease 1000"
        ))
    };
    let count = |granted, options| {
        check(&text(granted), &options).properties[&Property::MutualExclusion].count
    };
    let by_default = lockstorm_checker::Options::default;
    assert_eq!((count(988, by_default()), count(987, by_default())), (0, 1));
    assert_eq!((count(988, exact()), count(1000, exact())), (1, 0));
}

#[test]
fn a_renewal_extends_the_guarantee_from_the_time_it_was_sent() {
    let text = |sent| {
        format!(
            "a acquire 0..10 ok lease 100
             a renew {sent}..90 ok
             b acquire 20..170 ok lease 1000"
        )
    };
    assert_eq!(judged(&text(70)), VALID);
    assert_eq!(judged(&text(80)), VIOLATED(1), "the floor is now at 180 ms");
}

#[test]
fn a_renewal_without_an_answer_guarantees_nothing() {
    let text = "a acquire 0..10 ok lease 100
                a renew 80..? pending
                b acquire 20..170 ok lease 100";
    assert_eq!(judged(text), VALID);
}

#[test]
fn an_acquire_without_an_answer_accuses_nobody() {
    let text = "a acquire 0..? pending
                b acquire 0..500 info
                c acquire 50..60 ok
                d acquire 70..80 refused";
    assert_eq!(judged(text), VALID);
}

#[test]
fn an_acquire_that_is_proved_later_holds_from_its_proof_on() {
    let proof = |line| {
        format!(
            "a acquire 0..20 info lease 1000
             {line}
             c acquire 5..6 refused
             b acquire 10..100 ok lease 1000
             a release 200..210 ok"
        )
    };
    assert_eq!(judged(&proof("a renew 30..40 ok lease 1000")), VIOLATED(1));
    assert_eq!(judged(&proof("a write 30..40 ok token 7")), VIOLATED(1));
    assert_eq!(judged(&proof("a renew 30..40 not-owner")), VALID);
    assert_eq!(
        judged(&proof("a write 30..40 ok")),
        VALID,
        "its release proves no time to hold"
    );
}

#[test]
fn an_acquire_that_certainly_failed_is_no_hold() {
    let text = "a acquire 0..10 failed
                b acquire 5..20 ok
                c acquire 30..40 refused";
    assert_eq!(judged(text), VALID);
}

#[test]
fn readers_share_and_exclude_writers() {
    let readers = "a acquire 0..10 ok mode read
                   b acquire 20..30 ok mode read
                   c acquire 40..50 refused";
    assert_eq!(judged(readers), VALID);
    let writer = format!("{readers}\n d acquire 60..70 ok");
    assert_eq!(judged(&writer), VIOLATED(2));
}

#[test]
fn an_owner_is_never_accused_against_itself() {
    let text = "a acquire 0..10 ok lease 1000
                a acquire 20..30 ok lease 1000
                b acquire 40..50 refused
                a release 60..70 ok
                a release 80..90 ok";
    assert_eq!(judged(text), VALID);
}

#[test]
fn a_second_grant_after_the_lease_is_a_new_hold_and_does_not_bridge_the_gap() {
    let text = "a acquire 0..10 ok lease 100
                b acquire 50..150 ok lease 100
                b release 180..190 ok
                a acquire 200..210 ok lease 100
                a renew 250..260 ok
                a release 300..310 ok";
    assert_eq!(judged(text), VALID, "b held between the two holds of a");
}

#[test]
fn the_first_release_ends_a_hold_that_was_entered_twice() {
    let text = "a acquire 0..10 ok
                a acquire 20..30 ok
                a release 60..70 ok
                b acquire 50..80 ok
                a release 90..100 ok";
    assert_eq!(
        judged(text),
        VALID,
        "nobody said that the lock is reentrant"
    );
}

#[test]
fn who_was_told_that_the_lock_is_lost_does_not_hold_it() {
    for notice in ["a lost 50", "a renew 30..50 not-owner"] {
        let text = format!(
            "a acquire 0..10 ok lease 1000
             {notice}
             b acquire 40..50 ok lease 1000
             a release 500..510 not-owner"
        );
        assert_eq!(judged(&text), VALID, "{notice}");
        assert_eq!(
            judged(&text.replace("40..50", "40..45")),
            VIOLATED(1),
            "{notice}"
        );
    }
}

#[test]
fn keys_are_judged_apart() {
    let text = "a acquire 0..10 ok key x
                b acquire 20..30 ok key y
                b acquire 40..50 refused key x";
    assert_eq!(judged(text), VALID);
    let both = format!("{text}\nc acquire 60..70 ok key y\nd acquire 55..66 ok key x");
    let analysis = judge(&both);
    let judgement = &analysis.properties[&Property::MutualExclusion];
    assert_eq!(judgement.count, 2);
    let keys: Vec<&str> = judgement
        .witnesses
        .iter()
        .map(|w| w.lock_key.as_str())
        .collect();
    assert_eq!(keys, ["x", "y"], "by the time of the overlap");
}

#[test]
fn a_semaphore_is_violated_by_more_permits_than_it_has() {
    let text = "a acquire 0..10 ok
                b acquire 20..30 ok
                c acquire 40..50 ok
                a release 60..70 ok
                d acquire 80..90 ok permits 2";
    let with = |permits| {
        let mut history = history(text);
        history.header = Header {
            permits: Some(permits),
            ..Header::new()
        };
        check(&history, &exact()).properties[&Property::MutualExclusion].clone()
    };
    assert_eq!((with(4).verdict, with(4).count), VALID);
    let violated = with(3);
    assert_eq!(violated.count, 1);
    assert_eq!(
        violated.witnesses[0].claim,
        "b, c and d all held \"lock\" from 0.090 s to the end of the history: 4 permits of 3",
    );
}

#[test]
fn permits_of_an_unknown_number_are_not_judged() {
    let text = "a acquire 0..10 ok permits 2
                b acquire 20..30 ok";
    assert!(reason(Property::MutualExclusion, text).contains("header does not say how many"));
}

#[test]
fn many_violations_are_all_counted_and_the_first_are_told() {
    let lines: Vec<String> = (0..20)
        .map(|n| format!("c{n} acquire {n}..{} ok", n + 1))
        .collect();
    let analysis = judge(&lines.join("\n"));
    let judgement = &analysis.properties[&Property::MutualExclusion];
    assert_eq!(judgement.count, 19 * 20 / 2);
    assert_eq!(judgement.witnesses.len(), exact().witnesses_max);
}

#[test]
fn of_two_indeterminate_acquires_a_renewal_proves_the_one_that_claims_least() {
    let text = |second: &str| {
        format!(
            "a acquire 0..10 info mode read
             a acquire 20..30 info {second}
             a renew 40..50 ok
             b acquire 60..70 ok mode read"
        )
    };
    assert_eq!(verdict(Property::MutualExclusion, &text("")).1, 0);
    let lone = text("").replace("a acquire 0..10 info mode read", "");
    assert_eq!(verdict(Property::MutualExclusion, &lone).1, 1);
}

#[test]
fn a_renewal_after_the_lease_may_be_of_the_hold_of_an_indeterminate_acquire() {
    let text = "a acquire 0..1 ok lease 10
                a acquire 5..6 info lease 10
                b acquire 13..14 ok
                b release 20..21 ok
                a renew 30..31 ok lease 10";
    assert_eq!(verdict(Property::MutualExclusion, text).1, 0);
    let held_on = text.replace("a acquire 5..6 info lease 10", "");
    assert_eq!(verdict(Property::MutualExclusion, &held_on).1, 1);
}

#[test]
fn a_release_that_ends_where_the_next_acquire_begins_may_have_given_that_grant_back() {
    let text = "a release 0..5 ok\na acquire 5..6 ok lease 10\nb acquire 7..8 ok lease 10";
    assert_eq!(verdict(Property::MutualExclusion, text).1, 0);
}

#[test]
fn a_late_renewal_beside_an_acquire_of_its_owner_may_renew_what_that_was_granted() {
    let others = "a acquire 0..10 ok lease 50\nb acquire 100..110 ok lease 40\n";
    let renewal = "a renew 183..187 ok lease 140\n";
    let alone = format!("{others}{renewal}");
    assert_eq!(verdict(Property::MutualExclusion, &alone).1, 1);
    let beside = format!("{others}a acquire 168..196 ok lease 60\n{renewal}");
    assert_eq!(verdict(Property::MutualExclusion, &beside).1, 0);
}

#[test]
fn what_was_sent_before_an_acquire_proves_nothing_of_it() {
    let renewal = "a renew 290..310 ok lease 200\n";
    let others = "a acquire 300..? pending lease 60\nb acquire 320..330 ok lease 100";
    let text = format!("{renewal}{others}");
    assert_eq!(verdict(Property::MutualExclusion, &text).1, 0);
    let later = format!("{others}\n{}", renewal.replace("290", "305"));
    assert_eq!(verdict(Property::MutualExclusion, &later).1, 1);
}

#[test]
fn a_release_without_an_answer_may_give_back_at_any_time_what_a_renewal_proved() {
    let proof = "a acquire 0..10 info\na renew 30..40 ok\n";
    let other = "b acquire 60..70 ok\n";
    let with = |release: &str| judged(&format!("{proof}{other}{release}"));
    assert_eq!(with(""), VIOLATED(1), "a holds from 40 ms on");
    for sent in ["15..20", "25..35", "35..36"] {
        assert_eq!(with(&format!("a release {sent} info")), VALID, "{sent}");
    }
    assert_eq!(
        with("a release 15..20 failed"),
        VIOLATED(1),
        "it never executed"
    );
    assert_eq!(
        with("a release 15..20 not-owner"),
        VIOLATED(1),
        "the acquire took effect later"
    );
    let seen = format!("{proof}{other}").replace("renew 30..40 ok", "write 30..40 ok token 7");
    assert_eq!(judged(&seen), VIOLATED(1));
    assert_eq!(judged(&format!("{seen}a release 15..20 info")), VALID);
}

#[test]
fn a_release_under_way_together_with_an_acquire_and_its_proof_may_have_come_last() {
    let text = |answered| {
        format!(
            "a release 5..{answered} ok
             a acquire 10..20 info
             a renew 30..40 ok
             b acquire 60..70 ok"
        )
    };
    for answered in [30, 35, 50] {
        assert_eq!(judged(&text(answered)), VALID, "{answered}");
    }
    assert_eq!(judged(&text(29)), VIOLATED(1), "the renewal came after it");
}

#[test]
fn a_release_sent_at_the_instant_of_an_acquire_may_be_the_one_of_that_grant() {
    let text = "a acquire 10..20 ok\na release 10..15 info\nb acquire 30..40 ok";
    assert_eq!(judged(text), VALID);
    assert_eq!(
        judged(&text.replace("10..15 info", "9..15 failed")),
        VIOLATED(1),
        "it is of a hold before"
    );
}

#[test]
fn an_earlier_release_without_an_answer_may_end_the_hold_of_a_later_grant() {
    let text = |first: &str, shown: &str| {
        format!(
            "{first}
             a acquire 110..120 ok lease 1000
             {shown}
             b acquire 140..150 ok lease 1000"
        )
    };
    // The lease of its first hold may have run out before, so that the release is left over.
    let left_over = "a acquire 0..10 ok lease 100\n a release 20..30 info";
    assert_eq!(judged(&text(left_over, "")), VALID);
    for shown in [
        "a renew 151..160 ok lease 1000",
        "a release 200..210 ok",
        "a acquire 151..160 ok lease 1000 count 2",
    ] {
        assert_eq!(judged(&text(left_over, shown)), VIOLATED(1), "{shown}");
    }
    for gone in ["a release 200..210 not-owner", "a release 200..210 info"] {
        assert_eq!(judged(&text(left_over, gone)), VALID, "{gone}");
    }
    // Inside the lease of the first hold nothing else can have ended it.
    let ended = left_over.replace("lease 100", "lease 1000");
    assert_eq!(judged(&text(&ended, "")), VIOLATED(1));
    let twice = format!("{ended}\n a release 40..50 ok");
    assert_eq!(
        judged(&text(&twice, "")),
        VALID,
        "one of the two is left over"
    );
    // A release that names a token ends no other grant.
    let named = left_over.replace("20..30 info", "20..30 info token 1");
    assert_eq!(judged(&text(&named, "")), VIOLATED(1));
}

#[test]
fn a_renewal_after_the_lease_may_be_one_of_an_acquire_without_an_answer() {
    let text = |lease: u64, renewed: &str| {
        format!(
            "a acquire 0..10 info lease 1000
             a acquire 20..30 ok lease {lease}
             a renew {renewed} ok lease 1000
             b acquire 220..230 ok lease 1000"
        )
    };
    assert_eq!(judged(&text(1000, "120..125")), VIOLATED(1));
    assert_eq!(
        judged(&text(100, "120..125")),
        VALID,
        "of which nobody can tell"
    );
    assert_eq!(
        judged(&text(100, "131..135")),
        VIOLATED(1),
        "the lease of the second had certainly run out"
    );
}

#[test]
fn a_renewal_sent_as_its_process_learns_of_the_grant_extends_the_lease() {
    let text = "a acquire 0..100 ok lease 150 process 9
                a renew 100..110 ok lease 500 process 9
                b acquire 200..210 ok";
    assert_eq!(judged(text), VIOLATED(1));
    let of_another = text.replace("500 process 9", "500 process 8");
    assert_eq!(judged(&of_another), VALID, "a tie is concurrent");
}

#[test]
fn a_renewal_beside_an_acquire_proves_no_older_one_that_is_indeterminate() {
    let text = "a acquire 0..10 info
                a renew 20..40 ok
                a acquire 30..50 ok lease 30
                b acquire 70..80 ok";
    assert_eq!(
        judged(text),
        VALID,
        "the lease of the second may end at 60 ms"
    );
    let before = text.replace("30..50", "41..50");
    assert_eq!(
        judged(&before),
        VIOLATED(1),
        "it is the first that was renewed"
    );
}
