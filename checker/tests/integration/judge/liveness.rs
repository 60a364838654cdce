//! A free lock cannot be had within a named bound.

use lockstorm_checker::{Nanos, Options, Property, Verdict, check};

use crate::support::{exact, history, judge, reason, verdict};

fn judged(text: &str) -> (Verdict, u64) {
    verdict(Property::Liveness, text)
}

const CRASHED: &str = "a acquire 0..20 info
                       final 1000 bound 500\n";

#[test]
fn a_key_that_is_refused_to_the_end_of_the_bound_is_stuck() {
    let text = format!("{CRASHED} b acquire 1010..1520 refused wait 500");
    assert_eq!(judged(&text), (Verdict::Violated, 1));
    let witness = &judge(&text).properties[&Property::Liveness].witnesses[0];
    assert_eq!(
        witness.interval,
        (Nanos::from_millis(1000), Nanos::from_millis(1500))
    );
    assert_eq!(
        witness.claim,
        "\"lock\" could not be had for 0.500 s, with every fault healed and nobody at work"
    );
    let story: Vec<&str> = witness
        .story
        .iter()
        .map(|step| step.text.as_str())
        .collect();
    assert_eq!(
        story,
        [
            "a asked for \"lock\" and had no clear answer: it may have taken it",
            "every fault is healed; \"lock\" must be had within 0.500 s",
            "b asked for \"lock\" and was refused",
            "\"lock\" could not be had for 0.500 s, with every fault healed and nobody at work",
        ]
    );
}

#[test]
fn the_story_names_a_hold_that_never_ends() {
    let text = "a acquire 0..20 ok
                b acquire 30..40 refused
                final 1000 bound 500
                b acquire 1010..1600 refused";
    let witness = &judge(text).properties[&Property::Liveness].witnesses[0];
    assert_eq!(
        witness.story[0].text,
        "a was granted \"lock\", without a lease of its own"
    );
}

#[test]
fn asking_again_and_again_shows_the_same() {
    let ask = |n| format!("b{n} acquire {}..{} refused", 1010 + n * 50, 1011 + n * 50);
    let asks: Vec<String> = (0..10).map(ask).collect();
    let text = format!("{CRASHED}{}", asks.join("\n"));
    assert_eq!(judged(&text), (Verdict::Violated, 1));
    let early = format!("{CRASHED}{}", asks[..5].join("\n"));
    let reason = reason(Property::Liveness, &early);
    assert_eq!(
        reason,
        "\"lock\" was neither granted nor refused to the end of the final phase"
    );
}

#[test]
fn a_grant_within_the_bound_is_enough_whoever_gets_it() {
    let text = format!(
        "{CRASHED} b acquire 1010..1520 refused
         c acquire 1020..1500 ok"
    );
    assert_eq!(judged(&text), (Verdict::Valid, 0));
    let late = text.replace("1020..1500 ok", "1020..1501 ok");
    assert_eq!(
        judged(&late),
        (Verdict::Violated, 1),
        "a millisecond too late"
    );
}

#[test]
fn who_does_not_ask_or_gets_no_answer_shows_nothing() {
    assert!(reason(Property::Liveness, CRASHED).contains("was not asked for"));
    let unanswered = format!("{CRASHED} b acquire 1010..1600 info");
    assert!(reason(Property::Liveness, &unanswered).contains("neither granted nor refused"));
    let nobody = "final 1000 bound 500";
    assert_eq!(
        reason(Property::Liveness, nobody),
        "nobody ever asked for a lock"
    );
}

#[test]
fn who_waits_through_the_bound_shows_that_it_is_stuck_whatever_comes_later() {
    for (wait, story) in [
        (
            "1010..1501 ok",
            "b asked for \"lock\" and was granted it too late",
        ),
        (
            "1010..? pending\n c alive 1500",
            "b asked for \"lock\" and never had an answer",
        ),
    ] {
        let text = format!("{CRASHED} b acquire {wait}");
        assert_eq!(judged(&text), (Verdict::Violated, 1), "{wait}");
        let witness = &judge(&text).properties[&Property::Liveness].witnesses[0];
        assert!(
            witness.story.iter().any(|step| step.text == story),
            "{wait}"
        );
    }
    for near in [
        "1051..1501 ok",
        "1010..? pending\n c alive 1499",
        "900..? pending\n c alive 1600",
        "1010..1501 ok\n fault F1 kill n1 injected 1400",
    ] {
        let text = format!("{CRASHED} b acquire {near}");
        assert_eq!(judged(&text).0, Verdict::Unknown, "near miss: {near}");
    }
}

#[test]
fn a_refusal_after_the_bound_counts_if_nobody_can_have_been_granted_the_lock_since() {
    let text = format!("{CRASHED} b acquire 1010..1020 refused\n c acquire 1600..1610 refused");
    assert_eq!(judged(&text), (Verdict::Violated, 1));
    for other in ["1590..1605 ok", "1590..1605 info"] {
        let taken = format!("{text}\n d acquire {other}");
        assert_eq!(judged(&taken).0, Verdict::Unknown, "{other}");
    }
    let idle = text.replace("b acquire 1010..1020 refused", "");
    assert_eq!(judged(&idle).0, Verdict::Unknown, "nobody asked in time");
}

#[test]
fn a_lease_that_is_still_running_explains_the_refusals_of_the_final_phase() {
    let text = |lease: u64, more: &str| {
        format!(
            "a acquire 900..910 ok lease {lease}
             final 1000 bound 500
             b acquire 1010..1020 refused
             {more}
             b acquire 1480..1490 refused"
        )
    };
    assert_eq!(judged(&text(570, "")).0, Verdict::Unknown);
    assert_eq!(judged(&text(569, "")), (Verdict::Violated, 1), "near miss");
    let renewed = |lease| format!("a renew 990..1100 info lease {lease}");
    assert_eq!(judged(&text(100, &renewed(470))).0, Verdict::Unknown);
    let near = judged(&text(100, &renewed(469)));
    assert_eq!(near, (Verdict::Violated, 1), "near miss");
    let unanswered = text(570, "").replace("910 ok", "910 info");
    assert_eq!(judged(&unanswered).0, Verdict::Unknown);
    let released = text(570, "a release 920..930 ok");
    assert_eq!(judged(&released), (Verdict::Violated, 1));
}

/// A client that waits by itself asks once, for the whole of the bound.
#[test]
fn one_wait_through_the_end_of_a_lease_and_the_rest_of_the_bound_shows_that_the_lock_is_stuck() {
    let text = |lease: u64, wait: &str| {
        format!(
            "a acquire 900..910 ok lease {lease}
             final 1000 bound 500
             b acquire 1010..{wait}"
        )
    };
    for wait in ["1500 refused", "1501 ok", "? pending\n c alive 1500"] {
        assert_eq!(judged(&text(400, wait)), (Verdict::Violated, 1), "{wait}");
    }
    // Free from 1310 ms on: nine tenths of the rest are over at 1481 ms.
    assert_eq!(judged(&text(400, "1481 refused")), (Verdict::Violated, 1));
    assert_eq!(judged(&text(400, "1480 refused")).0, Verdict::Unknown);
    assert_eq!(judged(&text(400, "1500 ok")), (Verdict::Valid, 0));
    for wait in ["1500 refused", "1501 ok"] {
        let over = text(590, wait);
        assert_eq!(
            reason(Property::Liveness, &over),
            "\"lock\" may have been leased to the end of the final phase",
            "{wait}"
        );
    }
    let named = text(5000, "11000 refused").replace("bound 500", "bound 10000");
    assert_eq!(judged(&named), (Verdict::Violated, 1));
    let unnamed = named.replace("bound 10000", "");
    assert_eq!(judged(&unnamed).0, Verdict::Unknown, "no room for a lease");
}

/// Everybody was asked to release before: who renews is what the lock is stuck for.
#[test]
fn a_renewal_that_is_sent_in_the_final_phase_excuses_nothing() {
    let text = |renewal: &str| {
        format!(
            "a acquire 900..910 ok lease 100
             {renewal}
             final 1000 bound 500
             b acquire 1010..1020 refused
             a renew 1100..1110 ok lease 400
             a renew 1400..1410 ok lease 400
             b acquire 1480..1490 refused"
        )
    };
    assert_eq!(judged(&text("")), (Verdict::Violated, 1));
    let early = text("a renew 990..1100 ok lease 300");
    let early = early.replace("renew 1100..1110", "renew 1200..1210");
    assert_eq!(judged(&early), (Verdict::Violated, 1), "over long before");
    for excuse in ["ok lease 470", "info lease 300"] {
        let early = early.replace("ok lease 300", excuse);
        assert_eq!(judged(&early).0, Verdict::Unknown, "{excuse}");
    }
    let granted = format!("{}\n c acquire 1495..1499 ok", text(""));
    assert_eq!(judged(&granted), (Verdict::Valid, 0));
}

#[test]
fn one_stuck_key_is_enough_and_one_untried_key_is_told() {
    let text = "a acquire 0..10 ok key x
                a release 20..30 ok key x
                b acquire 0..10 info key y
                final 1000 bound 500
                c acquire 1010..1020 ok key x";
    assert_eq!(
        reason(Property::Liveness, text),
        "\"y\" was not asked for in the final phase"
    );
    let stuck = format!("{text}\n d acquire 1010..1600 refused key y");
    assert_eq!(judged(&stuck), (Verdict::Violated, 1));
}

/// a leaves at 100 ms, b waits from 50 ms on.
fn wait(until: &str) -> String {
    format!(
        "a acquire 0..10 ok lease 5000
         a release 90..100 ok
         b acquire 50..{until} wait 20000
         c alive 20000"
    )
}

#[test]
fn a_wait_for_a_lock_that_is_free_for_longer_than_the_bound_is_a_violation() {
    for until in ["10101 refused", "? pending"] {
        assert_eq!(judged(&wait(until)), (Verdict::Violated, 1), "{until}");
    }
    assert_eq!(
        judged(&wait("10100 refused")),
        (Verdict::Valid, 0),
        "near miss: 10 s sharp"
    );
    let analysis = judge(&wait("12000 refused"));
    let witness = &analysis.properties[&Property::Liveness].witnesses[0];
    assert_eq!(
        witness.claim,
        "b waited for \"lock\" and was refused, though it was free for 11.900 s"
    );
}

/// A library that says no both when the lock was another's and when it could not ask.
#[test]
fn a_long_wait_that_ends_with_an_unexplained_no_is_one() {
    let text = wait("10101 told-no lease 1000");
    assert_eq!(judged(&text), (Verdict::Violated, 1));
    let witness = &judge(&text).properties[&Property::Liveness].witnesses[0];
    assert_eq!(
        witness.claim,
        "b waited for \"lock\" and was refused, though it was free for 10.001 s"
    );
    let steps: Vec<&str> = witness
        .story
        .iter()
        .map(|step| step.text.as_str())
        .collect();
    assert!(
        steps.contains(&"b asked for \"lock\" and was told no, nobody knows why"),
        "{steps:?}"
    );
    let short = wait("10100 told-no lease 1000");
    assert_eq!(judged(&short), (Verdict::Valid, 0), "near miss: 10 s sharp");
    let unclear = wait("12000 info lease 1000");
    assert_eq!(
        judged(&unclear).0,
        Verdict::Unknown,
        "its client may be dead"
    );
    let other = format!("{text}\n d acquire 60..11000 told-no lease 1000 wait 20000");
    assert_eq!(judged(&other), (Verdict::Valid, 0), "either may have it");
}

#[test]
fn the_caller_may_name_the_bound() {
    let options = Options {
        liveness_bound: Some(Nanos::from_millis(100)),
        ..exact()
    };
    let analysis = check(&history(&wait("300 refused")), &options);
    assert_eq!(analysis.properties[&Property::Liveness].count, 1);
}

#[test]
fn a_lock_that_may_be_held_is_not_free() {
    for line in [
        "x acquire 200..210 ok lease 15000",
        "x acquire 200..210 info",
        "x acquire 5000..5010 ok\n x release 5020..5030 ok",
        "fault F1 pause n1 injected 4000\n fault F1 pause n1 healed 6000",
    ] {
        let text = format!("{}\n {line}", wait("15000 refused"));
        assert_eq!(judged(&text), (Verdict::Valid, 0), "{line}");
    }
}

#[test]
fn the_hull_of_a_leased_hold_ends_at_its_ceiling() {
    let crashed = wait("15200 refused").replace("a release 90..100 ok", "");
    assert_eq!(
        judged(&crashed),
        (Verdict::Violated, 1),
        "free from 5010 ms on"
    );
    let without = crashed.replace("lease 5000", "");
    assert_eq!(judged(&without), (Verdict::Valid, 0), "a may still hold it");
}

#[test]
fn short_waits_are_no_matter_for_liveness() {
    let text = wait("300 refused");
    assert!(!judge(&text).properties.contains_key(&Property::Liveness));
    assert_eq!(judged(&text).0, Verdict::Unknown);
    assert_eq!(
        judged(&wait("15000 info")).0,
        Verdict::Unknown,
        "given up by the client"
    );
}
