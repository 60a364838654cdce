//! A try is refused though the lock was certainly free.

use lockstorm_checker::{Nanos, Property, Verdict, check};

use crate::support::{exact, history, judge, reason, verdict};

fn judged(text: &str) -> (Verdict, u64) {
    verdict(Property::SpuriousRefusal, text)
}

const LEFT: &str = "a acquire 0..10 ok lease 500
                    a release 90..100 ok\n";

#[test]
fn a_refusal_while_nobody_can_hold_is_a_violation() {
    let text = format!("{LEFT} b acquire 110..120 refused");
    assert_eq!(judged(&text), (Verdict::Violated, 1));
    let witness = &judge(&text).properties[&Property::SpuriousRefusal].witnesses[0];
    let expected = (Nanos::from_millis(110), Nanos::from_millis(120));
    assert_eq!(witness.interval, expected);
    let story: Vec<&str> = witness.story.iter().map(|step| &*step.text).collect();
    assert_eq!(
        story,
        [
            "a was granted \"lock\", its lease good until 0.500 s",
            "a released \"lock\"",
            "b asked for \"lock\" and was refused",
            "b was refused \"lock\", though nobody can have held it in the 0.010 s that the try \
             took",
        ]
    );
}

#[test]
fn a_try_that_touches_a_hold_in_one_instant_is_rightly_refused() {
    for (near, expected) in [
        ("100..120", Verdict::Valid),
        ("101..120", Verdict::Violated),
        ("50..60", Verdict::Valid),
        ("0..120", Verdict::Valid),
    ] {
        let text = format!("{LEFT} b acquire {near} refused");
        assert_eq!(judged(&text).0, expected, "{near}");
    }
    let before = "b acquire 0..9 refused\n a acquire 10..20 ok";
    assert_eq!(judged(before), (Verdict::Violated, 1));
    assert_eq!(judged(&before.replace("0..9", "0..10")).0, Verdict::Valid);
}

#[test]
fn whatever_may_hold_explains_a_refusal() {
    for line in [
        "c acquire 20..30 info",
        "c acquire 20..? pending lease 10",
        "c acquire 105..130 ok\n c release 140..150 ok",
        "b acquire 105..115 ok",
    ] {
        let text = format!("{LEFT} {line}\n b acquire 110..120 refused");
        assert_eq!(judged(&text), (Verdict::Valid, 0), "{line}");
    }
    for unanswered in ["90..100 info", "90..100 failed", "90..? pending"] {
        let text = format!("{LEFT} b acquire 110..120 refused").replace("90..100 ok", unanswered);
        assert_eq!(judged(&text), (Verdict::Valid, 0), "{unanswered}");
        let late = text.replace("110..120", "511..520");
        assert_eq!(
            judged(&late),
            (Verdict::Violated, 1),
            "after the ceiling: {unanswered}"
        );
    }
}

#[test]
fn an_indeterminate_renewal_may_hold_for_its_length_more_and_a_refusal_never_holds() {
    // Granted by 10 ms, for 50 ms; a renewal at their end gives 70 ms more.
    let text = |asked: u64| {
        format!(
            "a acquire 0..10 ok lease 50
             a renew 20..30 info lease 70
             b acquire {asked}..910 refused"
        )
    };
    assert_eq!(judged(&text(130)), (Verdict::Valid, 0));
    assert_eq!(judged(&text(131)), (Verdict::Violated, 1));
    let endless = text(900).replace("ok lease 50", "ok lease 0");
    assert_eq!(judged(&endless), (Verdict::Valid, 0));
    let both = format!("{LEFT} b acquire 110..130 refused\n c acquire 115..120 refused");
    assert_eq!(judged(&both), (Verdict::Violated, 2), "votes were split");
}

#[test]
fn servers_that_end_leases_late_refuse_rightly_until_then() {
    let count = |text: &str| {
        let mut history = history(text);
        history.header.ends_late_ms = Some(200);
        check(&history, &exact()).properties[&Property::SpuriousRefusal].count
    };
    let asked = |at: u64| {
        format!(
            "a acquire 0..10 ok lease 300\n b acquire {at}..{} refused",
            at + 20
        )
    };
    assert_eq!(count(&asked(320)), 0);
    assert_eq!(count(&asked(510)), 0, "in one instant");
    assert_eq!(count(&asked(511)), 1);
    assert_eq!(
        count(&format!("{LEFT} b acquire 110..120 refused")),
        1,
        "given back"
    );
}

#[test]
fn readers_are_kept_out_by_writers_only() {
    let text = |holder: &str, asks: &str| {
        format!("a acquire 0..10 ok {holder}\n b acquire 20..30 refused {asks}")
    };
    assert_eq!(judged(&text("mode read", "mode read")).0, Verdict::Violated);
    assert_eq!(judged(&text("mode read", "")).0, Verdict::Valid);
    assert_eq!(judged(&text("", "mode read")).0, Verdict::Valid);
}

#[test]
fn a_semaphore_refuses_rightly_when_too_few_permits_may_be_left() {
    let judged = |text: &str| {
        let mut history = history(text);
        history.header.permits = Some(3);
        let analysis = check(&history, &exact());
        analysis.properties[&Property::SpuriousRefusal].verdict
    };
    let text = "a acquire 0..10 ok
                b acquire 0..10 ok
                c acquire 20..30 refused permits 2";
    assert_eq!(judged(text), Verdict::Valid);
    assert_eq!(judged(&text.replace("permits 2", "")), Verdict::Violated);
    let twice = text
        .replace("permits 2", "")
        .replace("b acquire", "a acquire");
    assert_eq!(judged(&twice), Verdict::Violated);
    let thrice = format!("{twice}\n a acquire 12..13 ok");
    assert_eq!(
        judged(&thrice),
        Verdict::Valid,
        "one owner may take several"
    );
    let one_after_another = "a acquire 0..10 ok
                             a release 24..25 ok
                             b acquire 26..27 ok permits 2
                             c acquire 20..30 refused permits 1";
    assert_eq!(
        judged(one_after_another),
        Verdict::Violated,
        "two were out at the most"
    );
    let too_many = "c acquire 20..30 refused permits 4";
    assert_eq!(judged(too_many), Verdict::Valid);
}

#[test]
fn who_does_not_say_how_many_permits_there_are_cannot_be_judged() {
    let text = "a acquire 0..10 ok permits 2\n b acquire 20..30 refused permits 2";
    assert!(reason(Property::SpuriousRefusal, text).contains("does not say how many"));
}

#[test]
fn an_owner_that_entered_twice_may_keep_the_lock_after_its_first_release() {
    let text = "a acquire 0..10 ok
                a acquire 20..30 ok
                a release 40..50 ok
                b acquire 60..70 refused
                a release 80..90 ok";
    assert_eq!(judged(text), (Verdict::Valid, 0));
    let after = format!("{text}\n b acquire 91..99 refused");
    assert_eq!(judged(&after), (Verdict::Violated, 1));
}

#[test]
fn others_in_the_queue_of_a_fair_lock_explain_a_refusal() {
    let text = |note: &str| {
        let mut history = history(
            "c acquire 105..140 refused
             b acquire 110..120 refused
             a acquire 150..160 ok",
        );
        let mut queued = history.events[0].clone();
        queued.kind = lockstorm_checker::history::Kind::Note;
        queued.function = lockstorm_checker::history::Function::Queued;
        queued.time = Nanos::from_millis(107);
        if note == "queued" {
            history.events.insert(1, queued);
        }
        for (index, event) in (0..).zip(&mut history.events) {
            event.index = index;
        }
        check(&history, &exact()).properties[&Property::SpuriousRefusal].count
    };
    assert_eq!(text("nobody"), 2);
    assert_eq!(text("queued"), 1, "c itself was refused for nothing");
}

#[test]
fn without_a_refusal_the_property_has_no_matter() {
    let analysis = judge(LEFT);
    assert!(!analysis.properties.contains_key(&Property::SpuriousRefusal));
    assert_eq!(judged(LEFT).0, Verdict::Unknown);
}

#[test]
fn who_enters_again_after_a_partial_release_still_keeps_others_out() {
    let text = "a acquire 0..10 ok
                a acquire 20..30 ok
                a release 40..50 ok
                a acquire 60..70 ok
                a release 80..90 ok
                b acquire 100..110 refused
                a release 120..130 ok";
    assert_eq!(
        judged(text).1,
        0,
        "a had entered three times and left twice"
    );
    let left = format!("{text}\n c acquire 140..150 refused");
    assert_eq!(judged(&left).1, 1);
}

#[test]
fn what_the_service_still_counts_is_not_free() {
    let text = |count: u32| {
        format!(
            "a acquire 0..10 ok lease 100 count 1
             a lost 60
             a acquire 70..80 ok lease 1000 count {count}
             a release 90..100 ok count {}
             b acquire 120..130 refused",
            count - 1
        )
    };
    assert_eq!(judged(&text(2)).1, 0);
    assert_eq!(judged(&text(1)).1, 1);
}

#[test]
fn an_acquire_without_an_answer_is_proved_by_nothing_that_may_be_of_a_lapsed_hold() {
    let text = |lease: u64| {
        format!(
            "a acquire 0..10 info lease 100
             a acquire 20..30 ok lease {lease}
             a renew 80..90 ok lease {lease}
             a release 100..110 ok
             b acquire 300..310 refused"
        )
    };
    assert_eq!(judged(&text(60)).1, 0, "the first may take effect yet");
    assert_eq!(judged(&text(40)).1, 1, "it was the first that was renewed");
}

#[test]
fn a_renewal_without_an_answer_may_extend_the_lease_of_a_later_hold() {
    let text = |renewed: &str, asked: u64| {
        format!(
            "a acquire 0..10 ok lease 100
             a renew 20..30 {renewed} lease 100
             a release 40..50 ok
             a acquire 60..70 ok lease 100
             b acquire {asked}..310 refused"
        )
    };
    assert_eq!(judged(&text("info", 270)).1, 0);
    assert_eq!(judged(&text("info", 271)), (Verdict::Violated, 1));
    assert_eq!(judged(&text("ok", 171)), (Verdict::Violated, 1));
}

/// A release that did nothing leaves a reentrant lock held: the next grant is one more of the same,
/// and its release a partial one, which extends the lease.
#[test]
fn who_was_granted_again_after_a_release_without_effect_may_still_have_it() {
    for outcome in ["failed", "info"] {
        let text = format!(
            "a acquire 0..10 ok lease 300
             a release 90..100 {outcome}
             a acquire 200..210 ok lease 300
             a release 250..260 ok\n"
        );
        let refused = |at: u64| format!("{text} b acquire {at}..{} refused", at + 5);
        assert_eq!(judged(&refused(400)), (Verdict::Valid, 0), "{outcome}");
        assert_eq!(judged(&refused(550)), (Verdict::Valid, 0), "{outcome}");
        assert_eq!(judged(&refused(600)), (Verdict::Violated, 1), "{outcome}");
        let twice = format!("{text} a release 265..270 ok\n b acquire 330..335 refused");
        assert_eq!(
            judged(&twice),
            (Verdict::Violated, 1),
            "{outcome}: both are back"
        );
    }
}

#[test]
fn a_grant_that_counts_one_entered_nothing_again() {
    let text = "a acquire 0..10 ok lease 300
                a release 90..100 failed
                a acquire 400..410 ok lease 300
                a release 450..460 ok
                b acquire 500..505 refused";
    assert_eq!(judged(text), (Verdict::Violated, 1), "the lease was over");
    let counted = text.replace("400..410 ok", "200..210 ok count 1");
    assert_eq!(judged(&counted), (Verdict::Violated, 1));
}

#[test]
fn servers_may_keep_a_lock_for_all_of_the_lease_that_was_asked_for() {
    // Asked for 500 ms, told 400 ms: the server's key lives up to 510 ms.
    let granted = "a acquire 0..10 ok lease 500 granted 400\n";
    for (near, expected) in [
        ("420..430", Verdict::Valid),
        ("640..650", Verdict::Violated),
    ] {
        let text = format!("{granted} b acquire {near} refused");
        assert_eq!(judged(&text).0, expected, "{near}");
    }
    // Whoever gives it back ends it there.
    let text = format!("{granted} a release 90..100 ok\n b acquire 420..430 refused");
    assert_eq!(judged(&text).0, Verdict::Violated);
}

/// ZooKeeper keeps a node as long as the session of its client, which goes by a lease.
#[test]
fn a_session_may_keep_what_a_release_without_an_answer_gave_back() {
    let by_session = "a acquire 0..10 ok lease 100 until session-end\n";
    let refused = "b acquire 500..510 refused";
    let left_by = |between: &str| judged(&format!("{by_session}{between}\n{refused}"));
    assert_eq!(left_by("a release 50..60 info").0, Verdict::Valid);
    assert_eq!(left_by("a release 50..60 failed").0, Verdict::Valid);
    assert_eq!(left_by("a release 150..160 info").0, Verdict::Valid);
    for ended in [
        "a release 50..60 ok",
        "a release 50..60 not-owner",
        "a release 50..60 info\n a release 70..80 ok",
        "a release 50..60 info\n c acquire 200..210 ok lease 100\n c release 220..230 ok",
        // It is not known to have gone on, and its session ends with it.
        "",
    ] {
        assert_eq!(left_by(ended), (Verdict::Violated, 1), "{ended}");
    }
    let by_lease = format!(
        "{} a release 50..60 info\n{refused}",
        by_session.replace("until session-end", "")
    );
    assert_eq!(judged(&by_lease).0, Verdict::Violated);
}
